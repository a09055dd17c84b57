"""FIFO: Hadoop's default, JobQueueTaskScheduler, with its limits on what one heartbeat may get.

Jobs by priority, then submit time, then number.  A heartbeat fills a node only up to its share of
the remaining load; it takes at most one off-rack map and then no other map, and at most one reduce;
in a nearly full cluster one task only, to keep slots for failures and speculation (the padding).
"""

from callboard.scheduler.facts import Fact, StageFact
from callboard.scheduler.guarantees import EFFICIENT, MONOTONE_SHARES
from callboard.scheduler.model import KINDS, MAP, REDUCE, SlotKind
from callboard.scheduler.orders.keyed import RankedOrder, SortKey
from callboard.scheduler.view import ClusterView, JobView, Offer

PAD_FRACTION = 0.01
"""mapred.jobtracker.taskalloc.capacitypad's default."""

PAD_FROM_NODES = 4
"""Padding starts with more than three nodes (MIN_CLUSTER_SIZE_FOR_PADDING)."""


class Fifo(RankedOrder):
    """Priority, then submit time."""

    name = "fifo"
    summary = "first come, first served, with Hadoop's priorities and limits a heartbeat"
    steady = True
    hears_progress = False
    guarantees = (
        *EFFICIENT,
        *MONOTONE_SHARES,
        "first-come",
        "ideal-work",
        "blind",
        "truthful",
        "unsplittable",
        "scale",
    )

    def observe(self, fact: Fact, view: ClusterView) -> None:
        if isinstance(fact, StageFact) and type(self).key is Fifo.key:
            # Its key is as before, and nearly always its place too.
            number, kind = fact.job, KINDS[fact.stage]
            if (number in self._queues[kind]) != (view.job(number).pending(kind) > 0):
                self.place(number, kind, view)
        else:
            super().observe(fact, view)

    def key(self, job: JobView, kind: SlotKind) -> SortKey:  # noqa: ARG002
        return (job.priority, job.submitted_ms)

    def score(self, key: SortKey) -> float:
        return float(key[1] / 1000)

    def quota(self, kind: SlotKind, offer: Offer, view: ClusterView) -> int:
        """Fill the node's share of the load, within the limits of one heartbeat."""
        if kind is MAP and offer.given_off_rack:
            return 0
        node, given = offer.node, offer.given(kind)
        slots = node.slots(kind)
        # ceil(load · the node's slots), at most its slots; load is unfinished tasks over all slots.
        share = min(-(-view.unfinished(kind) * slots // view.slots(kind)), slots)
        most = share - (node.running(kind) - given)
        if most > 1 and (kind is REDUCE or self._nearly_full(kind, offer, view, given)):
            most = 1
        return min(most - given, offer.free(kind))

    def _nearly_full(self, kind: SlotKind, offer: Offer, view: ClusterView, given: int) -> bool:
        """Whether the cluster, as the heartbeat found it, was within the padding of full."""
        wanted = view.tasks_counted_for_padding(kind)
        if not wanted:
            return False
        padding = 0
        if view.nodes >= PAD_FROM_NODES:
            padding = min(offer.node.slots(kind), int(wanted * PAD_FRACTION))
        return view.running(kind) - given + padding >= view.slots(kind)
