"""The virtual cluster beside the real one, in which all phases of a kind are served at once: each
by its weight of what is there, and none by more than its cap.

The members stand in the order of cap / weight; the first that many get their cap, the others share
what these leave.  Whenever anything changes, all are gone through: they are few.
"""

from callboard.twin import columns as c
from callboard.twin.columns import Tables
from callboard.twin.job_lists import remove_from_list
from callboard.twin.virtual_rates import (
    left_at_change,
    level_at,
    served_at_change,
    time_until,
)
from callboard.twin.wide_numbers import (
    FACTOR_LIMIT,
    HIGH_LIMIT,
    wide_difference,
    wide_quotient_up,
    wide_sum,
    wide_units_up,
)

_TOLERANCE = 1 << 18
"""2**-24 slot-ms: a phase of which so little is left has virtually ended."""


def step_to(w: Tables, kind: int, high: int, low: int) -> None:
    """Something changes at this time."""
    level_high, level_low = level_at(w, kind, high, low)
    if level_high >= HIGH_LIMIT or high >= HIGH_LIMIT:
        w.state[c.OVERFLOW] = 1
        return
    w.sums[c.LEVEL_HIGH, kind], w.sums[c.LEVEL_LOW, kind] = level_high, level_low
    w.sums[c.TIME_HIGH, kind], w.sums[c.TIME_LOW, kind] = high, low


def join_cluster(w: Tables, kind: int, job: int, cap: int, high: int, low: int) -> bool:
    """A phase that is away is to be given so much, at most on `cap` slots at once; whether there is
    anything to be given.
    """
    row = 2 * job + kind
    if cap <= 0 or (high == 0 and low <= _TOLERANCE):
        return False
    w.virtual[row, c.PHASE_CAP] = cap
    w.virtual[row, c.CAP_STEP] = cap * w.virtual[row, c.PHASE_SPEED]
    w.virtual[row, c.WEIGHT_STEP] = w.virtual[row, c.PHASE_WEIGHT] * w.virtual[row, c.PHASE_SPEED]
    at = _make_place(w, kind, row)
    w.lists[c.MEMBERS_LIST + kind, at] = job
    if at < w.sums[c.CAPS_MET, kind]:
        w.sums[c.CAPS_MET, kind] += 1
        _count_on_side(w, kind, row, c.CAPPED)
    else:
        _count_on_side(w, kind, row, c.SHARING)
    _set_left(w, kind, row, high, low)
    if (
        max(w.virtual[row, c.CAP_STEP], w.sums[c.WEIGHTS, kind]) >= FACTOR_LIMIT
        or high >= HIGH_LIMIT
    ):
        w.state[c.OVERFLOW] = 1
    return True


def part_from_cluster(w: Tables, kind: int, job: int) -> None:
    """A phase is no longer served.  It stands behind the members, for who asks."""
    at = remove_from_list(w, c.MEMBERS_LIST + kind, w.sums[c.MEMBERS, kind], job)
    w.sums[c.MEMBERS, kind] -= 1
    w.lists[c.MEMBERS_LIST + kind, w.sums[c.MEMBERS, kind]] = job
    if at < w.sums[c.CAPS_MET, kind]:
        w.sums[c.CAPS_MET, kind] -= 1
    _count_on_side(w, kind, 2 * job + kind, c.AWAY)


def balance(w: Tables, kind: int) -> None:
    """Find the level: who could use no more than it gives has its cap met, and nobody else."""
    while True:
        met = w.sums[c.CAPS_MET, kind]
        if met > 0 and _could_use_more(w, kind, met - 1):
            _change_side(w, kind, met - 1, c.SHARING)
            w.sums[c.CAPS_MET, kind] -= 1
        elif met < w.sums[c.MEMBERS, kind] and not _could_use_more(w, kind, met):
            _change_side(w, kind, met, c.CAPPED)
            w.sums[c.CAPS_MET, kind] += 1
        else:
            break
    w.sums[c.SORTED_UNTIL, kind] = -1
    _find_next_end(w, kind)


def end_served(w: Tables, kind: int) -> None:
    """Go on to when the next phase has been served, and part from all that have been."""
    step_to(w, kind, w.sums[c.NEXT_HIGH, kind], w.sums[c.NEXT_LOW, kind])
    at = 0
    while at < w.sums[c.MEMBERS, kind]:
        job = w.lists[c.MEMBERS_LIST + kind, at]
        high, low = left_at_change(w, kind, 2 * job + kind)
        if high < 0 or (high == 0 and low <= _TOLERANCE):
            part_from_cluster(w, kind, job)
            _note_late(w, kind, 2 * job + kind)
        else:
            at += 1
    balance(w, kind)


