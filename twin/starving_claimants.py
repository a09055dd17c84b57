"""Who starves, and who is killed for it: looked at twice a second, if anything has happened, and
acted on every that many seconds.

A claimant has two clocks, one for its min share and one for half of its fair share; each shows the
last look at which the claimant was there and did not starve.
"""

from callboard.twin import columns as c
from callboard.twin.columns import Tables
from callboard.twin.fair_shares import pace_min_share_and_demand, running_of, share_out
from callboard.twin.job_lists import remove_from_list
from callboard.twin.next_instants import plan_report


def look_for_starving(w: Tables) -> None:
    """Look, and act if that is due, at the instants at which the master does."""
    now_ms = w.state[c.NOW]
    if now_ms == 0 or now_ms % w.given[c.LOOK_EVERY]:
        return
    if w.state[c.NEWS]:
        w.state[c.NEWS] = 0
        for kind in range(2):
            share_out(w, kind)
            _set_clocks(w, kind)
    if now_ms % w.given[c.CHECK_EVERY] == 0:
        for kind in range(2):
            if w.sums[c.PENDING, kind] > 0:
                _kill_newest(w, kind)


# Who is there.


def add_present_job(w: Tables, job: int) -> None:
    """A job has come, and with it perhaps its pool."""
    w.lists[c.PRESENT_LIST, w.state[c.PRESENT]] = job
    w.state[c.PRESENT] += 1
    pool = w.jobs[job, c.POOL]
    while not w.pools[pool, c.POOL_EXISTS]:
        w.pools[pool, c.POOL_EXISTS] = 1
        pool = w.pools[pool, c.PARENT]
        w.pools[pool, c.CHILDREN] += 1


def drop_present_job(w: Tables, job: int) -> None:
    """A job has ended."""
    remove_from_list(w, c.PRESENT_LIST, w.state[c.PRESENT], job)
    w.state[c.PRESENT] -= 1
    w.state[c.NEWS] = 1


# Clocks.


def _claims_something(w: Tables, kind: int, row: int) -> bool:
    return bool(w.claims[row, c.CLAIM_LOOK + kind] == w.sums[c.LOOKS, kind])


def _next_claimant(w: Tables, kind: int, place: int) -> int:
    """The next place, from this one on, of a claimant among the jobs that are there and then the
    pools; none at the end.
    """
    while place < w.state[c.PRESENT] + len(w.pools):
        if _claims_something(w, kind, _row_at(w, place)):
            return place
        place += 1
    return c.NONE


def _row_at(w: Tables, place: int) -> int:
    if place < w.state[c.PRESENT]:
        return int(w.lists[c.PRESENT_LIST, place])
    return int(w.given[c.JOBS] + place - w.state[c.PRESENT])


def _set_clocks(w: Tables, kind: int) -> None:
    """Start the clocks of those that starve since now, stop those of the others."""
    place = _next_claimant(w, kind, 0)
    while place != c.NONE:
        row = _row_at(w, place)
        known = w.claims[row, c.KNOWN_LOOK + kind] == w.sums[c.LOOKS, kind] - 1
        w.claims[row, c.KNOWN_LOOK + kind] = w.sums[c.LOOKS, kind]
        running = running_of(w, kind, row)
        _, least, demand = pace_min_share_and_demand(w, kind, row)
        half = w.claims[row, c.SHARE_ABOVE + kind] // (2 * w.claims[row, c.SHARE_BELOW + kind])
        _set_clock(w, row, c.BELOW_MIN + kind, running < least, known)
        _set_clock(w, row, c.BELOW_HALF + kind, running < min(half, demand), known)
        place = _next_claimant(w, kind, place + 1)


def _set_clock(w: Tables, row: int, column: int, starves: bool, known: bool) -> None:
    if not starves:
        w.claims[row, column] = c.NONE
    elif not known:
        w.claims[row, column] = w.state[c.NOW]
    elif w.claims[row, column] == c.NONE:
        w.claims[row, column] = w.state[c.NOW] - w.given[c.LOOK_EVERY]


# Deficits.


