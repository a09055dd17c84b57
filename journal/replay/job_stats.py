"""The jobs at one moment: how many of their tasks are done, run, or wait, as the master counts."""

from typing import Self

import msgspec

from callboard.actors.vocabulary.events import (
    AttemptLaunched,
    JobChanged,
    JobFinished,
    JobResubmitted,
    JobSubmitted,
    KillOrdered,
    MapOutputsLost,
    Outcome,
    SuspendOrdered,
)
from callboard.journal.replay.frame import JobState
from callboard.scheduler.model import JobId, Millis, TaskIndex, TaskKind
from callboard.scheduler.reasons import Refusal, Why

_STATES = {
    Outcome.SUCCEEDED: JobState.SUCCEEDED,
    Outcome.FAILED: JobState.FAILED,
    Outcome.KILLED: JobState.KILLED,
}


class JobStats(msgspec.Struct, gc=False):
    """One job.  Maps and reduces apart where the name says so.

    `maps_running` and `reduces_running` are tasks with an attempt that runs or is suspended,
    `attempts` are those attempts.  `maps_ms` and `reduces_ms` sum how long the attempts counted in
    `maps_ended` and `reduces_ended`, which succeeded, held slots; `work_ms` is that without
    shuffles.  `skip` is why the job was passed over last: when, the reason, for which job.
    `launch` and `taken` are the master's reasons for its last launch that was no copy, and for the
    last time that an attempt of it had to give way: when, and why.
    """

    submission: JobSubmitted
    version: int
    maps_done: int = 0
    reduces_done: int = 0
    maps_running: int = 0
    reduces_running: int = 0
    attempts: int = 0
    suspended: int = 0
    launches: int = 0
    levels: tuple[int, int, int] = (0, 0, 0)
    preempted: int = 0
    wasted_ms: Millis = 0
    maps_ms: Millis = 0
    reduces_ms: Millis = 0
    maps_ended: int = 0
    reduces_ended: int = 0
    first_launch_ms: Millis | None = None
    finished_ms: Millis | None = None
    outcome: Outcome | None = None
    last_skip: tuple[Millis, Refusal, JobId] | None = None
    launch: tuple[Millis, Why] | None = None
    last_preemption: tuple[Millis, Why] | None = None
    work_ms: tuple[Millis, Millis] = (0, 0)

    @property
    def state(self) -> JobState:
        """Where the job stands."""
        if self.outcome is not None:
            return _STATES[self.outcome]
        if self.first_launch_ms is None:
            return JobState.WAITING
        return JobState.RUNNING if self.attempts > self.suspended else JobState.STARVED


