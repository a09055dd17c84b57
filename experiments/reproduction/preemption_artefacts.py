"""Global preemption (CNSM 2011): its Tables I to III, Figure 3, idle hours, its story."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from callboard.experiments.reproduction.artefact import AnyArtefact, Artefact, Paper, Quantity
from callboard.experiments.reproduction.artefact_charts import strip_chart
from callboard.experiments.reproduction.evidence import Cell, Drawn, Played, Runs
from callboard.experiments.reproduction.metered_run import MeteredRun
from callboard.experiments.reproduction.run_figures import (
    EVERY_SIZE,
    RunFigure,
    done_within,
    mean_of_responses_s,
    of,
    ratio,
)
from callboard.experiments.run_spec import RunSpec
from callboard.journal.figures.job_groups import response_seconds_of, share_of_largest

_HADOOP = "fair+delay+kill(interval_s=20)"
_KILL = 'fair+delay+kill(victims="job", interval_s=20)'
_GLOBAL = "fair+delay+global(interval_s=20)"
_STARVING = 'fair+delay+global(interval_s=20, cuts="starving")'
_TWO_RULES = ("Hadoop", "global")
_RULES = {
    "Hadoop": _HADOOP,
    "job by job": _KILL,
    "global": _GLOBAL,
    "global, cut for the starving": _STARVING,
}


def _measure(name: str) -> RunFigure:
    """A measure of Table IV, over the jobs that the paper's figures count."""

    def figure(run: MeteredRun) -> float | None:
        found = run.result.slowdown_of(run.result.counted_jobs)
        value: float | None = None if found is None else getattr(found.statistics, name)
        return value

    return figure


def _counted_response_s(run: MeteredRun) -> float | None:
    return response_seconds_of(run.result.jobs, run.result.counted_jobs).mean


_PLACES = {1: "1st", 66: "66th", 92: "92nd"}
"""Where the long job stands in the order of arrivals."""


def _busy(rule: str, policy: str, place: int, *more: str) -> Cell:
    return Cell(
        name=f"{rule}, {_PLACES[place]}",
        scenario="gp-busy",
        policy=policy,
        overrides=(f"workload.sizes.long_place={place}", *more),
        slowdown=True,
    )


_MIXED = 'workload.sizes.variant="mixed"'
_BUSY_MIXED = Played(
    tuple(_busy(rule, _RULES[rule], place, _MIXED) for place in _PLACES for rule in _TWO_RULES)
)
_BUSY = Played(
    tuple(_busy(rule, policy, place) for place in _PLACES for rule, policy in _RULES.items())
)
_IDLE = Played(
    tuple(
        _busy(rule, policy, 66, "workload.arrivals.mean_s=80")
        for rule, policy in _RULES.items()
        if rule in _TWO_RULES
    )
)
_STORM = Played(
    tuple(
        Cell(name=name, scenario="preemption-storm", policy=policy, slowdown=True)
        for name, policy in (("job by job", 'fair+kill(victims="job")'), ("global", "fair+global"))
    )
)


def _against(
    rule: str, where: str, figure: RunFigure, other: str = "Hadoop"
) -> Callable[[Runs], float | None]:
    return ratio(f"{rule}, {where}", f"{other}, {where}", figure)


def _busy_quantities(rule: str, other: str = "Hadoop") -> tuple[Quantity[Runs], ...]:
    """The figure's measures under a rule, over those under another."""
    quantities: list[Quantity[Runs]] = []
    for where in _PLACES.values():
        told = f"{rule}, long job {where}"
        quantities += [
            Quantity(
                label=f"SNP, {told}",
                value=_against(rule, where, _measure("snp"), other),
                printed=1.15,
                above=1,
            ),
            Quantity(
                label=f"l2, {told}", value=_against(rule, where, _measure("l2"), other), below=1
            ),
            Quantity(
                label=f"unfairness, {told}",
                value=_against(rule, where, _measure("unfairness"), other),
                below=1,
            ),
            Quantity(
                label=f"mean response time, {told}",
                value=_against(rule, where, _counted_response_s, other),
                below=1,
            ),
        ]
    return tuple(quantities)