def _slots_lacking(w: Tables, kind: int, row: int) -> int:
    """How many slots a claimant that has starved for too long lacks and could use."""
    running, lacks = running_of(w, kind, row), 0
    _, least, demand = pace_min_share_and_demand(w, kind, row)
    if _has_starved(w, w.claims[row, c.BELOW_MIN + kind], w.claims[row, c.MIN_TIMEOUT]):
        lacks = least - running
    if _has_starved(w, w.claims[row, c.BELOW_HALF + kind], w.given[c.FAIR_TIMEOUT]):
        lacks = max(lacks, min(_whole_share(w, kind, row), demand) - running)
    return max(min(lacks, _pending_tasks(w, kind, row)), 0)


def _has_starved(w: Tables, since_ms: int, timeout_ms: int) -> bool:
    return bool(since_ms != c.NONE and w.state[c.NOW] - since_ms > timeout_ms)


def _whole_share(w: Tables, kind: int, row: int) -> int:
    return int(w.claims[row, c.SHARE_ABOVE + kind] // w.claims[row, c.SHARE_BELOW + kind])


def _pending_tasks(w: Tables, kind: int, row: int) -> int:
    """How many tasks of the claimant are pending."""
    if row < w.given[c.JOBS]:
        return int(w.jobs[row, c.WAITING_TASKS + kind])
    pending = 0
    for at in range(w.state[c.PRESENT]):
        job = w.lists[c.PRESENT_LIST, at]
        if w.jobs[job, c.POOL] == row - w.given[c.JOBS]:
            pending += w.jobs[job, c.WAITING_TASKS + kind]
    return int(pending)


# Victims.


def _kill_newest(w: Tables, kind: int) -> None:
    """As many of the newest attempts of those above their shares as others lack slots."""
    wanted, place = 0, _next_claimant(w, kind, 0)
    while place != c.NONE:
        row = _row_at(w, place)
        wanted += _slots_lacking(w, kind, row)
        w.claims[row, c.ABOVE_SHARE + kind] = -_whole_share(w, kind, row)
        place = _next_claimant(w, kind, place + 1)
    if wanted == 0:
        return
    wanted -= _collect_victim_candidates(w, kind)
    while wanted > 0 and w.newest[0] > 0:
        berth = _take_newest(w)
        row = _claimant_of(w, kind, w.berths[berth, c.OF_JOB])
        if row != c.NONE and w.claims[row, c.ABOVE_SHARE + kind] > 0:
            w.claims[row, c.ABOVE_SHARE + kind] -= 1
            _order_kill(w, berth)
            wanted -= 1


def _collect_victim_candidates(w: Tables, kind: int) -> int:
    """Put what runs into a heap, and count it for its claimants; how much is dying already."""
    w.newest[0] = leaving = 0
    for berth in range(len(w.berths)):
        if w.berths[berth, c.OF_JOB] == c.NONE or w.berths[berth, c.OF_KIND] != kind:
            continue
        if w.berths[berth, c.OF_STAGE] != c.OF_TASKS:
            continue
        if w.berths[berth, c.KILLING] != c.NOT_KILLED:
            leaving += 1
            continue
        _add_newest(w, int(w.berths[berth, c.IN_LOG]) * len(w.berths) + berth)
        row = _claimant_of(w, kind, w.berths[berth, c.OF_JOB])
        if row != c.NONE:
            w.claims[row, c.ABOVE_SHARE + kind] += 1
    return leaving


def _claimant_of(w: Tables, kind: int, job: int) -> int:
    """Who claims slots for the job: itself, or its pool."""
    if _claims_something(w, kind, job):
        return job
    pool = int(w.given[c.JOBS] + w.jobs[job, c.POOL])
    return pool if _claims_something(w, kind, pool) else c.NONE


def _order_kill(w: Tables, berth: int) -> None:
    """The node's next heartbeat brings it back."""
    w.berths[berth, c.KILLING] = c.KILL_ORDERED
    w.state[c.LAST] = w.state[c.NOW]
    plan_report(w, w.berths[berth, c.OF_NODE], w.state[c.NOW] - w.given[c.LATENCY])


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