def _note_late(w: Tables, kind: int, row: int) -> None:
    """The phase has virtually ended by now, in whole milliseconds."""
    if w.virtual[row, c.IS_PHASE]:
        time_high, time_low = w.sums[c.TIME_HIGH, kind], w.sums[c.TIME_LOW, kind]
        w.virtual[row, c.LATE_SINCE] = wide_units_up(time_high, time_low, w.given[c.UNIT_BITS])


def _make_place(w: Tables, kind: int, row: int) -> int:
    """Make room for the phase among the members, by cap / weight; where."""
    at, cap, weight = (
        w.sums[c.MEMBERS, kind],
        w.virtual[row, c.PHASE_CAP],
        w.virtual[row, c.PHASE_WEIGHT],
    )
    while at > 0:
        job = w.lists[c.MEMBERS_LIST + kind, at - 1]
        other = 2 * job + kind
        if w.virtual[other, c.PHASE_CAP] * weight <= cap * w.virtual[other, c.PHASE_WEIGHT]:
            break
        w.lists[c.MEMBERS_LIST + kind, at] = job
        at -= 1
    w.sums[c.MEMBERS, kind] += 1
    return int(at)


def _could_use_more(w: Tables, kind: int, at: int) -> bool:
    """Whether the member at that place could use more slots than the level gives it."""
    row = 2 * w.lists[c.MEMBERS_LIST + kind, at] + kind
    spare, weights = w.sums[c.SPARE, kind], w.sums[c.WEIGHTS, kind]
    if weights == 0:
        return bool(spare < 0)
    return bool(w.virtual[row, c.PHASE_CAP] * weights > spare * w.virtual[row, c.PHASE_WEIGHT])


def _change_side(w: Tables, kind: int, at: int, side: int) -> None:
    row = 2 * w.lists[c.MEMBERS_LIST + kind, at] + kind
    high, low = left_at_change(w, kind, row)
    _count_on_side(w, kind, row, side)
    _set_left(w, kind, row, high, low)


def _count_on_side(w: Tables, kind: int, row: int, side: int) -> None:
    """Count the phase on another side."""
    if w.virtual[row, c.SIDE] == c.CAPPED:
        w.sums[c.SPARE, kind] += w.virtual[row, c.PHASE_CAP]
    elif w.virtual[row, c.SIDE] == c.SHARING:
        w.sums[c.WEIGHTS, kind] -= w.virtual[row, c.PHASE_WEIGHT]
    w.virtual[row, c.SIDE] = side
    if side == c.CAPPED:
        w.sums[c.SPARE, kind] -= w.virtual[row, c.PHASE_CAP]
    elif side == c.SHARING:
        w.sums[c.WEIGHTS, kind] += w.virtual[row, c.PHASE_WEIGHT]


def _set_left(w: Tables, kind: int, row: int, high: int, low: int) -> None:
    """So much is left of the phase at the last change."""
    served_high, served_low = served_at_change(w, kind, row)
    high, low = wide_sum(high, low, served_high, served_low)
    w.virtual[row, c.PHASE_KEY_HIGH], w.virtual[row, c.PHASE_KEY_LOW] = high, low


def _find_next_end(w: Tables, kind: int) -> None:
    """When the next member has been served, within half of what does not count."""
    next_high, next_low = c.LATER, 0
    for at in range(w.sums[c.MEMBERS, kind]):
        row = 2 * w.lists[c.MEMBERS_LIST + kind, at] + kind
        high, low = _end_of(w, kind, row)
        if high < next_high or (high == next_high and low < next_low):
            next_high, next_low = high, low
    w.sums[c.NEXT_HIGH, kind], w.sums[c.NEXT_LOW, kind] = next_high, next_low
    w.sums[c.NEXT_MS, kind] = c.LATER
    if next_high < c.LATER:
        w.sums[c.NEXT_MS, kind] = wide_units_up(next_high, next_low, w.given[c.UNIT_BITS])


def _end_of(w: Tables, kind: int, row: int) -> tuple[int, int]:
    """When the member has been served at present rates."""
    time_high, time_low = w.sums[c.TIME_HIGH, kind], w.sums[c.TIME_LOW, kind]
    if w.virtual[row, c.SIDE] == c.SHARING:
        if w.sums[c.SPARE, kind] <= 0:
            return c.LATER, 0
        high, low = left_at_change(w, kind, row)
        high, low = wide_difference(high, low, 0, _TOLERANCE // 2)
        if high < 0:
            return time_high, time_low
        high, low = time_until(w, kind, row, high, low)
        return wide_sum(time_high, time_low, high, low)
    key_high, key_low = w.virtual[row, c.PHASE_KEY_HIGH], w.virtual[row, c.PHASE_KEY_LOW]
    high, low = wide_difference(key_high, key_low, 0, _TOLERANCE // 2)
    high, low = wide_quotient_up(high, low, w.virtual[row, c.CAP_STEP])
    if high < time_high or (high == time_high and low < time_low):
        return time_high, time_low
    return high, low
