"""Keys in sorted arrays, one of each kind of slot and pool.

A key is one number: what is gone by, then a standing (of pools by name, of jobs by submission and
number), so that no two are equal.  A key moves a little at a time, and all are walked far more
often than that.
"""

from callboard.twin import columns as c
from callboard.twin.columns import Tables

_KEY_BITS = 62


def key_with(w: Tables, score: int, standing: int) -> int:
    """What the order goes by, and the standing behind it, as one number."""
    bits = w.given[c.STANDING_BITS]
    if score >> (_KEY_BITS - bits):
        w.state[c.OVERFLOW] = 1
        score = 0
    return int((score << bits) | standing)


def paired_score(w: Tables, first: int, second: int) -> int:
    """Two numbers as one that compares like both, one after the other."""
    bits = w.given[c.MIDDLE_BITS]
    if first >> (_KEY_BITS - bits) or second >> bits:
        w.state[c.OVERFLOW] = 1
        return 0
    return int((first << bits) | second)


def move_key(w: Tables, kind: int, pool: int, old: int, new: int) -> None:
    """A member of the pool has another key; `NONE` while it has nothing to launch."""
    if new == old:
        return
    start = w.pools[pool, c.QUEUE_START]
    end = start + w.pools[pool, c.QUEUED + kind]
    if old == c.NONE:
        w.pools[pool, c.QUEUED + kind] += 1
        at = end
    else:
        at = _place_of(w, kind, start, end, old)
    if new == c.NONE:
        w.pools[pool, c.QUEUED + kind] -= 1
    if new == c.NONE or (old != c.NONE and new > old):
        while at + 1 < end and (new == c.NONE or w.queues[kind, at + 1] < new):
            w.queues[kind, at] = w.queues[kind, at + 1]
            at += 1
    else:
        while at > start and w.queues[kind, at - 1] > new:
            w.queues[kind, at] = w.queues[kind, at - 1]
            at -= 1
    if new != c.NONE:
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
