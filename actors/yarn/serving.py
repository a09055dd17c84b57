"""Who is served next, as every scheduler of a resource manager says it."""

from abc import ABC, abstractmethod
from collections.abc import Iterator

from callboard.actors.yarn.counted_amounts import CountedAmounts
from callboard.actors.yarn.held_containers import Application, ContainerRequest
from callboard.actors.yarn.yarn_params import YarnParams
from callboard.actors.yarn.yarn_queues import QueueTree, YarnQueue
from callboard.scheduler.model import Locality
from callboard.scheduler.queues.amounts import clamped_at_zero, smaller_of_each
from callboard.scheduler.resources import Vector, minus

Served = tuple[YarnQueue, Application]
"""An application, and the leaf that it is in."""


class Serving(ABC):
    """Orders the queues and applications of one cluster, and knows their limits."""

    assignments: int
    """The most containers that a heartbeat brings, unless it is stated."""

    def __init__(
        self, params: YarnParams, tree: QueueTree, counted: CountedAmounts, nodes: int
    ) -> None:
        self.params = params
        self.tree = tree
        self.counted = counted
        self.nodes = nodes
        self.most = params.assignments or self.assignments

    @abstractmethod
    def in_order(self) -> Iterator[Served]:
        """The applications that ask for something, the one that is served first first."""

    @abstractmethod
    def score(self, queue: YarnQueue) -> float:
        """What queues are ordered by: what one holds, as a part of what it is held against."""

    @abstractmethod
    def allows(self, queue: YarnQueue, application: Application, amounts: Vector) -> bool:
        """Whether the application may hold so much more."""

    def why_no_more(self, queue: YarnQueue, application: Application) -> str:  # noqa: ARG002
        """What the application has come to that may not hold more, in words."""
        return f"queue `{queue.path}`, or one above it, holds all that it may"

    @abstractmethod
    def farthest_allowed_level(self, request: ContainerRequest) -> Locality:
        """How far from what it reads a container may be, after that many missed offers."""

    def headroom(self, queue: YarnQueue, application: Application, free: Vector) -> Vector:  # noqa: ARG002
        """How much more the application might get, of what is free in the cluster."""
        for each in queue.lineage():
            free = smaller_of_each(free, minus(each.maximum, each.used))
        return clamped_at_zero(free)

    def may_assign_more(self, given: int, off_switch: int) -> bool:  # noqa: ARG002
        """Whether the same heartbeat may bring more."""
        return given < self.most
