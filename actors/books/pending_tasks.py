"""A job's pending tasks, so indexed that a node's nearest one is found without a search.

Block locations are arrays of 32-bit integers, sorted by node and by rack when the first slot asks,
with a cursor for each that has asked. A cursor only moves past tasks that have been taken, so all
searches of a job's life cost about as much as its replicas.
"""

from array import array
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from callboard.actors.placement import ANYWHERE
from callboard.actors.topology import Topology
from callboard.scheduler.model import Locality, NodeId, TaskIndex

_NODE = Locality.NODE
_OFF_RACK = Locality.OFF_RACK
_RACK = Locality.RACK

NodesWithSlots = Callable[[], Iterable[NodeId]]
"""The nodes that have slots for a kind of task, at present.  Few are asked for, so that what is
returned should not be a list that is built for it."""


class Retries:
    """Tasks that must run again: those that failed or were lost most often first, then the lowest.
    None runs on a host where an attempt of it has failed, unless one has on every host
    (JobInProgress.findTaskFromList).
    """

    def __init__(self, hosts: NodesWithSlots) -> None:
        self._hosts = hosts
        self._queue: list[tuple[int, TaskIndex]] = []
        self._times: dict[TaskIndex, int] = {}
        self._failed_on: dict[TaskIndex, set[NodeId]] = {}

    def __len__(self) -> int:
        return len(self._queue)

    def add(self, task: TaskIndex) -> None:
        self._times[task] = self._times.get(task, 0) + 1
        insort(self._queue, (-self._times[task], task))

    def avoid(self, task: TaskIndex, node: NodeId) -> None:
        self._failed_on.setdefault(task, set()).add(node)

    def suits(self, task: TaskIndex, node: NodeId) -> bool:
        failed_on = self._failed_on.get(task)
        if failed_on is None or node not in failed_on:
            return True
        return all(host in failed_on for host in self._hosts())

    def first(self, node: NodeId) -> TaskIndex | None:
        return next((task for _, task in self._queue if self.suits(task, node)), None)

    def take(self, task: TaskIndex) -> None:
        del self._queue[bisect_left(self._queue, (-self._times[task], task))]


class PendingMaps:
    """The maps of one job that may run and do not.  Those without an input that lies somewhere are
    at home on every node: Hadoop does not delay a job for them.
    """

    def __init__(
        self,
        count: int,
        replicas: NDArray[np.int32],
        racks: int | Topology,
        hosts: NodesWithSlots,
    ) -> None:
        self.left = count
        self.again = Retries(hosts)
        self._count = count
        self._replicas = replicas
        self._topology = Topology(racks) if isinstance(racks, int) else racks
        self._taken = bytearray(count)
        self._anywhere = 0
        self._by_place: tuple[_Index, _Index] | None = None
        self._homeless = False
        """Whether any has no input that lies somewhere, known when the indices are made."""

    def nearest(self, node: NodeId) -> Locality | None:
        """How near to `node` the nearest pending map's input is (see `JobView.nearest`)."""
        if not self.left:
            return None
        again = len(self.again)
        if again:
            if self.again.first(node) is not None:
                return _NODE
            if again == self.left:
                return None
        by_node, by_rack = self._by_place or self._indices_by_place()
        if by_node.first(node, self._taken) is not None:
            return _NODE
        if self._homeless and by_node.first(ANYWHERE, self._taken) is not None:
            return _NODE
        if by_rack.first(self._topology.rack_of(node), self._taken) is not None:
            return _RACK
        return _OFF_RACK

    def take_for_node(self, node: NodeId) -> tuple[TaskIndex, Locality]:
        """Take a map for `node`: what failed most (findNewMapTask), else the nearest."""
        assert self.left, "no map is pending"
        self.left -= 1
        if self.again and (task := self.again.first(node)) is not None:
            self.again.take(task)
            return task, self.level(task, node)
        by_node, by_rack = self._by_place or self._indices_by_place()
        level = _NODE
        found = by_node.first(node, self._taken)
        if found is None and self._homeless:
            found = by_node.first(ANYWHERE, self._taken)
        if found is None:
            level = _RACK
            found = by_rack.first(self._topology.rack_of(node), self._taken)
        if found is None:
            level = _OFF_RACK
            found = self._anywhere = self._taken.index(0, self._anywhere)
        self._taken[found] = 1
        return found, level

    def give_back(self, task: TaskIndex) -> None:
        self.again.add(task)
        self.left += 1

    def level(self, task: TaskIndex, node: NodeId) -> Locality:
        held = self._replicas[task].tolist()
        if node in held or held[0] == ANYWHERE:
            return _NODE
        rack_of = self._topology.rack_of
        racks = [rack_of(holder) for holder in held if holder >= 0]
        return _RACK if rack_of(node) in racks else _OFF_RACK

    def _indices_by_place(self) -> tuple["_Index", "_Index"]:
        flat = self._replicas.ravel()
        racks = np.where(flat < 0, -1, self._topology.racks_of(flat)).astype(np.int32)
        replication = self._replicas.shape[1]
        self._by_place = (_Index(flat, replication), _Index(racks, replication))
        self._homeless = bool((flat == ANYWHERE).any())
        return self._by_place


class PendingReduces:
    """The reduces of one job that may run and do not, nowhere at home; none before they open."""

    def __init__(self, count: int, hosts: NodesWithSlots) -> None:
        self.left = 0
        self.again = Retries(hosts)
        self._count = count
        self._next = 0

    def open(self) -> None:
        self.left += self._count

    def nearest(self, node: NodeId) -> Locality | None:
        if not self.left:
            return None
        again = len(self.again)
        if again == self.left and self.again.first(node) is None:
            return None
        return _OFF_RACK

    def take_for_node(self, node: NodeId) -> tuple[TaskIndex, Locality]:
        """The reduce to launch: those that must run again first, then the lowest index."""
        assert self.left, "no reduce is pending"
        self.left -= 1
        if self.again and (task := self.again.first(node)) is not None:
            self.again.take(task)
            return task, _OFF_RACK
        self._next += 1
        return self._next - 1, _OFF_RACK

    def give_back(self, task: TaskIndex) -> None:
        self.again.add(task)
        self.left += 1

    def level(self, task: TaskIndex, node: NodeId) -> Locality:  # noqa: ARG002
        return _OFF_RACK


class _Index:
    """Tasks grouped by place (a node or a rack), lowest task first, with a cursor a place."""

    def __init__(self, places: NDArray[np.int32], replication: int) -> None:
        order = np.argsort(places, kind="stable")
        self._tasks = array("i", (order // replication).astype(np.int32).tobytes())
        starts = np.flatnonzero(np.diff(places[order], prepend=np.int32(ANYWHERE - 1)))
        names = places[order][starts].tolist()
        ends = [*starts[1:].tolist(), len(places)]
        self._cursor = dict(zip(names, starts.tolist(), strict=True))
        self._end = dict(zip(names, ends, strict=True))

    def first(self, place: int, taken: bytearray) -> TaskIndex | None:
        """The lowest task at `place` that has not been taken."""
        at = self._cursor.get(place)
        if at is None:
            return None
        tasks, end = self._tasks, self._end[place]
        while at < end and taken[tasks[at]]:
            at += 1
        if at == end:
            del self._cursor[place]
            return None
        self._cursor[place] = at
        return tasks[at]
