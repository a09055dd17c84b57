"""When the beats that nodes leave out would arrive, and which of them could change anything.

Where beats are left out (`send = "needed"`) a node that has nothing to say is silent, but its
beats have their instants all the same: one period after another on a grid that its last beat
fixed.  A silent node's beat says nothing, so all that it could do is to bring the node work or
an order to kill.  The master therefore acts at the instant at which such a beat would arrive, as
if it had; and only while something is pending that the node has a free slot for.

Nothing is gained or lost by this but messages: a run with every beat sent has the same journal.
It rests on three things.  Latency and interval are constant, so the grid is known.  What a node
has to say is really sent, and arrives on the grid in the unsent beat's own place in the order
(`timer_behind`).  And nothing becomes pending in the first round of an instant, when beats
arrive, since jobs live beside the master and answer it in later rounds.
"""

from collections.abc import Iterable

from sortedcontainers import SortedList

from scheduler.model import KINDS, Millis, NodeId, TaskKind


class Roster:
    """The silent nodes by the phase at which their beats arrive."""

    def __init__(self, _period_ms: Millis) -> None:
        self._period_ms = _period_ms
        self._phase: dict[NodeId, Millis] = {}
        self._able: tuple[SortedList[tuple[Millis, NodeId]], ...] = (SortedList(), SortedList())
        self._listed: tuple[set[NodeId], ...] = (set(), set())

    def heard(self, node: NodeId, now_ms: Millis) -> None:
        """A beat of `node` arrived now: this is its phase from here on."""
        phase = now_ms % self._period_ms
        old = self._phase.get(node)
        if old == phase:
            return
        self._phase[node] = phase
        for able, listed in zip(self._able, self._listed, strict=True):
            if old is not None and node in listed:
                able.remove((old, node))
                able.add((phase, node))

    def forget(self, node: NodeId) -> None:
        """The node leaves no more beats out, or is gone."""
        if node in self._phase:
            for kind in KINDS:
                self.set_able(node, kind, False)
            del self._phase[node]

    def set_able(self, node: NodeId, kind: TaskKind, able: bool) -> None:
        """Say whether the node could take a task of this kind."""
        listed = self._listed[kind]
        if able == (node in listed):
            return
        if able:
            listed.add(node)
            self._able[kind].add((self._phase[node], node))
        else:
            listed.remove(node)
            self._able[kind].remove((self._phase[node], node))

    def arrives(self, node: NodeId, now_ms: Millis) -> bool:
        """Whether a beat of `node` would arrive now."""
        return self._phase[node] == now_ms % self._period_ms

    def next_arrival(self, node: NodeId, now_ms: Millis) -> Millis:
        """When the node's next beat after now would arrive."""
        return now_ms + self._until(self._phase[node], now_ms)

    def next_useful(
        self, now_ms: Millis, kinds: Iterable[TaskKind]
    ) -> tuple[Millis, list[NodeId]] | None:
        """The first instant after now at which a beat of a node able to take one of `kinds`
        would arrive, and the nodes whose beats those are; None without any.
        """
        best: tuple[Millis, list[NodeId]] | None = None
        for kind in kinds:
            found = self._next_of(self._able[kind], now_ms)
            if found is None:
                continue
            if best is None or found[0] < best[0]:
                best = found
            elif found[0] == best[0]:
                best = (best[0], sorted({*best[1], *found[1]}))
        return best

    def _next_of(
        self, able: "SortedList[tuple[Millis, NodeId]]", now_ms: Millis
    ) -> tuple[Millis, list[NodeId]] | None:
        if not able:
            return None
        place = able.bisect_left((now_ms % self._period_ms + 1, 0))
        phase = able[place % len(able)][0]
        nodes = [node for _, node in able.irange((phase, 0), (phase + 1, -1))]
        return now_ms + self._until(phase, now_ms), nodes

    def _until(self, phase: Millis, now_ms: Millis) -> Millis:
        """From now to the next instant of this phase, a whole period if it is now."""
        return (phase - now_ms) % self._period_ms or self._period_ms
