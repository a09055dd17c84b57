"""A run as one can wind it: every event so far, kept as bytes, with snapshots of the stage.

A million events take some 80 MB.  To go anywhere is to copy the snapshot before it and to observe
at most `_SNAPSHOT_EVERY` events (more in a very long run).
"""

from array import array
from bisect import bisect_right
from collections.abc import Callable
from typing import Any

import msgspec

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
    JobBlacklistedNode,
    JobChanged,
    JobFinished,
    JobResubmitted,
    JobSubmitted,
    KillOrdered,
    LaunchExpired,
    MapOutputsLost,
    NodeBlacklisted,
    NodeLost,
    NodeReturned,
    NodeUnblacklisted,
    OrderSwitched,
    Outcome,
    ResumeOrdered,
    RunEnded,
    RunStarted,
    ShuffleEnded,
    StallEnded,
    SuspendOrdered,
)
from callboard.actors.vocabulary.faults import JobFault, NodeFault
from callboard.journal.replay.cluster_state import ClusterState
from callboard.journal.replay.frame import LogLevel, Mark, SlotState
from callboard.journal.replay.history import RunHistory
from callboard.journal.replay.insight import Insight
from callboard.journal.replay.job_oracle import MakeOracle
from callboard.scheduler.model import AttemptId, JobId, Millis

_SNAPSHOT_EVERY = 16_384
_SNAPSHOTS_MAX = 96
NO_SUBJECT = -1

_HEADLINES, _DECISIONS, _ALL = LogLevel
LOG_LEVELS: dict[type[AnyEvent], LogLevel] = {
    RunStarted: _HEADLINES,
    JobSubmitted: _HEADLINES,
    AttemptLaunched: _DECISIONS,
    AttemptStarted: _ALL,
    AttemptStalled: _ALL,
    StallEnded: _ALL,
    LaunchExpired: _HEADLINES,
    ShuffleEnded: _ALL,
    AttemptSuspended: _ALL,
    AttemptResumed: _ALL,
    AttemptEnded: _ALL,
    AttemptClosed: _ALL,
    KillOrdered: _DECISIONS,
    SuspendOrdered: _DECISIONS,
    ResumeOrdered: _DECISIONS,
    OrderSwitched: _HEADLINES,
    FaultStruck: _HEADLINES,
    NodeLost: _HEADLINES,
    MapOutputsLost: _HEADLINES,
    NodeReturned: _HEADLINES,
    JobBlacklistedNode: _HEADLINES,
    NodeBlacklisted: _HEADLINES,
    NodeUnblacklisted: _HEADLINES,
    JobChanged: _HEADLINES,
    JobResubmitted: _HEADLINES,
    JobFinished: _HEADLINES,
    RunEnded: _HEADLINES,
}
"""How much the log must tell for an event to be in it."""

EVENT_MARKS: dict[type[AnyEvent], Mark] = {
    KillOrdered: Mark.PREEMPTION,
    SuspendOrdered: Mark.PREEMPTION,
    FaultStruck: Mark.FAULT,
    NodeLost: Mark.LOST,
    NodeReturned: Mark.RETURNED,
}

EVENT_TYPES: tuple[type[AnyEvent], ...] = AnyEvent.__args__
EVENT_NUMBERS = {kind: number for number, kind in enumerate(EVENT_TYPES)}
_MARKED = frozenset(EVENT_NUMBERS[kind] for kind in EVENT_MARKS)
_OfAttempt = (
    AttemptStarted
    | AttemptResumed
    | AttemptStalled
    | StallEnded
    | LaunchExpired
    | AttemptEnded
    | AttemptSuspended
    | AttemptClosed
    | KillOrdered
    | SuspendOrdered
    | ResumeOrdered
    | ShuffleEnded
)
_decode = msgspec.msgpack.Decoder[AnyEvent](AnyEvent).decode


