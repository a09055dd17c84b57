"""Tasks: how often they succeed, how attempts come and go, and what a shuffle needs (S2 to S5)."""

from math import ceil

from callboard.actors.job import ATTEMPTS_MAX
from callboard.actors.vocabulary.events import (
    AnyEvent,
    AttemptClosed,
    AttemptEnded,
    AttemptLaunched,
    AttemptResumed,
    AttemptStalled,
    AttemptStarted,
    AttemptSuspended,
    JobFinished,
    JobResubmitted,
    JobSubmitted,
    KillOrdered,
    MapOutputsLost,
    NodeLost,
    NodeReturned,
    Outcome,
    ResumeOrdered,
    ShuffleEnded,
    Stall,
    StallEnded,
    SuspendOrdered,
)
from callboard.journal.checks.rule import Handlers, Rule, Setup
from callboard.journal.run_records import NEVER, AttemptRecord
from callboard.scheduler.model import AttemptId, TaskKind


class Successes(Rule):
    """S2.  A map may succeed again after its output was lost; what is undone at the very instant
    of the job's end no longer matters to it.
    """

    id = "S2"
    says = "a task has at most one valid success, and a job that succeeded one of every task"

    def handlers(self) -> Handlers:
        return {
            AttemptClosed: self._closed,
            MapOutputsLost: self._undone,
            JobFinished: self._finished,
        }

    def _closed(self, event: AttemptClosed) -> None:
        if event.outcome is not Outcome.SUCCEEDED:
            return
        self.times += 1
        attempt = self.run_state.attempts[event.attempt]
        if attempt.task.valid:
            raise self.broken(event, "its task has succeeded already", attempt, attempt.task)

    def _undone(self, event: MapOutputsLost) -> None:
        job = self.run_state.jobs[event.job]
        for attempt in event.attempts:
            self.times += 1
            index, node = job.outputs[attempt]
            if node != event.node or job.tasks[0][index].valid != attempt:
                raise self.broken(event, f"attempt {attempt} is no success there", job)

    def _finished(self, event: JobFinished) -> None:
        if event.outcome is not Outcome.SUCCEEDED:
            return
        self.times += 1
        job = self.run_state.jobs[event.job]
        undone = job.undone_now if job.undone_ms == event.at_ms else 0
        if job.valid[0] + undone != job.submitted.maps or job.valid[1] != job.submitted.reduces:
            raise self.broken(event, "not every task of it has succeeded", job)


