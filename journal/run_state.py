"""What the events of a run have said so far, kept so that every rule can be checked in O(1).

This is nobody's belief: truth (what slots, nodes and the injector tell) and belief (what the
master tells) stand side by side.  Rules look at it *before* an event is taken in.  Attempts are
forgotten when both sides are done with them, tasks with their jobs.
"""

from collections import deque
from collections.abc import Callable
from typing import Any

from callboard.actors.vocabulary.events import (
    AnyEvent,
    AttemptClosed,
    AttemptEnded,
    AttemptLaunched,
    AttemptResumed,
    AttemptStalled,
    AttemptStarted,
    AttemptSuspended,
    FaultStruck,
    JobFinished,
    JobResubmitted,
    JobSubmitted,
    KillOrdered,
    LaunchExpired,
    MapOutputsLost,
    NodeLost,
    NodeReturned,
    Outcome,
    ResumeOrdered,
    RunStarted,
    ShuffleEnded,
    Stall,
    StallEnded,
    SuspendOrdered,
)
from callboard.actors.vocabulary.faults import (
    Crash,
    MasterFault,
    NodeFault,
    PauseMaster,
    PauseNode,
    Restart,
    RestartMaster,
    ResumeMaster,
    ResumeNode,
)
from callboard.journal.run_records import NEVER, AttemptRecord, JobRecord, NodeRecord
from callboard.scheduler.model import AttemptId, JobId, Millis, NodeId

RECENT_LAUNCHES_MAX = 64
"""So many attempts that are over are remembered, for the sentences of a violation."""


