"""What really happens: slots, causes, dead nodes (S1, S7, S12)."""

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
    JobSubmitted,
    KillOrdered,
    LaunchExpired,
    MapOutputsLost,
    NodeLost,
    NodeReturned,
    Outcome,
    ResumeOrdered,
    RunEnded,
    ShuffleEnded,
    Stall,
    StallEnded,
    SuspendOrdered,
)
from callboard.journal.checks.rule import Handlers, Rule, Setup
from callboard.journal.run_records import NEVER, AttemptRecord
from callboard.journal.run_state import RunState
from callboard.scheduler.model import AttemptId, Millis, NodeId


class SlotExclusivity(Rule):
    """S1.  The slots that attempts hold exist, so that together they are no more than there are."""

    id = "S1"
    says = "a slot holds at most one attempt, and an attempt at most one slot, on its own node"

    def handlers(self) -> Handlers:
        return {
            AttemptStarted: self._taken,
            AttemptResumed: self._taken,
            AttemptSuspended: self._left,
        }

    def _taken(self, event: AttemptStarted | AttemptResumed) -> None:
        self.times += 1
        attempt = self.run_state.attempts[event.attempt]
        launch = attempt.launch
        node = self.run_state.nodes[launch.node]
        if event.node != launch.node:
            raise self.broken(event, f"it was launched on node-{launch.node}", attempt)
        maps = node.facts.map_slots
        first, end = (maps, maps + node.facts.reduce_slots) if launch.kind else (0, maps)
        if not first <= event.slot < end:
            raise self.broken(event, f"node-{event.node} has no such slot of this kind", attempt)
        if event.slot in node.slots:
            raise self.broken(event, "the slot is held by another attempt", node)
        if attempt.place is not None:
            raise self.broken(event, "the attempt holds another slot", attempt)

    def _left(self, event: AttemptSuspended) -> None:
        self.times += 1
        attempt = self.run_state.attempts[event.attempt]
        if attempt.place is None:
            raise self.broken(event, "the attempt holds no slot", attempt)


class Causality(Rule):
    """S7.  What a slot does was ordered, what the master books was told it; each takes its time."""

    id = "S7"
    says = "nothing has an effect before its cause"

    def begin(self, setup: Setup) -> None:
        super().begin(setup)
        self._least_ms = min(setup.latency_ms, 1)  # that a message takes

    def handlers(self) -> Handlers:
        return {
            AttemptLaunched: self._launched,
            AttemptStarted: self._started,
            ShuffleEnded: self._shuffled,
            AttemptSuspended: self._suspended,
            AttemptResumed: self._resumed,
            AttemptEnded: self._ended,
            AttemptClosed: self._closed,
            LaunchExpired: self._launch_expired,
            KillOrdered: self._known,
            SuspendOrdered: self._known,
            ResumeOrdered: self._resume_ordered,
            MapOutputsLost: self._undone,
            NodeLost: self._lost,
            JobFinished: self._job_finished,
        }

    def _attempt(self, event: AnyEvent, number: AttemptId) -> AttemptRecord | None:
        """The attempt; None for one that is over, which is S3's affair."""
        self.times += 1
        attempt = self.run_state.attempts.get(number)
        if attempt is None and not 0 < number <= self.run_state.last_attempt:
            raise self.broken(event, f"attempt {number} was never launched")
        return attempt

    def _launch_expired(self, event: LaunchExpired) -> None:
        attempt = self._attempt(event, event.attempt)
        if attempt and attempt.stalled is not Stall.NOT_BEGUN:
            raise self.broken(event, "nobody can have said that it has not begun", attempt)

    def _known(self, event: KillOrdered | SuspendOrdered) -> None:
        self._attempt(event, event.attempt)

    def _launched(self, event: AttemptLaunched) -> None:
        self.times += 1
        job = self.run_state.jobs.get(event.job)
        if job is None:
            raise self.broken(event, f"job-{event.job} has not been submitted")
        if event.node not in self.run_state.nodes:
            raise self.broken(event, f"there is no node-{event.node}")
        if event.task >= job.total(event.kind):
            raise self.broken(event, "the job has no such task", job)

    def _started(self, event: AttemptStarted) -> None:
        attempt = self._attempt(event, event.attempt)
        if attempt and event.at_ms < attempt.launch.at_ms + self._least_ms:
            raise self.broken(event, f"it was launched at {attempt.launch.at_ms} ms", attempt)

    def _runs(self, event: ShuffleEnded | AttemptEnded) -> AttemptRecord | None:
        attempt = self._attempt(event, event.attempt)
        if attempt and attempt.started_ms == NEVER:
            raise self.broken(event, "the attempt has not started", attempt)
        return attempt

    def _shuffled(self, event: ShuffleEnded) -> None:
        self._runs(event)

    def _suspended(self, event: AttemptSuspended) -> None:
        attempt = self._attempt(event, event.attempt)
        if attempt and not attempt.suspending:
            raise self.broken(event, "nobody ordered it", attempt)

    def _resumed(self, event: AttemptResumed) -> None:
        attempt = self._attempt(event, event.attempt)
        if attempt and not attempt.resuming:
            raise self.broken(event, "nobody ordered it", attempt)

    def _resume_ordered(self, event: ResumeOrdered) -> None:
        attempt = self._attempt(event, event.attempt)
        if attempt and not NEVER < attempt.suspended_ms <= event.at_ms - self._least_ms:
            raise self.broken(event, "the master cannot know that it is suspended", attempt)

    def _ended(self, event: AttemptEnded) -> None:
        attempt = self._runs(event)
        if attempt is None:
            return
        if event.started_ms != attempt.started_ms:
            raise self.broken(event, f"it began at {attempt.started_ms} ms", attempt)
        if event.outcome is Outcome.KILLED and not (attempt.killing or attempt.closed):
            node = self.run_state.nodes[attempt.launch.node]
            if not node.down:
                raise self.broken(event, "nobody ordered it, nor has its node crashed", attempt)

    def _closed(self, event: AttemptClosed) -> None:
        attempt = self._attempt(event, event.attempt)
        if attempt is None:
            return
        node = self.run_state.nodes[attempt.launch.node]
        forgotten = event.at_ms in (node.lost_ms, self.run_state.restarted_ms)
        if forgotten and event.outcome is Outcome.KILLED:
            return  # given up with its node, or by a master that begins anew
        if attempt.ended is None:
            raise self.broken(event, "it has not ended", attempt)
        if event.at_ms < attempt.ended_ms + self._least_ms:
            raise self.broken(event, "the news cannot have come yet", attempt)
        beaten = event.outcome is Outcome.KILLED and attempt.beaten
        expired = event.outcome is Outcome.FAILED and attempt.expired
        if event.outcome is not attempt.ended and not (beaten or expired):
            raise self.broken(event, "that is not how it ended", attempt)

    def _undone(self, event: MapOutputsLost) -> None:
        self.times += 1
        job = self.run_state.jobs.get(event.job)
        if job is None or any(each not in job.outputs for each in event.attempts):
            raise self.broken(event, "these maps had left no output there", job)

    def _lost(self, event: NodeLost) -> None:
        self.times += 1
        if event.heard_ms > event.at_ms:
            raise self.broken(event, "it was heard of later than now")

    def _job_finished(self, event: JobFinished) -> None:
        self.times += 1
        job = self.run_state.jobs.get(event.job)
        if job is None:
            raise self.broken(event, f"job-{event.job} has not been submitted")