class Lifecycles(Rule):
    """S3.  Attempts are launched, started, suspended and resumed, ended; and are booked once.  Jobs
    are submitted and finished once, and what is finished gets no more attempts from a master that
    has heard of it.
    """

    id = "S3"
    says = "only the allowed transitions, and none from an end"

    def handlers(self) -> Handlers:
        return {
            JobSubmitted: self._submitted,
            JobFinished: self._finished,
            JobResubmitted: self._resubmitted,
            AttemptLaunched: self._launched,
            AttemptStarted: self._started,
            ShuffleEnded: self._shuffled,
            AttemptStalled: self._stalled,
            StallEnded: self._stall_ended,
            AttemptSuspended: self._suspended,
            AttemptResumed: self._resumed,
            AttemptEnded: self._ended,
            AttemptClosed: self._closed,
            KillOrdered: self._kill_ordered,
            SuspendOrdered: self._suspend_ordered,
            ResumeOrdered: self._resume_ordered,
            NodeLost: self._lost,
            NodeReturned: self._returned,
        }

    def _attempt(self, event: AnyEvent, number: AttemptId) -> AttemptRecord:
        self.times += 1
        attempt = self.run_state.attempts.get(number)
        if attempt is None:
            raise self.broken(event, f"attempt {number} has ended and is booked")
        return attempt

    def _running(self, event: AnyEvent, number: AttemptId) -> AttemptRecord:
        attempt = self._attempt(event, number)
        if attempt.place is None:
            raise self.broken(event, "the attempt does not run", attempt)
        return attempt

    def _open(self, event: AnyEvent, number: AttemptId) -> AttemptRecord:
        attempt = self._attempt(event, number)
        if attempt.closed is not None:
            raise self.broken(event, "the attempt is booked already", attempt)
        return attempt

    def _submitted(self, event: JobSubmitted) -> None:
        self.times += 1
        if event.job in self.run_state.jobs:
            raise self.broken(event, "it has been submitted before", self.run_state.jobs[event.job])

    def _finished(self, event: JobFinished) -> None:
        self.times += 1
        job = self.run_state.jobs[event.job]
        if job.finished is not None:
            raise self.broken(event, "it has finished before", job)

    def _launched(self, event: AttemptLaunched) -> None:
        self.times += 1
        job = self.run_state.jobs[event.job]
        known_ms = max(job.finished_ms, self.run_state.resumed_ms)
        if job.finished is not None and event.at_ms > known_ms:
            raise self.broken(event, "the job has finished", job)
        task = job.tasks[event.kind].get(event.task)
        if task is not None and task.valid:
            raise self.broken(event, "the task is done", task)

    def _started(self, event: AttemptStarted) -> None:
        attempt = self._attempt(event, event.attempt)
        if attempt.started_ms != NEVER:
            raise self.broken(event, "it has started before", attempt)

    def _shuffled(self, event: ShuffleEnded) -> None:
        attempt = self._running(event, event.attempt)
        if attempt.shuffled or attempt.stalled or attempt.launch.kind is TaskKind.MAP:
            raise self.broken(event, "it is not in its shuffle", attempt)

    def _stalled(self, event: AttemptStalled) -> None:
        attempt = self._running(event, event.attempt)
        if attempt.stalled:
            raise self.broken(event, "it makes no progress already", attempt)

    def _stall_ended(self, event: StallEnded) -> None:
        attempt = self._running(event, event.attempt)
        if attempt.stalled is not Stall.NO_INPUT:
            raise self.broken(event, "it does not wait for its input", attempt)

    def _suspended(self, event: AttemptSuspended) -> None:
        self._running(event, event.attempt)

    def _resumed(self, event: AttemptResumed) -> None:
        attempt = self._attempt(event, event.attempt)
        if not attempt.suspended:
            raise self.broken(event, "it is not suspended", attempt)

    def _ended(self, event: AttemptEnded) -> None:
        attempt = self._attempt(event, event.attempt)
        if attempt.ended is not None:
            raise self.broken(event, "it has ended before", attempt)
        if attempt.suspended and event.outcome is not Outcome.KILLED:
            raise self.broken(event, "it is suspended", attempt)
        whole = attempt.shuffled or attempt.launch.kind is TaskKind.MAP
        if event.outcome is Outcome.SUCCEEDED and not whole:
            raise self.broken(event, "its shuffle has not ended", attempt)
        if event.outcome is Outcome.SUCCEEDED and attempt.stalled:
            raise self.broken(event, "it had come to a standstill", attempt)

    def _closed(self, event: AttemptClosed) -> None:
        self._open(event, event.attempt)

    def _kill_ordered(self, event: KillOrdered) -> None:
        attempt = self._open(event, event.attempt)
        if attempt.killing:
            raise self.broken(event, "it is being killed already", attempt)

    def _suspend_ordered(self, event: SuspendOrdered) -> None:
        attempt = self._open(event, event.attempt)
        if attempt.killing or attempt.suspending:
            raise self.broken(event, "it is giving way already", attempt)

    def _resume_ordered(self, event: ResumeOrdered) -> None:
        attempt = self._open(event, event.attempt)
        if attempt.killing or not attempt.suspending:
            raise self.broken(event, "it has not given way, or is being killed", attempt)

    def _lost(self, event: NodeLost) -> None:
        self.times += 1
        if self.run_state.nodes[event.node].lost:
            raise self.broken(event, "it is lost already")

    def _resubmitted(self, event: JobResubmitted) -> None:
        self.times += 1
        job = self.run_state.jobs.get(event.job)
        if job is None or job.finished is not None:
            raise self.broken(event, "it is not in the system", job)

    def _returned(self, event: NodeReturned) -> None:
        self.times += 1
        if not self.run_state.nodes[event.node].lost and event.at_ms != self.run_state.restarted_ms:
            raise self.broken(event, "it was not lost")