class OccupancyLog:
    """Every time that an attempt took a slot: columns, in the order of their beginnings."""

    def __init__(self) -> None:
        self.node, self.slot = array("i"), array("i")
        self.job, self.task = array("i"), array("i")
        self.state = array("b")
        self.map_slot = array("b")
        """1 for a stint in a map slot."""
        self.began_ms, self.ended_ms = array("q"), array("q")
        """-1 while it lasts."""
        self.shuffled_ms = array("q")
        """When a reduce had all map outputs in it; -1 while that has not been."""
        self.wasted = array("b")
        """1 where the attempt has failed or was killed."""
        self.open: dict[AttemptId, int] = {}

    def begin(
        self,
        event: AttemptStarted | AttemptResumed,
        job: JobId,
        task: int,
        state: SlotState,
        map_slot: bool,
    ) -> None:
        self.open[event.attempt] = len(self.began_ms)
        self.node.append(event.node)
        self.slot.append(event.slot)
        self.job.append(job)
        self.task.append(task)
        self.state.append(state)
        self.map_slot.append(map_slot)
        self.began_ms.append(event.at_ms)
        self.ended_ms.append(-1)
        self.shuffled_ms.append(-1)
        self.wasted.append(0)

    def shuffled(self, attempt: AttemptId, at_ms: Millis) -> None:
        place = self.open.get(attempt)
        if place is not None:
            self.shuffled_ms[place] = at_ms

    def end(self, attempt: AttemptId, at_ms: Millis, wasted: bool) -> None:
        place = self.open.pop(attempt, None)
        if place is not None:
            self.ended_ms[place] = at_ms
            self.wasted[place] = wasted


