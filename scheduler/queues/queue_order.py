"""Which queue is asked first: PriorityUtilizationQueueOrderingPolicy of YARN's Capacity Scheduler.

Queues that hold less than they are due go before those that hold as much or more.  On either side
priority decides, then the lower utilisation, then the larger capacity.  A queue without capacity
is last.
"""

from collections.abc import Iterable
from typing import NamedTuple


class RankedQueue(NamedTuple):
    """A queue as the order sees it."""

    name: str
    utilisation: float
    """What it uses over what it is due."""
    capacity: float
    """Its share of the cluster."""
    priority: int = 0
    """The higher goes first."""


def in_order_of_need(
    queues: Iterable[RankedQueue], *, respect_priority: bool = True
) -> list[RankedQueue]:
    """The queues, the one that is asked first first; equal ones stay as they stood."""

    def rank(queue: RankedQueue) -> tuple[bool, tuple[bool, int, float], float]:
        priority = queue.priority if respect_priority else 0
        return queue.capacity == 0, need_rank(queue.utilisation, priority), -queue.capacity

    return sorted(queues, key=rank)


def need_rank(utilisation: float, priority: int) -> tuple[bool, int, float]:
    """What queues are sorted by: under what they are due, by priority, by utilisation."""
    return utilisation >= 1.0, -priority, utilisation
