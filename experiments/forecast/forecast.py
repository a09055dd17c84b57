"""When jobs will end: many continuations of what is known at an instant, and where their ends lie.

Asked of instants of a history that is over, it tells how often the intervals hold what happened.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from math import exp, fsum, lgamma, log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from callboard.actors.architecture import Architecture
from callboard.actors.kernel.kernel import Kernel, KernelError
from callboard.actors.vocabulary.events import AnyEvent, JobFinished
from callboard.experiments.forecast.continuations import Continuations
from callboard.experiments.forecast.model_errors import Compared, ModelErrors
from callboard.experiments.many.run_tasks import RunTask
from callboard.experiments.many.task_pool import Lost, Workers, answers_by_workers
from callboard.experiments.run.run_result import ACTORS, EngineName
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.run_watcher import RunWatcher
from callboard.experiments.user_errors import InputError
from callboard.scheduler.model import JobId, Millis

if TYPE_CHECKING:
    from callboard.twin.twin_run import TwinRun

LEVEL = 0.9
"""The share of the continuations whose ends an interval holds."""

_SURELY = 0.01
"""Of intervals that hold less often than promised, how often that may be chance."""

_TOLD = "told"

_ALIKE = "what has ended took all as long, which does not tell how much lengths vary"
"""Why there is no interval, where all continuations end at one moment."""

_OVER = "the run that is played until then has ended some jobs that by the history went on"
"""Why there is none of a job that is over there."""


class Forecast(NamedTuple):
    """When a job ends by the continuations of an instant: their median, and between which moments
    the interval lies; None is never, as long as nothing changes.  `why_open` says why there is no
    interval, where too little had ended to tell one.
    """

    job: JobId
    at_ms: Millis
    median_ms: Millis | None
    low_ms: Millis | None
    high_ms: Millis | None
    why_open: str = ""

    @property
    def has_no_width(self) -> bool:
        """Whether all continuations but the rarest end at one moment."""
        return self.low_ms is not None and self.low_ms == self.high_ms

    def holds(self, end_ms: Millis) -> bool:
        """Whether the interval holds that moment."""
        early = self.low_ms is not None and self.low_ms <= end_ms
        return early and (self.high_ms is None or end_ms <= self.high_ms)


class _Ends(RunWatcher):
    """Notes when some jobs end, and stops the run as soon as all have."""

    def __init__(self, targets: frozenset[JobId]) -> None:
        self.ms: dict[JobId, Millis] = {}
        self._targets = targets

    def begin(self, kernel: Kernel[AnyEvent], _architecture: Architecture) -> None:
        self._kernel = kernel

    def observe(self, event: AnyEvent) -> None:
        if type(event) is JobFinished and event.job in self._targets:
            self.ms[event.job] = event.at_ms
            if len(self.ms) == len(self._targets):
                self._kernel.end_run(_TOLD)

    def on_twin_progress(self, run: "TwinRun") -> None:
        ended_ms = run.ended_ms_by_job()
        self.ms = {job: ended_ms[job] for job in self._targets if job in ended_ms}
        if len(self.ms) == len(self._targets):
            run.interrupt()


class _ContinuationPlayer(NamedTuple):
    """What plays one continuation after the other in a worker."""

    continuations: Continuations
    targets: frozenset[JobId]
    engine: EngineName

    def ends_ms(self, number: int) -> dict[JobId, Millis]:
        """When the targets end in a continuation, those that do."""
        ends = _Ends(self.targets)
        with suppress(KernelError):  # stuck: what waits then never ends
            RunTask(self.continuations.drawn_run(number), engine=self.engine).run(ends)
        return ends.ms


class Forecaster:
    """Of an instant.  `ended_ms` is when jobs really ended, as far as is known then; of the others
    that had come all are forecast, though the run in which they are played may have seen them end.
    """

    def __init__(self, continuations: Continuations, ended_ms: Mapping[JobId, Millis]) -> None:
        self._continuations = continuations
        self._state = state = continuations.state
        self._ended_ms = {job: ms for job, ms in ended_ms.items() if ms <= state.at_ms}
        self._submit_ms = {job.job: job.submit_ms for job in continuations.spec.jobs}
        going_on = state.submitted - self._ended_ms.keys()
        told = going_on & ended_ms.keys() | going_on - state.finished_ms.keys()
        self.in_system = sorted(told)
        """The jobs that have come and not ended."""

    def forecasts(
        self,
        targets: Sequence[JobId],
        runs: int,
        workers: Workers,
        moved: Callable[[str, int], None],
        engine: EngineName = ACTORS,
    ) -> Iterator[Forecast]:
        """When each of these jobs ends, by that many continuations; `moved` hears of each."""
        played = frozenset(self._state.in_system) & {*targets, *self.in_system, *self._ended_ms}
        continued = _ContinuationPlayer(self._continuations, played, engine)
        found: dict[int, Mapping[JobId, Millis]] = {}
        for number, ends in answers_by_workers(workers, continued.ends_ms, range(runs)):
            if isinstance(ends, Lost):
                raise InputError(f"a continuation was lost: {ends.why}")
            found[number] = self._corrected_ends_ms(targets, number, ends)
            moved("", 1)
        for job in targets:
            ends_ms = [found[number].get(job) for number in range(runs)]
            told = _forecast_from_ends(job, self._state.at_ms, ends_ms)
            alike = _ALIKE if told.has_no_width else ""
            if job in self._state.finished_ms:
                alike = _OVER
            yield told._replace(why_open=self._continuations.why_no_interval(job) or alike)

    def _corrected_ends_ms(
        self, targets: Sequence[JobId], number: int, played_ms: Mapping[JobId, Millis]
    ) -> dict[JobId, Millis]:
        """When targets end by a continuation and by how far such runs are off the cluster."""
        at_ms = self._state.at_ms
        ends_ms = {**self._state.finished_ms, **played_ms}
        compared = []
        for job in sorted(ends_ms.keys() & {*self._ended_ms, *self.in_system}):
            submit_ms = self._submit_ms[job]
            real_ms = self._ended_ms.get(job, at_ms) - submit_ms
            running = job not in self._ended_ms
            compared.append(Compared(ends_ms[job] - submit_ms, real_ms, running))
        errors = ModelErrors(compared)
        corrected = {}
        for job in targets:
            if job in ends_ms:
                rng = np.random.default_rng([at_ms, number, job])
                submit_ms = self._submit_ms[job]
                response_ms = ends_ms[job] - submit_ms
                corrected[job] = submit_ms + errors.response_ms(rng, response_ms, at_ms - submit_ms)
        return corrected


def _forecast_from_ends(job: JobId, at_ms: Millis, ends_ms: Sequence[Millis | None]) -> Forecast:
    ends = np.array([np.inf if each is None else each for each in ends_ms], dtype=float)
    tail = (1 - LEVEL) / 2
    cuts = np.quantile(ends, [0.5, tail, 1 - tail], method="inverted_cdf")
    median, low, high = (None if np.isinf(cut) else round(cut) for cut in cuts)
    return Forecast(job, at_ms, median, low, high)


class Coverage(NamedTuple):
    """How forecasts at several instants compare with what happened: of the intervals that they had
    `held` held it, and the median error of their medians, as a share of what was left.
    """

    forecasts: int
    intervals: int
    held: int
    median_error: float | None

    @property
    def falls_short(self) -> bool:
        """Whether so few intervals held it that they promise too much, for sure: were each to hold
        it with the chance of `LEVEL`, as few would in less than a hundredth of all tests.
        """
        return _chance_of_at_most(self.held, self.intervals) < _SURELY


def _chance_of_at_most(held: int, intervals: int) -> float:
    """That no more of so many intervals hold what happens, each by itself with the chance `LEVEL`
    (the binomial distribution).
    """
    return fsum(
        exp(
            lgamma(intervals + 1)
            - lgamma(k + 1)
            - lgamma(intervals - k + 1)
            + k * log(LEVEL)
            + (intervals - k) * log(1 - LEVEL)
        )
        for k in range(held + 1)
    )


def coverage(found: Sequence[tuple[Forecast, Millis]]) -> Coverage:
    """Of forecasts, each with when the job really ended."""
    told = [each.holds(end_ms) for each, end_ms in found if not each.why_open]
    errors = [
        abs(each.median_ms - end_ms) / max(end_ms - each.at_ms, 1)
        for each, end_ms in found
        if each.median_ms is not None
    ]
    return Coverage(len(found), len(told), sum(told), float(np.median(errors)) if errors else None)


def spread_instants(spec: RunSpec, count: int) -> list[Millis]:
    """That many instants, evenly among the submissions of the middle, each a millisecond after one:
    at first too little has ended, and at last too few jobs are still to come.
    """
    came_ms = sorted(job.submit_ms for job in spec.jobs)
    places = np.linspace(len(came_ms) // 5, len(came_ms) * 3 // 5, count)
    return sorted({came_ms[round(place)] + 1 for place in places})
