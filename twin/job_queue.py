"""The jobs with pending tasks of a kind, by keys that change with their own facts.

A key is one number: what the order goes by, then a standing (of pools by name, of jobs by
submission and number), so that no two are equal.  Queues are sorted arrays, one a pool: a key moves
a little at a time, and all are walked far more often than that.
"""

import numpy as np

from callboard.twin.attempt_lengths import size_error, true_size
from callboard.twin.columns import (
    BY_FAIR,
    BY_FIFO,
    BY_LAS,
    BY_PS,
    BY_SRPT,
    CAP,
    COUNTED_DEMAND,
    COUNTED_RUNNING,
    DONE_TASKS,
    ENDED_COUNT,
    ENDED_TIME,
    GUESS,
    IN_LINE,
    INVERSE_WEIGHT,
    JOBS,
    KEY,
    MIDDLE_BITS,
    MIN_SHARE,
    NEEDY_SCALE,
    NONE,
    ORDER,
    OVERFLOW,
    OWN_COUNT,
    OWN_TIME,
    PARENT,
    PLACE_IN_LINE,
    POOL,
    POOL_DEMAND,
    POOL_KEY,
    POOL_PACE,
    POOL_RUNNING,
    POOL_STANDING,
    POOL_WISHES,
    QUEUE_START,
    QUEUED,
    REQUESTED,
    RUNNABLE,
    RUNNING_TASKS,
    SERVED,
    SIZE_ERROR,
    SIZE_REQUESTED,
    SIZE_SOURCE,
    SIZE_TRUE,
    STANDING,
    STANDING_BITS,
    TASKS,
    TRUE_SIZE,
    WAITING_TASKS,
    WALKED,
    Tables,
)

_KEY_BITS = 62


def place_job(w: Tables, kind: int, job: int) -> None:
    """The job's own facts have changed: put it where it belongs, or take it out."""
    waiting, running = w.jobs[job, WAITING_TASKS + kind], w.jobs[job, RUNNING_TASKS + kind]
    demand = running + waiting
    if not w.jobs[job, RUNNABLE]:
        waiting = demand = 0
    pool, old = w.jobs[job, POOL], w.jobs[job, KEY + kind]
    new = _key(w, order_score(w, kind, job), w.jobs[job, STANDING]) if waiting else NONE
    move_key(w, kind, pool, old, new)
    w.jobs[job, KEY + kind] = new
    if w.given[ORDER] == BY_FAIR:
        more = running - w.jobs[job, COUNTED_RUNNING + kind]
        wish = demand - w.jobs[job, COUNTED_DEMAND + kind]
        w.jobs[job, COUNTED_RUNNING + kind] = running
        w.jobs[job, COUNTED_DEMAND + kind] = demand
        change_pools(w, kind, pool, more, wish)


def change_pools(w: Tables, kind: int, pool: int, more: int, wish: int) -> None:
    """A pool's members run so many more and wish for so many more; tell the pools above."""
    while True:
        before, cap = w.pools[pool, POOL_DEMAND + kind], w.pools[pool, CAP + kind]
        w.pools[pool, POOL_RUNNING + kind] += more
        w.pools[pool, POOL_WISHES + kind] += wish
        demand, running = w.pools[pool, POOL_WISHES + kind], w.pools[pool, POOL_RUNNING + kind]
        is_open = cap == NONE or running < cap
        if cap != NONE:
            demand = min(demand, cap)
        w.pools[pool, POOL_DEMAND + kind] = demand
        if pool == 0:
            return
        parent, old, new = w.pools[pool, PARENT], w.pools[pool, POOL_KEY + kind], NONE
        if is_open and w.pools[pool, QUEUED + kind] > 0:
            due, pace = min(w.pools[pool, MIN_SHARE + kind], demand), w.pools[pool, POOL_PACE]
            new = _key(w, fair_score(w, running, due, pace), w.pools[pool, POOL_STANDING])
        move_key(w, kind, parent, old, new)
        w.pools[pool, POOL_KEY + kind] = new
        wish = demand - before
        pool = parent


def move_key(w: Tables, kind: int, pool: int, old: int, new: int) -> None:
    """A member of the pool has another key; `NONE` while it has nothing to launch."""
    if new == old:
        return
    start = w.pools[pool, QUEUE_START]
    end = start + w.pools[pool, QUEUED + kind]
    if old == NONE:
        w.pools[pool, QUEUED + kind] += 1
        at = end
    else:
        at = _place_of(w, kind, start, end, old)
    if new == NONE:
        w.pools[pool, QUEUED + kind] -= 1
    if new == NONE or (old != NONE and new > old):
        while at + 1 < end and (new == NONE or w.queues[kind, at + 1] < new):
            w.queues[kind, at] = w.queues[kind, at + 1]
            at += 1
    else:
        while at > start and w.queues[kind, at - 1] > new:
            w.queues[kind, at] = w.queues[kind, at - 1]
            at -= 1
    if new != NONE:
        w.queues[kind, at] = new


def _place_of(w: Tables, kind: int, start: int, end: int, key: int) -> int:
    """Where a key stands that is between the two places."""
    while start < end:
        middle = (start + end) >> 1
        if w.queues[kind, middle] < key:
            start = middle + 1
        else:
            end = middle
    return int(start)


