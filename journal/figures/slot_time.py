"""Where the slots' time went, in whole milliseconds (rule S9).

Two accounts from different events must agree.  The time that slots were held comes from the
attempts: for each what its slot stated at its end, from its start on without suspensions.  The time
that slots were idle comes from the slots: the gaps between one attempt's release (its end or
suspension) and the next one's start on the same slot, and the whole run for a slot never used.
Their sum is slots × run exactly when no slot ever held two attempts, none was used that does not
exist, and no duration was misstated.
"""

from collections.abc import Sequence
from typing import Self

import msgspec
import numpy as np

from callboard.actors.vocabulary.events import NodeFacts
from callboard.journal.figures.tables import FAILED, KILLED, SUCCEEDED, AttemptColumns, Flags, Ints
from callboard.journal.run_records import NEVER
from callboard.scheduler.model import TaskKind


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


def slot_account(
    table: AttemptColumns,
    kind: TaskKind,
    nodes: Sequence[NodeFacts],
    horizon_ms: int,
    down_ms: Ints,
) -> SlotTime:
    """The account of the slots of one kind up to `horizon_ms`; each node was down for `down_ms`."""
    mine = table.ran & (table.kind == kind)
    held = held_ms(table, horizon_ms)
    slots = _slots(nodes, kind)
    down = int((slots * down_ms[: len(slots)]).sum())
    useful, wasted = mine & (table.closed == SUCCEEDED), mine & _lost_work(table)
    return SlotTime(
        useful=int(held[useful].sum()),
        wasted=int(held[wasted].sum()),
        idle=_idle_ms(table, mine, slots, horizon_ms) - down,
        down=down,
        unfinished=int(held[mine & ~useful & ~wasted].sum()),
        total=int(slots.sum()) * horizon_ms,
    )


def held_ms(table: AttemptColumns, horizon_ms: int) -> Ints:
    """How long each attempt held a slot; 0 if it never began.  For one that has ended this is what
    its slot stated, else the sum of its occupancies.
    """
    stated = table.ended_ms - table.stated_ms - table.suspended_ms
    occupied = table.occupied_ms(horizon_ms)
    return np.where(table.ran & (table.ended_ms != NEVER), stated, occupied)


def down_times(power: Ints, nodes: int, horizon_ms: int) -> Ints:
    """How long each node was down; `power` tells (node, when, whether it went down) in order."""
    down_ms, since = np.zeros(nodes, np.int64), np.full(nodes, NEVER, np.int64)
    for node, at_ms, down in power.T:
        if down and since[node] == NEVER:
            since[node] = at_ms
        elif not down and since[node] != NEVER:
            down_ms[node] += at_ms - since[node]
            since[node] = NEVER
    return np.where(since == NEVER, down_ms, down_ms + horizon_ms - since)


def shuffle_ms(table: AttemptColumns, horizon_ms: int) -> int:
    """How long reduces held their slots until they had all map outputs, or until they ended."""
    at = table.occupancies.place
    left, shuffled = table.left_ms(horizon_ms), table.shuffled_ms[at]
    until = np.where(shuffled != NEVER, np.minimum(left, shuffled), left)
    mine = (table.kind == TaskKind.REDUCE)[at]
    return int(np.maximum(until - table.occupancies.began_ms, 0)[mine].sum())


def _lost_work(table: AttemptColumns) -> Flags:
    """Which attempts did no good: as the master has booked, or as the slot says if it has not."""
    outcome = np.where(table.closed != NEVER, table.closed, table.ended)
    return np.isin(outcome, (FAILED, KILLED))


def _slots(nodes: Sequence[NodeFacts], kind: TaskKind) -> Ints:
    """How many slots of the kind each node has; nodes are numbered from 0."""
    slots = np.zeros(1 + max((facts.node for facts in nodes), default=-1), np.int64)
    for facts in nodes:
        slots[facts.node] = (facts.map_slots, facts.reduce_slots)[kind]
    return slots


def _idle_ms(table: AttemptColumns, mine: Flags, slots: Ints, horizon_ms: int) -> int:
    """The gaps on all slots, used and unused."""
    occupied, at = table.occupancies, table.occupancies.place
    here = mine[at]
    left = table.left_ms(horizon_ms)[here]
    # By the end too: of two that began at once, one of no length came first.
    columns = (left, occupied.began_ms[here], occupied.slot[here], table.node[at][here])
    order = np.lexsort(columns)
    end, begin, slot, node = (column[order] for column in columns)
    first = np.ones(len(node), np.bool_)
    first[1:] = (node[1:] != node[:-1]) | (slot[1:] != slot[:-1])
    before = np.where(first, 0, np.roll(end, 1))
    # A gap below 0 means two attempts on one slot.  Counting it as 0 keeps the fault visible:
    # then the sum exceeds the total, where a negative gap would make up for it.
    gaps = np.maximum(begin - before, 0).sum()
    tails = np.maximum(horizon_ms - end[np.roll(first, -1)], 0).sum()
    used = np.bincount(node[first], minlength=len(slots))
    unused = np.maximum(slots - used[: len(slots)], 0).sum()
    return int(gaps + tails + unused * horizon_ms)
