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
    JobChanged,
    JobFinished,
    JobResubmitted,
    JobSubmitted,
    KillOrdered,
    LaunchExpired,
    MapsUndone,
    NodeCleared,
    NodeListed,
    NodeLost,
    NodeReturned,
    NodeShunned,
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
from callboard.scheduler.model import AttemptId, JobId, Millis
from callboard.tui.frame import LogLevel, Mark, SlotState
from callboard.tui.history import History
from callboard.tui.insight import Insight
from callboard.tui.stage import Stage

_SNAPSHOT_EVERY = 16_384
_SNAPSHOTS_MAX = 96
NOBODY = -1

_HEADLINES, _DECISIONS, _ALL = LogLevel
LEVELS: dict[type[AnyEvent], LogLevel] = {
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
    MapsUndone: _HEADLINES,
    NodeReturned: _HEADLINES,
    NodeShunned: _HEADLINES,
    NodeListed: _HEADLINES,
    NodeCleared: _HEADLINES,
    JobChanged: _HEADLINES,
    JobResubmitted: _HEADLINES,
    JobFinished: _HEADLINES,
    RunEnded: _HEADLINES,
}
"""How much the log must tell for an event to be in it."""

MARKS: dict[type[AnyEvent], Mark] = {
    KillOrdered: Mark.PREEMPTION,
    SuspendOrdered: Mark.PREEMPTION,
    FaultStruck: Mark.FAULT,
    NodeLost: Mark.LOST,
    NodeReturned: Mark.RETURNED,
}

KINDS: tuple[type[AnyEvent], ...] = AnyEvent.__args__
NUMBERS = {kind: number for number, kind in enumerate(KINDS)}
_MARKED = frozenset(NUMBERS[kind] for kind in MARKS)
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


class Stints:
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
        self.lost = array("b")
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
        self.lost.append(0)

    def shuffled(self, attempt: AttemptId, at_ms: Millis) -> None:
        place = self.open.get(attempt)
        if place is not None:
            self.shuffled_ms[place] = at_ms

    def end(self, attempt: AttemptId, at_ms: Millis, lost: bool) -> None:
        place = self.open.pop(attempt, None)
        if place is not None:
            self.ended_ms[place] = at_ms
            self.lost[place] = lost


class Tape:
    """The events of one run; `append` takes the next one in, `stage_at` goes to any of them.

    `tip` is the stage after the last event and `end_ms` how far the run is known, which for a run
    that still goes on may be later than its last event.  Columns have one entry an event.
    """

    def __init__(self) -> None:
        self.started: RunStarted | None = None
        self.insight: Insight | None = None
        self.ended: RunEnded | None = None
        self.tip = Stage()
        self.end_ms: Millis = 0
        self.closed = False
        """Whether no more events will come."""
        self.trouble = ""
        """What made the run fail, if it did."""
        self.history = History()
        self.stints = Stints()
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
        self._snapshots: list[Stage] = [Stage()]
        self._hand = Stage()
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
            MapsUndone: self._of_outputs,
            NodeShunned: self._of_outputs,
            JobChanged: self._of_job,
            JobResubmitted: self._of_job,
            NodeLost: self._of_node,
            NodeReturned: self._of_node,
            NodeListed: self._of_node,
            NodeCleared: self._of_node,
        }
        self._subjects = [subjects.get(kind, self._of_attempt) for kind in KINDS]

    def __len__(self) -> int:
        return len(self.times)

    def append(self, event: AnyEvent) -> None:
        """Take the next event in."""
        at_ms, kind, tip = event.at_ms, type(event), self.tip
        if at_ms >= self.history.due_ms:
            self.history.sample(at_ms, tip)
        number = NUMBERS[kind]
        job, node = self._subjects[number](event)
        if number in _MARKED and not (kind is KillOrdered and not event.why.rank):  # type: ignore[union-attr]
            self.history.mark(at_ms, MARKS[kind])
        self._data += self._encode(event)
        self._begins.append(len(self._data))
        self.times.append(at_ms)
        self.kinds.append(number)
        self.jobs.append(job)
        self.nodes.append(node)
        tip.observe(event)
        self.end_ms = at_ms
        if tip.index % self._spacing == 0:
            self._keep(tip.copy())

    # Whom an event is about: its job and its node.  Some is filed here to be looked up later.

    def _of_run(self, event: RunStarted | RunEnded | OrderSwitched) -> tuple[int, int]:
        if type(event) is RunStarted:
            self.started = event
            self.insight = Insight(event)
        elif type(event) is RunEnded:
            self.ended = event
            self.closed = True
        return NOBODY, NOBODY

    def _of_job(self, event: JobSubmitted | JobFinished) -> tuple[int, int]:
        return event.job, NOBODY

    def _of_launch(self, event: AttemptLaunched) -> tuple[int, int]:
        self.launched[event.attempt] = len(self.times)
        return event.job, event.node

    def _of_attempt(self, event: _OfAttempt) -> tuple[int, int]:
        act = self.tip.acts.get(event.attempt)
        if act is not None:
            return act.launch.job, act.launch.node
        launch = self.launched.get(event.attempt)
        return (NOBODY, NOBODY) if launch is None else (self.jobs[launch], self.nodes[launch])

    def _of_start(self, event: AttemptStarted | AttemptResumed) -> tuple[int, int]:
        job, node = self._of_attempt(event)
        act, first = self.tip.acts.get(event.attempt), self.tip.first[event.node]
        act = act or self.tip.orphans.get(event.attempt)
        state = SlotState.ORPHAN if act is None else act.state
        task = NOBODY if act is None else act.launch.task
        map_slot = not self.tip.reduce_slots[first + event.slot]
        self.stints.begin(event, job, task, state, map_slot)
        return job, node

    def _of_stop(self, event: AttemptEnded | AttemptSuspended) -> tuple[int, int]:
        lost = type(event) is AttemptEnded and event.outcome is not Outcome.SUCCEEDED
        self.stints.end(event.attempt, event.at_ms, lost)
        return self._of_attempt(event)

    def _of_shuffle(self, event: ShuffleEnded) -> tuple[int, int]:
        self.stints.shuffled(event.attempt, event.at_ms)
        return self._of_attempt(event)

    def _of_node(
        self, event: NodeLost | NodeReturned | NodeListed | NodeCleared
    ) -> tuple[int, int]:
        return NOBODY, event.node

    def _of_outputs(self, event: MapsUndone | NodeShunned) -> tuple[int, int]:
        return event.job, event.node

    def _of_fault(self, event: FaultStruck) -> tuple[int, int]:
        if isinstance(event.fault, JobFault):
            return event.fault.job, NOBODY
        return NOBODY, event.fault.node if isinstance(event.fault, NodeFault) else NOBODY

    def _keep(self, stage: Stage) -> None:
        """Keep a snapshot; of too many every other one goes."""
        self._snapshots.append(stage)
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

    def stage_at(self, index: int) -> Stage:
        """The stage after the first `index` events.  It is lent: the next call may change it."""
        if index == len(self.times):
            return self.tip
        place = min(index // self._spacing, len(self._snapshots) - 1)
        if not self._snapshots[place].index <= self._hand.index <= index:
            self._hand = self._snapshots[place].copy()
        hand, begins = self._hand, self._begins
        data = memoryview(self._data)
        for each in range(hand.index, index):
            hand.observe(_decode(data[begins[each] : begins[each + 1]]))
        return hand