class AttemptLimits(Rule):
    """S4.  A second attempt at the same time is the copy of the first, or the first is beaten.  Of
    a job that has ended more may fail before it is stopped.
    """

    id = "S4"
    says = (
        "a task fails at most 4 times; its attempts are numbered, at most two at a time, at most 5"
        " and the killed in all"
    )

    def handlers(self) -> Handlers:
        return {
            AttemptLaunched: self._launched,
            AttemptClosed: self._closed,
            MapOutputsLost: self._undone,
        }

    def _launched(self, event: AttemptLaunched) -> None:
        self.times += 1
        if event.attempt <= self.run_state.last_attempt:
            raise self.broken(event, f"attempt {event.attempt} is no new number")
        task = self.run_state.jobs[event.job].task(event.kind, event.task)
        if event.number != task.launched:
            raise self.broken(event, f"it is said to be attempt {event.number} of its task", task)
        if task.launched >= ATTEMPTS_MAX + 1 + task.killed:
            raise self.broken(event, "the task has had too many attempts", task)
        others = [each for each in task.open if not each.beaten]
        if [each.launch.attempt for each in others] != ([event.original] if event.original else []):
            raise self.broken(event, f"it is said to be a copy of {event.original}", task, *others)
        if len(task.open) > 1:
            raise self.broken(event, "two attempts of the task run already", task)
        if event.original and others[0].launch.node == event.node:
            raise self.broken(event, "the task runs on this node already", *others)

    def _closed(self, event: AttemptClosed) -> None:
        self.times += 1
        attempt = self.run_state.attempts[event.attempt]
        task, ended = attempt.task, attempt.job.finished is not None
        if event.outcome is Outcome.FAILED and task.failed >= ATTEMPTS_MAX and not ended:
            raise self.broken(event, "the task has failed too often", task)

    def _undone(self, event: MapOutputsLost) -> None:
        job = self.run_state.jobs[event.job]
        for attempt in event.attempts if event.outcome is Outcome.FAILED else ():
            self.times += 1
            index, _ = job.outputs[attempt]
            task = job.tasks[0][index]
            if task.failed >= ATTEMPTS_MAX and job.finished is None:
                raise self.broken(event, "a map of it has failed too often", task)


class Shuffles(Rule):
    """S5.  A reduce hears that an output is gone after a latency; until then it may have fetched
    it.  Reduces that are given up, or whose job has ended, no longer hear.  Slowstart is looked
    at once: maps may be lost after it.
    """

    id = "S5"
    says = "no reduce before slowstart, and no end of a shuffle without all map outputs"
    idle = "no job has reduces"

    def begin(self, setup: Setup) -> None:
        super().begin(setup)
        self._slowstart = 0.0 if setup.tasks is None else setup.tasks.slowstart
        self._latency_ms = setup.latency_ms

    def handlers(self) -> Handlers:
        return {AttemptLaunched: self._launched, ShuffleEnded: self._shuffled}

    def _launched(self, event: AttemptLaunched) -> None:
        if event.kind is TaskKind.MAP:
            return
        self.times += 1
        job = self.run_state.jobs[event.job]
        if job.most_maps < ceil(self._slowstart * job.submitted.maps):
            raise self.broken(event, f"slowstart is {self._slowstart:g} of the maps", job)

    def _shuffled(self, event: ShuffleEnded) -> None:
        self.times += 1
        attempt = self.run_state.attempts[event.attempt]
        job = attempt.job
        lack = job.submitted.maps - job.valid[TaskKind.MAP]
        heard = job.complete_ms == NEVER or event.at_ms > job.complete_ms + self._latency_ms
        if lack and heard and job.finished is None and attempt.closed is None:
            raise self.broken(event, f"{lack} of the job's maps are not done", attempt, job)
