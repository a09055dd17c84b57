"""The Capacity Scheduler of YARN: queues in order of need, users within limits, first come first
served in a queue (CapacityScheduler, ParentQueue, LeafQueue, RegularContainerAllocator).
"""

from collections.abc import Iterator
from fractions import Fraction

from callboard.actors.yarn.counted_amounts import CountedAmounts
from callboard.actors.yarn.held_containers import Application, ContainerRequest
from callboard.actors.yarn.serving import Served, Serving
from callboard.actors.yarn.yarn_params import YarnParams
from callboard.actors.yarn.yarn_queues import QueueTree, YarnQueue
from callboard.scheduler.model import Locality
from callboard.scheduler.orders.fair.water_filling import exact_fraction
from callboard.scheduler.queues.amounts import (
    DominantCalculator,
    MemoryCalculator,
    ResourceCalculator,
    nothing,
    smaller_of_each,
)
from callboard.scheduler.queues.queue_order import RankedQueue, in_order_of_need
from callboard.scheduler.queues.user_limit import (
    QueueUse,
    UserLimitParams,
    may_have_another,
    user_limit,
)
from callboard.scheduler.resources import Vector, minus, plus


class CapacityServing(Serving):
    """By capacities."""

    assignments = 100

    def __init__(
        self, params: YarnParams, tree: QueueTree, counted: CountedAmounts, nodes: int
    ) -> None:
        super().__init__(params, tree, counted, nodes)
        by_memory = params.calculator == "memory"
        self.calculator: ResourceCalculator = (
            MemoryCalculator() if by_memory else DominantCalculator()
        )
        """How amounts are compared."""
        self._limits: dict[str, tuple[int, Vector]] = {}

    def in_order(self) -> Iterator[Served]:
        yield from self._applications_below(self.tree.root)

    def _applications_below(self, queue: YarnQueue) -> Iterator[Served]:
        if not queue.children:
            for each in list(queue.asking.values()):
                yield queue, each
            return
        asking = {child.path: child for child in queue.children if child.has_pending()}
        ranked = [
            RankedQueue(path, self.score(child), float(child.share), child.params.priority)
            for path, child in asking.items()
        ]
        for place in in_order_of_need(ranked):
            yield from self._applications_below(asking[place.name])

    def score(self, queue: YarnQueue) -> float:
        """What it holds over its capacity; of a queue that is due nothing, 0."""
        total = self.counted.total
        if self.calculator.compare(total, queue.guaranteed, nothing(total)) <= 0:
            return 0.0
        return self.calculator.ratio(total, queue.used, queue.guaranteed)

    def allows(self, queue: YarnQueue, application: Application, amounts: Vector) -> bool:
        """Within the user's limit, and within the maximum of the queue and of all above it."""
        total = self.counted.total
        if any(
            self.calculator.compare(total, plus(each.used, amounts), each.maximum) > 0
            for each in queue.lineage()
        ):
            return False
        held, limit = queue.held_by(application.user), self.user_limit(queue)
        return may_have_another(held, limit, self.calculator, total)

    def why_no_more(self, queue: YarnQueue, application: Application) -> str:
        """The user's, or that of the queues."""
        total, held = self.counted.total, queue.held_by(application.user)
        if may_have_another(held, self.user_limit(queue), self.calculator, total):
            return super().why_no_more(queue, application)
        capacity = f"a capacity of {float(100 * queue.share):g} %"
        return f"their users may hold no more of queue `{queue.path}`, with {capacity}"

    def user_limit(self, queue: YarnQueue) -> Vector:
        """What each active user of the leaf may hold now."""
        changes, limit = self._limits.get(queue.path, (-1, ()))
        if changes != self.tree.root.changes:
            limit = self._user_limit(queue)
            self._limits[queue.path] = self.tree.root.changes, limit
        return limit

    def _user_limit(self, queue: YarnQueue) -> Vector:
        stated, active = queue.params, queue.active_users
        params = UserLimitParams(
            capacity=queue.guaranteed,
            minimum_user_limit_percent=Fraction(stated.minimum_user_limit_percent),
            user_limit_factor=exact_fraction(stated.user_limit_factor),
            least_container=self.counted.least,
        )
        by_active = nothing(queue.used)
        for user in active:
            by_active = plus(by_active, queue.held_by(user))
        weight = Fraction(max(len(active), 1))
        use = QueueUse(used=queue.used, used_by_active=by_active, active_weight=weight)
        return user_limit(params, use, self.calculator, self.counted.total)

    def farthest_allowed_level(self, request: ContainerRequest) -> Locality:
        """Another node of the rack after `node_locality_delay` missed offers, another rack after
        as many as there are containers asked for, less where few places are named.
        """
        delay = self.params.node_locality_delay
        wait = request.anywhere * min(request.place_count, self.nodes)
        if min(self.nodes * self.nodes, wait) < request.missed * self.nodes:
            return Locality.OFF_RACK
        return Locality.RACK if min(self.nodes, delay) < request.missed else Locality.NODE

    def headroom(self, queue: YarnQueue, application: Application, free: Vector) -> Vector:
        left = minus(self.user_limit(queue), queue.held_by(application.user))
        return super().headroom(queue, application, smaller_of_each(left, free))

    def may_assign_more(self, given: int, off_switch: int) -> bool:
        return super().may_assign_more(given, off_switch) and off_switch < self.params.off_switch
