"""What a heartbeat brings: the order's first job that may have a task here, until none may."""

from callboard.twin import columns as c
from callboard.twin.attempt_lengths import (
    map_length,
    set_attempt_end,
    set_reduce_end,
    setup_or_cleanup_length,
    time_reduce,
)
from callboard.twin.block_lists import level_of, nearest_map, take_map
from callboard.twin.columns import Tables
from callboard.twin.job_lists import remove_from_list
from callboard.twin.job_queue import begin_walk, place_job, walk_on
from callboard.twin.kept_log import log_launch
from callboard.twin.killed_attempts import take_again, times_killed
from callboard.twin.launch_reasons import forget_refusals, log_refusal
from callboard.twin.locality_waits import (
    credit_passed_over_jobs,
    end_wait,
    may_launch_at,
    pass_over,
)
from callboard.twin.next_instants import change_free_slots, is_wanted, plan_report
from callboard.twin.virtual_orders import hear_launch

_ON_NODE, _OFF_RACK = 0, 2
_PADDING = 0.01
_PADDED_FROM_NODES = 4


def offer_slots(w: Tables, at: int) -> None:
    """Give the node at that place tasks until there is nothing more for it."""
    if not is_wanted(w, at):
        return
    if w.state[c.UNSEEN] > 0:
        _launch_setup_or_cleanup(w, at)
        return
    w.state[c.OFFERS] += 1
    w.state[c.PASSED] = 0
    maps_given, reduces_given, far = 0, 0, False
    while True:
        kind, job, level, task = _next_launch(w, at, maps_given, reduces_given, far)
        if job == c.NONE:
            break
        _launch_task(w, at, kind, job, level, task)
        if kind == c.MAPS_HERE:
            maps_given += 1
            far |= level == _OFF_RACK
        else:
            reduces_given += 1
        if w.given[c.ONE_EACH]:
            break
    if w.given[c.WAIT] != c.ANY_LEVEL:
        credit_passed_over_jobs(w)


def _next_launch(
    w: Tables, at: int, maps_given: int, reduces_given: int, far: bool
) -> tuple[int, int, int, int]:
    """The kind, job, level and task to launch; no job if there is none, and no task if it is one
    that runs again.
    """
    first = c.MAPS_HERE
    if w.given[c.ORDER] == c.BY_FAIR and w.nodes[at, c.TAKEN + 1] < w.nodes[at, c.TAKEN]:
        first = c.REDUCES_HERE
    for kind in (first, 1 - first):
        if not w.sums[c.PENDING, kind] or not w.nodes[at, c.FREE + kind]:
            continue
        given = maps_given if kind == c.MAPS_HERE else reduces_given
        if _slots_to_give(w, at, kind, given, far) <= 0:
            continue
        if kind == c.MAPS_HERE:
            job, level, task = _first_permitted(w, at)
            if job != c.NONE:
                return kind, job, level, task
        else:
            _, job = walk_on(w, kind, begin_walk(w, kind))
            if job == c.NONE:
                continue
            if w.jobs[job, c.AGAIN + kind] > 0:
                return kind, job, _OFF_RACK, c.NONE
            return kind, job, _OFF_RACK, int(w.jobs[job, c.NEXT_REDUCE])
    return c.MAPS_HERE, c.NONE, 0, 0


def _first_permitted(w: Tables, at: int) -> tuple[int, int, int]:
    """The first job that may launch its nearest map here; it, its level and the map."""
    node, rack = w.nodes[at, c.NODE], w.nodes[at, c.RACK]
    pool = begin_walk(w, c.MAPS_HERE)
    forget_refusals(w)
    while True:
        pool, job = walk_on(w, c.MAPS_HERE, pool)
        if job == c.NONE:
            return c.NONE, 0, 0
        if w.jobs[job, c.AGAIN + c.MAPS_HERE] > 0:
            return job, _ON_NODE, c.NONE
        level, task = nearest_map(w, job, node, rack)
        if w.given[c.WAIT] == c.ANY_LEVEL or may_launch_at(w, job, level):
            return job, level, task
        if len(w.log):
            log_refusal(w, job, level)
        pass_over(w, job)


# How much a heartbeat may bring.


