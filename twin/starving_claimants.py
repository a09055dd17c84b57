"""Who starves, and who is killed for it: looked at twice a second, if anything has happened, and
acted on every that many seconds.

A claimant has two clocks, one for its min share and one for half of its fair share; each shows the
last look at which the claimant was there and did not starve.
"""

from callboard.twin.columns import (
    ABOVE_SHARE,
    BELOW_HALF,
    BELOW_MIN,
    CHECK_EVERY,
    CHILDREN,
    CLAIM_LOOK,
    FAIR_TIMEOUT,
    IN_LOG,
    JOBS,
    KILL_ORDERED,
    KILLING,
    KNOWN_LOOK,
    LAST,
    LATENCY,
    LOOK_EVERY,
    LOOKS,
    MIN_TIMEOUT,
    NEWS,
    NONE,
    NOT_KILLED,
    NOW,
    OF_JOB,
    OF_KIND,
    OF_NODE,
    OF_STAGE,
    OF_TASKS,
    PARENT,
    PENDING,
    POOL,
    POOL_EXISTS,
    PRESENT,
    PRESENT_LIST,
    SHARE_ABOVE,
    SHARE_BELOW,
    WAITING_TASKS,
    Tables,
)
from callboard.twin.fair_shares import pace_min_share_and_demand, running_of, share_out
from callboard.twin.job_lists import remove_from_list
from callboard.twin.next_instants import plan_report


def look_for_starving(w: Tables) -> None:
    """Look, and act if that is due, at the instants at which the master does."""
    now_ms = w.state[NOW]
    if now_ms == 0 or now_ms % w.given[LOOK_EVERY]:
        return
    if w.state[NEWS]:
        w.state[NEWS] = 0
        for kind in range(2):
            share_out(w, kind)
            _set_clocks(w, kind)
    if now_ms % w.given[CHECK_EVERY] == 0:
        for kind in range(2):
            if w.sums[PENDING, kind] > 0:
                _kill_newest(w, kind)


# Who is there.


def add_present_job(w: Tables, job: int) -> None:
    """A job has come, and with it perhaps its pool."""
    w.lists[PRESENT_LIST, w.state[PRESENT]] = job
    w.state[PRESENT] += 1
    pool = w.jobs[job, POOL]
    while not w.pools[pool, POOL_EXISTS]:
        w.pools[pool, POOL_EXISTS] = 1
        pool = w.pools[pool, PARENT]
        w.pools[pool, CHILDREN] += 1


def drop_present_job(w: Tables, job: int) -> None:
    """A job has ended."""
    remove_from_list(w, PRESENT_LIST, w.state[PRESENT], job)
    w.state[PRESENT] -= 1
    w.state[NEWS] = 1


# Clocks.


def _claims_something(w: Tables, kind: int, row: int) -> bool:
    return bool(w.claims[row, CLAIM_LOOK + kind] == w.sums[LOOKS, kind])


def _next_claimant(w: Tables, kind: int, place: int) -> int:
    """The next place, from this one on, of a claimant among the jobs that are there and then the
    pools; none at the end.
    """
    while place < w.state[PRESENT] + len(w.pools):
        if _claims_something(w, kind, _row_at(w, place)):
            return place
        place += 1
    return NONE


def _row_at(w: Tables, place: int) -> int:
    if place < w.state[PRESENT]:
        return int(w.lists[PRESENT_LIST, place])
    return int(w.given[JOBS] + place - w.state[PRESENT])


def _set_clocks(w: Tables, kind: int) -> None:
    """Start the clocks of those that starve since now, stop those of the others."""
    place = _next_claimant(w, kind, 0)
    while place != NONE:
        row = _row_at(w, place)
        known = w.claims[row, KNOWN_LOOK + kind] == w.sums[LOOKS, kind] - 1
        w.claims[row, KNOWN_LOOK + kind] = w.sums[LOOKS, kind]
        running = running_of(w, kind, row)
        _, least, demand = pace_min_share_and_demand(w, kind, row)
        half = w.claims[row, SHARE_ABOVE + kind] // (2 * w.claims[row, SHARE_BELOW + kind])
        _set_clock(w, row, BELOW_MIN + kind, running < least, known)
        _set_clock(w, row, BELOW_HALF + kind, running < min(half, demand), known)
        place = _next_claimant(w, kind, place + 1)


def _set_clock(w: Tables, row: int, column: int, starves: bool, known: bool) -> None:
    if not starves:
        w.claims[row, column] = NONE
    elif not known:
        w.claims[row, column] = w.state[NOW]
    elif w.claims[row, column] == NONE:
        w.claims[row, column] = w.state[NOW] - w.given[LOOK_EVERY]


# Deficits.


