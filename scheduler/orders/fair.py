"""Fair sharing among jobs: whoever runs least for its weight is next.

The comparator of Hadoop's Fair Scheduler for the jobs of one pool: running / weight, then submit
time, then number.  A job's weight is its priority's.  A heartbeat fills first the kind of slot of
which the node runs less, and no node beyond its share of the cluster's demand.
"""

from collections.abc import Iterable

from scheduler.model import Priority, TaskKind
from scheduler.orders.ranked import Key, KeyedOrder
from scheduler.view import ClusterView, JobView, Offer

WEIGHTS: dict[Priority, float] = {
    Priority.VERY_HIGH: 4.0,
    Priority.HIGH: 2.0,
    Priority.NORMAL: 1.0,
    Priority.LOW: 0.5,
    Priority.VERY_LOW: 0.25,
}
"""The Fair Scheduler's weights by priority (getPriorityFactor)."""


class Fair(KeyedOrder):
    """Least running for its weight."""

    name = "fair"
    story = "equal shares: the job that runs least for its weight is next"

    def key(self, job: JobView, kind: TaskKind) -> Key:
        return (job.running(kind) / WEIGHTS[job.priority], job.submitted_ms)

    def score(self, key: Key) -> float:
        """Running tasks over weight."""
        return float(key[0])

    def kinds(self, offer: Offer) -> Iterable[TaskKind]:
        """The kind of which the node runs less first; maps on a tie."""
        if offer.node.running(TaskKind.REDUCE) < offer.node.running(TaskKind.MAP):
            return (TaskKind.REDUCE, TaskKind.MAP)
        return (TaskKind.MAP, TaskKind.REDUCE)

    def room(self, kind: TaskKind, offer: Offer, view: ClusterView) -> int:
        """No node beyond ceil(its slots · demand / all slots) (CapBasedLoadManager, maxDiff 0)."""
        slots = offer.node.slots(kind)
        demand = view.pending(kind) + view.running(kind)
        cap = min(-(-demand * slots // view.slots(kind)), slots)
        return min(cap - offer.node.running(kind), offer.free(kind))
