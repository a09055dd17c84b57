"""Where the slots' time went, in whole milliseconds (rule S9).

Two accounts from different events must agree.  The time that slots were held comes from the
attempts: for each what its slot stated at its end, from its start on without suspensions
(`figures.metrics`).  The time that slots were idle comes from the slots (`IdleSlots`): the gaps
between one attempt's release (its end or suspension) and the next one's start on the same slot, and
the whole run for a slot never used.  Their sum is slots × run exactly when no slot ever held two
attempts, none was used that does not exist, and no duration was misstated.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Self

import msgspec

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.events import NodeFacts
from callboard.journal.run_records import AttemptRecord
from callboard.scheduler.model import Millis, NodeId, SlotKind

_SlotTimes = dict[NodeId, dict[int, Millis]]

_HELD = 1 << 62
"""In place of when a slot was released: it has not been."""


class SlotTime(msgspec.Struct, frozen=True):
    """Slot time in ms.

    `useful`: held by attempts that the master booked as succeeded.  `wasted`: by attempts that
    failed or were killed, as the master has booked them, else as the slot says.  `unfinished`: by
    attempts that still ran at the end of the run, or had succeeded without the master having heard
    of it.  `idle`: held by none.  `down`: on a node that had crashed.  `total`: slots × run.
    """

    useful: int = 0
    wasted: int = 0
    idle: int = 0
    unfinished: int = 0
    total: int = 0
    down: int = 0

    def __add__(self, other: Self) -> Self:
        pairs = zip(msgspec.structs.astuple(self), msgspec.structs.astuple(other), strict=True)
        return type(self)(*(mine + its for mine, its in pairs))

    @property
    def adds_up(self) -> bool:
        """S9: whether the parts give the total, to the millisecond."""
        return self.useful + self.wasted + self.idle + self.unfinished + self.down == self.total

    @property
    def busy(self) -> int:
        return self.useful + self.wasted + self.unfinished


class IdleSlots:
    """The gaps between the attempts on each slot, by kind; those of crashed nodes are gaps too."""

    def __init__(self) -> None:
        self._released: tuple[_SlotTimes, _SlotTimes] = defaultdict(dict), defaultdict(dict)
        """When each slot that was ever used was released last, by kind, node and slot."""
        self._gaps_ms = [0, 0]

    def take_slot(
        self, event: ev.AttemptStarted | ev.AttemptResumed, attempt: AttemptRecord
    ) -> None:
        """The attempt takes its slot."""
        launch, at_ms = attempt.launch, event.at_ms
        kind, slot = launch.kind, event.slot
        released = self._released[kind][launch.node]
        gap_ms = at_ms - released.get(slot, 0)
        # A gap below 0 means two attempts on one slot.  Counting it as 0 keeps the fault visible:
        # then the sum exceeds the total, where a negative gap would make up for it.
        if gap_ms > 0:
            self._gaps_ms[kind] += gap_ms
        released[slot] = _HELD

    def release_slot(
        self, event: ev.AttemptSuspended | ev.AttemptEnded, attempt: AttemptRecord
    ) -> None:
        """The attempt leaves its slot."""
        launch = attempt.launch
        self._released[launch.kind][launch.node][attempt.slot] = event.at_ms

    def idle_ms(self, kind: SlotKind, nodes: Iterable[NodeFacts], horizon_ms: Millis) -> Millis:
        """All gaps on the slots of a kind up to the horizon, whether they were ever used or not."""
        released = self._released[kind]
        last = [at_ms for slots in released.values() for at_ms in slots.values() if at_ms != _HELD]
        used = {node: len(slots) for node, slots in released.items()}
        unused = sum(max(slots_of(facts, kind) - used.get(facts.node, 0), 0) for facts in nodes)
        return self._gaps_ms[kind] + (len(last) + unused) * horizon_ms - sum(last)


def slots_of(facts: NodeFacts, kind: SlotKind) -> int:
    """How many slots of a kind a node has."""
    return facts.reduce_slots if kind else facts.map_slots
