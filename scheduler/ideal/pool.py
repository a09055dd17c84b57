"""Jobs that share a machine: by weight, or by least attained service.

Both keep lazy virtual time: when n jobs share, nobody's remainder is touched; one clock runs and
each job holds the reading at which it will be done.  So an event costs O(log n), not O(n).
"""

from typing import Any, NamedTuple

from callboard.scheduler.ideal.heap import NONE, Heap, Links, Row, meld, pop, push

INF = float("inf")


class Pool(NamedTuple):
    """Jobs that share a machine in proportion to their weights.

    `clock[0]` is the service per unit of weight since the pool was last empty, in seconds, and a
    job's key in `heap` is the reading at which it is done.  This is the virtual clock of fair
    queueing and of PSBS.  `total` is the sum of weights in two parts, the second what rounding
    took from the first: else a heavy job that leaves could take a light one's weight with it.
    """

    heap: Heap
    weight: Row
    clock: Row
    total: Row


def weigh(pool: Pool, weight: Any) -> None:
    """Add to the sum of weights without loss, by TwoSum (Knuth, TAOCP volume 2, 4.2.2)."""
    old = pool.total[0]
    new = old + weight
    added = new - old
    pool.total[0] = new
    pool.total[1] += (old - (new - added)) + (weight - added)


def weight_of(pool: Pool) -> Any:
    """The sum of the weights in the pool; 0 if it is empty."""
    return pool.total[0] + pool.total[1]


def enter(pool: Pool, job: int, work: Any) -> None:
    """Add `job` with `work` seconds to do."""
    weight = pool.weight[job]
    push(pool.heap, 0, job, pool.clock[0] + work / weight)
    weigh(pool, weight)


def gap(pool: Pool, guests: int) -> Any:
    """Seconds until the pool's first job is done, if it shares the machine with `guests` only.

    `guests` is the weight of whoever shares from outside the pool.  Never below 0: a float clock
    may pass a key by its last bit.
    """
    first = pool.heap.top[0]
    if first == NONE:
        return INF
    return max(pool.heap.key[first] - pool.clock[0], 0) * (weight_of(pool) + guests)


def serve(pool: Pool, seconds: Any, guests: int) -> None:
    """Let the pool and its guests have the machine for `seconds`."""
    if pool.heap.top[0] != NONE:
        pool.clock[0] += seconds / (weight_of(pool) + guests)


def leave(pool: Pool) -> int:
    """Take out the first job, which is done now; an empty pool starts its clock afresh."""
    job = pop(pool.heap, 0)
    pool.clock[0] = pool.heap.key[job]
    weigh(pool, -pool.weight[job])
    if pool.heap.top[0] == NONE:
        pool.clock[0] = 0
        pool.total[0] = 0
        pool.total[1] = 0
    return job


def drain(pool: Pool, left: Row) -> None:
    """Take everyone out, writing the seconds of work left of each into `left`."""
    while pool.heap.top[0] != NONE:
        job = pop(pool.heap, 0)
        left[job] = max(pool.heap.key[job] - pool.clock[0], 0) * pool.weight[job]


class Levels(NamedTuple):
    """Jobs served by least attained service, in groups of equal attained service.

    A group is named by the job that founded it.  `jobs` holds one heap a group, keyed by size:
    the smallest is done first, since all have attained the same.  `groups` holds the groups that
    wait, keyed by attained service; the key of the group being served, `serving[0]`, is up to
    date though it stands outside that heap.  `count` is the number of jobs a group.
    """

    jobs: Heap
    groups: Heap
    count: Links
    serving: Links


def join(levels: Levels, job: int, attained: Any, size: Any) -> None:
    """Add `job` of `size` seconds that has attained `attained` of them."""
    now = levels.serving[0]
    if now != NONE and attained == levels.groups.key[now]:
        push(levels.jobs, now, job, size)
        levels.count[now] += 1
        return
    push(levels.jobs, job, job, size)
    levels.count[job] = 1
    if now == NONE or attained < levels.groups.key[now]:
        if now != NONE:
            push(levels.groups, 0, now, levels.groups.key[now])
        levels.groups.key[job] = attained
        levels.serving[0] = job
    else:
        push(levels.groups, 0, job, attained)


def target(levels: Levels) -> Any:
    """The attained service at which the group being served loses a job or meets the next group."""
    now = levels.serving[0]
    done = levels.jobs.key[levels.jobs.top[now]]
    nearest = levels.groups.top[0]
    if nearest == NONE:
        return done
    return min(done, levels.groups.key[nearest])


def levels_gap(levels: Levels) -> Any:
    """Seconds until a job is done or two groups meet, if the levels have the machine."""
    now = levels.serving[0]
    if now == NONE:
        return INF
    return max(target(levels) - levels.groups.key[now], 0) * levels.count[now]


def serve_levels(levels: Levels, seconds: Any) -> None:
    """Let the group of least attained service have the machine."""
    now = levels.serving[0]
    if now != NONE:
        levels.groups.key[now] += seconds / levels.count[now]


def leave_levels(levels: Levels) -> int:
    """Settle what `levels_gap` foretold: the job that is done, or `NONE` if two groups met."""
    now = levels.serving[0]
    attained = target(levels)
    levels.groups.key[now] = attained
    if levels.jobs.key[levels.jobs.top[now]] > attained:
        other = pop(levels.groups, 0)
        levels.jobs.top[now] = meld(levels.jobs, levels.jobs.top[now], levels.jobs.top[other])
        levels.count[now] += levels.count[other]
        return NONE
    job = pop(levels.jobs, now)
    levels.count[now] -= 1
    if levels.count[now] == 0:
        levels.serving[0] = NONE if levels.groups.top[0] == NONE else pop(levels.groups, 0)
    return job


def drain_levels(levels: Levels, left: Row) -> None:
    """Take everyone out, writing the seconds of work left of each into `left`."""
    while levels.serving[0] != NONE:
        now = levels.serving[0]
        while levels.jobs.top[now] != NONE:
            job = pop(levels.jobs, now)
            left[job] = max(levels.jobs.key[job] - levels.groups.key[now], 0)
        levels.serving[0] = NONE if levels.groups.top[0] == NONE else pop(levels.groups, 0)


HELPERS = (
    weigh,
    weight_of,
    enter,
    gap,
    serve,
    leave,
    drain,
    join,
    target,
    levels_gap,
    serve_levels,
    leave_levels,
    drain_levels,
)
"""What the compiled loops call from this module."""