def begin_walk(w: Tables) -> int:
    """Where a walk along the queue begins: the pool in which it is."""
    w.pools[0, WALKED] = 0
    return 0


def walk_on(w: Tables, kind: int, pool: int) -> tuple[int, int]:
    """The pool in which the walk is now, and the next job; no job at the end."""
    while True:
        walked = w.pools[pool, WALKED]
        if walked == w.pools[pool, QUEUED + kind]:
            if pool == 0:
                return 0, NONE
            pool = w.pools[pool, PARENT]
            continue
        w.pools[pool, WALKED] = walked + 1
        key = w.queues[kind, w.pools[pool, QUEUE_START] + walked]
        member = w.standings[key & ((1 << w.given[STANDING_BITS]) - 1)]
        if member < w.given[JOBS]:
            return pool, int(member)
        pool = member - w.given[JOBS]
        w.pools[pool, WALKED] = 0


# Keys.


def _key(w: Tables, score: int, standing: int) -> int:
    """What the order goes by, and the standing behind it, as one number."""
    bits = w.given[STANDING_BITS]
    if score >> (_KEY_BITS - bits):
        w.state[OVERFLOW] = 1
        score = 0
    return int((score << bits) | standing)


def order_score(w: Tables, kind: int, job: int) -> int:
    """What the order goes by; the least is first."""
    order, running = w.given[ORDER], w.jobs[job, RUNNING_TASKS + kind]
    if order == BY_FIFO or w.pools[w.jobs[job, POOL], IN_LINE]:
        return int(w.jobs[job, PLACE_IN_LINE])
    if order == BY_FAIR:
        return fair_score(w, running, 0, w.jobs[job, INVERSE_WEIGHT])
    if order == BY_PS:
        return _joined(w, running, w.jobs[job, SERVED + kind])
    if order == BY_LAS:
        going_ms = believed_time(w, kind, job, running, 0)
        return _joined(w, w.jobs[job, OWN_TIME + kind] + going_ms, running)
    return believed_size(w, kind, job, left=order == BY_SRPT)


def fair_score(w: Tables, running: int, due: int, inverse_weight: int) -> int:
    """Who runs less than is due goes first, by running / due; the others by running / weight.  Any
    two such quotients differ by more than one part of the scale.
    """
    if running < due:
        return int(running * w.given[NEEDY_SCALE] // due)
    return int(w.given[NEEDY_SCALE] + running * inverse_weight)


def believed_size(w: Tables, kind: int, job: int, left: bool) -> int:
    """How large the phase is, or what is left of it, for all that is known."""
    if w.given[SIZE_SOURCE] == SIZE_TRUE:
        if w.jobs[job, TRUE_SIZE + kind] == NONE:
            true_ms = true_size(w, kind, job)
            if w.reals[SIZE_ERROR] != 0.0:
                true_ms = int(np.rint(true_ms * size_error(w, kind, job)))
            w.jobs[job, TRUE_SIZE + kind] = true_ms
        size_ms = w.jobs[job, TRUE_SIZE + kind]
        return int(max(size_ms - w.jobs[job, OWN_TIME + kind], 0) if left else size_ms)
    tasks = w.jobs[job, TASKS + kind] - (w.jobs[job, DONE_TASKS + kind] if left else 0)
    if w.given[SIZE_SOURCE] == SIZE_REQUESTED and w.jobs[job, REQUESTED] != NONE:
        return int(tasks * w.jobs[job, REQUESTED])
    return believed_time(w, kind, job, tasks, w.given[GUESS])


def _joined(w: Tables, first: int, second: int) -> int:
    """Two numbers as one that compares like both, one after the other."""
    bits = w.given[MIDDLE_BITS]
    if first >> (_KEY_BITS - bits) or second >> bits:
        w.state[OVERFLOW] = 1
        return 0
    return int((first << bits) | second)


def believed_time(w: Tables, kind: int, job: int, tasks: int, guess_ms: int) -> int:
    """So many tasks of the mean length: of the job's own ended ones, else of all, else a guess."""
    total, count = w.jobs[job, OWN_TIME + kind], w.jobs[job, OWN_COUNT + kind]
    if count == 0:
        total, count = w.sums[ENDED_TIME, kind], w.sums[ENDED_COUNT, kind]
    if count == 0:
        return int(tasks * guess_ms)
    if tasks and total > (1 << _KEY_BITS) // tasks:
        w.state[OVERFLOW] = 1
        return 0
    return rounded_quotient(tasks * total, count)


def rounded_quotient(dividend: int, divisor: int) -> int:
    """What Python makes of `round(dividend / divisor)`: the quotient as a float, of which there is
    one for every whole and half below 2**52, and that half to even.
    """
    whole = dividend // divisor
    from_half = 2 * (dividend - whole * divisor) - divisor
    spacing = 2.0**-52
    while spacing * (1 << 52) * 2.0 <= float(whole):
        spacing *= 2.0
    if abs(from_half) <= spacing * float(divisor):
        return int(whole + (whole & 1))
    return int(whole + (from_half > 0))


def learn_length(w: Tables, kind: int, job: int, work_ms: int) -> None:
    """An attempt of the job has ended that worked so long."""
    w.jobs[job, OWN_TIME + kind] += work_ms
    w.jobs[job, OWN_COUNT + kind] += 1
    w.sums[ENDED_TIME, kind] += work_ms
    w.sums[ENDED_COUNT, kind] += 1
