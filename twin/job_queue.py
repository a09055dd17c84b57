"""The jobs with pending tasks of a kind, by keys that change with their own facts.

Queues are sorted arrays, one a pool (`sorted_keys`).
"""

from callboard.twin.believed_sizes import believed_size, believed_time_of_tasks
from callboard.twin.columns import (
    BY_FAIR,
    BY_FIFO,
    BY_LAS,
    BY_PS,
    BY_SRPT,
    BY_VIRTUAL_TIME,
    CAP,
    COUNTED_DEMAND,
    COUNTED_RUNNING,
    IN_LINE,
    INVERSE_WEIGHT,
    JOBS,
    KEY,
    MIN_SHARE,
    NEEDY_SCALE,
    NEWS,
    NONE,
    ORDER,
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
    RUNNABLE,
    RUNNING_TASKS,
    SERVED,
    STANDING,
    STANDING_BITS,
    WAITING_TASKS,
    WALKED,
    Tables,
)
from callboard.twin.sorted_keys import key_with, move_key, paired_score
from callboard.twin.virtual_orders import begin_virtual_walk, walk_virtually
from callboard.twin.virtual_phases import place_phase


def place_job(w: Tables, kind: int, job: int) -> None:
    """The job's own facts have changed: put it where it belongs, or take it out."""
    if w.given[ORDER] >= BY_VIRTUAL_TIME:
        place_phase(w, kind, job)
        return
    w.state[NEWS] = 1
    waiting, running = w.jobs[job, WAITING_TASKS + kind], w.jobs[job, RUNNING_TASKS + kind]
    demand = running + waiting
    if not w.jobs[job, RUNNABLE]:
        waiting = demand = 0
    pool, old = w.jobs[job, POOL], w.jobs[job, KEY + kind]
    new = key_with(w, order_score(w, kind, job), w.jobs[job, STANDING]) if waiting else NONE
    move_key(w, kind, pool, old, new)
    w.jobs[job, KEY + kind] = new
    if w.given[ORDER] == BY_FAIR:
        more = running - w.jobs[job, COUNTED_RUNNING + kind]
        wish = demand - w.jobs[job, COUNTED_DEMAND + kind]
        w.jobs[job, COUNTED_RUNNING + kind] = running
        w.jobs[job, COUNTED_DEMAND + kind] = demand
        change_pools(w, kind, pool, more, wish)


def change_pools(w: Tables, kind: int, pool: int, more: int, wish: int) -> None:
    """A pool's members run that many more and wish for that many more; tell the pools above."""
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
            new = key_with(w, fair_score(w, running, due, pace), w.pools[pool, POOL_STANDING])
        move_key(w, kind, parent, old, new)
        w.pools[pool, POOL_KEY + kind] = new
        wish = demand - before
        pool = parent


def begin_walk(w: Tables, kind: int) -> int:
    """Where a walk along the queue begins: the pool in which it is."""
    if w.given[ORDER] >= BY_VIRTUAL_TIME:
        begin_virtual_walk(w, kind)
    w.pools[0, WALKED] = 0
    return 0


def walk_on(w: Tables, kind: int, pool: int) -> tuple[int, int]:
    """The pool in which the walk is now, and the next job; no job at the end."""
    if w.given[ORDER] >= BY_VIRTUAL_TIME:
        return 0, walk_virtually(w, kind)
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


def order_score(w: Tables, kind: int, job: int) -> int:
    """What the order goes by; the least is first."""
    order, running = w.given[ORDER], w.jobs[job, RUNNING_TASKS + kind]
    if order == BY_FIFO or w.pools[w.jobs[job, POOL], IN_LINE]:
        return int(w.jobs[job, PLACE_IN_LINE])
    if order == BY_FAIR:
        return fair_score(w, running, 0, w.jobs[job, INVERSE_WEIGHT])
    if order == BY_PS:
        return paired_score(w, running, w.jobs[job, SERVED + kind])
    if order == BY_LAS:
        going_ms = believed_time_of_tasks(w, kind, job, running, 0)
        return paired_score(w, w.jobs[job, OWN_TIME + kind] + going_ms, running)
    return believed_size(w, kind, job, left=order == BY_SRPT)


def fair_score(w: Tables, running: int, due: int, inverse_weight: int) -> int:
    """Who runs less than is due goes first, by running / due; the others by running / weight.  Any
    two such quotients differ by more than one part of the scale.
    """
    if running < due:
        return int(running * w.given[NEEDY_SCALE] // due)
    return int(w.given[NEEDY_SCALE] + running * inverse_weight)