def _snp_chart(samples: Sequence[Runs], cells: Sequence[str]) -> Any:
    return strip_chart(samples, cells, _measure("snp"), "SNP (1 is ideal)")


_BUSY_WHY = (
    "Every measure is on the paper's side wherever the long job stands, and the gain is the less"
    " the later it comes, as the paper says; but it is smaller than in print. The paper prints"
    " neither its reduces nor the order of its jobs."
)
_BY_JOB_WHY = (
    "Preemption that takes from each job beyond its own share, those most above it first, takes"
    " mostly from large jobs. Global preemption takes the newest attempts of all jobs, and so from"
    " short ones too, whose slowdowns make up these measures. Against what Hadoop's own rule really"
    " does (gp-fig-3-busy), which takes the newest attempts too, it is better; on bursts among a"
    " few long jobs it is better than either (gp-story)."
)

_BUSY_JOBS = 130
_MAPS = (1, 2, 10, 50, 100, 250, 400, 800, 1500, 3000, 5000, 8000)
_JOBS = (49, 21, 18, 11, 8, 8, 5, 5, 2, 1, 1, 1)


def _jobs_of(maps: int) -> Callable[[RunSpec], float]:
    """How many of the 130 jobs have so many maps."""
    return lambda spec: float(sum(job.maps == maps for job in spec.jobs[:_BUSY_JOBS]))


def _at_most(maps: int) -> Callable[[RunSpec], float]:
    return lambda spec: float(np.mean([job.maps <= maps for job in spec.jobs]))


def _maps_in_all(spec: RunSpec) -> float:
    return float(sum(job.maps for job in spec.jobs))


def _largest_four(spec: RunSpec) -> float:
    """The share of all maps that the four largest jobs have."""
    return share_of_largest(np.array([job.maps for job in spec.jobs]), 4)


_FACEBOOK = ((1, 0.39), (2, 0.55), (20, 0.69), (60, 0.78), (150, 0.84), (350, 0.9), (500, 0.94))
_RUNNING = ((55, 0.4), (90, 0.5), (150, 0.7), (350, 0.8), (650, 0.9), (1200, 0.95))

