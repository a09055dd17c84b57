"""Schedulers beside the master: Sparrow's Figure 3, Hawk beside it, Omega's waits and waste.

Times of Sparrow's workload are ten times the paper's, since half a millisecond of latency is no
whole number; its figures are ratios.
"""

from collections.abc import Sequence
from math import fsum
from statistics import fmean

import numpy as np

from callboard.experiments.reproduction.artefact import AnyArtefact, Artefact, Paper, Quantity
from callboard.experiments.reproduction.evidence import Cell, Played, Runs
from callboard.experiments.reproduction.metered_run import MeteredRun
from callboard.experiments.reproduction.run_figures import (
    RunFigure,
    SizeBin,
    median_response_s,
    ratio,
)
from callboard.experiments.reproduction.sample_figure import SampleFigure, difference, figure_of

# Sparrow.

_PLACEMENTS = {
    "random": 'sparrow(placement="random")',
    "per-task": 'sparrow(placement="per-task")',
    "batch": 'sparrow(placement="batch")',
    "late": "sparrow",
    "central": 'sparrow(placement="central")',
}
_WORKERS, _TASKS, _PROBES = 1000, 100, 2
_LOADS = (0.1, 0.5, 0.8, 0.95)
_LOAD = 0.8


def cell_at_load(
    placement: str,
    load: float,
    *,
    workers: int = _WORKERS,
    tasks: int = _TASKS,
    jobs: int = 1000,
    probes: float = _PROBES,
) -> Cell:
    """1,000 workers of four slots with jobs of 100 tasks of 1 s, so many that slots are busy for
    this share of the time; late binding with two probes a task.
    """
    every_s = tasks / (4 * workers * load)
    late = placement == "late" and probes != _PROBES
    return Cell(
        name=f"{placement} at {load:g}",
        scenario="sparrow-100ms",
        policy=f"sparrow(probes={probes:g})" if late else _PLACEMENTS[placement],
        overrides=(
            f"cluster.nodes={workers}",
            f"workload.jobs={jobs}",
            f"workload.arrivals.mean_s={every_s:.9g}",
            *((f"workload.sizes.maps={tasks}",) if tasks != _TASKS else ()),
        ),
    )


def _ratio_of_medians(placement: str, other: str, load: float = _LOAD) -> SampleFigure:
    return ratio(f"{placement} at {load:g}", f"{other} at {load:g}", median_response_s())


def late_binding_over_ideal(loads: Sequence[float]) -> tuple[Quantity[Runs], ...]:
    """Late binding beside one queue that knows all, at each load."""
    return tuple(
        Quantity[Runs](
            label=f"late binding over one queue that knows all, load {load:g}",
            value=_ratio_of_medians("late", "central", load),
            below=1.12,
        )
        for load in loads
    )


# Hawk.


def _response_percentile_of_jobs(percent: float, *names: str) -> RunFigure:
    """A percentile of the response times of the jobs whose names begin with one of these."""

    def figure(run: MeteredRun) -> float | None:
        jobs = run.result.jobs
        mine = jobs.completed & np.array([name.startswith(names) for name in jobs.name])
        return float(np.percentile(jobs.response_ms[mine], percent)) if mine.any() else None

    return figure


_SHORT, _LONG = ("narrow", "wide"), ("long",)
_BESIDE_SPARROW = tuple(
    Cell(name=name, scenario="google-like", policy=policy)
    for name, policy in (("sparrow", "sparrow"), ("hawk", "hawk(cutoff=100)"))
)

# Omega.

_BATCH = SizeBin("Batch", 100)
_THINKING_S = (1, 100)
"""The least and the most that a Service job takes to think about."""


def _omega_cell(kind: str, service_s: float, more: str = "") -> Cell:
    return Cell(
        name=f"{kind} at {service_s:g}",
        scenario="omega-cell",
        policy=f"{kind.partition(' ')[0]}(service_t_job={service_s:g}{more})",
        meters=("thoughts",),
    )


_TRANSACTIONS = {
    f"omega {conflicts} {commit}": f',conflicts="{conflicts}",commit="{commit}"'
    for conflicts in ("sequence", "fit")
    for commit in ("all-or-nothing", "incremental")
}


def _batch_wait_s(run: MeteredRun) -> float | None:
    """How long a Batch job waits in the queue until it is thought about first, in the mean."""
    thoughts, batch = run.metered["thoughts"], set(_BATCH.jobs(run))
    waits = zip(thoughts["job"], thoughts["first_wait_s"], strict=True)
    return fmean(wait for job, wait in waits if job in batch)


def _wasted_thinking_s(run: MeteredRun) -> float | None:
    """How long was thought about claims that were then in conflict."""
    return fsum(run.metered["thoughts"]["wasted_s"])


