"""Fair shares of the pools and jobs that run or want something: exact, as quotients.

The share of a member is min(max(level / pace, min share), demand), at the one level at which the
shares add up to what there is.  It is looked for among whole numbers first, since where a share
begins or ceases to grow is at a whole one.
"""

from math import gcd

from callboard.twin import columns as c
from callboard.twin.columns import Tables

_LARGEST = 1e18


def share_out(w: Tables, kind: int) -> None:
    """Find what each claimant is due: the pools that hold jobs only, and the jobs beside pools.
    Nobody claims anything while nothing is pending.
    """
    w.sums[c.LOOKS, kind] += 1
    if w.sums[c.PENDING, kind] == 0:
        return
    root = w.given[c.JOBS]
    _note_share(w, kind, root, w.sums[c.SLOTS, kind], 1)
    w.claims[root, c.SHARED_LOOK + kind] = w.sums[c.LOOKS, kind]
    for pool in range(len(w.pools)):  # those above come first
        if w.claims[root + pool, c.SHARED_LOOK + kind] == w.sums[c.LOOKS, kind]:
            _share_pool(w, kind, pool)


def _share_pool(w: Tables, kind: int, pool: int) -> None:
    """Share what the pool is due among its members."""
    _list_members(w, kind, pool)
    level, below = _fair_share_level(w, kind, w.given[c.JOBS] + pool)
    for at in range(w.sums[c.CLAIMS, kind]):
        row = w.lists[c.CLAIM_LIST, at]
        pace, least, demand = pace_min_share_and_demand(w, kind, row)
        if level <= least * pace * below:
            _note_share(w, kind, row, least, 1)
        elif level >= demand * pace * below:
            _note_share(w, kind, row, demand, 1)
        else:
            _note_share(w, kind, row, level, below * pace)
        member = row - w.given[c.JOBS]
        shares_on = member >= 0 and w.pools[member, c.CHILDREN] > 0
        w.claims[row, (c.SHARED_LOOK if shares_on else c.CLAIM_LOOK) + kind] = w.sums[c.LOOKS, kind]


def _note_share(w: Tables, kind: int, row: int, above: int, below: int) -> None:
    common = gcd(above, below)
    w.claims[row, c.SHARE_ABOVE + kind] = above // common
    w.claims[row, c.SHARE_BELOW + kind] = below // common


def _list_members(w: Tables, kind: int, pool: int) -> None:
    """List the jobs and pools in the pool that run or want something."""
    count = 0
    for at in range(w.state[c.PRESENT]):
        job = w.lists[c.PRESENT_LIST, at]
        if w.jobs[job, c.POOL] == pool and _takes_part(w, kind, job):
            w.lists[c.CLAIM_LIST, count] = job
            count += 1
    for member in range(1, len(w.pools)):
        row = w.given[c.JOBS] + member
        is_inside = w.pools[member, c.PARENT] == pool and w.pools[member, c.POOL_EXISTS]
        if is_inside and _takes_part(w, kind, row):
            w.lists[c.CLAIM_LIST, count] = row
            count += 1
    w.sums[c.CLAIMS, kind] = count


def _takes_part(w: Tables, kind: int, row: int) -> bool:
    return bool(running_of(w, kind, row) > 0 or pace_min_share_and_demand(w, kind, row)[2] > 0)


def running_of(w: Tables, kind: int, row: int) -> int:
    """How much a job, or behind all jobs a pool, runs."""
    if row < w.given[c.JOBS]:
        return int(w.jobs[row, c.RUNNING_TASKS + kind])
    return int(w.pools[row - w.given[c.JOBS], c.POOL_RUNNING + kind])


def pace_min_share_and_demand(w: Tables, kind: int, row: int) -> tuple[int, int, int]:
    """Its pace, its min share within its demand, and its demand."""
    if row < w.given[c.JOBS]:
        return int(w.jobs[row, c.INVERSE_WEIGHT]), 0, int(w.jobs[row, c.COUNTED_DEMAND + kind])
    pool = row - w.given[c.JOBS]
    demand = int(w.pools[pool, c.POOL_DEMAND + kind])
    least = min(int(w.pools[pool, c.MIN_SHARE + kind]), demand)
    return int(w.pools[pool, c.POOL_PACE]), least, demand


# The level.


def _fair_share_level(w: Tables, kind: int, row: int) -> tuple[int, int]:
    """The level, as a quotient, at which the listed members share what the pool is due."""
    above, below = w.claims[row, c.SHARE_ABOVE + kind], w.claims[row, c.SHARE_BELOW + kind]
    scale, demand, low, high = w.given[c.WEIGHT_SCALE], 0, 0, 0
    for at in range(w.sums[c.CLAIMS, kind]):
        pace, _, wanted = pace_min_share_and_demand(w, kind, w.lists[c.CLAIM_LIST, at])
        demand += wanted
        high = max(high, wanted * pace)
    due = min(demand * below, above) * scale
    if float(demand) * float(below) * float(scale) * float(scale) > _LARGEST:
        w.state[c.OVERFLOW] = 1
        return 0, 1
    if _shared_at_level(w, kind, 0)[0] * below >= due:
        return 0, 1
    while high - low > 1:  # less than is due at the one, enough at the other
        middle = (low + high) >> 1
        if _shared_at_level(w, kind, middle)[0] * below >= due:
            high = middle
        else:
            low = middle
    shared, slope = _shared_at_level(w, kind, low)
    if float(high) * float(slope) * float(below) > _LARGEST:
        w.state[c.OVERFLOW] = 1
    return low * slope * below + due - shared * below, slope * below


def _shared_at_level(w: Tables, kind: int, level: int) -> tuple[int, int]:
    """What all shares come to at a whole level, in parts of the scale, and how fast that grows."""
    scale, total, slope = w.given[c.WEIGHT_SCALE], 0, 0
    for at in range(w.sums[c.CLAIMS, kind]):
        pace, least, demand = pace_min_share_and_demand(w, kind, w.lists[c.CLAIM_LIST, at])
        if level >= demand * pace:
            total += demand * scale
        elif level < least * pace:
            total += least * scale
        else:
            total += level * (scale // pace)
            slope += scale // pace
    return total, slope
