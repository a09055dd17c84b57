"""Disciplines that see no size and go by what each job has had: the least rank is served.

As in `loops`: from event to event, completions first, then changes of rank, then arrivals.  A job
costs O(log n) for each rank that it has.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from callboard.scheduler.ideal.heap import NO_JOB, Heap, JobLinks, NumberRow, goes_before, pop, push
from callboard.scheduler.ideal.loops import LoopJobs, complete, has_arrival, until_arrival
from callboard.scheduler.ideal.sharing_queues import INF


class AgeRanks(NamedTuple):
    """The rank of a job that has had `ages[i]` of service or more, and less than `ages[i + 1]`; the
    least is served.
    """

    ages: Sequence[float]
    """From 0 on, in order."""
    ranks: Sequence[float]


class RankedAges(NamedTuple):
    """From which age on a job has which rank; in which cell each job is, and what it still has to
    get to leave that.
    """

    age: NumberRow
    rank: NumberRow
    cell: JobLinks
    room: NumberRow


def enter_cell(ages: RankedAges, job: int, cell: int) -> None:
    """The job's age is now that at which the cell begins."""
    ages.cell[job] = cell
    ages.room[job] = INF
    if cell + 1 < len(ages.age):
        ages.room[job] = ages.age[cell + 1] - ages.age[cell]


def rekey_first(heap: Heap, key: Any) -> None:
    """The heap's first job goes under another key; it stays where it is if it is still first."""
    job = heap.top[0]
    heap.key[job] = key
    left, right = heap.left[job], heap.right[job]
    if (left != NO_JOB and goes_before(heap, left, job)) or (
        right != NO_JOB and goes_before(heap, right, job)
    ):
        push(heap, 0, pop(heap, 0), key)


def by_age(jobs: LoopJobs, heap: Heap, ages: RankedAges, until: Any) -> None:
    """The whole machine to the job of the least rank by age; of equals to the one that came first.
    Only the first job's age, and so its rank, changes.
    """
    now = 0
    i = 0
    while True:
        wait = until_arrival(jobs, i, now, until)
        head = heap.top[0]
        finish = INF if head == NO_JOB else jobs.left[head]
        change = INF if head == NO_JOB else ages.room[head]
        step = min(finish, change, wait)
        if step == INF:
            return
        if head != NO_JOB:
            jobs.left[head] -= step
            ages.room[head] -= step
        now += step
        if finish == step:
            complete(jobs, pop(heap, 0), now)
        elif change == step:
            enter_cell(ages, head, ages.cell[head] + 1)
            rekey_first(heap, ages.rank[ages.cell[head]])
        elif has_arrival(jobs, i, until):
            now = jobs.arrival[i]
            enter_cell(ages, i, 0)
            push(heap, 0, i, ages.rank[0])
            i += 1
        else:
            return
