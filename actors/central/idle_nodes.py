"""Nodes that leave heartbeats out, by when these would arrive, in sorted lists: the lists are read
far more often than they change.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from callboard.scheduler.model import KINDS, MAP, Millis, NodeId, SlotKind

RESUMING = len(KINDS)
"""The row of the nodes that could take up a suspended attempt, after those of the kinds."""

_UNABLE = (False, False, False)

Arrival: TypeAlias = tuple[Millis, NodeId]
"""The phase at which a node's heartbeats arrive, and the node."""


class IdleNodeIndex:
    """Silent nodes by when heartbeats would arrive, in sorted lists: read more than changed."""

    def __init__(self, period_ms: Millis) -> None:
        self._period_ms = period_ms
        self._phase: dict[NodeId, Millis] = {}
        self._arrivals: tuple[list[Arrival], ...] = ([], [], [])
        self._able: dict[NodeId, tuple[bool, ...]] = {}

    def note_heartbeat(self, node: NodeId, now_ms: Millis) -> None:
        """A heartbeat of `node` arrived now: this is its phase from here on."""
        phase = now_ms % self._period_ms
        old = self._phase.get(node)
        if old == phase:
            return
        self._phase[node] = phase
        for able, arrivals in zip(self._able.get(node, _UNABLE), self._arrivals, strict=True):
            if old is not None and able:
                del arrivals[bisect_left(arrivals, (old, node))]
                insort(arrivals, (phase, node))

    def forget_node(self, node: NodeId) -> None:
        """The node sends every heartbeat from now on, or is gone."""
        if node in self._phase:
            self.set_able(node, _UNABLE)
            del self._phase[node]

    def set_able(self, node: NodeId, able: tuple[bool, bool, bool]) -> None:
        """Say whether the node could take a map, take a reduce, resume an attempt."""
        before = self._able.get(node, _UNABLE)
        if able == before:
            return
        self._able[node] = able
        arrival = (self._phase[node], node)
        for was, is_, arrivals in zip(before, able, self._arrivals, strict=True):
            if is_ and not was:
                insort(arrivals, arrival)
            elif was and not is_:
                del arrivals[bisect_left(arrivals, arrival)]

    @property
    def any_resuming(self) -> bool:
        """Whether any node could take up a suspended attempt."""
        return bool(self._arrivals[RESUMING])

    def would_arrive_now(self, node: NodeId, now_ms: Millis) -> bool:
        """Whether a heartbeat of `node` would arrive now."""
        return self._phase[node] == now_ms % self._period_ms

    def next_arrival(self, node: NodeId, now_ms: Millis) -> Millis:
        wait_ms = (self._phase[node] - now_ms) % self._period_ms
        return now_ms + (wait_ms or self._period_ms)

    def map_arrivals_one_by_one(self, now_ms: Millis) -> Iterator[Arrival]:
        """The instants after now, one after the other, at which a heartbeat of a node that could
        take a map would arrive, as far as they come one at a time.
        """
        arrivals = self._arrivals[MAP]
        base_ms = now_ms - now_ms % self._period_ms
        place = bisect_left(arrivals, (now_ms - base_ms + 1, 0))
        while arrivals:
            if place == len(arrivals):
                place, base_ms = 0, base_ms + self._period_ms
            phase, node = arrivals[place]
            place += 1
            if place < len(arrivals) and arrivals[place][0] == phase:
                return
            yield base_ms + phase, node

    def next_useful(
        self, now_ms: Millis, kinds: Iterable[SlotKind]
    ) -> tuple[Millis, list[NodeId]] | None:
        """The first instant after now at which a heartbeat of a node able to take one of `kinds`,
        or to resume what it holds suspended, would arrive, and those nodes; None without any.
        """
        period_ms = self._period_ms
        phase_now = now_ms % period_ms
        soonest = period_ms + 1
        nodes: list[NodeId] = []
        for row in (*kinds, RESUMING):
            able = self._arrivals[row]
            if not able:
                continue
            place = bisect_left(able, (phase_now + 1, 0)) % len(able)
            phase, node = able[place]
            wait_ms = (phase - phase_now - 1) % period_ms + 1  # a whole period if it is now
            if wait_ms > soonest:
                continue
            found = [node]
            while (place := place + 1) < len(able) and able[place][0] == phase:
                found.append(able[place][1])
            nodes = found if wait_ms < soonest else sorted({*nodes, *found})
            soonest = wait_ms
        return (now_ms + soonest, nodes) if nodes else None
