"""A backtest: recorded work on the recorded cluster under a policy, job by job against what was."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from callboard.actors.config import node_facts
from callboard.actors.vocabulary.events import AnyEvent
from callboard.experiments.backtest.job_parts import (
    Causes,
    JobMoments,
    difference_in_words,
    played_busy,
    predicted_moments,
    recorded_moments,
    response_by_cause,
)
from callboard.experiments.backtest.recorded_history import RecordedHistory, recorded_busy
from callboard.experiments.many.run_tasks import RunTask
from callboard.experiments.run.run_result import ACTORS, EngineName, RunResult
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.run_watcher import RunWatcher
from callboard.experiments.run.simulation import Sink
from callboard.histories.model.tasks_file import RecordedJob
from callboard.histories.played_history import PlayedHistory
from callboard.journal.export.attempt_table import AttemptCollector
from callboard.journal.export.run_history import played_history_of_run
from callboard.journal.figures.steps import Steps
from callboard.journal.figures.tables import SUCCEEDED
from callboard.journal.run_state import RunState
from callboard.journal.tell.explain import explain_from_events
from callboard.scheduler.model import JobId, Millis, SlotKind

_Floats = NDArray[np.float64]
_WORST = 5
_EXPLAINED_LINES = 4


class JobError(NamedTuple):
    """A job's response time as recorded and as predicted, and the difference as a share of what was
    recorded; the difference by its causes, None where the history does not tell.
    """

    job: JobId
    name: str
    recorded_ms: Millis
    predicted_ms: Millis
    causes: Causes | None = None

    @property
    def error(self) -> float:
        return (self.predicted_ms - self.recorded_ms) / max(self.recorded_ms, 1)


class WorstJob(NamedTuple):
    """A badly predicted job, where the difference lies, and what `explain` says of it."""

    error: JobError
    why: str
    explained: tuple[str, ...]


class JobErrors(NamedTuple):
    """The errors of some jobs, taken together."""

    jobs: tuple[JobError, ...]

    def error_percentile(self, percentile: float) -> float | None:
        """A percentile of the jobs' errors, each as a share of what was recorded, signs dropped."""
        sizes = [abs(each.error) for each in self.jobs]
        return float(np.percentile(sizes, percentile)) if sizes else None

    @property
    def mean_response_error(self) -> float | None:
        """By what share the mean predicted response time is off."""
        recorded = sum(each.recorded_ms for each in self.jobs)
        return sum(e.predicted_ms for e in self.jobs) / recorded - 1 if recorded else None

    @property
    def rank_correlation(self) -> float | None:
        """Spearman's: whether the jobs that took long are those predicted to; None with fewer than
        three jobs, or if all are alike.
        """
        recorded = _ranks_with_ties([each.recorded_ms for each in self.jobs])
        predicted = _ranks_with_ties([each.predicted_ms for each in self.jobs])
        if len(recorded) < 3 or not recorded.std() or not predicted.std():
            return None
        return float(np.corrcoef(recorded, predicted)[0, 1])

    @property
    def bias_by_cause(self) -> dict[str, float] | None:
        """The bias by its causes, of the jobs of which the history tells them; None of none."""
        told = [each for each in self.jobs if each.causes is not None]
        recorded = sum(each.recorded_ms for each in told)
        if not recorded:
            return None
        sums = np.array([each.causes for each in told], np.int64).sum(axis=0).tolist()
        return {name: ms / recorded for name, ms in zip(Causes._fields, sums, strict=True)}


class Backtest(NamedTuple):
    """What a policy would have made of the history.  `left_out` says how many jobs cannot be
    compared, by what hinders it.  `busy` are the slots held over time, by kind.
    """

    policy: str
    result: RunResult
    errors: JobErrors
    left_out: Mapping[str, int]
    worst: tuple[WorstJob, ...]
    busy: tuple[Steps, Steps]

    def errors_of_job_range(self, first: JobId, behind: JobId) -> JobErrors:
        """The errors of the jobs from `first` on, before `behind`."""
        return JobErrors(tuple(each for each in self.errors.jobs if first <= each.job < behind))


def backtest(
    spec: RunSpec,
    history: RecordedHistory,
    watcher: RunWatcher | None = None,
    engine: EngineName = ACTORS,
) -> Backtest:
    """Play the spec by this engine and compare."""
    events: list[AnyEvent] = []

    def listen() -> Sink:
        events.clear()
        return events.append

    result = RunTask(spec, "trio", engine=engine).run(watcher, listen)
    played, busy = played_history_of_run(events), _played_busy_over_time(events)
    errors = job_errors(history.recording.jobs, result)
    comparison = _Comparison(spec, history, played)
    told = JobErrors(tuple(each._replace(causes=comparison.causes(each)) for each in errors))
    ranked = sorted(told.jobs, key=lambda each: -abs(each.predicted_ms - each.recorded_ms))
    worst = [each for each in ranked if each.error][:_WORST]
    explained = tuple(comparison.explanation_of_error(each, events) for each in worst)
    left_out = _left_out_by_reason(spec, history.recording.jobs, result)
    return Backtest(spec.policy, result, told, left_out, explained, busy)


