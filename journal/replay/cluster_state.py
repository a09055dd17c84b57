"""The cluster at one moment, folded from events one by one.

A `ClusterState` is what `Metrics` is not: it forgets.  Its size is that of the cluster and of the
list of jobs, whatever has happened on it, so it can be copied (`copy`) and kept as a snapshot.
"""

from array import array
from collections.abc import Callable, Sequence
from typing import Any, Self

import msgspec

from callboard.actors.network import HEALTHY
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
    JobChanged,
    JobFinished,
    JobResubmitted,
    JobSubmitted,
    KillOrdered,
    MapOutputsLost,
    NodeFacts,
    NodeLost,
    NodeReturned,
    Outcome,
    RunEnded,
    RunStarted,
    ShuffleEnded,
    StallEnded,
    SuspendOrdered,
)
from callboard.actors.vocabulary.faults import (
    Crash,
    Disturb,
    Drain,
    MasterFault,
    NodeFault,
    Partition,
    PauseMaster,
    PauseNode,
    Restart,
    ResumeNode,
    Slow,
    SwitchPolicy,
)
from callboard.journal.replay.frame import NodeStatus, SlotState
from callboard.journal.replay.job_stats import JobStatsTable
from callboard.scheduler.model import AttemptId, Millis, TaskKind

_NO_SLOT = -1