class Recording:
    """The events of one run; `append` takes the next one in, `state_at` goes to any of them.

    `tip` is the stage after the last event and `end_ms` how far the run is known, which for a run
    that still goes on may be later than its last event.  Columns have one entry an event.
    `make_oracle` knows the true sizes of jobs.
    """

    def __init__(self, make_oracle: MakeOracle | None = None) -> None:
        self._make_oracle = make_oracle
        self.started: RunStarted | None = None
        self.insight: Insight | None = None
        self.ended: RunEnded | None = None
        self.last_state = ClusterState()
        self.end_ms: Millis = 0
        self.closed = False
        """Whether no more events will come."""
        self.failure = ""
        """What made the run fail, if it did."""
        self.history = RunHistory()
        self.occupancies = OccupancyLog()
        self.launched: dict[AttemptId, int] = {}
        """Which event launched an attempt."""
        self.times = array("q")
        self.kinds = bytearray()
        self.jobs = array("i")
        self.nodes = array("i")
        self._data = bytearray()
        self._begins = array("q", (0,))
        self._encode = msgspec.msgpack.Encoder().encode
        self._spacing = _SNAPSHOT_EVERY
        self._snapshots: list[ClusterState] = [ClusterState()]
        self._nearest_state = ClusterState()
        """The stage that was asked for last; it is nearer than a snapshot to what comes next."""
        subjects: dict[type[AnyEvent], Callable[[Any], tuple[int, int]]] = {
            RunStarted: self._of_run,
            RunEnded: self._of_run,
            OrderSwitched: self._of_run,
            JobSubmitted: self._of_job,
            JobFinished: self._of_job,
            AttemptLaunched: self._of_launch,
            AttemptStarted: self._of_start,
            AttemptResumed: self._of_start,
            AttemptEnded: self._of_stop,
            AttemptSuspended: self._of_stop,
            ShuffleEnded: self._of_shuffle,
            FaultStruck: self._of_fault,
            MapOutputsLost: self._of_outputs,
            JobBlacklistedNode: self._of_outputs,
            JobChanged: self._of_job,
            JobResubmitted: self._of_job,
            NodeLost: self._of_node,
            NodeReturned: self._of_node,
            NodeBlacklisted: self._of_node,
            NodeUnblacklisted: self._of_node,
        }
        self._subjects = [subjects.get(kind, self._of_attempt) for kind in EVENT_TYPES]

    def __len__(self) -> int:
        return len(self.times)

    def append(self, event: AnyEvent) -> None:
        """Take the next event in."""
        at_ms, kind, last_state = event.at_ms, type(event), self.last_state
        if at_ms >= self.history.next_sample_ms:
            self.history.sample(at_ms, last_state)
        number = EVENT_NUMBERS[kind]
        job, node = self._subjects[number](event)
        if number in _MARKED and not (kind is KillOrdered and event.why.reason.is_the_masters):  # type: ignore[union-attr]
            self.history.mark(at_ms, EVENT_MARKS[kind])
        self._data += self._encode(event)
        self._begins.append(len(self._data))
        self.times.append(at_ms)
        self.kinds.append(number)
        self.jobs.append(job)
        self.nodes.append(node)
        last_state.observe(event)
        self.end_ms = at_ms
        if last_state.index % self._spacing == 0:
            self._keep(last_state.copy())

    # Whom an event is about: its job and its node.  Some is filed here to be looked up later.

    def _of_run(self, event: RunStarted | RunEnded | OrderSwitched) -> tuple[int, int]:
        if type(event) is RunStarted:
            self.started = event
            self.insight = Insight(event, self._make_oracle)
        elif type(event) is RunEnded:
            self.ended = event
            self.closed = True
        return NO_SUBJECT, NO_SUBJECT

    def _of_job(self, event: JobSubmitted | JobFinished) -> tuple[int, int]:
        return event.job, NO_SUBJECT

    def _of_launch(self, event: AttemptLaunched) -> tuple[int, int]:
        self.launched[event.attempt] = len(self.times)
        return event.job, event.node

    def _of_attempt(self, event: _OfAttempt) -> tuple[int, int]:
        attempt = self.last_state.live_attempts.get(event.attempt)
        if attempt is not None:
            return attempt.launch.job, attempt.launch.node
        launch = self.launched.get(event.attempt)
        return (
            (NO_SUBJECT, NO_SUBJECT) if launch is None else (self.jobs[launch], self.nodes[launch])
        )

    def _of_start(self, event: AttemptStarted | AttemptResumed) -> tuple[int, int]:
        job, node = self._of_attempt(event)
        attempt, first = (
            self.last_state.live_attempts.get(event.attempt),
            self.last_state.first[event.node],
        )
        attempt = attempt or self.last_state.orphans.get(event.attempt)
        state = SlotState.ORPHAN if attempt is None else attempt.state
        task = NO_SUBJECT if attempt is None else attempt.launch.task
        map_slot = not self.last_state.reduce_slots[first + event.slot]
        self.occupancies.begin(event, job, task, state, map_slot)
        return job, node

    def _of_stop(self, event: AttemptEnded | AttemptSuspended) -> tuple[int, int]:
        lost = type(event) is AttemptEnded and event.outcome is not Outcome.SUCCEEDED
        self.occupancies.end(event.attempt, event.at_ms, lost)
        return self._of_attempt(event)

    def _of_shuffle(self, event: ShuffleEnded) -> tuple[int, int]:
        self.occupancies.shuffled(event.attempt, event.at_ms)
        return self._of_attempt(event)

    def _of_node(
        self, event: NodeLost | NodeReturned | NodeBlacklisted | NodeUnblacklisted
    ) -> tuple[int, int]:
        return NO_SUBJECT, event.node

    def _of_outputs(self, event: MapOutputsLost | JobBlacklistedNode) -> tuple[int, int]:
        return event.job, event.node

    def _of_fault(self, event: FaultStruck) -> tuple[int, int]:
        if isinstance(event.fault, JobFault):
            return event.fault.job, NO_SUBJECT
        return NO_SUBJECT, event.fault.node if isinstance(event.fault, NodeFault) else NO_SUBJECT

    def _keep(self, cluster: ClusterState) -> None:
        """Keep a snapshot; of too many every other one goes."""
        self._snapshots.append(cluster)
        if len(self._snapshots) > _SNAPSHOTS_MAX:
            self._snapshots = self._snapshots[::2]
            self._spacing *= 2

    # Reading.

    def event(self, index: int) -> AnyEvent:
        """Event number `index`, from 0."""
        found: AnyEvent = _decode(
            memoryview(self._data)[self._begins[index] : self._begins[index + 1]]
        )
        return found

    def raw(self, index: int) -> bytes:
        """Event number `index` as it is kept; two tapes keep equal events as equal bytes."""
        return bytes(self._data[self._begins[index] : self._begins[index + 1]])

    def index_at(self, at_ms: Millis) -> int:
        """How many events have happened by the end of that millisecond."""
        return bisect_right(self.times, at_ms)

    def state_at(self, index: int) -> ClusterState:
        """The stage after the first `index` events.  It is lent: the next call may change it."""
        if index == len(self.times):
            return self.last_state
        place = min(index // self._spacing, len(self._snapshots) - 1)
        if not self._snapshots[place].index <= self._nearest_state.index <= index:
            self._nearest_state = self._snapshots[place].copy()
        state, begins = self._nearest_state, self._begins
        data = memoryview(self._data)
        for each in range(state.index, index):
            state.observe(_decode(data[begins[each] : begins[each + 1]]))
        return state
