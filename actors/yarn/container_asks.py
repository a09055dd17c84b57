"""What an application master asks for: counts by priority and place, told when they change."""

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from callboard.actors.topology import Topology
from callboard.actors.vocabulary import messages as msg
from callboard.actors.yarn.yarn_messages import ContainerAsk
from callboard.scheduler.model import CLEANUP, MAPS, REDUCES, SETUP, NodeId, Stage, TaskIndex
from callboard.scheduler.resources import Vector

SETUP_PRIORITY, CLEANUP_PRIORITY = 1, 2
"""Of what YARN's masters do themselves."""

RETRIED_MAP_PRIORITY = 5
REDUCE_PRIORITY = 10
MAP_PRIORITY = 20
"""RMContainerAllocator's; the lower goes first."""

STAGE_OF_PRIORITY = {
    SETUP_PRIORITY: SETUP,
    CLEANUP_PRIORITY: CLEANUP,
    RETRIED_MAP_PRIORITY: MAPS,
    REDUCE_PRIORITY: REDUCES,
    MAP_PRIORITY: MAPS,
}
"""What a container of a priority is for."""


class MapPlaces:
    """Where maps that have not been tried yet would be near to their inputs."""

    def __init__(self, order: msg.SubmitStage, racks: Topology) -> None:
        tasks = order.profile.tasks[MAPS]
        replicas = np.frombuffer(order.replicas, dtype="<i4").reshape(tasks, order.replication)
        self._replicas = replicas
        self._racks = racks
        self.nodes: Counter[NodeId] = Counter()
        self.racks: Counter[int] = Counter()
        self.changed_nodes: dict[NodeId, None] = {}
        self.changed_racks: dict[int, None] = {}
        for task in range(tasks):
            self.add_to_counts(task, 1)

    def add_to_counts(self, task: TaskIndex, more: int) -> None:
        """A map is asked for (1), or has been given a container (-1)."""
        holders = [node for node in self._replicas[task].tolist() if node >= 0]
        for node in holders:
            self.nodes[node] += more
            self.changed_nodes[node] = None
        for rack in dict.fromkeys(map(self._racks.rack_of, holders)):
            self.racks[rack] += more
            self.changed_racks[rack] = None

    def changes(self) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
        """The counts that have changed since they were told, by node and by rack."""
        nodes = tuple((node, self.nodes[node]) for node in self.changed_nodes)
        racks = tuple((rack, self.racks[rack]) for rack in self.changed_racks)
        self.changed_nodes, self.changed_racks = {}, {}
        return nodes, racks


class ContainerAsks:
    """One master's."""

    def __init__(self, racks: Topology) -> None:
        self.demands: dict[Stage, Vector] = {}
        self._racks = racks
        self._places: MapPlaces | None = None
        self._told: dict[int, int | None] = {}
        """The counts by priority; None where a container has been given since."""

    def open_stage(self, order: msg.SubmitStage, demand: Vector) -> None:
        """A stage may run, each task of which takes so much."""
        self.demands[order.stage] = demand
        if order.stage == MAPS and order.replication:
            self._places = MapPlaces(order, self._racks)

    def granted(self, priority: int, node: NodeId) -> None:
        """The resource manager has given a container, and counted one less there and in all, unless
        a count that was on its way hid that: so it is told again (RMContainerRequestor).
        """
        self._told[priority] = None
        if priority == MAP_PRIORITY and self._places is not None:
            self._places.changed_nodes[node] = None
            self._places.changed_racks[self._racks.rack_of(node)] = None

    def launched(self, stage: Stage, task: TaskIndex, number: int) -> None:
        """A task has a container; a map that was tried before was asked for anywhere."""
        if stage == MAPS and number == 0 and self._places is not None:
            self._places.add_to_counts(task, -1)

    def changes(self, counts: Mapping[int, int]) -> Iterator[ContainerAsk]:
        """What is asked for otherwise than was told before, of the counts by priority."""
        for priority, count in counts.items():
            places: tuple[tuple[tuple[int, int], ...], ...] = ((), ())
            if priority == MAP_PRIORITY and self._places is not None:
                places = self._places.changes()
            if count != self._told.get(priority, 0) or any(places):
                self._told[priority] = count
                stage = STAGE_OF_PRIORITY[priority]
                yield ContainerAsk(priority, stage, self.demands[stage], count, *places)
