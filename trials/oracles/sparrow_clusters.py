"""Large clusters of the simulator that Sparrow's authors released (radlab/sparrow).

A case is a placement, a load and a number of jobs, and the percentiles of their responses.  The
program counts the jobs whose tasks all have a slot first, that many of them, less those that came
while the cluster filled; others go on coming.  It is played twice: with its own draws, which gives
its figures, and with draws of ours, which gives others of the same distribution.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from callboard.actors.kernel.streams import Stream
from callboard.actors.sparrow.sparrow import Sparrow
from callboard.actors.vocabulary.events import (
    AnyEvent,
    AttemptEnded,
    AttemptLaunched,
    AttemptStarted,
)
from callboard.progress_line import steps_progress
from callboard.scheduler.model import AttemptId, JobId, Millis
from trials.oracles.comparison import Cell, NotPlayed, UnknownFormat, case_as
from trials.oracles.oracle_runs import simulation
from trials.oracles.python2_draws import DrawnJobs, JobDraws, WhenShuffled
from trials.oracles.sparrow import PLACEMENTS, QueuedSparrow, jobs_of_maps

TASKS_A_JOB = 100
SLOTS = 4
MEAN_TASK_MS = 100
CLOCK = 10**6
"""Our ms a ms of theirs: their times are floats, of which no two that are drawn are the same."""

LATENCY_MS = CLOCK // 2

BY_OUR_DRAWS = 0.05
"""How far figures may be off where draws are ours."""

BY_THEIR_DRAWS = 1e-6
"""With its draws; it counts in floats, and our clock in whole numbers."""

BY_OTHER_TIES = 0.001
"""The same with cancellation: a reservation may be taken back at the instant at which its node has
a slot free, which is heard after it here, and there often before."""

FIGURES = ("p50", "p95", "p99", "mean")

_SHUFFLED: dict[str, WhenShuffled] = {
    "late": "as a job comes",
    "cancel": "as a job comes",
    "random": "as a job comes",
    "batch": "as its probes come",
    "per_task": "as its probes come",
    "central": "never",
}

_WITH_SCHEDULERS = ("late", "cancel")
"""Whose program draws a scheduler for each job."""


class ClusterCase(msgspec.Struct, frozen=True):
    """A line of a file; its `which` is one of PLACEMENTS."""

    which: str
    workers: int
    load: float
    jobs: int
    dist: str
    seed: int
    p50: float
    p95: float
    p99: float
    mean: float
    warm_up_ms: float = 500
    """Jobs that come up to then do not count."""

    @property
    def tasks(self) -> int:
        return TASKS_A_JOB * self.jobs

    @property
    def title(self) -> str:
        return f"{self.which}, {self.workers:,} workers, load {self.load:g}"

    @property
    def mean_gap_ms(self) -> float:
        return MEAN_TASK_MS * TASKS_A_JOB / (self.load * SLOTS * self.workers)

    @property
    def within(self) -> float:
        """How far figures may be off with its own draws."""
        return BY_OTHER_TIES if self.which == "cancel" else BY_THEIR_DRAWS

    def their_draws(self) -> JobDraws:
        """How the program draws."""
        return JobDraws(
            self.seed,
            self.workers,
            asked=round(PLACEMENTS[self.which].probes) * TASKS_A_JOB,
            mean_task_ms=MEAN_TASK_MS,
            mean_gap_ms=self.mean_gap_ms,
            constant=self.dist == "constant",
            scheduler=self.which in _WITH_SCHEDULERS,
            shuffled=_SHUFFLED[self.which],
        )

    def our_jobs(self, seed: int, count: int) -> DrawnJobs:
        """The first jobs by our streams."""
        lengths, gaps = Stream(seed, "length"), Stream(seed, "gap")
        lengths_ms = [float(MEAN_TASK_MS)] * count
        if self.dist == "jobs":
            lengths_ms = [lengths.exponential(MEAN_TASK_MS, each) for each in range(count)]
        gaps_ms = [gaps.exponential(self.mean_gap_ms, each) for each in range(count)]
        return DrawnJobs(lengths_ms, np.cumsum(gaps_ms).tolist(), [])


class _FirstPlaced:
    """The first jobs whose tasks have all begun, and when their last tasks have ended."""

    def __init__(self, count: int) -> None:
        self.ends_ms: dict[JobId, Millis] = {}
        """What is known of their ends so far, by number, in the order in which they were placed."""
        self.full_ms: Millis | None = None
        """When the last of them was placed."""
        self.open = count
        """How many of them have not ended, or are not known."""
        self._count = count
        self._owners: dict[AttemptId, JobId] = {}
        self._begun: Counter[JobId] = Counter()
        self._ended: Counter[JobId] = Counter()

    def observe(self, event: AnyEvent) -> None:
        if type(event) is AttemptLaunched:
            self._owners[event.attempt] = event.job
        elif type(event) is AttemptStarted:
            self._begin(self._owners[event.attempt], event.at_ms)
        elif type(event) is AttemptEnded:
            self._end(self._owners.pop(event.attempt), event.at_ms)

    def _begin(self, job: JobId, at_ms: Millis) -> None:
        self._begun[job] += 1
        if self._begun[job] == TASKS_A_JOB and len(self.ends_ms) < self._count:
            self.ends_ms[job] = at_ms
            if len(self.ends_ms) == self._count:
                self.full_ms = at_ms

    def _end(self, job: JobId, at_ms: Millis) -> None:
        self._ended[job] += 1
        if job in self.ends_ms:
            self.ends_ms[job] = at_ms
            self.open -= self._ended[job] == TASKS_A_JOB


def counted_responses_ms(case: ClusterCase, seed: int | None) -> NDArray[np.float64]:
    """Those that the program counts, in its ms: with its draws, or with ours of a seed."""
    count = case.jobs + case.jobs // 8 + 1
    while (found := _responses_of_first(case, seed, count)) is None:
        count += case.jobs
    return found


def _responses_of_first(
    case: ClusterCase, seed: int | None, count: int
) -> NDArray[np.float64] | None:
    """The same where that many jobs come; None if others would have come meanwhile."""
    drawn = case.their_draws().jobs(count) if seed is None else case.our_jobs(seed, count)
    arrivals_ms = [round(CLOCK * each) for each in drawn.arrivals_ms]
    lengths_ms = [max(round(CLOCK * each), 1) for each in drawn.lengths_ms]
    params = PLACEMENTS[case.which]
    sparrow = Sparrow(params) if seed else QueuedSparrow(params, drawn.orders, lengths_ms)
    first = _FirstPlaced(case.jobs)
    run = simulation(
        sparrow,
        jobs_of_maps(arrivals_ms, lengths_ms, TASKS_A_JOB),
        [first.observe],
        workers=case.workers,
        slots=SLOTS,
        latency_ms=LATENCY_MS,
        seed=seed or 1,
    )
    for _ in run.supersteps():
        if not first.open:
            break
    if first.full_ms is None or first.full_ms > arrivals_ms[-1]:
        return None
    counted = [job for job in first.ends_ms if drawn.arrivals_ms[job] > case.warm_up_ms]
    return np.array([first.ends_ms[job] - arrivals_ms[job] for job in counted]) / CLOCK


def figures_of(responses_ms: NDArray[np.float64]) -> dict[str, float]:
    """Percentiles as the program takes them, and the mean."""
    percentiles = np.percentile(responses_ms, [50, 95, 99], method="lower").tolist()
    return dict(zip(FIGURES, [*percentiles, float(responses_ms.mean())], strict=True))


def cluster_cells(
    lines: Iterable[dict[str, Any]], seeds: int, most_tasks: int | None = None
) -> Iterator[Cell]:
    """`sparrow-…-workers.jsonl`, each cell as soon as it is known: with its draws, and beside its
    one run the means of `seeds` seeds of ours.  Nothing of more tasks than `most_tasks` is played.
    """
    cases = [case_of_line(line) for line in lines]
    played = [case for case in cases if _why_not(case, most_tasks) is None]
    runs = [(case, seed) for case in played for seed in (None, *range(1, seeds + 1))]
    with (
        ProcessPoolExecutor(mp_context=get_context("spawn")) as pool,
        steps_progress("runs", len(runs)) as move,
    ):
        found = _counted(pool.map(_figures_of_run, runs), move)
        for case in cases:
            if why := _why_not(case, most_tasks):
                yield from _cells(case, f": {why}", None, 0.0)
                continue
            yield from _cells(case, ", its draws", [next(found)], case.within)
            if seeds:
                ours = list(islice(found, seeds))
                yield from _cells(case, f", ours, {seeds} seeds", ours, BY_OUR_DRAWS)


def case_of_line(line: dict[str, Any]) -> ClusterCase:
    """A line of a file; UnknownFormat."""
    try:
        case = case_as(line, ClusterCase)
    except NotPlayed as wrong:
        raise UnknownFormat(str(wrong)) from None
    if case.dist not in ("jobs", "constant"):
        raise UnknownFormat(
            f"lengths drawn as {case.dist!r}; known are `jobs`, one a job, `constant`"
        )
    return case


def _why_not(case: ClusterCase, most_tasks: int | None) -> str | None:
    """Why a case is not played, if it is not."""
    if case.which == "multi":
        return "loses slots, not copied"
    if case.which not in PLACEMENTS:
        return "unknown"
    if most_tasks is not None and case.tasks > most_tasks:
        return f"{case.tasks:,} tasks, too many"
    return None


def _counted(
    found: Iterable[dict[str, float]], move: Callable[[str, int], None]
) -> Iterator[dict[str, float]]:
    for each in found:
        move("", 1)
        yield each


def _cells(
    case: ClusterCase, by: str, ours: Sequence[dict[str, float]] | None, within: float
) -> Iterator[Cell]:
    theirs = {"p50": case.p50, "p95": case.p95, "p99": case.p99, "mean": case.mean}
    for what, figure in theirs.items():
        mean = None if ours is None else float(np.mean([each[what] for each in ours]))
        yield Cell(f"{case.title}{by}, {what}", figure, mean, within)


def _figures_of_run(run: tuple[ClusterCase, int | None]) -> dict[str, float]:
    return figures_of(counted_responses_ms(*run))
