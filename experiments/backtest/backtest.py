"""A backtest: recorded work on the recorded cluster under a policy, job by job against what was."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from callboard.actors.config import node_facts
from callboard.actors.onlooker import Onlooker
from callboard.experiments.backtest.job_parts import (
    JobParts,
    difference_in_words,
    predicted_parts,
    recorded_parts,
)
from callboard.experiments.run_result import RunResult
from callboard.experiments.run_spec import RunSpec
from callboard.experiments.simulation import run_simulation
from callboard.experiments.user_errors import InputError
from callboard.journal.export.attempt_table import AttemptCollector
from callboard.journal.export.played_history import PlayedHistory
from callboard.journal.figures.steps import Steps, steps
from callboard.journal.figures.tables import SUCCEEDED
from callboard.journal.reader import Journal
from callboard.journal.run_state import RunState
from callboard.journal.tell.explain import explain
from callboard.scenarios.formats.attempt_log import AttemptCollecting, AttemptLog
from callboard.scenarios.formats.recording_file import import_files, load_recording
from callboard.scenarios.formats.unpacked_text import begin_of
from callboard.scenarios.recorded_workload import RecordedWorkload
from callboard.scenarios.tasks_file import ClusterRecording, begins_as_tasks
from callboard.scheduler.model import KINDS, MAP, JobId, Millis, SlotKind

_Floats = NDArray[np.float64]
_WORST = 5
_EXPLAINED_LINES = 4
_PART_SHARE = 0.5  # of the slots in use at most: then others can have held what is not seen


class RecordedHistory(NamedTuple):
    """What happened: the recording, and where the file tells of attempts their log and the first
    submission by its clock; what had to be `guessed` on reading it.
    """

    recording: ClusterRecording
    log: AttemptLog | None
    begin_ms: Millis
    guessed: tuple[str, ...] = ()


class JobError(NamedTuple):
    """A job's response time as recorded and as predicted, and the difference as a share of what was
    recorded.
    """

    job: JobId
    name: str
    recorded_ms: Millis
    predicted_ms: Millis

    @property
    def error(self) -> float:
        return (self.predicted_ms - self.recorded_ms) / max(self.recorded_ms, 1)


class WorstJob(NamedTuple):
    """A badly predicted job, where the difference lies, and what `explain` says of it."""

    error: JobError
    why: str
    explained: tuple[str, ...]


class Backtest(NamedTuple):
    """What a policy would have made of the history.  `left_out` jobs cannot be compared: their
    users killed them, they did not succeed, or nothing tells how long they took.  `busy` are the
    slots held over time, by kind.
    """

    policy: str
    result: RunResult
    errors: tuple[JobError, ...]
    left_out: int
    worst: tuple[WorstJob, ...]
    busy: tuple[Steps, Steps]

    def share(self, percentile: float) -> float | None:
        """A percentile of the jobs' errors, each as a share of what was recorded, signs dropped."""
        sizes = [abs(each.error) for each in self.errors]
        return float(np.percentile(sizes, percentile)) if sizes else None

    @property
    def bias(self) -> float | None:
        """By what share the mean predicted response time is off."""
        recorded = sum(each.recorded_ms for each in self.errors)
        return sum(e.predicted_ms for e in self.errors) / recorded - 1 if recorded else None

    @property
    def rank_correlation(self) -> float | None:
        """Spearman's: whether the jobs that took long are those predicted to; None with fewer than
        three jobs, or if all are alike.
        """
        recorded = _ranks([each.recorded_ms for each in self.errors])
        predicted = _ranks([each.predicted_ms for each in self.errors])
        if len(recorded) < 3 or not recorded.std() or not predicted.std():
            return None
        return float(np.corrcoef(recorded, predicted)[0, 1])


def read_history(spec: RunSpec, base_dir: Path) -> RecordedHistory:
    """The history that a spec plays; InputError for one that plays none."""
    workload = spec.scenario.workload
    if not isinstance(workload, RecordedWorkload):
        raise InputError("only a recorded history can be backtested: there is nothing to compare")
    path = workload.located(base_dir)
    if not path.is_dir() and begins_as_tasks(begin_of(path, 100)):
        return RecordedHistory(load_recording(path, workload.columns).recording, None, 0)
    collecting = AttemptCollecting()
    found = import_files([path], workload.columns, collecting)
    assert found.hosts is not None
    guessed = tuple(f"{each.count:,} {each.what}" for each in found.remarks.of("guessed"))
    return RecordedHistory(found.recording, collecting.log(found.hosts), found.begin_ms, guessed)


