"""What a resource manager knows of nodes, applications, their requests and their containers."""

from collections.abc import Iterator

import msgspec

from callboard.actors.yarn.yarn_messages import ContainerAsk, GrantedContainer
from callboard.scheduler.model import AttemptId, JobId, Locality, NodeId, Stage
from callboard.scheduler.queues.preemption_victims import ContainerNumber
from callboard.scheduler.resources import Vector, fits, minus, plus

MASTER_PRIORITY = 0
"""Of the container for an application's master, which goes before all others."""


class Container(msgspec.Struct, eq=False):
    """What an application holds of a node, from its allocation until the node tells its end."""

    number: ContainerNumber
    job: JobId
    node: NodeId
    stage: Stage
    priority: int
    vector: Vector
    amounts: Vector
    """What queues count of it."""
    is_master: bool = False
    attempt: AttemptId = 0
    """What runs in it, once the node has told so."""


class YarnNode:
    """A node: what is free, and who holds the rest."""

    def __init__(self, node: NodeId, rack: int, has: Vector) -> None:
        self.node = node
        self.rack = rack
        self.has = has
        self.free = has
        self.containers: dict[ContainerNumber, Container] = {}
        self.freed: list[int] = []
        """The events by which containers have ended whose room nobody has been given yet."""
        self.kills: list[AttemptId] = []
        """What it is to stop, at its next heartbeat."""

    def has_room(self, vector: Vector) -> bool:
        """Whether a container fits."""
        return fits(vector, self.free)

    def take(self, container: Container) -> None:
        """Take what a container needs, which has to fit."""
        assert self.has_room(container.vector), f"node {self.node}: no room for {container}"
        self.free = minus(self.free, container.vector)
        self.containers[container.number] = container

    def give_back(self, number: ContainerNumber) -> Container:
        """A container is there no more."""
        container = self.containers.pop(number)
        self.free = plus(self.free, container.vector)
        return container


class ContainerRequest:
    """What an application asks for at one priority; counts are by place."""

    def __init__(self, priority: int, stage: Stage, demand: Vector, asked_by: int) -> None:
        self.priority = priority
        self.stage = stage
        self.demand = demand
        self.asked_by = asked_by
        """The event that made it be asked for."""
        self.anywhere = 0
        self.nodes: dict[NodeId, int] = {}
        self.racks: dict[int, int] = {}
        self.missed = 0
        """Offers that were passed over since the last container near to what it reads."""

    def update(self, ask: ContainerAsk) -> None:
        """Take over what is asked for now."""
        self.demand, self.anywhere = ask.demand, ask.anywhere
        _replace_counts(self.nodes, ask.nodes)
        _replace_counts(self.racks, ask.racks)

    def nearest(self, node: YarnNode) -> Locality:
        """How near to what it reads a container on this node would be."""
        if self.nodes.get(node.node):
            return Locality.NODE
        return Locality.RACK if self.racks.get(node.rack) else Locality.OFF_RACK

    def grant(self, node: YarnNode) -> None:
        """One less is asked for, there and in all (AppSchedulingInfo)."""
        self.anywhere -= 1
        for counts, place in ((self.nodes, node.node), (self.racks, node.rack)):
            if counts.get(place):
                counts[place] -= 1

    @property
    def place_count(self) -> int:
        """How many nodes and racks are named."""
        return sum(map(bool, self.nodes.values())) + sum(map(bool, self.racks.values()))


def _replace_counts(counts: dict[int, int], said: tuple[tuple[int, int], ...]) -> None:
    for place, count in said:
        if count:
            counts[place] = count
        else:
            counts.pop(place, None)


class Application:
    """A job as the resource manager knows it."""

    def __init__(self, job: JobId, user: str, submission: int, master: Vector) -> None:
        self.job = job
        self.user = user
        self.submission = submission
        self.master_amounts = master
        self.used: Vector = (0,) * len(master)
        self.requests: dict[int, ContainerRequest] = {}
        """By priority, the first first."""
        self.containers: dict[ContainerNumber, Container] = {}
        self.granted: list[GrantedContainer] = []
        """Containers that its master has not been told of."""
        self.demands: tuple[Vector, ...] = ()
        """What it asks for, as its queue has counted it."""
        self.shunned: frozenset[NodeId] = frozenset()
        self.over = False

    def request(
        self, priority: int, stage: Stage, demand: Vector, asked_by: int
    ) -> ContainerRequest:
        """What is asked for at a priority, a new one where nothing was."""
        if priority not in self.requests:
            self.requests[priority] = ContainerRequest(priority, stage, demand, asked_by)
            self.requests = dict(sorted(self.requests.items()))
        return self.requests[priority]

    def pending_requests(self) -> Iterator[ContainerRequest]:
        """What is asked for, by priority."""
        return (each for each in self.requests.values() if each.anywhere > 0)

    def has_pending(self) -> bool:
        """Whether anything is asked for."""
        return any(each.anywhere > 0 for each in self.requests.values())
