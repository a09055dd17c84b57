"""The nodes that a scheduler believes to be there: what of theirs is taken, and what is free."""

from __future__ import annotations

from typing import TYPE_CHECKING

from callboard.actors.books.attempts import BookedAttempt
from callboard.actors.vocabulary.events import NodeFacts
from callboard.actors.vocabulary.lifecycle import (
    BOOKED_NODE,
    BookedNodeChange,
    BookedNodeState,
    step,
)
from callboard.scheduler import model
from callboard.scheduler.model import KINDS, MAP, Locality

if TYPE_CHECKING:
    from callboard.actors.books.job_tasks import BookedJob

_OFF_RACK = Locality.OFF_RACK
_OUT_OF_SERVICE = BookedNodeState.OUT_OF_SERVICE
_UNKNOWN = BookedNodeState.UNKNOWN


class BookedNode:
    """A node that has joined (`scheduler.view.NodeView`)."""

    def __init__(self, facts: NodeFacts) -> None:
        self.node = facts.node
        self.rack = facts.rack
        self.speed = facts.speed
        self.node_type = facts.node_type
        self.freed: tuple[list[int], list[int]] = ([], [])
        """The events that freed slots which have not been taken since, by kind, oldest first."""
        self.state = _UNKNOWN
        self.drained = False
        self._slots = (facts.map_slots, facts.reduce_slots)
        self._running = [0, 0]
        self._suspended = [0, 0]
        self.free_slots = [0, 0]
        """What `free` says by kind, kept since it is what is asked for most often."""
        self.change_state(BookedNodeChange.JOIN)
        self.attempts: dict[model.AttemptId, BookedAttempt] = {}
        """Those that run or are held suspended here, in the order of launch."""
        self.with_outputs: dict[model.JobId, BookedJob] = {}
        """The jobs that have outputs of finished maps here (see `BookedJob.outputs`)."""

    def change_state(self, change: BookedNodeChange) -> None:
        self.state = step(BOOKED_NODE, self.state, change, f"node {self.node}")
        self.drained = self.state is _OUT_OF_SERVICE
        for kind in KINDS:
            self.free_slots[kind] = 0 if self.drained else self._slots[kind] - self._running[kind]

    def slots(self, kind: model.SlotKind) -> int:
        return 0 if self.drained else self._slots[kind]

    def running(self, kind: model.SlotKind) -> int:
        return self._running[kind]

    def suspended(self, kind: model.SlotKind) -> int:
        return self._suspended[kind]

    def free(self, kind: model.SlotKind) -> int:
        """Slots of this kind that nothing has been promised."""
        return self.free_slots[kind]

    def take_freeing_event(self, kind: model.SlotKind, otherwise: int) -> int:
        """The event that freed the slot which is taken now, if it was ever held."""
        freed = self.freed[kind]
        return freed.pop(0) if freed else otherwise

    def could_resume(self) -> bool:
        (maps, reduces), (free_maps, free_reduces) = self._suspended, self.free_slots
        return (maps > 0 and free_maps > 0) or (reduces > 0 and free_reduces > 0)


class Members(dict[model.NodeId, BookedNode]):
    """All of them by number, in the order in which they joined, and sums by kind of slot."""

    def __init__(self) -> None:
        super().__init__()
        self.slots = [0, 0]
        self.running = [0, 0]
        """Slots that attempts hold, of any stage."""

    def join_node(self, facts: NodeFacts) -> BookedNode:
        member = self[facts.node] = BookedNode(facts)
        self._count_slots(member, 1)
        return member

    def part_with_node(self, member: BookedNode) -> None:
        """A node is gone; nothing runs there any more."""
        assert not member.attempts, f"node {member.node} leaves with attempts"
        del self[member.node]
        self._count_slots(member, -1)
        member.change_state(BookedNodeChange.LOSE)

    def drain_or_restore_node(self, member: BookedNode, out: bool) -> None:
        """Take a node out of service, or back."""
        self._count_slots(member, -1)
        member.change_state(BookedNodeChange.DRAIN if out else BookedNodeChange.RETURN_TO_SERVICE)
        self._count_slots(member, 1)

    def forget_nodes(self) -> None:
        """The scheduler begins anew and knows of no node."""
        for member in self.values():
            member.change_state(BookedNodeChange.FORGET)

    def count_running(self, attempt: BookedAttempt, more: int) -> None:
        """An attempt takes its slot (1), or gives it up (-1)."""
        kind, member = attempt.kind, self[attempt.node]
        self.running[kind] += more
        member._running[kind] += more
        if not member.drained:
            member.free_slots[kind] -= more

    def count_suspended(self, attempt: BookedAttempt, more: int) -> None:
        """A node begins to hold an attempt suspended (1), or no longer does (-1)."""
        self[attempt.node]._suspended[attempt.kind] += more

    def _count_slots(self, member: BookedNode, sign: int) -> None:
        for kind in KINDS:
            self.slots[kind] += sign * member.slots(kind)


class BookedOffer:
    """A node that asks for work, and what it has been given so far (`scheduler.view.Offer`)."""

    __slots__ = ("_given", "given_off_rack", "node")

    def __init__(self, node: BookedNode) -> None:
        self.node = node
        self.given_off_rack = 0
        self._given = [0, 0]

    def free(self, kind: model.SlotKind) -> int:
        return self.node.free_slots[kind]

    def given(self, kind: model.SlotKind) -> int:
        return self._given[kind]

    def count_given(self, kind: model.SlotKind, level: Locality) -> None:
        """Count a launch; a retried map is node-local anywhere (`JobView.nearest`)."""
        self._given[kind] += 1
        if kind is MAP and level is _OFF_RACK:
            self.given_off_rack += 1
