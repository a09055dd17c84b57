"""When the beats that nodes leave out would arrive, and which of them could change anything.

Where beats are left out (`send = "needed"`) a node that has nothing to say is silent, but its
beats have their instants all the same: one period after another on a grid that its last beat
fixed.  A silent node's beat says nothing, so all that it could do is to bring the node work or
an order to kill.  The master therefore acts at the instant at which such a beat would arrive, as
if it had; and only while something is pending that the node has a free slot for, be it a
suspended attempt that it holds itself.

Nothing is gained or lost by this but messages: a run with every beat sent has the same journal.
It rests on three things.  Latency and interval are constant, so the grid is known.  What a node
has to say is really sent, and arrives on the grid in the unsent beat's own place in the order
(`timer_behind`).  And nothing becomes pending in the first round of an instant, when beats
arrive, since jobs live beside the master and answer it in later rounds.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable
from typing import TypeAlias

from callboard.scheduler.model import KINDS, Millis, NodeId, TaskKind

RESUMING = len(KINDS)
"""The row of the nodes that could take up a suspended attempt, after those of the kinds."""

Arrival: TypeAlias = tuple[Millis, NodeId]
"""The phase of a node's beats, and the node."""


class IdleNodeIndex:
    """The silent nodes by the phase at which their beats arrive.

    The sorted lists are plain ones: at any size of cluster that is played, moving the tail of one
    costs less than a tree's bookkeeping, and they are looked at far more often than changed.
    """

    def __init__(self, period_ms: Millis) -> None:
        self._period_ms = period_ms
        self._phase: dict[NodeId, Millis] = {}
        self._able: tuple[list[Arrival], ...] = ([], [], [])
        self._listed: tuple[set[NodeId], ...] = (set(), set(), set())

    def heard(self, node: NodeId, now_ms: Millis) -> None:
        """A beat of `node` arrived now: this is its phase from here on."""
        phase = now_ms % self._period_ms
        old = self._phase.get(node)
        if old == phase:
            return
        self._phase[node] = phase
        for able, listed in zip(self._able, self._listed, strict=True):
            if old is not None and node in listed:
                del able[bisect_left(able, (old, node))]
                insort(able, (phase, node))

    def forget(self, node: NodeId) -> None:
        """The node leaves no more beats out, or is gone."""
        if node in self._phase:
            for row in (*KINDS, RESUMING):
                self._set(row, node, False)
            del self._phase[node]

    def set_able(self, node: NodeId, kind: TaskKind, able: bool) -> None:
        """Say whether the node could take a task of this kind."""
        self._set(kind, node, able)

    def set_resuming(self, node: NodeId, able: bool) -> None:
        """Say whether the node could take up an attempt that it holds suspended."""
        self._set(RESUMING, node, able)

    def _set(self, row: int, node: NodeId, able: bool) -> None:
        listed = self._listed[row]
        if able == (node in listed):
            return
        beat, beats = (self._phase[node], node), self._able[row]
        if able:
            listed.add(node)
            insort(beats, beat)
        else:
            listed.remove(node)
            del beats[bisect_left(beats, beat)]

    def arrives(self, node: NodeId, now_ms: Millis) -> bool:
        """Whether a beat of `node` would arrive now."""
        return self._phase[node] == now_ms % self._period_ms

    def next_arrival(self, node: NodeId, now_ms: Millis) -> Millis:
        """When the node's next beat after now would arrive."""
        wait_ms = (self._phase[node] - now_ms) % self._period_ms
        return now_ms + (wait_ms or self._period_ms)

    def next_useful(
        self, now_ms: Millis, kinds: Iterable[TaskKind]
    ) -> tuple[Millis, list[NodeId]] | None:
        """The first instant after now at which a beat of a node able to take one of `kinds`, or to
        take up what it holds suspended, would arrive, and the nodes whose beats those are; None
        without any.
        """
        phase_now = now_ms % self._period_ms
        soonest = self._period_ms + 1
        nodes: list[NodeId] = []
        for row in (*kinds, RESUMING):
            able = self._able[row]
            if not able:
                continue
            place = bisect_left(able, (phase_now + 1, 0)) % len(able)
            phase = able[place][0]
            wait_ms = (phase - phase_now - 1) % self._period_ms + 1  # a whole period if it is now
            if wait_ms > soonest:
                continue
            found = [able[place][1]]
            while (place := place + 1) < len(able) and able[place][0] == phase:
                found.append(able[place][1])
            nodes = found if wait_ms < soonest else sorted({*nodes, *found})
            soonest = wait_ms
        return (now_ms + soonest, nodes) if nodes else None
