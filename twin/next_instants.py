"""When something happens next: a tree of minima over the nodes, and bits for those with free slots.

Without faults heartbeats keep a grid, so a node's arrive at its phase of every round.
"""

from math import frexp

import numpy as np

from callboard.twin import columns as c
from callboard.twin.columns import Tables

_ONE, _NOTHING = np.uint64(1), np.uint64(0)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


def next_instant(w: Tables) -> int:
    """The next instant at which a heartbeat tells something or may bring something, or a job is
    submitted or has been initialised.
    """
    soonest = w.minima[1]
    due = w.state[c.DUE]
    if due < w.given[c.JOBS]:
        soonest = min(soonest, w.jobs[due, c.SUBMIT])
    ready = w.state[c.READY_DUE]
    if ready < w.given[c.INITIALISED_JOBS]:
        soonest = min(soonest, w.jobs[w.lists[c.READY_LIST, ready], c.READY])
    unseen = w.state[c.UNSEEN] > 0
    maps = unseen or w.sums[c.PENDING, c.MAPS_HERE] > 0
    reduces = unseen or w.sums[c.PENDING, c.REDUCES_HERE] > 0
    if maps or reduces:
        soonest = min(soonest, _next_useful(w, maps, reduces))
    if w.given[c.PREEMPTS]:
        soonest = min(soonest, _next_look(w))
    return int(soonest)


def _next_look(w: Tables) -> int:
    """When the master next looks who starves, if anything has happened, or next acts on it."""
    if w.state[c.NEWS]:
        every_ms = w.given[c.LOOK_EVERY]
    elif w.sums[c.PENDING, c.MAPS_HERE] > 0 or w.sums[c.PENDING, c.REDUCES_HERE] > 0:
        every_ms = w.given[c.CHECK_EVERY]
    else:
        return c.LATER
    return int((w.state[c.NOW] // every_ms + 1) * every_ms)


def _next_useful(w: Tables, maps: bool, reduces: bool) -> int:
    """When the next heartbeat arrives of a node with a free slot that is wanted."""
    now_ms, period_ms = w.state[c.NOW], w.given[c.PERIOD]
    phase_ms = now_ms % period_ms
    at = _next_free(w, place_of_phase(w, phase_ms + 1), maps, reduces)
    if at != c.NONE:
        return int(now_ms - phase_ms + w.phases[at])
    at = _next_free(w, 0, maps, reduces)
    return c.LATER if at == c.NONE else int(now_ms - phase_ms + period_ms + w.phases[at])


def _next_free(w: Tables, start: int, maps: bool, reduces: bool) -> int:
    """The first place from `start` on of a node with a free slot that is wanted."""
    word = start >> 6
    mask = _ALL << np.uint64(start & 63)
    while word < w.free.shape[1]:
        bits = _NOTHING
        if maps:
            bits |= w.free[c.MAPS_HERE, word]
        if reduces:
            bits |= w.free[c.REDUCES_HERE, word]
        bits &= mask
        if bits:
            lowest = bits & (~bits + _ONE)
            return (word << 6) + frexp(float(lowest))[1] - 1
        mask = _ALL
        word += 1
    return c.NONE


def place_of_phase(w: Tables, phase_ms: int) -> int:
    """The first place of a node whose phase is this or a later one."""
    low, high = 0, w.given[c.NODES]
    while low < high:
        middle = (low + high) >> 1
        if w.phases[middle] < phase_ms:
            low = middle + 1
        else:
            high = middle
    return int(low)


def change_free_slots(w: Tables, at: int, kind: int, more: int) -> None:
    """A node's slot becomes free (1), or is taken (-1)."""
    before = w.nodes[at, c.FREE + kind]
    w.nodes[at, c.FREE + kind] = before + more
    if before == 0 or before + more == 0:
        w.free[kind, at >> 6] ^= _ONE << np.uint64(at & 63)


def plan_report(w: Tables, at: int, over_ms: int) -> None:
    """An attempt on the node ends then: the first heartbeat that is sent later tells it."""
    told_ms = over_ms + w.given[c.LATENCY] + 1
    told_ms += (w.phases[at] - told_ms) % w.given[c.PERIOD]
    if told_ms < w.minima[len(w.minima) // 2 + at]:
        set_report(w, at, told_ms)


def plan_next_report(w: Tables, at: int) -> None:
    """The node's heartbeat has told all that it could: find out when the next has something."""
    soonest, first = c.LATER, w.nodes[at, c.BERTH + c.MAPS_HERE]
    for berth in range(first, first + w.nodes[at, c.HAS] + w.nodes[at, c.HAS + 1]):
        if w.berths[berth, c.OF_JOB] != c.NONE:
            soonest = min(soonest, w.berths[berth, c.OVER], w.berths[berth, c.HEARD_FROM] - 1)
    set_report(w, at, c.LATER)
    if soonest != c.LATER:
        plan_report(w, at, soonest)


def set_report(w: Tables, at: int, told_ms: int) -> None:
    """Write into the tree when the node's next telling heartbeat arrives."""
    place = len(w.minima) // 2 + at
    w.minima[place] = told_ms
    while place > 1:
        place >>= 1
        least = min(w.minima[2 * place], w.minima[2 * place + 1])
        if w.minima[place] == least:
            return
        w.minima[place] = least


def has_report(w: Tables, at: int) -> bool:
    """Whether the node's heartbeat of now tells something."""
    return bool(w.minima[len(w.minima) // 2 + at] == w.state[c.NOW])


def is_wanted(w: Tables, at: int) -> bool:
    """Whether the node has a free slot of a kind for which something is pending."""
    for kind in range(2):
        wanted = w.state[c.UNSEEN] > 0 or w.sums[c.PENDING, kind] > 0
        if wanted and w.nodes[at, c.FREE + kind] > 0:
            return bool(w.nodes[at, c.HAS_JOINED])
    return False
