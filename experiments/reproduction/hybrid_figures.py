"""What is measured and drawn for the hybrid paper (COSHH)."""

from collections.abc import Sequence
from typing import Any

from callboard.experiments.reproduction.artefact_charts import Series, lines_over
from callboard.experiments.reproduction.evidence import Runs
from callboard.experiments.reproduction.metered_run import MeteredRun
from callboard.experiments.reproduction.paper_language import (
    Vocabulary,
    chart_vocabulary,
    run_figure_vocabulary,
)
from callboard.experiments.reproduction.run_figures import (
    RunFigure,
    mean_of_responses_s,
    meter_value,
)
from callboard.experiments.reproduction.sample_figure import SampleFigure

_FIRST_HEARTBEAT_MS = 500


def mean_end_s(run: MeteredRun) -> float:
    """When the jobs of the example end, in the mean, on the figure's clock, which starts at the
    first heartbeat.
    """
    ends_ms = (int(run.result.jobs.finished_ms[job]) for job in range(3))
    return sum((end_ms - _FIRST_HEARTBEAT_MS) / 1000 for end_ms in ends_ms) / 3


def scheduling_s(run: MeteredRun) -> float | None:
    """The processor time that decisions took."""
    return run.result.scheduling.seconds


def users_unfairness(run: MeteredRun) -> float | None:
    """How unevenly slots are shared among users, the mean over time."""
    return meter_value(run, "users", "unfairness")


def jobs_before_switch(run: MeteredRun, order: str) -> float:
    """How many jobs had been submitted when the hybrid order first put this order in force; 101
    where it never did.
    """
    at = run.metered["switches"].get(order)
    return at[0] if at else 101


_RESOURCE_TYPES = 6


def fewest_resources_without_coshh(counts: Sequence[int]) -> SampleFigure:
    """The fewest resources with which the hybrid order never puts COSHH in force; one of each type
    more than there are where it always does.
    """

    def figure(runs: Runs) -> float:
        orders = [runs[f"hybrid, {n} resources"].metered["switches"] for n in counts]
        calm = [n for n, found in zip(counts, orders, strict=True) if "coshh" not in found]
        return float(min(calm, default=max(counts) + _RESOURCE_TYPES))

    return SampleFigure(tuple(f"hybrid, {n} resources" for n in counts), figure)


def responses_over_counts(samples: Sequence[Runs], cells: Sequence[str]) -> Any:
    """Mean response times over how many jobs or resources there are, a line a policy."""
    label = "mean response time (s)"
    return _lines_over_counts(samples, cells, mean_of_responses_s, label, log=True)


def scheduling_over_counts(samples: Sequence[Runs], cells: Sequence[str]) -> Any:
    """The same of the time that decisions take."""
    label = "scheduling (s of processor time)"
    return _lines_over_counts(samples, cells, scheduling_s, label, log=True)


def unfairness_over_counts(samples: Sequence[Runs], cells: Sequence[str]) -> Any:
    """The same of how unevenly slots are shared among users."""
    label = "unfairness among users (slots)"
    return _lines_over_counts(samples, cells, users_unfairness, label, log=False)


def _lines_over_counts(
    samples: Sequence[Runs], cells: Sequence[str], figure: RunFigure, label: str, *, log: bool
) -> Any:
    """A line a policy over what is counted, of cells called as in `fair, 5 jobs`."""
    points: dict[str, list[tuple[float, list[float | None]]]] = {}
    unit = ""
    for cell in cells:
        name, _, counted = cell.partition(", ")
        count, unit = counted.split()
        values = [figure(runs[cell]) for runs in samples]
        points.setdefault(name, []).append((int(count), values))
    series = [Series(name, each) for name, each in points.items()]
    return lines_over(series, unit, label, log=log)


HYBRID_FIGURES: Vocabulary = {
    **run_figure_vocabulary(mean_end_s, scheduling_s, jobs_before_switch, users_unfairness),
    **chart_vocabulary(responses_over_counts, scheduling_over_counts, unfairness_over_counts),
    "fewest_resources_without_coshh": fewest_resources_without_coshh,
}