def _added_batch_wait(kind: str) -> SampleFigure:
    """How much longer Batch waits, in seconds, when Service thinks for longest than for least."""
    least, most = (figure_of(f"{kind} at {each:g}", _batch_wait_s) for each in _THINKING_S)
    return difference(most, least)


ARCHITECTURE_ARTEFACTS: tuple[AnyArtefact, ...] = (
    Artefact(
        id="sparrow-fig-3",
        paper=Paper.SPARROW,
        place="Figure 3",
        says="At 80 % load, medians: three times as long with random placement as with two probes a"
        " task, those 2.6 times the ideal, batches of probes .73 of those.",
        evidence=Played(
            tuple(cell_at_load(each, _LOAD) for each in ("random", "per-task", "batch", "central"))
        ),
        quantities=(
            Quantity(
                label="random placement over probes for each task",
                value=_ratio_of_medians("random", "per-task"),
                printed=3.0,
                above=1,
            ),
            Quantity(
                label="probes for each task over one queue that knows all",
                value=_ratio_of_medians("per-task", "central"),
                printed=2.6,
                above=1,
            ),
            Quantity(
                label="batch sampling over probes for each task",
                value=_ratio_of_medians("batch", "per-task"),
                printed=0.73,
                below=1,
            ),
        ),
        seeds=6,
    ),
    Artefact(
        id="sparrow-ideal",
        paper=Paper.SPARROW,
        place="abstract",
        says="Late binding is within 12 % of an ideal scheduler (there on a query workload; here on"
        " Figure 3's, at each load).",
        evidence=Played(
            tuple(cell_at_load(each, load) for load in _LOADS for each in ("late", "central"))
        ),
        quantities=late_binding_over_ideal(_LOADS),
        why="The sentence is about queries on a cluster of 110 machines. On Figure 3's jobs two"
        " probes a task find the fewer of the free slots the fewer there are, which costs a quarter"
        " at 95 % load.",
        seeds=6,
    ),
    Artefact(
        id="hawk-sparrow",
        paper=Paper.HAWK,
        place="abstract",
        says="On Google's trace Hawk takes 80 % off the median of short jobs under Sparrow and 90 %"
        " off their 90th percentile, 35 % and 10 % off long jobs'.",
        evidence=Played(_BESIDE_SPARROW),
        quantities=tuple(
            Quantity(
                label=f"{kind} jobs, {percent}th percentile, Hawk over Sparrow",
                value=ratio("hawk", "sparrow", _response_percentile_of_jobs(percent, *names)),
                printed=printed,
                below=1,
            )
            for kind, names, percent, printed in (
                ("short", _SHORT, 50, 0.2),
                ("short", _SHORT, 90, 0.1),
                ("long", _LONG, 50, 0.65),
                ("long", _LONG, 90, 0.9),
            )
        ),
        why="Google's trace is not at hand: `google-like` is ours, 220 jobs of which a tenth are"
        " long, on 100 nodes that long jobs alone do not fill, so these gain little by Hawk.",
    ),
    Artefact(
        id="omega-blocking",
        paper=Paper.OMEGA,
        place="§4.1 to §4.3, Figures 5 to 7",
        says="The longer Service jobs are thought about, the longer Batch jobs wait with one"
        " scheduler for all and with two-level scheduling; with shared state they do not (here: by"
        " less than a second).",
        evidence=Played(
            tuple(
                _omega_cell(kind, each)
                for kind in ("monolithic", "mesos", "omega")
                for each in _THINKING_S
            )
        ),
        quantities=(
            *(
                Quantity(
                    label=f"Batch waits longer under {kind}, 100 s a Service job for 1 s",
                    value=_added_batch_wait(kind),
                    unit=" s",
                    above=1,
                )
                for kind in ("monolithic", "mesos")
            ),
            Quantity(
                label="Batch waits longer under omega",
                value=_added_batch_wait("omega"),
                unit=" s",
                below=1,
            ),
        ),
        seeds=6,
    ),
    Artefact(
        id="omega-conflicts",
        paper=Paper.OMEGA,
        place="§5.2, Figure 14",
        says="Fine-grained conflicts and incremental transactions waste least: coarse ones are in"
        " conflict more often, and lose all of a job's claims by each.",
        evidence=Played(tuple(_omega_cell(kind, 10, more) for kind, more in _TRANSACTIONS.items())),
        quantities=tuple(
            Quantity(
                label=f"wasted thinking, {one} over {other}",
                value=ratio(f"omega {one} at 10", f"omega {other} at 10", _wasted_thinking_s),
                below=1,
            )
            for one, other in (
                ("fit incremental", "sequence incremental"),
                ("fit incremental", "fit all-or-nothing"),
                ("sequence incremental", "sequence all-or-nothing"),
                ("fit all-or-nothing", "sequence all-or-nothing"),
            )
        ),
        seeds=6,
    ),
)