class _Comparison:
    """What happened beside what was played, job by job."""

    def __init__(
        self,
        spec: RunSpec,
        history: RecordedHistory,
        played: PlayedHistory,
    ) -> None:
        self._history = history
        self._played = played.jobs
        # A slot is another's only once a heartbeat has told that it is free.
        round_ms = spec.scenario.cluster.heartbeat_cycle_ms()
        self._busy = played_busy(played, round_ms)
        nodes = node_facts(spec.scenario.cluster)
        self._slots = (
            sum(node.map_slots for node in nodes),
            sum(node.reduce_slots for node in nodes),
        )
        until_ms = history.recording.span_ms + round_ms
        self._recorded_busy = recorded_busy(history, until_ms, held_on_ms=round_ms)
        names = () if history.log is None else history.log.names
        self._number = {name: number for number, name in enumerate(names)}

    def causes(self, error: JobError) -> Causes | None:
        """The error by what brought it about."""
        was, found = self._recorded_moments(error), predicted_moments(self._played[error.job])
        if was is None or found is None or self._recorded_busy is None:
            return None
        began_ms = self._history.begin_ms
        was = JobMoments(*(each - began_ms for each in was))
        recorded = response_by_cause(was, self._recorded_busy, self._slots)
        predicted = response_by_cause(found, self._busy, self._slots).less_recorded(recorded)
        missing = error.predicted_ms - error.recorded_ms - sum(predicted)
        return predicted._replace(worked=predicted.worked + missing)  # of clocks that are apart

    def explanation_of_error(self, error: JobError, events: Iterable[AnyEvent]) -> WorstJob:
        """Why it is predicted badly."""
        was, found = self._recorded_moments(error), predicted_moments(self._played[error.job])
        why = "the file does not tell when its tasks ran"
        if was is not None and found is not None:
            why = difference_in_words(was, found)
        lines = islice(explain_from_events(events, error.job), 2, 2 + _EXPLAINED_LINES)
        return WorstJob(error, why, tuple(line.strip() for line in lines))

    def _recorded_moments(self, error: JobError) -> JobMoments | None:
        log, number = self._history.log, self._number.get(error.name)
        if log is None or number is None:
            return None
        submit_ms = self._history.begin_ms + self._history.recording.jobs[error.job].submit_ms
        return recorded_moments(log, submit_ms, error.recorded_ms, number)


def job_errors(recorded: Sequence[RecordedJob], result: RunResult) -> tuple[JobError, ...]:
    """How far the jobs of a run are off what was recorded of them; without those of which nothing
    was, or that did not succeed.
    """
    jobs = result.jobs
    rows = zip(jobs.job.tolist(), jobs.outcome.tolist(), jobs.response_ms.tolist(), strict=True)
    errors: list[JobError] = []
    for job, outcome, predicted_ms in rows:
        was = recorded[job]
        if was.response_ms is not None and not _why_left_out(was, outcome):
            errors.append(JobError(job, was.name, was.response_ms, predicted_ms))
    return tuple(errors)


def _left_out_by_reason(
    spec: RunSpec, recorded: Sequence[RecordedJob], result: RunResult
) -> Mapping[str, int]:
    """The jobs of a run that `job_errors` leaves out, counted by why."""
    outcomes = dict(zip(result.jobs.job.tolist(), result.jobs.outcome.tolist(), strict=True))
    why = Counter(_why_left_out(recorded[each.job], outcomes.get(each.job)) for each in spec.jobs)
    del why[""]
    return why


def _why_left_out(was: RecordedJob, outcome: int | None) -> str:
    """Why a job cannot be compared; empty if it can."""
    if was.killed_ms is not None:
        return "that were killed, or failed"
    if was.response_ms is None:
        return "of which nothing tells how long they took"
    return "" if outcome == SUCCEEDED else "that did not succeed when played"


def _played_busy_over_time(events: Iterable[AnyEvent]) -> tuple[Steps, Steps]:
    state = RunState()
    attempts = AttemptCollector(state)
    for event in events:
        attempts.note_event(event, state.observe(event))
    busy_slots = partial(attempts.table().busy_slots, horizon_ms=state.now_ms)
    return busy_slots(SlotKind.MAP), busy_slots(SlotKind.REDUCE)


def _ranks_with_ties(values: Sequence[float]) -> _Floats:
    """The places of the values in their order, equal ones at the mean of theirs."""
    array = np.asarray(values, dtype=np.float64)
    _, place, sizes = np.unique(array, return_inverse=True, return_counts=True)
    last = np.cumsum(sizes)
    ranks: _Floats = (last - (sizes - 1) / 2)[place]
    return ranks