class LiveAttempt(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An attempt that the master counts, or that really runs, or both.

    `place` is its slot's among all slots, -1 while it has none; `since_ms` is when it took it;
    `held_ms` is how long it has held slots in earlier stints; `over` says that it really ended;
    `shuffled_ms` is how long a reduce fetched map outputs, once it has all.
    """

    launch: AttemptLaunched
    state: SlotState
    place: int
    since_ms: Millis
    held_ms: Millis
    over: bool
    shuffled_ms: Millis = 0


class ClusterState:
    """Everything that is so at one moment of a run; `observe` takes the next event in.

    `now_ms` is the time of the last event, `index` how many there were.  The areas are slot time
    in ms up to `now_ms`: `busy_ms` that slots of a kind were held, `jobs_ms` that jobs were in the
    system, `wasted_ms` that was held by attempts which failed or were killed.
    """

    def __init__(self) -> None:
        self.now_ms: Millis = 0
        self.index = 0
        self.policy = ""
        """The one in force."""
        self.first: list[int] = [0]
        """Where each node's slots begin among all."""
        self.slots = [0, 0]
        """How many there are of each kind."""
        self.reduce_slots = b""
        """1 for each slot that is one for reduces."""
        self.states = bytearray()
        self.owners = array("i")
        self.since = array("q")
        self.holders = array("q")
        self.node_status = bytearray()
        self.lost = bytearray()
        self.suspended_by_node = bytearray()
        self.slow: dict[int, float] = {}
        self.jobs = JobStatsTable()
        self.live_attempts: dict[AttemptId, LiveAttempt] = {}
        """What the master counts as running or suspended."""
        self.orphans: dict[AttemptId, LiveAttempt] = {}
        """What it has given up, though nobody has stopped it."""
        self.busy = [0, 0]
        self.in_system = 0
        self.suspended = 0
        self.ghosts = 0
        self.busy_ms = [0, 0]
        self.jobs_ms = 0
        self.wasted_ms = 0
        self.levels = [0, 0, 0]
        """Maps launched, by locality."""
        self.preempted = 0
        self.master_still = False
        self.stalls: dict[AttemptId, AttemptStalled] = {}
        """What stands still in its slot, and since when and why."""
        self._take: dict[type[AnyEvent], Callable[[Any], None]] = {
            RunStarted: self._run_started,
            JobSubmitted: self._job_submitted,
            AttemptLaunched: self._launched,
            AttemptStarted: self._started,
            ShuffleEnded: self._shuffled,
            AttemptSuspended: self._suspended,
            AttemptResumed: self._started,
            AttemptEnded: self._ended,
            AttemptClosed: self._closed,
            KillOrdered: self._must_go,
            SuspendOrdered: self._must_go,
            FaultStruck: self._struck,
            NodeLost: self._node_lost,
            MapOutputsLost: self._undone,
            JobChanged: self._job_changed,
            AttemptStalled: self._stalled,
            StallEnded: self._stall_ended,
            JobResubmitted: self._resubmitted,
            NodeReturned: self._node_returned,
            JobFinished: self._job_finished,
            RunEnded: self._nothing,
        }

    def copy(self) -> Self:
        """A stage of its own with the same on it."""
        twin = type(self)()
        for name, value in vars(self).items():
            if name == "_take":
                continue
            vars(twin)[name] = value if name == "first" else _copied(value)
        return twin

    def observe(self, event: AnyEvent) -> None:
        """Take in the next event."""
        at_ms = event.at_ms
        passed = at_ms - self.now_ms
        if passed:
            self.busy_ms[0] += self.busy[0] * passed
            self.busy_ms[1] += self.busy[1] * passed
            self.jobs_ms += self.in_system * passed
            self.now_ms = at_ms
        self.index += 1
        self._take.get(type(event), self._nothing)(event)

    def _nothing(self, event: AnyEvent) -> None:
        """It changes nothing that is shown here."""

    # The run and its jobs.

    def _run_started(self, event: RunStarted) -> None:
        self.policy = event.policy
        self.first = slot_offsets(event.nodes)
        self.slots = [
            sum(n.map_slots for n in event.nodes),
            sum(n.reduce_slots for n in event.nodes),
        ]
        slots, nodes = self.first[-1], len(self.first) - 1
        self.reduce_slots = b"".join(
            bytes(n.map_slots) + b"\1" * n.reduce_slots for n in event.nodes
        )
        self.states = bytearray(slots)
        self.owners = array("i", bytes(4 * slots))
        self.since = array("q", bytes(8 * slots))
        self.holders = array("q", bytes(8 * slots))
        self.node_status, self.lost, self.suspended_by_node = (
            bytearray(nodes),
            bytearray(nodes),
            bytearray(nodes),
        )

    def _job_submitted(self, event: JobSubmitted) -> None:
        self.in_system += 1
        self.jobs.submit(event)

    def _job_changed(self, event: JobChanged) -> None:
        self.jobs.change(event)

    def _job_finished(self, event: JobFinished) -> None:
        self.in_system -= 1
        self.jobs.finish(event)

    # Attempts.

    def _launched(self, event: AttemptLaunched) -> None:
        if event.original:
            state = SlotState.COPY
        else:
            state = SlotState.SHUFFLE if event.kind else SlotState.MAP
        self.live_attempts[event.attempt] = LiveAttempt(event, state, _NO_SLOT, 0, 0, False)
        self.jobs.launch(event)
        if event.kind is TaskKind.MAP:
            self.levels[event.level] += 1

    def _started(self, event: AttemptStarted | AttemptResumed) -> None:
        attempts = self.live_attempts if event.attempt in self.live_attempts else self.orphans
        attempt = attempts.get(event.attempt)
        if attempt is None:
            return
        place, launch = self.first[event.node] + event.slot, attempt.launch
        if type(event) is AttemptResumed:
            self.suspended -= 1
            self.suspended_by_node[event.node] -= self.suspended_by_node[event.node] > 0
            self.jobs.suspend(launch.job, -1)
        attempts[event.attempt] = LiveAttempt(
            launch, attempt.state, place, event.at_ms, attempt.held_ms, False, attempt.shuffled_ms
        )
        self.states[place] = attempt.state if attempts is self.live_attempts else SlotState.ORPHAN
        self.owners[place] = launch.job + 1
        self.since[place] = event.at_ms
        self.holders[place] = event.attempt
        self.busy[launch.kind] += 1

    def _shuffled(self, event: ShuffleEnded) -> None:
        attempt = self.live_attempts.get(event.attempt)
        if attempt is None or attempt.state is not SlotState.SHUFFLE:
            return
        shuffled_ms = attempt.held_ms + event.at_ms - attempt.since_ms
        self.live_attempts[event.attempt] = LiveAttempt(
            attempt.launch,
            SlotState.REDUCE,
            attempt.place,
            attempt.since_ms,
            attempt.held_ms,
            attempt.over,
            shuffled_ms,
        )
        if attempt.place != _NO_SLOT and self.holders[attempt.place] == event.attempt:
            self.states[attempt.place] = SlotState.REDUCE

    def _leaves(self, attempt: LiveAttempt, at_ms: Millis, leaving: SlotState) -> Millis:
        """The attempt gives its slot up, which is `leaving` from now on; how long it held slots."""
        if attempt.place == _NO_SLOT:
            return attempt.held_ms
        self.busy[attempt.launch.kind] -= 1
        self.states[attempt.place] = leaving
        self.since[attempt.place] = at_ms
        if leaving is SlotState.IDLE:
            self.owners[attempt.place] = 0
        return attempt.held_ms + at_ms - attempt.since_ms

    def _suspended(self, event: AttemptSuspended) -> None:
        attempts = self.live_attempts if event.attempt in self.live_attempts else self.orphans
        attempt = attempts.get(event.attempt)
        if attempt is None:
            return
        held_ms = self._leaves(attempt, event.at_ms, SlotState.IDLE)
        attempts[event.attempt] = LiveAttempt(
            attempt.launch,
            attempt.state,
            _NO_SLOT,
            event.at_ms,
            held_ms,
            False,
            attempt.shuffled_ms,
        )
        node = attempt.launch.node
        self.suspended_by_node[node] = min(self.suspended_by_node[node] + 1, 255)
        self.suspended += 1
        self.jobs.suspend(attempt.launch.job, 1)

    def _stalled(self, event: AttemptStalled) -> None:
        self.stalls[event.attempt] = event

    def _stall_ended(self, event: StallEnded | AttemptEnded) -> None:
        self.stalls.pop(event.attempt, None)

    def _ended(self, event: AttemptEnded) -> None:
        self._stall_ended(event)
        attempt = self.live_attempts.get(event.attempt)
        if attempt is None:
            orphan = self.orphans.pop(event.attempt, None)
            if orphan is not None:
                self._leaves(orphan, event.at_ms, SlotState.IDLE)
                self._unhold(orphan)
            return
        held_ms = self._leaves(attempt, event.at_ms, SlotState.GHOST)
        self._unhold(attempt)
        self.ghosts += attempt.place != _NO_SLOT
        self.live_attempts[event.attempt] = LiveAttempt(
            attempt.launch,
            attempt.state,
            attempt.place,
            event.at_ms,
            held_ms,
            True,
            attempt.shuffled_ms,
        )

    def _unhold(self, attempt: LiveAttempt) -> None:
        """An attempt that its node kept in memory is there no more."""
        if attempt.place == _NO_SLOT and attempt.since_ms:
            self.suspended -= 1
            self.suspended_by_node[attempt.launch.node] -= (
                self.suspended_by_node[attempt.launch.node] > 0
            )
            self.jobs.suspend(attempt.launch.job, -1)

    def _closed(self, event: AttemptClosed) -> None:
        attempt = self.live_attempts.pop(event.attempt, None)
        if attempt is None:
            return
        held_ms = attempt.held_ms
        if attempt.over:
            if attempt.place != _NO_SLOT:
                self.ghosts -= 1
                if self.holders[attempt.place] == event.attempt:
                    self.states[attempt.place] = SlotState.IDLE
                    self.owners[attempt.place] = 0
        else:
            self.orphans[event.attempt] = attempt
            if attempt.place != _NO_SLOT:
                held_ms += event.at_ms - attempt.since_ms
                self.states[attempt.place] = SlotState.ORPHAN
        self.jobs.close(attempt.launch, event.outcome, held_ms, attempt.shuffled_ms)
        if event.outcome is not Outcome.SUCCEEDED:
            self.wasted_ms += held_ms

    def _must_go(self, event: KillOrdered | SuspendOrdered) -> None:
        attempt = self.live_attempts.get(event.attempt)
        if attempt is not None and not event.why.reason.is_the_masters:
            self.preempted += 1
            self.jobs.preempt(attempt.launch.job, event)

    def _undone(self, event: MapOutputsLost) -> None:
        self.jobs.undo(event)

    def _resubmitted(self, event: JobResubmitted) -> None:
        self.jobs.resubmit(event)

    # Machines and links, and what the master believes of them.

    def _struck(self, event: FaultStruck) -> None:
        match event.fault:
            case SwitchPolicy(policy=policy):
                self.policy = policy
            case MasterFault() as fault:
                self.master_still = isinstance(fault, PauseMaster)
            case NodeFault() as fault:
                self._node_struck(fault, event.at_ms)
            case _:
                pass  # of a job: what comes of it is told by other events

    def _node_struck(self, fault: NodeFault, at_ms: Millis) -> None:
        node, truth = fault.node, self.node_status[fault.node]
        match fault:
            case Crash():  # it is as slow, and its links are as they were, when it is back
                truth = truth & ~NodeStatus.PAUSED | NodeStatus.DOWN
                truth |= 0 if at_ms else NodeStatus.ABSENT
            case Restart():
                truth &= ~(NodeStatus.DOWN | NodeStatus.ABSENT)
            case PauseNode() if not truth & NodeStatus.DOWN:
                truth |= NodeStatus.PAUSED
            case ResumeNode():
                truth &= ~NodeStatus.PAUSED
            case Slow():
                self.slow[node] = fault.factor
                truth = truth | NodeStatus.SLOW if fault.factor != 1 else truth & ~NodeStatus.SLOW
            case Disturb():
                well = type(fault) is Disturb and fault.up == fault.down == HEALTHY
                truth = truth & ~NodeStatus.CUT if well else truth | NodeStatus.CUT
            case Partition():
                truth = truth | NodeStatus.APART if fault.others else truth & ~NodeStatus.APART
            case Drain():
                truth = truth | NodeStatus.DRAINED if fault.out else truth & ~NodeStatus.DRAINED
        self.node_status[node] = truth

    def _node_lost(self, event: NodeLost) -> None:
        self.lost[event.node] = 1

    def _node_returned(self, event: NodeReturned) -> None:
        self.lost[event.node] = 0


def slot_offsets(nodes: Sequence[NodeFacts]) -> list[int]:
    """Where each node's slots begin among all; the last entry is how many slots there are."""
    first = [0]
    for facts in nodes:
        first.append(first[-1] + facts.map_slots + facts.reduce_slots)
    return first


def _copied(value: Any) -> Any:
    """A container's own copy; what it holds is never changed in place."""
    if isinstance(value, JobStatsTable):
        return value.copy()
    if isinstance(value, list | bytearray | array):
        return value[:]
    return dict(value) if isinstance(value, dict) else value
