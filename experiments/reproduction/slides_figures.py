"""What is measured and drawn for the slides on delay scheduling."""

from collections.abc import Sequence
from math import ceil, exp, log
from typing import Any

from callboard.experiments.reproduction.artefact_charts import Series, lines_over
from callboard.experiments.reproduction.evidence import Runs
from callboard.experiments.reproduction.metered_run import MeteredRun
from callboard.experiments.reproduction.paper_language import (
    Vocabulary,
    chart_vocabulary,
    run_figure_vocabulary,
)
from callboard.experiments.reproduction.run_figures import local_share
from callboard.experiments.reproduction.worked_examples import LONG_SHARES, WAITS, ExampleNumbers

HELD_SHARE = 0.09
"""The share f of nodes that hold the data of a job of three maps with three replicas."""


def first_over_last_end(run: MeteredRun) -> float | None:
    """When the first job ends over when the last does, since all came."""
    jobs = run.result.jobs
    return float(jobs.response_ms.min() / jobs.response_ms.max())


def wait_of_non_local_s(run: MeteredRun) -> float | None:
    """The mean wait of one-map jobs that ran away from their data: all have skipped D times."""
    jobs, table = run.result.jobs, run.result.map_locality
    assert table is not None
    far = (jobs.maps == 1) & (table.node == 0) & (jobs.waiting_ms >= 0)
    return float(jobs.waiting_ms[far].mean()) / 1000 if far.any() else None


def skips_for(locality: float, maps: int, nodes: int = 100, replicas: int = 3) -> int:
    """D ≥ −(M/R) ln(((1 − λ)N) / (1 + (1 − λ)N)): skips that make the share λ of N maps local."""
    far = (1 - locality) * maps
    return ceil(-nodes / replicas * log(far / (1 + far)))


def promised_locality(skips: float, maps: int, nodes: int = 100, replicas: int = 3) -> float:
    """The share λ that the formula promises a job of that many maps for D skips."""
    rest = exp(-skips * replicas / nodes)
    return max(0.0, 1 - rest / (1 - rest) / maps)


def _node_local_shares(samples: Sequence[Runs], cell: str) -> list[float | None]:
    return [local_share(runs[cell], "node") for runs in samples]


def locality_over_waits(
    samples: Sequence[Runs], waits_s: Sequence[int], maps_s: Sequence[int]
) -> Any:
    """Node-local maps over how long jobs wait, a line a length of map."""
    series = [
        Series(
            f"maps of {map_s} s",
            [
                (wait_s, _node_local_shares(samples, f"{wait_s} s, maps of {map_s} s"))
                for wait_s in waits_s
            ],
        )
        for map_s in maps_s
    ]
    return lines_over(series, "wait (s)", "node-local maps", share=True)


def locality_over_jobs(
    samples: Sequence[Runs], policies: Sequence[str], jobs: Sequence[int]
) -> Any:
    """Node-local maps over how many jobs there are at once, a line a policy."""
    series = [
        Series(
            name, [(count, _node_local_shares(samples, f"{name}, {count} jobs")) for count in jobs]
        )
        for name in policies
    ]
    return lines_over(series, "concurrent jobs", "node-local maps", share=True)


def non_local_over_skips(samples: Sequence[Runs], skips: Sequence[int], offers: int) -> Any:
    """Non-local maps over the opportunities that jobs skip, and that many `offers` more: simulated,
    and by the formula.
    """

    def far(run: MeteredRun) -> float | None:
        near = local_share(run, "node", 1)
        return None if near is None else 1 - near

    played = [(each + offers, [far(runs[f"D = {each}"]) for runs in samples]) for each in skips]
    formula = [(each, [(1 - HELD_SHARE) ** each]) for each in range(0, 45, 5)]
    series = [Series("simulated", played), Series("(1 − f)^D", formula)]
    return lines_over(series, "skipped opportunities D", "non-local maps", share=True)


def gain_by_wait_chart(samples: Sequence[ExampleNumbers]) -> Any:
    """E(gain) over the wait: drawn, and by the formula, in task lengths."""
    drawn = [(w, [found[f"gain {w:g}"] for found in samples]) for w in WAITS]
    steps = [k / 4 for k in range(41)]
    formula = [(w, [(1 - exp(-w)) * (1 - 1 / 24)]) for w in steps]
    series = [Series("simulated", drawn), Series("(1 − e^(−w/t)) (d − t)", formula)]
    return lines_over(series, "wait w / t", "E(gain) / d")


def blocked_over_long_share(samples: Sequence[ExampleNumbers]) -> Any:
    """The share of blocked blocks over the share of long tasks: drawn, and by the formula."""
    drawn = [(phi, [found[f"blocked {phi:g}"] for found in samples]) for phi in LONG_SHARES]
    formula = [(k / 100, [(k / 100) ** 18]) for k in range(50, 101, 2)]
    series = [Series("simulated", drawn), Series("φ^(RL)", formula)]
    return lines_over(series, "share φ of long tasks", "blocked blocks", share=True)


def locality_over_skips(samples: Sequence[Runs], wishes: Sequence[dict[str, Any]]) -> Any:
    """The formula's locality over the skips, a curve a size of job, and what was simulated."""
    sizes = dict.fromkeys(wish["maps"] for wish in wishes)
    curves = [
        Series(f"formula, {maps} maps", [(d, [promised_locality(d, maps)]) for d in range(1, 51)])
        for maps in sizes
    ]
    played = [
        Series(
            f"simulated, {maps} maps",
            [
                (
                    skips_for(wish["locality"], maps),
                    _node_local_shares(samples, f"{maps} maps, λ = {wish['locality']:g}"),
                )
                for wish in wishes
                if wish["maps"] == maps
            ],
        )
        for maps in sizes
    ]
    return lines_over([*curves, *played], "skipped opportunities D", "node-local maps", share=True)


SLIDES_FIGURES: Vocabulary = {
    **run_figure_vocabulary(first_over_last_end, wait_of_non_local_s),
    **chart_vocabulary(
        blocked_over_long_share,
        non_local_over_skips,
        gain_by_wait_chart,
        locality_over_waits,
        locality_over_jobs,
        locality_over_skips,
    ),
    "skips_for": skips_for,
}
