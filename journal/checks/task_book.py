"""The tasks of jobs, attempt by attempt, as rules S2 to S5 look at them; setups and cleanups are
left out.

It observes every event after the run's state has.  Tasks are dropped with their jobs.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.events import Outcome
from callboard.journal.run_records import NEVER, AttemptRecord
from callboard.journal.run_state import RunState
from callboard.scheduler.model import (
    MAPS,
    STAGES,
    AttemptId,
    JobId,
    Millis,
    NodeId,
    Stage,
    TaskIndex,
)


class TaskRecord:
    """One task; `valid` is the attempt whose success counts, 0 if none does; `open` are those that
    the master has not closed.  At `failed_ms` one last failed.
    """

    __slots__ = ("failed", "failed_ms", "killed", "launched", "open", "succeeded", "valid")

    def __init__(self) -> None:
        self.launched = 0
        self.failed = 0
        self.failed_ms: Millis = NEVER
        self.killed = 0
        self.succeeded = False  # ever
        self.valid: AttemptId = 0
        self.open: list[AttemptId] = []

    def count_failed_or_killed(self, outcome: Outcome, at_ms: Millis) -> None:
        if outcome is Outcome.FAILED:
            self.failed += 1
            self.failed_ms = at_ms
        else:
            self.killed += 1

    def __str__(self) -> str:
        open_ = ", ".join(map(str, self.open)) or "none"
        return (
            f"the task: {self.launched} attempts launched, {self.failed} failed, {self.killed}"
            f" killed, open {open_}, success {self.valid or 'none'}"
        )


def _empty_task_records() -> dict[Stage, defaultdict[TaskIndex, TaskRecord]]:
    return {stage: defaultdict(TaskRecord) for stage in STAGES}


class JobTasks:
    """The tasks of one job since it was last submitted, by stage, and the outputs of its maps.

    `most_maps` were ever done at once: slowstart goes by this.  At `complete_ms` all maps were last
    done, if they are not; at `undone_ms` outputs were last lost, those of `undone_now` tasks.
    """

    def __init__(self) -> None:
        self.tasks = _empty_task_records()
        self.most_maps = 0
        self.complete_ms: Millis = NEVER
        self.outputs: dict[AttemptId, tuple[TaskIndex, NodeId]] = {}
        self.undone_ms: Millis = NEVER
        self.undone_now = 0


class TaskBook:
    """The tasks of every job; `changed` are the jobs that events were about since those that are
    over were last dropped.
    """

    def __init__(self, run_state: RunState) -> None:
        self._run_state = run_state
        self.jobs: dict[JobId, JobTasks] = {}
        self.changed: dict[JobId, None] = {}

    def task(self, launch: ev.AttemptLaunched) -> TaskRecord:
        return self.jobs[launch.job].tasks[launch.stage][launch.task]

    def observe(self, event: ev.AnyEvent, attempt: AttemptRecord | None) -> None:
        """Take in an event, and the attempt that it is about as it is now."""
        take = _TAKE.get(type(event))
        if take is not None:
            take(self, event, attempt)

    def _begin_job(self, event: ev.JobSubmitted | ev.JobResubmitted, _: None) -> None:
        self.jobs[event.job] = JobTasks()
        self.changed[event.job] = None

    def _count_launch(self, event: ev.AttemptLaunched, attempt: AttemptRecord) -> None:
        if attempt.unseen:
            return
        task = self.task(event)
        task.launched += 1
        task.open.append(event.attempt)
        self.changed[event.job] = None

    def _mark_job_changed(self, event: ev.JobFinished, _: None) -> None:
        self.changed[event.job] = None

    def drop_tasks_of_ended_jobs(self) -> None:
        """Drop what is kept of the jobs that are over, but not the jobs themselves.  One of several
        schedulers may begin a task at the instant of its job's end, of which it has not heard.
        """
        now_ms, still = self._run_state.now_ms, dict[JobId, None]()
        for number in self.changed:
            job = self._run_state.jobs[number]
            if job.finished is None or job.open_attempts:
                continue
            if job.finished.at_ms == now_ms:
                still[number] = None
                continue
            self.jobs[number].tasks = _empty_task_records()
            self.jobs[number].outputs.clear()
        self.changed = still

    def _count_closing(self, event: ev.AttemptClosed, attempt: AttemptRecord) -> None:
        launch = attempt.launch
        self.changed[launch.job] = None
        if attempt.unseen:
            return
        job, task = self.jobs[launch.job], self.task(launch)
        task.open.remove(event.attempt)
        if event.outcome is not Outcome.SUCCEEDED:
            task.count_failed_or_killed(event.outcome, event.at_ms)
            return
        task.valid, task.succeeded = event.attempt, True
        if launch.stage == MAPS:
            record = self._run_state.jobs[launch.job]
            job.most_maps = max(job.most_maps, record.phases[MAPS].done)
            if record.submission.reduces:
                job.outputs[event.attempt] = launch.task, launch.node

    def _take_back_maps(self, event: ev.MapOutputsLost, _: None) -> None:
        job, record = self.jobs[event.job], self._run_state.jobs[event.job]
        self.changed[event.job] = None
        if record.phases[MAPS].done + len(event.attempts) == record.submission.maps:
            job.complete_ms = event.at_ms
        if job.undone_ms != event.at_ms:
            job.undone_ms, job.undone_now = event.at_ms, 0
        job.undone_now += len(event.attempts)
        for attempt in event.attempts:
            index = job.outputs.pop(attempt)[0]
            task = job.tasks[MAPS][index]
            task.valid = 0
            task.count_failed_or_killed(event.outcome, event.at_ms)


_TAKE: dict[type[ev.Event], Callable[[TaskBook, Any, Any], None]] = {
    ev.JobSubmitted: TaskBook._begin_job,
    ev.JobResubmitted: TaskBook._begin_job,
    ev.AttemptLaunched: TaskBook._count_launch,
    ev.AttemptClosed: TaskBook._count_closing,
    ev.MapOutputsLost: TaskBook._take_back_maps,
    ev.JobFinished: TaskBook._mark_job_changed,
}