class DeadNodes(Rule):
    """S12.  A node that is down, or stands still, does nothing; one that is given up has nothing.

    What strikes at an instant may come between two things of that instant.
    """

    id = "S12"
    says = "a dead node does nothing, and once given up for lost it has no attempts"

    idle = "no node failed"

    def __init__(self, run_state: RunState) -> None:
        super().__init__(run_state)
        self._just_lost: dict[NodeId, Millis] = {}

    def handlers(self) -> Handlers:
        return {
            AttemptStarted: self._acts,
            ShuffleEnded: self._acts,
            AttemptStalled: self._acts,
            StallEnded: self._acts,
            AttemptSuspended: self._acts,
            AttemptResumed: self._acts,
            AttemptEnded: self._acts,
            JobSubmitted: self._later,
            RunEnded: self._later,
            NodeLost: self._lost,
            NodeReturned: self._returned,
            AttemptLaunched: self._launched,
            AttemptClosed: self._closed,
        }

    def _acts(
        self,
        event: AttemptStarted
        | ShuffleEnded
        | AttemptStalled
        | StallEnded
        | AttemptSuspended
        | AttemptResumed
        | AttemptEnded,
    ) -> None:
        node = self.run_state.nodes[self.run_state.attempts[event.attempt].launch.node]
        if self._just_lost:
            self._later(event)
        if node.halted:
            self.times += 1
            if event.at_ms > node.halted_ms:
                what = "has been down" if node.down else "has stood still"
                raise self.broken(event, f"it {what} since {node.halted_ms} ms", node)

    def _lost(self, event: NodeLost) -> None:
        self._later(event)
        self._just_lost[event.node] = event.at_ms

    def _returned(self, event: NodeReturned) -> None:
        self._settle(event, event.node)

    def _launched(self, event: AttemptLaunched) -> None:
        if not self._just_lost and not self.run_state.nodes[event.node].lost:
            return
        self._later(event)
        self._settle(event, event.node)
        self.times += 1
        if self.run_state.nodes[event.node].lost:
            raise self.broken(event, "the node is lost", self.run_state.nodes[event.node])

    def _closed(self, event: AttemptClosed) -> None:
        if not self._just_lost:
            return
        self._later(event)
        node = self.run_state.nodes[self.run_state.attempts[event.attempt].launch.node]
        if node.lost:
            self.times += 1
            if event.outcome is not Outcome.KILLED:
                raise self.broken(event, "what is lost with a node is killed", node)

    def _later(self, event: AnyEvent) -> None:
        """At another instant than a loss nothing may be left of the lost."""
        for node in [n for n, at_ms in self._just_lost.items() if at_ms < event.at_ms]:
            self._settle(event, node)

    def _settle(self, event: AnyEvent, number: NodeId) -> None:
        if self._just_lost.pop(number, None) is None:
            return
        self.times += 1
        node = self.run_state.nodes[number]
        if node.open:
            raise self.broken(event, f"node-{number} is lost and has attempts", node)
