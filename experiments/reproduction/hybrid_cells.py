"""The worlds of the hybrid paper's figures, by jobs and resources, and what is measured in them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from callboard.experiments.reproduction.artefact_charts import Series, lines_over
from callboard.experiments.reproduction.evidence import Cell, Runs
from callboard.experiments.reproduction.metered_run import MeteredRun
from callboard.experiments.reproduction.run_figures import (
    RunFigure,
    mean_of_responses_s,
    meter_value,
)

COSHH = 'coshh(size="oracle")'
"""The paper's is given the time that each class's tasks take on each resource."""

HETEROGENEOUS_POLICIES = {"fifo": "fifo", "fair": "fair", "coshh": COSHH}
WITH_HYBRID = {**HETEROGENEOUS_POLICIES, "hybrid": 'hybrid(size="oracle")'}


def yahoo_cell(jobs: int, name: str, policy: str, more: tuple[str, ...] = ()) -> Cell:
    """That many jobs of the Yahoo! workload under a policy."""
    return Cell(
        name=f"{name}, {jobs} jobs",
        scenario="hybrid-yahoo",
        policy=policy,
        overrides=(f"workload.jobs={jobs}", *more),
        meters=("users",),
        timed=True,
    )


def facebook_cell(jobs: int, name: str, policy: str, more: tuple[str, ...] = ()) -> Cell:
    """That many jobs of the Facebook workload under a policy."""
    return Cell(
        name=f"{name}, {jobs} jobs",
        scenario="hybrid-facebook",
        policy=policy,
        overrides=(f"workload.jobs={jobs}", *more),
        meters=("switches", "users"),
        timed=True,
    )


RESOURCE_TYPES = 6
"""Of Table III, with two slots each."""


def resources_cell(
    each: int, name: str, policy: str, categories: str = "yahoo", more: tuple[str, ...] = ()
) -> Cell:
    """A hundred jobs on that many resources of each type."""
    groups = range(RESOURCE_TYPES)
    overrides = [f"cluster.group.{group}.nodes={each}" for group in groups]
    if categories != "yahoo":
        overrides.append(f"workload.sizes.kind={categories}")
    return Cell(
        name=f"{name}, {RESOURCE_TYPES * each} resources",
        scenario="hybrid-resources",
        policy=policy,
        overrides=(*overrides, *more),
        meters=("users",) if categories == "yahoo" else ("switches", "users"),
        timed=True,
    )


class DrawnFigure(NamedTuple):
    """A figure of a run that is drawn over the number of jobs or of resources."""

    figure: RunFigure
    label: str
    log: bool = True


def lines_over_counts(
    samples: Sequence[Runs],
    drawn: DrawnFigure,
    names: Sequence[str],
    counts: Sequence[int],
    unit: str,
) -> Any:
    """A line a policy over what is counted."""
    series = [
        Series(
            name,
            [(n, [drawn.figure(runs[f"{name}, {n} {unit}"]) for runs in samples]) for n in counts],
        )
        for name in names
    ]
    return lines_over(series, unit, drawn.label, log=drawn.log)


def scheduling_s(run: MeteredRun) -> float | None:
    """The processor time that decisions took."""
    return run.result.scheduling.seconds


USERS_UNFAIRNESS = meter_value("users", "unfairness")
RESPONSES_DRAWN = DrawnFigure(mean_of_responses_s, "mean response time (s)")
SCHEDULING_DRAWN = DrawnFigure(scheduling_s, "scheduling (s of processor time)")
UNEVEN_DRAWN = DrawnFigure(USERS_UNFAIRNESS, "unfairness among users (slots)", log=False)
