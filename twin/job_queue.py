"""The jobs with pending tasks of a kind, by keys that change with their own facts.

Queues are sorted arrays, one a pool (`sorted_keys`).
"""

from callboard.twin import columns as c
from callboard.twin.believed_sizes import believed_size, believed_time_of_tasks
from callboard.twin.columns import Tables
from callboard.twin.sorted_keys import key_with, move_key, paired_score
from callboard.twin.virtual_orders import begin_virtual_walk, walk_virtually
from callboard.twin.virtual_phases import place_phase


def place_job(w: Tables, kind: int, job: int) -> None:
    """The job's own facts have changed: put it where it belongs, or take it out."""
    if w.given[c.ORDER] >= c.BY_VIRTUAL_TIME:
        place_phase(w, kind, job)
        return
    w.state[c.NEWS] = 1
    waiting, running = w.jobs[job, c.WAITING_TASKS + kind], w.jobs[job, c.RUNNING_TASKS + kind]
    demand = running + waiting
    if not w.jobs[job, c.RUNNABLE]:
        waiting = demand = 0
    pool, old = w.jobs[job, c.POOL], w.jobs[job, c.KEY + kind]
    new = key_with(w, order_score(w, kind, job), w.jobs[job, c.STANDING]) if waiting else c.NONE
    move_key(w, kind, pool, old, new)
    w.jobs[job, c.KEY + kind] = new
    if w.given[c.ORDER] == c.BY_FAIR:
        more = running - w.jobs[job, c.COUNTED_RUNNING + kind]
        wish = demand - w.jobs[job, c.COUNTED_DEMAND + kind]
        w.jobs[job, c.COUNTED_RUNNING + kind] = running
        w.jobs[job, c.COUNTED_DEMAND + kind] = demand
        add_to_pool_and_parents(w, kind, pool, more, wish)


def add_to_pool_and_parents(w: Tables, kind: int, pool: int, more: int, wish: int) -> None:
    """A pool's members run that many more and wish for that many more; tell the pools above."""
    while True:
        before, cap = w.pools[pool, c.POOL_DEMAND + kind], w.pools[pool, c.CAP + kind]
        w.pools[pool, c.POOL_RUNNING + kind] += more
        w.pools[pool, c.POOL_WISHES + kind] += wish
        demand, running = w.pools[pool, c.POOL_WISHES + kind], w.pools[pool, c.POOL_RUNNING + kind]
        is_open = cap == c.NONE or running < cap
        if cap != c.NONE:
            demand = min(demand, cap)
        w.pools[pool, c.POOL_DEMAND + kind] = demand
        if pool == 0:
            return
        parent, old, new = w.pools[pool, c.PARENT], w.pools[pool, c.POOL_KEY + kind], c.NONE
        if is_open and w.pools[pool, c.QUEUED + kind] > 0:
            due, pace = min(w.pools[pool, c.MIN_SHARE + kind], demand), w.pools[pool, c.POOL_PACE]
            new = key_with(w, fair_score(w, running, due, pace), w.pools[pool, c.POOL_STANDING])
        move_key(w, kind, parent, old, new)
        w.pools[pool, c.POOL_KEY + kind] = new
        wish = demand - before
        pool = parent


def begin_walk(w: Tables, kind: int) -> int:
    """Where a walk along the queue begins: the pool in which it is."""
    if w.given[c.ORDER] >= c.BY_VIRTUAL_TIME:
        begin_virtual_walk(w, kind)
    w.pools[0, c.WALKED] = 0
    return 0


def walk_on(w: Tables, kind: int, pool: int) -> tuple[int, int]:
    """The pool in which the walk is now, and the next job; no job at the end."""
    if w.given[c.ORDER] >= c.BY_VIRTUAL_TIME:
        return 0, walk_virtually(w, kind)
    while True:
        walked = w.pools[pool, c.WALKED]
        if walked == w.pools[pool, c.QUEUED + kind]:
            if pool == 0:
                return 0, c.NONE
            pool = w.pools[pool, c.PARENT]
            continue
        w.pools[pool, c.WALKED] = walked + 1
        key = w.queues[kind, w.pools[pool, c.QUEUE_START] + walked]
        member = w.standings[key & ((1 << w.given[c.STANDING_BITS]) - 1)]
        if member < w.given[c.JOBS]:
            return pool, int(member)
        pool = member - w.given[c.JOBS]
        w.pools[pool, c.WALKED] = 0


def order_score(w: Tables, kind: int, job: int) -> int:
    """What the order goes by; the least is first."""
    order, running = w.given[c.ORDER], w.jobs[job, c.RUNNING_TASKS + kind]
    if order == c.BY_FIFO or w.pools[w.jobs[job, c.POOL], c.IN_LINE]:
        return int(w.jobs[job, c.PLACE_IN_LINE])
    if order == c.BY_FAIR:
        return fair_score(w, running, 0, w.jobs[job, c.INVERSE_WEIGHT])
    if order == c.BY_PS:
        return paired_score(w, running, w.jobs[job, c.SERVED + kind])
    if order == c.BY_LAS:
        going_ms = believed_time_of_tasks(w, kind, job, running, 0)
        return paired_score(w, w.jobs[job, c.OWN_TIME + kind] + going_ms, running)
    return believed_size(w, kind, job, left=order == c.BY_SRPT)


def fair_score(w: Tables, running: int, due: int, inverse_weight: int) -> int:
    """Who runs less than is due goes first, by running / due; the others by running / weight.  Any
    two such quotients differ by more than one part of the scale.
    """
    if running < due:
        return int(running * w.given[c.NEEDY_SCALE] // due)
    return int(w.given[c.NEEDY_SCALE] + running * inverse_weight)