def backtest(
    spec: RunSpec, history: RecordedHistory, journal: Path, watcher: Onlooker | None = None
) -> Backtest:
    """Play the spec, recorded in `journal`, and compare."""
    result = run_simulation(spec, journal=journal, watcher=watcher)
    errors, left_out = _errors(spec, history, result)
    ranked = sorted(errors, key=lambda each: -abs(each.predicted_ms - each.recorded_ms))
    worst = _explained([each for each in ranked if each.error][:_WORST], history, journal)
    return Backtest(spec.policy, result, errors, left_out, worst, _busy(journal))


def recorded_busy(history: RecordedHistory, until_ms: Millis) -> tuple[Steps, Steps] | None:
    """How many tasks of each kind ran at once by the history; None where it does not tell."""
    log = history.log
    if log is None or not (log.timed(KINDS[0]) | log.timed(KINDS[1])).any():
        return None
    found = []
    for kind in KINDS:
        kept = log.timed(kind)
        begins = np.clip(log.begin_ms[kept] - history.begin_ms, 0, until_ms)
        ends = np.clip(log.end_ms[kept] - history.begin_ms, 0, until_ms)
        found.append(steps(begins, ends, until_ms))
    return found[0], found[1]


def partial_load(spec: RunSpec, history: RecordedHistory) -> str:
    """What it means that the history shows only a part of the cluster's load; empty if it shows as
    much as the cluster had room for.
    """
    busy = recorded_busy(history, max(history.recording.span_ms, 1))
    if busy is None:
        return ""
    nodes = node_facts(spec.scenario.cluster)
    slots = sum(node.map_slots for node in nodes)
    most = busy[MAP].peak()
    if most > _PART_SHARE * slots:
        return ""
    return (
        f"the history shows at most {most:,} maps at once on {slots:,} map slots: only a part of"
        " the cluster's load, or one that was idle. What else ran is not played, so that jobs wait"
        " for nobody: predictions are too short by the waits that others caused, and policies"
        " hardly differ. With --nodes it is played on fewer, as many as its jobs may have had"
    )


def _errors(
    spec: RunSpec, history: RecordedHistory, result: RunResult
) -> tuple[tuple[JobError, ...], int]:
    jobs, recorded = result.jobs, history.recording.jobs
    rows = zip(jobs.job.tolist(), jobs.outcome.tolist(), jobs.response_ms.tolist(), strict=True)
    errors: list[JobError] = []
    for job, outcome, predicted_ms in rows:
        was = recorded[job]
        told = was.response_ms is not None and was.killed_ms is None
        if told and was.response_ms is not None and outcome == SUCCEEDED:
            errors.append(JobError(job, was.name, was.response_ms, predicted_ms))
    return tuple(errors), len(spec.jobs) - len(errors)


def _explained(
    worst: Sequence[JobError], history: RecordedHistory, journal: Path
) -> tuple[WorstJob, ...]:
    played = PlayedHistory.of(Journal(journal)).jobs if worst else {}
    found = []
    for each in worst:
        recorded = _recorded_parts(history, each)
        predicted = predicted_parts(played[each.job])
        why = "the file does not tell when its tasks ran"
        if recorded is not None and predicted is not None:
            why = difference_in_words(recorded, predicted)
        lines = islice(explain(journal, each.job), 2, 2 + _EXPLAINED_LINES)
        found.append(WorstJob(each, why, tuple(line.strip() for line in lines)))
    return tuple(found)


def _recorded_parts(history: RecordedHistory, error: JobError) -> JobParts | None:
    log = history.log
    if log is None or error.name not in log.names:
        return None
    submit_ms = history.begin_ms + history.recording.jobs[error.job].submit_ms
    return recorded_parts(log, submit_ms, error.recorded_ms, log.names.index(error.name))


def _busy(journal: Path) -> tuple[Steps, Steps]:
    state = RunState()
    attempts = AttemptCollector(state)
    for event in Journal(journal):
        attempts.look(event, state.observe(event))
    table, end_ms = attempts.table(), state.now_ms
    return table.busy_slots(SlotKind.MAP, end_ms), table.busy_slots(SlotKind.REDUCE, end_ms)


def _ranks(values: Sequence[float]) -> _Floats:
    """The places of the values in their order, equal ones at the mean of theirs."""
    array = np.asarray(values, dtype=np.float64)
    _, place, sizes = np.unique(array, return_inverse=True, return_counts=True)
    last = np.cumsum(sizes)
    ranks: _Floats = (last - (sizes - 1) / 2)[place]
    return ranks