def _slots_to_give(w: Tables, at: int, kind: int, given: int, far: bool) -> int:
    """How many more tasks of the kind the node may be given."""
    free = int(w.nodes[at, c.FREE + kind])
    if w.given[c.ORDER] > c.BY_FAIR:
        return free
    slots, taken = w.nodes[at, c.HAS + kind], w.nodes[at, c.TAKEN + kind]
    load = w.sums[c.UNFINISHED, kind]
    if w.given[c.ORDER] == c.BY_FAIR:
        load = w.pools[0, c.POOL_DEMAND + kind]
    share = min(-(-load * slots // w.sums[c.SLOTS, kind]), slots)
    if w.given[c.ORDER] == c.BY_FAIR:
        return int(min(share - taken, free))
    if kind == c.MAPS_HERE and far:
        return 0
    most = share - (taken - given)
    if most > 1 and (kind == c.REDUCES_HERE or _nearly_full(w, at, kind, given)):
        most = 1
    return int(min(most - given, free))


def _nearly_full(w: Tables, at: int, kind: int, given: int) -> bool:
    """Whether the cluster was within the padding of full when the heartbeat came."""
    wanted = w.sums[c.PADDED, kind]
    if not wanted:
        return False
    padding = 0
    if w.state[c.JOINED] >= _PADDED_FROM_NODES:
        padding = min(w.nodes[at, c.HAS + kind], int(wanted * _PADDING))
    return bool(w.sums[c.RUNNING, kind] - given + padding >= w.sums[c.SLOTS, kind])


# Launching.


def _launch_task(w: Tables, at: int, kind: int, job: int, level: int, task: int) -> None:
    """Book the task on the node, and find out when it ends."""
    _take_slot(w, at, kind)
    w.sums[c.PENDING, kind] -= 1
    w.jobs[job, c.WAITING_TASKS + kind] -= 1
    w.jobs[job, c.RUNNING_TASKS + kind] += 1
    w.jobs[job, c.SERVED + kind] = w.state[c.LAUNCHED]
    if w.jobs[job, c.FIRST_LAUNCH] == c.NONE:
        w.jobs[job, c.FIRST_LAUNCH] = w.state[c.NOW]
    number = 0
    if task == c.NONE:
        task = take_again(w, job, kind)
        number = times_killed(w, job, kind, task)
        if kind == c.MAPS_HERE:
            level = level_of(w, job, task, w.nodes[at, c.NODE], w.nodes[at, c.RACK])
    elif kind == c.MAPS_HERE:
        take_map(w, job, task)
    else:
        w.jobs[job, c.NEXT_REDUCE] += 1
    berth = _begin_attempt(w, at, kind, job, c.OF_TASKS, level, task, number)
    if kind == c.MAPS_HERE:
        w.jobs[job, c.LEVELS + level] += 1
        _end_after(w, at, berth, map_length(w, job, task, number, level, at))
        if w.given[c.WAIT] != c.ANY_LEVEL:
            end_wait(w, job, level)
    else:
        _begin_reduce(w, at, berth, number)
    if w.given[c.ORDER] >= c.BY_VIRTUAL_TIME:
        hear_launch(w, berth)
    else:
        place_job(w, kind, job)


def _launch_setup_or_cleanup(w: Tables, at: int) -> None:
    """Give the node the first cleanup that waits, or else the first setup, and nothing more: in a
    map slot, if one is free.
    """
    found = 0
    for place in range(w.state[c.UNSEEN] - 1, -1, -1):
        if w.lists[c.UNSEEN_LIST, place] & 1:
            found = place
    entry = w.lists[c.UNSEEN_LIST, found]
    job, stage = entry >> 1, c.OF_CLEANUP if entry & 1 else c.OF_SETUP
    remove_from_list(w, c.UNSEEN_LIST, w.state[c.UNSEEN], entry)
    w.state[c.UNSEEN] -= 1
    kind = c.MAPS_HERE if w.nodes[at, c.FREE + c.MAPS_HERE] > 0 else c.REDUCES_HERE
    _take_slot(w, at, kind)
    berth = _begin_attempt(w, at, kind, job, stage, _OFF_RACK, 0, 0)
    _end_after(w, at, berth, setup_or_cleanup_length(w, job, stage, at))


def _take_slot(w: Tables, at: int, kind: int) -> None:
    w.state[c.LAUNCHED] += 1
    w.state[c.LAST] = w.state[c.NOW]
    w.sums[c.RUNNING, kind] += 1
    w.nodes[at, c.TAKEN + kind] += 1
    change_free_slots(w, at, kind, -1)


def _end_after(w: Tables, at: int, berth: int, length_ms: int) -> None:
    """The attempt takes so long from its start."""
    set_attempt_end(w, berth, w.berths[berth, c.BEGUN] + length_ms)
    plan_report(w, at, w.berths[berth, c.OVER])


def _begin_reduce(w: Tables, at: int, berth: int, number: int) -> None:
    """Its end is known once the job's last map is known to have ended."""
    job = w.berths[berth, c.OF_JOB]
    time_reduce(w, berth, job, w.berths[berth, c.OF_TASK], number, at)
    if w.jobs[job, c.MAPPED] != c.NONE:
        set_reduce_end(w, berth)
        plan_report(w, at, w.berths[berth, c.OVER])
    else:
        w.berths[berth, c.FETCHES_NEXT] = w.jobs[job, c.FETCHING]
        w.jobs[job, c.FETCHING] = berth


def _begin_attempt(
    w: Tables, at: int, kind: int, job: int, stage: int, level: int, task: int, number: int
) -> int:
    """Find the attempt a berth in the books, and the slot that it will have when it gets there:
    the first in which nothing will run then, be its last attempt's end known or not.
    """
    begun_ms = w.state[c.NOW] + w.given[c.LATENCY]
    berth = slot = w.nodes[at, c.BERTH + kind]
    while w.berths[berth, c.OF_JOB] != c.NONE:
        berth += 1
    while w.berths[slot, c.BUSY] >= begun_ms:
        slot += 1
    w.berths[berth, c.OF_JOB] = job
    w.berths[berth, c.OF_KIND] = kind
    w.berths[berth, c.OF_STAGE] = stage
    w.berths[berth, c.OF_TASK] = task
    w.berths[berth, c.IN_SLOT] = slot - w.nodes[at, c.BERTH + c.MAPS_HERE]
    w.berths[berth, c.BEGUN] = begun_ms
    w.berths[berth, c.SHUFFLED] = c.LATER
    w.berths[berth, c.OVER] = c.LATER
    w.berths[berth, c.IN_LOG] = w.state[c.LAUNCHED] - 1
    w.berths[slot, c.BUSY] = c.LATER
    w.berths[berth, c.TRAINS] = w.berths[berth, c.HOLDS_TRAINING] = 0
    w.berths[berth, c.SAMPLE] = c.NONE
    w.berths[berth, c.HEARD_FROM] = c.LATER
    w.berths[berth, c.KILLING] = c.NOT_KILLED
    if len(w.log):
        log_launch(w, at, berth, job, level, number)
    return int(berth)