class RunState:
    """All of it.  `touched` are the jobs that events have spoken of since it was last emptied."""

    def __init__(self) -> None:
        self.last_ms: Millis = 0
        self.paused = False
        """Whether the master stands still."""
        self.resumed_ms: Millis = NEVER
        """When it last went on: at that instant it acts on what it should have known before."""
        self.restarted_ms: Millis = NEVER
        """When it last began anew."""
        self._restarts = False
        self.last_attempt: AttemptId = 0
        self.nodes: dict[NodeId, NodeRecord] = {}
        self.jobs: dict[JobId, JobRecord] = {}
        self.attempts: dict[AttemptId, AttemptRecord] = {}
        self.changed_jobs: dict[JobId, JobRecord] = {}
        self.recent_launches: deque[AttemptLaunched] = deque(maxlen=RECENT_LAUNCHES_MAX)
        self.take: dict[type[AnyEvent], Callable[[Any], None]] = {
            RunStarted: self._run_started,
            JobSubmitted: self._job_submitted,
            AttemptLaunched: self._launched,
            AttemptStarted: self._started,
            ShuffleEnded: self._shuffled,
            AttemptStalled: self._stalled,
            StallEnded: self._stall_ended,
            LaunchExpired: self._expired,
            AttemptSuspended: self._suspended,
            AttemptResumed: self._resumed,
            AttemptEnded: self._ended,
            AttemptClosed: self._closed,
            KillOrdered: self._kill_ordered,
            SuspendOrdered: self._suspend_ordered,
            ResumeOrdered: self._resume_ordered,
            FaultStruck: self._struck,
            NodeLost: self._lost,
            NodeReturned: self._returned,
            MapOutputsLost: self._undone,
            JobResubmitted: self._resubmitted,
            JobFinished: self._job_finished,
        }

    def _run_started(self, event: RunStarted) -> None:
        self.nodes = {facts.node: NodeRecord(facts) for facts in event.nodes}

    def _job_submitted(self, event: JobSubmitted) -> None:
        self.changed_jobs[event.job] = self.jobs[event.job] = JobRecord(event)

    def _launched(self, event: AttemptLaunched) -> None:
        kind = event.kind
        job = self.changed_jobs[event.job] = self.jobs[event.job]
        task = job.task(kind, event.task)
        attempt = self.attempts[event.attempt] = AttemptRecord(event, job, task)
        self.last_attempt = event.attempt
        self.nodes[event.node].open += 1
        task.launched += 1
        job.open[kind] += 1
        if not task.alive:
            job.busy[kind] += 1
        task.alive += 1
        task.open.append(attempt)

    def _started(self, event: AttemptStarted) -> None:
        attempt = self.attempts[event.attempt]
        attempt.started_ms = event.at_ms
        self._hold(attempt, event.slot)

    def _shuffled(self, event: ShuffleEnded) -> None:
        self.attempts[event.attempt].shuffled = True

    def _stalled(self, event: AttemptStalled) -> None:
        self.attempts[event.attempt].stalled = event.why

    def _stall_ended(self, event: StallEnded) -> None:
        self.attempts[event.attempt].stalled = None

    def _expired(self, event: LaunchExpired) -> None:
        self.attempts[event.attempt].expired = True

    def _suspended(self, event: AttemptSuspended) -> None:
        attempt = self.attempts[event.attempt]
        self._release(attempt)
        if attempt.stalled is not Stall.HANGS:
            attempt.stalled = None  # when it goes on it tries to begin again
        attempt.suspended = True
        attempt.suspended_ms = event.at_ms

    def _resumed(self, event: AttemptResumed) -> None:
        attempt = self.attempts[event.attempt]
        attempt.suspended = attempt.resuming = False
        self._hold(attempt, event.slot)

    def _ended(self, event: AttemptEnded) -> None:
        attempt = self.attempts[event.attempt]
        if attempt.place is not None:
            self._release(attempt)
        attempt.suspended = False
        attempt.ended, attempt.ended_ms = event.outcome, event.at_ms
        if attempt.closed is not None:
            self._forget(attempt)

    def _closed(self, event: AttemptClosed) -> None:
        attempt = self.attempts[event.attempt]
        launch, job, task = attempt.launch, attempt.job, attempt.task
        kind = launch.kind
        self.changed_jobs[launch.job] = job
        attempt.closed = event.outcome
        self.nodes[launch.node].open -= 1
        job.open[kind] -= 1
        task.open.remove(attempt)
        was_busy = task.alive > 0
        task.alive -= not attempt.beaten
        if event.outcome is Outcome.SUCCEEDED:
            task.valid, task.succeeded = event.attempt, True
            for each in task.open:
                each.beaten = True
            task.alive = 0
            job.valid[kind] += 1
            if not kind:
                job.most_maps = max(job.most_maps, job.valid[0])
                if job.submitted.reduces:
                    job.outputs[event.attempt] = launch.task, launch.node
        elif event.outcome is Outcome.FAILED:
            task.failed += 1
        else:
            task.killed += 1
        if was_busy and not task.alive:
            job.busy[kind] -= 1
        if attempt.ended is not None:
            self._forget(attempt)

    def _kill_ordered(self, event: KillOrdered) -> None:
        self.attempts[event.attempt].killing = True

    def _suspend_ordered(self, event: SuspendOrdered) -> None:
        self.attempts[event.attempt].suspending = True

    def _resume_ordered(self, event: ResumeOrdered) -> None:
        attempt = self.attempts[event.attempt]
        attempt.suspending, attempt.resuming = False, True

    def _struck(self, event: FaultStruck) -> None:
        """As `actors.worker.machine` bears it: what makes no sense does nothing."""
        fault = event.fault
        if isinstance(fault, MasterFault):
            self._strike_master(fault, event.at_ms)
        if not isinstance(fault, NodeFault):
            return
        node = self.nodes[fault.node]
        match fault:
            case Crash() if not node.down:
                node.down = node.halted = True
                node.halted_ms = event.at_ms
            case Restart() if node.down:
                node.down = node.halted = False
            case PauseNode() if not node.halted:
                node.halted, node.halted_ms = True, event.at_ms
            case ResumeNode() if node.halted and not node.down:
                node.halted = False
            case _:
                pass

    def _strike_master(self, fault: MasterFault, at_ms: Millis) -> None:
        """When it begins anew the master books whatever is open as killed and knows of no loss; in
        a pause it does that when it goes on.
        """
        match fault:
            case PauseMaster():
                self.paused = True
            case ResumeMaster() if self.paused:
                self.paused, self.resumed_ms = False, at_ms
            case _:
                pass
        if isinstance(fault, RestartMaster):
            self._restarts = True
        if self._restarts and not self.paused:
            self._restarts, self.restarted_ms = False, at_ms
            for node in self.nodes.values():
                node.lost = False

    def _resubmitted(self, event: JobResubmitted) -> None:
        """All of it runs again; attempts that go on are of a job that is over."""
        self.changed_jobs[event.job] = self.jobs[event.job] = JobRecord(
            self.jobs[event.job].submitted
        )

    def _lost(self, event: NodeLost) -> None:
        node = self.nodes[event.node]
        node.lost, node.lost_ms = True, event.at_ms

    def _returned(self, event: NodeReturned) -> None:
        self.nodes[event.node].lost = False

    def _undone(self, event: MapOutputsLost) -> None:
        job = self.changed_jobs[event.job] = self.jobs[event.job]
        if job.valid[0] == job.submitted.maps:
            job.complete_ms = event.at_ms
        if job.undone_ms != event.at_ms:
            job.undone_ms, job.undone_now = event.at_ms, 0
        job.undone_now += len(event.attempts)
        job.valid[0] -= len(event.attempts)
        for attempt in event.attempts:
            index, _ = job.outputs.pop(attempt)
            task = job.tasks[0][index]
            task.valid = 0
            if event.outcome is Outcome.FAILED:
                task.failed += 1
            else:
                task.killed += 1

    def _job_finished(self, event: JobFinished) -> None:
        job = self.changed_jobs[event.job] = self.jobs[event.job]
        job.finished, job.finished_ms = event.outcome, event.at_ms

    def _hold(self, attempt: AttemptRecord, slot: int) -> None:
        attempt.place = slot
        self.nodes[attempt.launch.node].slots[slot] = attempt.launch.attempt

    def _release(self, attempt: AttemptRecord) -> None:
        assert attempt.place is not None
        del self.nodes[attempt.launch.node].slots[attempt.place]
        attempt.place = None

    def _forget(self, attempt: AttemptRecord) -> None:
        """Truth and belief are both done with it."""
        launch = attempt.launch
        del self.attempts[launch.attempt]
        self.recent_launches.append(launch)

    def leave(self, job: JobRecord) -> None:
        """Drop what is kept of a job that has left; that it was there is remembered."""
        if job.tasks[0] or job.tasks[1]:
            job.tasks = ({}, {})
            job.outputs.clear()

    def launches(self) -> dict[AttemptId, AttemptLaunched]:
        """The launches of the attempts that are still spoken of, and of the latest others."""
        known = {launch.attempt: launch for launch in self.recent_launches}
        return known | {number: each.launch for number, each in self.attempts.items()}