def _slots_lacking(w: Tables, kind: int, row: int) -> int:
    """How many slots a claimant that has starved for too long lacks and could use."""
    running, lacks = running_of(w, kind, row), 0
    _, least, demand = pace_min_share_and_demand(w, kind, row)
    if _has_starved(w, w.claims[row, BELOW_MIN + kind], w.claims[row, MIN_TIMEOUT]):
        lacks = least - running
    if _has_starved(w, w.claims[row, BELOW_HALF + kind], w.given[FAIR_TIMEOUT]):
        lacks = max(lacks, min(_whole_share(w, kind, row), demand) - running)
    return max(min(lacks, _pending_tasks(w, kind, row)), 0)


def _has_starved(w: Tables, since_ms: int, timeout_ms: int) -> bool:
    return bool(since_ms != NONE and w.state[NOW] - since_ms > timeout_ms)


def _whole_share(w: Tables, kind: int, row: int) -> int:
    return int(w.claims[row, SHARE_ABOVE + kind] // w.claims[row, SHARE_BELOW + kind])


def _pending_tasks(w: Tables, kind: int, row: int) -> int:
    """How many tasks of the claimant are pending."""
    if row < w.given[JOBS]:
        return int(w.jobs[row, WAITING_TASKS + kind])
    pending = 0
    for at in range(w.state[PRESENT]):
        job = w.lists[PRESENT_LIST, at]
        if w.jobs[job, POOL] == row - w.given[JOBS]:
            pending += w.jobs[job, WAITING_TASKS + kind]
    return int(pending)


# Victims.


def _kill_newest(w: Tables, kind: int) -> None:
    """As many of the newest attempts of those above their shares as others lack slots."""
    wanted, place = 0, _next_claimant(w, kind, 0)
    while place != NONE:
        row = _row_at(w, place)
        wanted += _slots_lacking(w, kind, row)
        w.claims[row, ABOVE_SHARE + kind] = -_whole_share(w, kind, row)
        place = _next_claimant(w, kind, place + 1)
    if wanted == 0:
        return
    wanted -= _collect_victim_candidates(w, kind)
    while wanted > 0 and w.newest[0] > 0:
        berth = _take_newest(w)
        row = _claimant_of(w, kind, w.berths[berth, OF_JOB])
        if row != NONE and w.claims[row, ABOVE_SHARE + kind] > 0:
            w.claims[row, ABOVE_SHARE + kind] -= 1
            _order_kill(w, berth)
            wanted -= 1


def _collect_victim_candidates(w: Tables, kind: int) -> int:
    """Put what runs into a heap, and count it for its claimants; how much is dying already."""
    w.newest[0] = leaving = 0
    for berth in range(len(w.berths)):
        if w.berths[berth, OF_JOB] == NONE or w.berths[berth, OF_KIND] != kind:
            continue
        if w.berths[berth, OF_STAGE] != OF_TASKS:
            continue
        if w.berths[berth, KILLING] != NOT_KILLED:
            leaving += 1
            continue
        _add_newest(w, int(w.berths[berth, IN_LOG]) * len(w.berths) + berth)
        row = _claimant_of(w, kind, w.berths[berth, OF_JOB])
        if row != NONE:
            w.claims[row, ABOVE_SHARE + kind] += 1
    return leaving


def _claimant_of(w: Tables, kind: int, job: int) -> int:
    """Who claims slots for the job: itself, or its pool."""
    if _claims_something(w, kind, job):
        return job
    pool = int(w.given[JOBS] + w.jobs[job, POOL])
    return pool if _claims_something(w, kind, pool) else NONE


def _order_kill(w: Tables, berth: int) -> None:
    """The node's next heartbeat brings it back."""
    w.berths[berth, KILLING] = KILL_ORDERED
    w.state[LAST] = w.state[NOW]
    plan_report(w, w.berths[berth, OF_NODE], w.state[NOW] - w.given[LATENCY])


# A heap of numbers, the largest first; how many there are stands before them.


def _add_newest(w: Tables, number: int) -> None:
    w.newest[0] += 1
    at = w.newest[0]
    while at > 1 and w.newest[at >> 1] < number:
        w.newest[at] = w.newest[at >> 1]
        at >>= 1
    w.newest[at] = number


def _take_newest(w: Tables) -> int:
    """Take the berth of the attempt launched last."""
    first, last = w.newest[1], w.newest[w.newest[0]]
    w.newest[0] -= 1
    at, count = 1, w.newest[0]
    while 2 * at <= count:
        below = 2 * at
        if below < count and w.newest[below + 1] > w.newest[below]:
            below += 1
        if w.newest[below] <= last:
            break
        w.newest[at] = w.newest[below]
        at = below
    w.newest[at] = last
    return int(first % len(w.berths))
