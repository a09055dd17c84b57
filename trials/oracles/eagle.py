"""Systems of the simulator that Hawk's and Eagle's authors released (epfl-labos/eagle).

A case is a trace and what it gave under several systems, by class of job.  A line of the trace is
`submit tasks mean d1 … dn`, in seconds; like the simulator we cut the mean and the lengths to whole
ones, and put a job that comes at another's instant off by 0.01 s.  Its draws cannot be replayed to
the digit, since it hands tasks to workers that ask at one instant in the order of memory addresses.
"""

from array import array
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from callboard.actors.hawk.hawk import Eagle, Hawk
from callboard.actors.hawk.hawk_params import EagleParams, HawkParams
from callboard.actors.hawk.task_estimates import TaskEstimates
from callboard.actors.job_spec import JobSpec
from callboard.actors.recorded_tasks import RecordedTasks
from callboard.histories.model.tasks_file import packed_inputs
from trials.oracles.comparison import Cell, UnknownFormat
from trials.oracles.oracle_runs import LATENCY_MS, SCALE, responses_ms

WITHIN = 0.05
"""How far percentiles may be off with draws of our own."""

DEPHASED_MS = 10
"""How much later a job comes than one that has the same time in the trace."""


def _common(case: Mapping[str, Any]) -> dict[str, Any]:
    """What all systems of a case are given, times in ours."""
    return {"cutoff": SCALE * case["cutoff_s"], "probes": case["probe_ratio"]}


def _closed(case: Mapping[str, Any]) -> dict[str, Any]:
    return {**_common(case), "short": case["closed_to_long_percent"] / 100}


SYSTEMS: dict[str, Callable[[Mapping[str, Any]], Hawk]] = {
    "sparrow": lambda case: Hawk(HawkParams(**_common(case), short=0.0, central=False, attempts=0)),
    "hawk-nosteal": lambda case: Hawk(HawkParams(**_closed(case), attempts=0)),
    "hawk": lambda case: Hawk(HawkParams(**_closed(case))),
    "eagle-nosbp": lambda case: Eagle(EagleParams(**_closed(case), sticky=False)),
    "eagle": lambda case: Eagle(EagleParams(**_closed(case))),
}
"""Ours by its names."""


def read_trace(path: Path) -> list[JobSpec]:
    """The jobs of a trace, in the order of their arrivals; UnknownFormat for a broken line."""
    jobs: list[JobSpec] = []
    later_ms: dict[int, int] = {}
    for place, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            submit, count, mean, *lengths = (float(word) for word in line.split())
        except ValueError:
            raise UnknownFormat(f"{path.name}, line {place}: not numbers") from None
        if int(count) != len(lengths):
            raise UnknownFormat(f"{path.name}, line {place}: {count:g} tasks, {len(lengths)} long")
        at_ms = round(1000 * SCALE * submit)
        dephased_ms = later_ms.get(at_ms, -SCALE * DEPHASED_MS) + SCALE * DEPHASED_MS
        later_ms[at_ms] = dephased_ms
        jobs.append(
            _job(len(jobs), at_ms + dephased_ms, int(mean), [int(each) for each in lengths])
        )
    return sorted(jobs, key=lambda job: job.submit_ms)


def _job(number: int, at_ms: int, mean_s: int, lengths_s: Sequence[int]) -> JobSpec:
    """A job of maps that took these lengths, and whose estimate is the mean."""
    second_ms = 1000 * SCALE
    nothing = array("q", [])
    recorded = RecordedTasks(
        array("q", [second_ms * each for each in lengths_s]),
        bytes(len(lengths_s)),
        nothing,
        nothing,
        nothing,
        {},
        *packed_inputs([[]] * len(lengths_s)),
        0,
    )
    return JobSpec(
        job=number,
        name=f"job-{number}",
        submit_ms=at_ms,
        maps=len(lengths_s),
        map_ms=second_ms * mean_s,
        recorded=recorded,
    )


def responses_s(
    case: Mapping[str, Any], jobs: Sequence[JobSpec], hawk: Hawk, seed: int
) -> dict[str, NDArray[np.float64]]:
    """The responses of the short jobs and of the long ones, in its seconds."""
    found = responses_ms(
        hawk, jobs, workers=case["workers"], slots=case["slots_a_worker"], seed=seed
    )
    estimates = TaskEstimates(jobs, SCALE * case["cutoff_s"])
    long = np.array([estimates.is_long(job.job) for job in jobs])
    seconds = np.array(found) / (1000 * SCALE)
    return {"short": seconds[~long], "long": seconds[long]}


def _figure(what: str, responses: NDArray[np.float64]) -> float:
    """One of its figures, `n`, `mean` or a percentile, which it takes from below."""
    if what == "n":
        return len(responses)
    if what == "mean":
        return float(responses.mean())
    return float(np.percentile(responses, float(what.removeprefix("p")), method="lower"))


def _figures(run: tuple[dict[str, Any], list[JobSpec], str, int]) -> dict[tuple[str, str], float]:
    """The figures of one run, by class and name."""
    case, jobs, system, seed = run
    found = responses_s(case, jobs, SYSTEMS[system](case), seed)
    return {
        (kind, what): _figure(what, found[kind])
        for kind, figures in case["systems"][system].items()
        if kind in found
        for what in _told(figures)
    }


def _told(figures: Mapping[str, Any]) -> list[str]:
    """The names of the figures, those of percentiles with a number."""
    return [
        what
        for what in figures
        if what in ("n", "mean") or (what[:1] == "p" and what[1:].replace(".", "", 1).isdigit())
    ]


def eagle_cells(folder: Path, cases: Sequence[dict[str, Any]], seeds: int) -> list[Cell]:
    """`eagle-….json`, with its trace beside it: the means of `seeds` seeds of ours beside its one;
    OSError, UnknownFormat.
    """
    cells = []
    for case in cases:
        if not np.isclose(1000 * SCALE * case["delay_s"], LATENCY_MS):
            raise UnknownFormat(f"a delay of {case['delay_s']} s; played is 0.0005 s")
        jobs = read_trace(folder / case["trace"])
        runs = [
            (case, jobs, system, seed)
            for system in case["systems"]
            if system in SYSTEMS
            for seed in range(1, seeds + 1)
        ]
        with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
            found = list(pool.map(_figures, runs))
        for system, classes in case["systems"].items():
            ours = [each for (_, _, of, _), each in zip(runs, found, strict=True) if of == system]
            cells += _cells(system, classes, ours)
    return cells


def _cells(
    system: str, classes: Mapping[str, Any], ours: Sequence[Mapping[tuple[str, str], float]]
) -> list[Cell]:
    """One system's."""
    cells = []
    for kind in ("short", "long"):
        for what in _told(classes.get(kind, {})):
            mean = float(np.mean([each[kind, what] for each in ours])) if ours else None
            within = 0.0 if what == "n" else WITHIN
            cells.append(Cell(f"{system}, {kind}, {what}", classes[kind][what], mean, within))
    return cells
