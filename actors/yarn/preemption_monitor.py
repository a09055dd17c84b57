"""The preemption monitor: which containers go because their queues hold more than they are due
(ProportionalCapacityPreemptionPolicy, by `scheduler.queues`).
"""

from collections.abc import Iterable, Iterator

from callboard.actors.yarn.capacity_serving import CapacityServing
from callboard.actors.yarn.held_containers import Application
from callboard.actors.yarn.yarn_queues import YarnQueue
from callboard.scheduler.model import Millis
from callboard.scheduler.queues.amounts import clamped_at_zero, nothing, smaller_of_each
from callboard.scheduler.queues.ideal_allocation import balance_queues
from callboard.scheduler.queues.preemption_victims import (
    AskedContainers,
    ContainerNumber,
    HeldContainer,
    LeafVictims,
    select_victims,
)
from callboard.scheduler.queues.queue_tree import MonitoredQueue
from callboard.scheduler.resources import Vector, minus, plus


class PreemptionMonitor:
    """Chooses round by round.  Applications' masters are never chosen."""

    def __init__(self, serving: CapacityServing) -> None:
        self._serving = serving
        self._params = serving.params
        self._asked = AskedContainers(round(1000 * self._params.wait_before_kill))

    def to_kill(self, now_ms: Millis) -> list[ContainerNumber]:
        """Containers that have been asked back long enough ago, and are still chosen."""
        chosen = [each.number for each in self._chosen_victims()]
        return [number for number, kill in self._asked.ask_or_kill(chosen, now_ms) if kill]

    def _chosen_victims(self) -> list[HeldContainer]:
        serving, root = self._serving, self._serving.tree.root
        queues = [self._monitored_queue(queue) for queue in root.subtree()]
        balances = balance_queues(queues, serving.calculator, self._params.balance_params)
        leaves = [
            LeafVictims(
                to_obtain=balances[queue.path].obtained,
                guaranteed=queue.guaranteed,
                applications=list(_held_containers(queue.applications.values())),
            )
            for queue in root.subtree()
            if not queue.children
        ]
        total = serving.counted.total
        return select_victims(leaves, serving.calculator, total, self._params.victim_params)

    def _monitored_queue(self, queue: YarnQueue) -> MonitoredQueue:
        return MonitoredQueue(
            name=queue.path,
            parent=None if queue.parent is None else queue.parent.path,
            guaranteed=queue.guaranteed,
            maximum=queue.maximum,
            used=queue.used,
            pending=self._pending_in_leaf(queue),
            reserved=nothing(queue.used),
            preemptable=queue.params.preemptable,
            priority=queue.params.priority,
        )

    def _pending_in_leaf(self, queue: YarnQueue) -> Vector:
        """What is asked for in a leaf, of each user what they may get."""
        asked: dict[str, Vector] = {}
        for each in queue.asking.values():
            before = asked.get(each.user, nothing(queue.used))
            asked[each.user] = plus(before, self._amounts_asked_by(each))
        pending = nothing(queue.used)
        for user, amounts in asked.items():
            room = clamped_at_zero(minus(self._serving.user_limit(queue), queue.held_by(user)))
            pending = plus(pending, smaller_of_each(amounts, room))
        return pending

    def _amounts_asked_by(self, application: Application) -> Vector:
        amounts = nothing(application.used)
        for request in application.pending_requests():
            one = self._serving.counted.of_vector(request.demand)
            amounts = plus(amounts, tuple(request.anywhere * each for each in one))
        return amounts


def _held_containers(applications: Iterable[Application]) -> Iterator[list[HeldContainer]]:
    """What each application holds, without its master's container."""
    for application in applications:
        yield [
            HeldContainer(number=number, size=each.amounts, priority=each.priority)
            for number, each in application.containers.items()
            if not each.is_master
        ]
