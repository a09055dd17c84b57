"""Jobs that share a machine: by weight, or by least attained service.

Both keep lazy virtual time: when n jobs share, nobody's remainder is touched; one clock runs and
each job holds the reading at which it will be done.  So an event costs O(log n), not O(n).
"""

from typing import Any, NamedTuple

from callboard.scheduler.ideal.heap import NO_JOB, Heap, JobLinks, NumberRow, meld, pop, push

INF = float("inf")


class PsQueue(NamedTuple):
    """Jobs that share a machine in proportion to their weights.

    `clock[0]` is the service per unit of weight since the pool was last empty, in seconds, and a
    job's key in `heap` the reading at which it is done: the virtual clock of fair queueing and of
    PSBS.  `total` is the sum of weights in two parts, the second what rounding took from the first,
    so that a heavy job that leaves does not take a light one's weight with it.
    """

    heap: Heap
    weight: NumberRow
    clock: NumberRow
    total: NumberRow


def add_weight(pool: PsQueue, weight: Any) -> None:
    """Add to the sum of weights without loss, by TwoSum (Knuth, TAOCP volume 2, 4.2.2)."""
    old = pool.total[0]
    new = old + weight
    added = new - old
    pool.total[0] = new
    pool.total[1] += (old - (new - added)) + (weight - added)


def total_weight(pool: PsQueue) -> Any:
    """The sum of the weights in the pool; 0 if it is empty."""
    return pool.total[0] + pool.total[1]


def enter_ps(pool: PsQueue, job: int, work: Any) -> None:
    """Add `job` with `work` seconds to do."""
    weight = pool.weight[job]
    push(pool.heap, 0, job, pool.clock[0] + work / weight)
    add_weight(pool, weight)


def until_ps_departure(pool: PsQueue, guests: int) -> Any:
    """Seconds to the first departure beside `guests`, a weight; never below 0 by rounding."""
    first = pool.heap.top[0]
    if first == NO_JOB:
        return INF
    return max(pool.heap.key[first] - pool.clock[0], 0) * (total_weight(pool) + guests)


def serve_ps(pool: PsQueue, seconds: Any, guests: int) -> None:
    """Let the pool and its guests have the machine for `seconds`."""
    if pool.heap.top[0] != NO_JOB:
        pool.clock[0] += seconds / (total_weight(pool) + guests)


def leave_ps(pool: PsQueue) -> int:
    """Take out the first job, which is done now; an empty pool starts its clock afresh."""
    job = pop(pool.heap, 0)
    pool.clock[0] = pool.heap.key[job]
    add_weight(pool, -pool.weight[job])
    if pool.heap.top[0] == NO_JOB:
        pool.clock[0] = 0
        pool.total[0] = 0
        pool.total[1] = 0
    return job


def unload_ps(pool: PsQueue, left: NumberRow) -> None:
    """Take all jobs out, writing the seconds of work left of each into `left`."""
    while pool.heap.top[0] != NO_JOB:
        job = pop(pool.heap, 0)
        left[job] = max(pool.heap.key[job] - pool.clock[0], 0) * pool.weight[job]


class LasQueue(NamedTuple):
    """Jobs served by least attained service, in groups of equal attained service.

    A group is named by the job that founded it.  `jobs` holds one heap a group, keyed by size;
    `groups` the waiting groups, keyed by attained service; `serving[0]` is the group being served,
    its key kept up to date; `count` is the number of jobs a group.
    """

    jobs: Heap
    groups: Heap
    count: JobLinks
    serving: JobLinks


def enter_las(levels: LasQueue, job: int, attained: Any, size: Any) -> None:
    """Add `job` of `size` seconds that has attained `attained` of them."""
    now = levels.serving[0]
    if now != NO_JOB and attained == levels.groups.key[now]:
        push(levels.jobs, now, job, size)
        levels.count[now] += 1
        return
    push(levels.jobs, job, job, size)
    levels.count[job] = 1
    if now == NO_JOB or attained < levels.groups.key[now]:
        if now != NO_JOB:
            push(levels.groups, 0, now, levels.groups.key[now])
        levels.groups.key[job] = attained
        levels.serving[0] = job
    else:
        push(levels.groups, 0, job, attained)


def next_las_level(levels: LasQueue) -> Any:
    """The attained service at which the group being served loses a job or meets the next group."""
    now = levels.serving[0]
    done = levels.jobs.key[levels.jobs.top[now]]
    nearest = levels.groups.top[0]
    if nearest == NO_JOB:
        return done
    return min(done, levels.groups.key[nearest])


def until_las_change(levels: LasQueue) -> Any:
    """Seconds until a job is done or two groups meet, if the levels have the machine."""
    now = levels.serving[0]
    if now == NO_JOB:
        return INF
    return max(next_las_level(levels) - levels.groups.key[now], 0) * levels.count[now]


def serve_las(levels: LasQueue, seconds: Any) -> None:
    """Let the group of least attained service have the machine."""
    now = levels.serving[0]
    if now != NO_JOB:
        levels.groups.key[now] += seconds / levels.count[now]


def leave_las(levels: LasQueue) -> int:
    """Settle the event of `until_las_change`: the job that is done; `NO_JOB`: two groups met."""
    now = levels.serving[0]
    attained = next_las_level(levels)
    levels.groups.key[now] = attained
    if levels.jobs.key[levels.jobs.top[now]] > attained:
        other = pop(levels.groups, 0)
        levels.jobs.top[now] = meld(levels.jobs, levels.jobs.top[now], levels.jobs.top[other])
        levels.count[now] += levels.count[other]
        return NO_JOB
    job = pop(levels.jobs, now)
    levels.count[now] -= 1
    if levels.count[now] == 0:
        levels.serving[0] = NO_JOB if levels.groups.top[0] == NO_JOB else pop(levels.groups, 0)
    return job


def unload_las(levels: LasQueue, left: NumberRow) -> None:
    """Take all jobs out, writing the seconds of work left of each into `left`."""
    while levels.serving[0] != NO_JOB:
        now = levels.serving[0]
        while levels.jobs.top[now] != NO_JOB:
            job = pop(levels.jobs, now)
            left[job] = max(levels.jobs.key[job] - levels.groups.key[now], 0)
        levels.serving[0] = NO_JOB if levels.groups.top[0] == NO_JOB else pop(levels.groups, 0)