PREEMPTION_ARTEFACTS: tuple[AnyArtefact, ...] = (
    Artefact(
        id="gp-table-I",
        paper=Paper.GP,
        place="Table I a, III",
        says="At Facebook half of the jobs run for at most 90 s, 90 % for at most 650 s.",
        evidence=Played((Cell(name="fair", scenario="facebook-morning", policy="fair"),)),
        quantities=tuple(
            Quantity(
                label=f"jobs within {limit_s} s",
                value=of("fair", done_within(limit_s, EVERY_SIZE)),
                printed=share,
                share=True,
            )
            for limit_s, share in _RUNNING
        ),
        why="The table is of a real cluster, whose tasks are as long as its users made them; those"
        " of `facebook-morning` are drawn, and its cluster is full.",
        seeds=6,
    ),
    Artefact(
        id="gp-table-II",
        paper=Paper.GP,
        place="Table II, III",
        says="The number of maps of Facebook's jobs: 39 % have one, 90 % at most 350.",
        evidence=Drawn("facebook-morning", ("workload.jobs=2000",)),
        quantities=(
            *(
                Quantity(
                    label=f"jobs of at most {maps} maps",
                    value=_at_most(maps),
                    printed=share,
                    share=True,
                )
                for maps, share in _FACEBOOK
            ),
        ),
    ),
    Artefact(
        id="gp-largest-jobs",
        paper=Paper.GP,
        place="III-B",
        says="Of the 26,410 maps of 100 jobs made after Facebook's the 4 largest jobs have 73 %.",
        evidence=Drawn("macrobenchmark"),
        quantities=(
            Quantity(label="maps", value=_maps_in_all, printed=26_410, exact=True),
            Quantity(label="maps of the 4 largest", value=_largest_four, printed=0.73, share=True),
        ),
    ),
    Artefact(
        id="gp-table-III",
        paper=Paper.GP,
        place="Table III, VI",
        says="130 jobs of 1 to 8,000 maps.",
        evidence=Drawn("gp-busy", ()),
        quantities=tuple(
            Quantity(label=f"jobs of {maps:,} maps", value=_jobs_of(maps), printed=jobs, exact=True)
            for maps, jobs in zip(_MAPS, _JOBS, strict=True)
        ),
    ),
    Artefact(
        id="gp-fig-3-busy",
        paper=Paper.GP,
        place="Figure 3, VI-E",
        says="In busy hours global preemption's SNP is about 15 % above that of Hadoop's Fair"
        " Scheduler; norms, unfairness and mean response time are slightly better.",
        evidence=_BUSY,
        quantities=_busy_quantities("global"),
        why=_BUSY_WHY,
        draw=partial(
            _snp_chart,
            cells=[f"{rule}, {where}" for where in _PLACES.values() for rule in _RULES],
        ),
        seeds=6,
    ),
    Artefact(
        id="gp-fig-3-by-job",
        paper=Paper.GP,
        place="Figure 3, VI-E, against preemption as IV describes it",
        says="The same against preemption that takes from each job beyond its own share in turn,"
        " which is how the paper describes Hadoop's.",
        evidence=_BUSY,
        quantities=_busy_quantities("global", "job by job"),
        why=_BY_JOB_WHY,
        seeds=6,
    ),
    Artefact(
        id="gp-fig-3-mixed",
        paper=Paper.GP,
        place="Figure 3, VI-E, the mixed workload",
        says="Under the mixed workload, whose Joins are three jobs each, global preemption's SNP is"
        " above that of Hadoop's as well.",
        evidence=_BUSY_MIXED,
        quantities=_busy_quantities("global"),
        why=_BUSY_WHY,
        draw=partial(
            _snp_chart,
            cells=[f"{rule}, {where}" for where in _PLACES.values() for rule in _TWO_RULES],
        ),
        seeds=6,
    ),
    Artefact(
        id="gp-fig-3-starving",
        paper=Paper.GP,
        place="Figure 3, VI-E, long jobs cut only where somebody starves",
        says="The same where Algorithm 1 is called for the k tasks that somebody lacks, as it may"
        " also be read.",
        evidence=_BUSY,
        quantities=_busy_quantities("global, cut for the starving"),
        why=_BUSY_WHY,
        seeds=6,
    ),
    Artefact(
        id="gp-fig-3-idle",
        paper=Paper.GP,
        place="VI-E, idle periods",
        says="In idle hours the two policies show little difference.",
        evidence=_IDLE,
        quantities=(
            Quantity(
                label="SNP, global over Hadoop",
                value=_against("global", "66th", _measure("snp")),
                above=0.9,
                below=1.1,
            ),
            Quantity(
                label="mean response time, global over Hadoop",
                value=_against("global", "66th", _counted_response_s),
                above=0.9,
                below=1.1,
            ),
        ),
        draw=partial(_snp_chart, cells=("Hadoop, 66th", "global, 66th")),
        seeds=6,
    ),
    Artefact(
        id="gp-story",
        paper=Paper.GP,
        place="IV",
        says="Bursts of production kill a long job's tasks again and again; taking short tasks"
        " instead wastes less, and performance is better.",
        evidence=_STORM,
        quantities=(
            Quantity(
                label="SNP, global over job by job",
                value=ratio("global", "job by job", _measure("snp")),
                above=1,
            ),
            Quantity(
                label="slot time wasted, global over job by job",
                value=ratio(
                    "global", "job by job", lambda run: run.result.summary.slot_seconds.wasted
                ),
                below=0.5,
            ),
            Quantity(
                label="mean response time, global over job by job",
                value=ratio("global", "job by job", mean_of_responses_s),
                below=1,
            ),
        ),
    ),
)
