"""Hadoop 1's Capacity Scheduler: queues that are due a part of the slots each, and lend the rest.

A job's queue is its pool.  Whatever queue holds least of its capacity is next, and in it the first
job, by priority where the queue has priorities, then by submission, whose user is below the user
limit.  A heartbeat fills its node with maps and brings one reduce.  Nothing is ever taken back.

Hadoop keeps a list of queues for each kind of slot and sorts it in place, stably, for each task
that it looks for, so that of equal queues the one goes first that stood first before.  The list
here is sorted when something is launched and when an offer is told to have ended with slots left;
`decide` sorts a copy.
"""

from collections.abc import Iterator

import msgspec

from callboard.scheduler.facts import (
    Fact,
    JobArrived,
    JobLeft,
    JobUpdated,
    Launched,
    OfferAnswered,
    StageFact,
    TasksWithdrawn,
)
from callboard.scheduler.guarantees import EFFICIENT
from callboard.scheduler.model import KINDS, MAP, REDUCE, JobId, NodeId, SlotKind
from callboard.scheduler.orders.capacity.queues import (
    CapacityJob,
    CapacityQueue,
    Percent,
    QueueParams,
)
from callboard.scheduler.orders.fair.fair import DEFAULT_POOL
from callboard.scheduler.orders.fair.water_filling import exact_fraction
from callboard.scheduler.part_params import PartParams
from callboard.scheduler.policy import Order, QueuedJob
from callboard.scheduler.reasons import BY_KEY, Grounds, PoolPlace, Reason
from callboard.scheduler.view import ClusterView, JobView, Offer

_ONE_QUEUE = (*EFFICIENT, "scale")
"""What is promised where there is one queue only, whose users are served one after the other."""


class Capacity(Order):
    """Least occupied for its capacity, then first come within the users' limits."""

    name = "capacity"
    summary = "queues with capacities: the queue that holds least of its own is next, jobs in turn"
    score_format = "{:g} occupied / capacity"
    hears_offers = True
    hears_progress = False
    ages = False

    class Params(PartParams, frozen=True, kw_only=True):
        """The queues."""

        queues: dict[str, QueueParams] = msgspec.field(default_factory=dict)
        """What each queue is due, by its name, in the order in which equal ones go first.  Jobs of
        other pools are in `default`, which is there though it is not named."""

        def __post_init__(self) -> None:
            super().__post_init__()
            stated = [each.capacity or 0 for each in self.queues.values()]
            total = sum(map(exact_fraction, stated))
            if total > 100:
                raise ValueError(f"the capacities of the queues add up to {float(total):g} %")
            for name, capacity in capacities_in_percent(self.queues).items():
                most = queue_params(self.queues, name).maximum_capacity
                if most is not None and most < capacity:
                    raise ValueError(
                        f"queue `{name}` has a maximum_capacity of {most:g} %, less than its"
                        f" capacity, {capacity:g} %"
                    )

    def __init__(self, params: Params | None = None) -> None:
        self.params = params or Capacity.Params()
        self.guarantees = () if self.params.queues else _ONE_QUEUE
        self.queues = {
            name: CapacityQueue(name, queue_params(self.params.queues, name), capacity)
            for name, capacity in capacities_in_percent(self.params.queues).items()
        }
        self._kept = (list(self.queues.values()), list(self.queues.values()))
        self._jobs: dict[JobId, CapacityJob] = {}
        self._slots = [0, 0]
        self._reduce_given_to: NodeId | None = None

    def observe(self, fact: Fact, view: ClusterView) -> None:
        if isinstance(fact, StageFact):  # nearly all
            if isinstance(fact, Launched):
                self._sort_for_launch(fact)
            job = self._jobs[fact.job]
            if not isinstance(fact, TasksWithdrawn):
                job.enlist(fact.kind)
            job.refresh(fact.kind, view.job(fact.job))
            return
        self._slots = [view.slots(kind) for kind in KINDS]
        match fact:
            case JobArrived(number):
                self._enlist_job(view.job(number))
            case JobUpdated(number):
                self._requeue_job(view.job(number))
            case JobLeft(number):
                self._jobs.pop(number).leave()
            case OfferAnswered(node):
                self._sort_after_offer(node, view)

    def _enlist_job(self, seen: JobView) -> CapacityJob:
        queue = self.queues.get(seen.pool) or self.queues[DEFAULT_POOL]
        job = self._jobs[seen.job] = CapacityJob(queue, seen)
        job.enlist(MAP)
        for kind in KINDS:
            job.refresh(kind, seen)
        return job

    def _requeue_job(self, seen: JobView) -> None:
        """Its priority or its queue is another."""
        old = self._jobs.pop(seen.job)
        old.leave()
        job = self._enlist_job(seen)
        if old.enlisted[REDUCE]:
            job.enlist(REDUCE)

    def _sort_for_launch(self, launched: Launched) -> None:
        """Keep the list as it was sorted for the launch, which it does not count yet."""
        self._sort_queues(launched.kind)
        if launched.kind is REDUCE:
            self._reduce_given_to = launched.node

    def _sort_after_offer(self, number: NodeId, view: ClusterView) -> None:
        """Keep the lists as they were sorted in vain: for a further map, and for a first reduce."""
        node = view.node(number)
        for kind in KINDS:
            looked = kind is MAP or self._reduce_given_to != number
            if node is not None and looked and node.running(kind) < node.slots(kind):
                self._sort_queues(kind)
        self._reduce_given_to = None

    def _sort_queues(self, kind: SlotKind) -> None:
        slots = self._slots[kind]
        self._kept[kind].sort(key=lambda queue: queue.usage(kind, slots))

    def queue(self, kind: SlotKind, offer: Offer, view: ClusterView) -> Iterator[QueuedJob]:  # noqa: ARG002
        slots = self._slots[kind]
        ranked = sorted(self._kept[kind], key=lambda queue: queue.usage(kind, slots))
        for queue in ranked:
            usage = queue.usage(kind, slots)
            grounds = self._grounds_of_queue(queue)
            for number in queue.jobs_to_launch(kind, slots):
                yield QueuedJob(view.job(number), usage, grounds)

    def _grounds_of_queue(self, queue: CapacityQueue) -> Grounds:
        if not self.params.queues:
            return BY_KEY
        return Grounds(Reason.POOL, PoolPlace(queue.name))

    def quota(self, kind: SlotKind, offer: Offer, view: ClusterView) -> int:  # noqa: ARG002
        """Maps until the node is full, one reduce."""
        free = offer.free(kind)
        return free if kind is MAP else min(free, 1 - offer.given(REDUCE))

    def may_speculate(self, job: JobId, kind: SlotKind) -> bool:
        booked = self._jobs[job]
        return booked.queue.allows_user(kind, booked.user, self._slots[kind])


def queue_params(queues: dict[str, QueueParams], name: str) -> QueueParams:
    """What is said of a queue; of `default`, if nothing is, what holds for every queue."""
    return queues.get(name, QueueParams())


def capacities_in_percent(queues: dict[str, QueueParams]) -> dict[str, Percent]:
    """Every queue's capacity in percent; those that state none share what is left as equals."""
    every = {name: each.capacity for name, each in queues.items()}
    every.setdefault(DEFAULT_POOL, None)
    unstated = sum(capacity is None for capacity in every.values())
    left = 100 - sum(exact_fraction(each) for each in every.values() if each is not None)
    rest = float(left / unstated) if unstated else 0.0
    return {name: rest if each is None else each for name, each in every.items()}