class JobStatsTable:
    """All jobs by id; copies share the rows that neither has changed since."""

    def __init__(self) -> None:
        self.rows: dict[JobId, JobStats] = {}
        self.live: dict[JobId, None] = {}
        """Those in the system, in the order of their submission."""
        self._spare: dict[tuple[JobId, TaskKind, TaskIndex], int] = {}
        """How many attempts of a task go on beside the one that is counted, or after its end."""
        self.ended: list[tuple[Millis, int]] = [(0, 0), (0, 0)]
        """Of maps and reduces that succeeded: their work, and how many there were."""
        self.latest: tuple[Millis, JobId, Why] | None = None
        """The last launch that was no copy: when, of which job, why."""
        self._version = 0

    def copy(self) -> Self:
        """The same, to go its own way."""
        twin = type(self)()
        twin.rows, twin.live, twin._spare = dict(self.rows), dict(self.live), dict(self._spare)
        twin.ended, twin.latest = self.ended[:], self.latest
        # Rows are older than either from now on, and whoever changes one takes a copy.
        self._version = twin._version = self._version + 1
        return twin

    def submit(self, event: JobSubmitted) -> None:
        self.rows[event.job] = JobStats(event, self._version)
        self.live[event.job] = None

    def change(self, event: JobChanged) -> None:
        """The job has another pool or priority."""
        row = self._mine(event.job)
        if row is not None:
            row.submission = msgspec.structs.replace(
                row.submission, pool=event.pool, priority=event.priority
            )

    def finish(self, event: JobFinished) -> None:
        self.live.pop(event.job, None)
        row = self._mine(event.job)
        if row is not None:
            row.finished_ms, row.outcome = event.at_ms, event.outcome

    def launch(self, event: AttemptLaunched) -> None:
        why = event.why
        for skip in why.skipped:
            row = self._mine(skip.job)
            if row is not None:
                row.last_skip = (event.at_ms, skip.refusal, event.job)
        row = self._mine(event.job)
        if row is None:
            return
        row.attempts += 1
        row.launches += 1
        if row.first_launch_ms is None:
            row.first_launch_ms = event.at_ms
        if event.original:
            task = (event.job, event.kind, event.task)
            self._spare[task] = self._spare.get(task, 0) + 1
        else:
            row.launch = (event.at_ms, why)
            self.latest = (event.at_ms, event.job, why)
            if event.kind:
                row.reduces_running += 1
            else:
                row.maps_running += 1
        if not event.kind:
            near, rack, far = row.levels
            level = event.level
            row.levels = (near + (level == 0), rack + (level == 1), far + (level == 2))

    def close(
        self, launch: AttemptLaunched, outcome: Outcome, held_ms: Millis, shuffled_ms: Millis = 0
    ) -> None:
        """The master booked the end of an attempt that had held slots for so long, `shuffled_ms` of
        it to fetch map outputs.
        """
        row = self._mine(launch.job)
        if row is None:
            return
        row.attempts -= 1
        won = outcome is Outcome.SUCCEEDED
        goes = 1 if won or not self._was_spare(launch) else 0
        if launch.kind:
            row.reduces_running -= goes
            row.reduces_done += won
            if won:
                row.reduces_ms += held_ms
                row.reduces_ended += 1
        else:
            row.maps_running -= goes
            row.maps_done += won
            if won:
                row.maps_ms += held_ms
                row.maps_ended += 1
        if won:
            self._learn(row, launch.kind, held_ms - shuffled_ms)
        else:
            row.wasted_ms += held_ms

    def _learn(self, row: JobStats, kind: TaskKind, work_ms: Millis) -> None:
        """A task of the job was so much work."""
        maps_ms, reduces_ms = row.work_ms
        row.work_ms = (maps_ms, reduces_ms + work_ms) if kind else (maps_ms + work_ms, reduces_ms)
        total_ms, count = self.ended[kind]
        self.ended[kind] = (total_ms + work_ms, count + 1)

    def expected_ms(self, row: JobStats) -> float | None:
        """The job's size by what has been seen of tasks: their number times their mean, of its
        own that have succeeded, else of all (as `size="online"` has it); None without any.
        """
        told, size_ms = row.submission, 0.0
        phases = ((told.maps, row.maps_ended), (told.reduces, row.reduces_ended))
        for kind, (tasks, ended) in enumerate(phases):
            total_ms, count = (row.work_ms[kind], ended) if ended else self.ended[kind]
            if tasks and not count:
                return None
            size_ms += tasks * total_ms / max(count, 1)
        return size_ms

    def _was_spare(self, launch: AttemptLaunched) -> bool:
        """Whether the task is counted without an attempt that has come to nothing."""
        if not self._spare:
            return False
        task = (launch.job, launch.kind, launch.task)
        number = self._spare.pop(task, 0)
        if number > 1:
            self._spare[task] = number - 1
        return number > 0

    def suspend(self, job: JobId, change: int) -> None:
        """So many more of the job's attempts are suspended, or fewer."""
        row = self._mine(job)
        if row is not None:
            row.suspended += change

    def preempt(self, job: JobId, event: KillOrdered | SuspendOrdered) -> None:
        """An attempt of the job must give way."""
        row = self._mine(job)
        if row is not None:
            row.preempted += 1
            row.last_preemption = (event.at_ms, event.why)

    def undo(self, event: MapOutputsLost) -> None:
        row = self._mine(event.job)
        if row is not None:
            row.maps_done -= len(event.attempts)

    def resubmit(self, event: JobResubmitted) -> None:
        """Nothing of the job is done any more."""
        row = self._mine(event.job)
        if row is not None:
            row.maps_done = row.reduces_done = 0

    def _mine(self, job: JobId) -> JobStats | None:
        """The row, to be changed."""
        row = self.rows.get(job)
        if row is not None and row.version != self._version:
            row = self.rows[job] = msgspec.structs.replace(row, version=self._version)
        return row
