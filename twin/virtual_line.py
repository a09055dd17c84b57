"""The members of the virtual cluster that really wait for a slot, as their orders have them.

They stand as they did when last looked at.  What is left of each falls along a line, so until when
no other order can come about is known, on the safe side; only later is it looked at again.
"""

from callboard.twin import columns as c
from callboard.twin.columns import Tables
from callboard.twin.job_lists import remove_from_list
from callboard.twin.virtual_rates import (
    level_at,
    note_left,
    service_per_clock_unit,
    time_until,
    wide_now,
)
from callboard.twin.wide_numbers import wide_difference, wide_float

_UNCERTAIN = 1e-3
"""Slot-ms or ms by which less two phases do not stand in one order for certain: far more than what
is lost to rounding."""


def line_up_if_waiting(w: Tables, kind: int, job: int) -> None:
    """Have the phase in line if it is served virtually and really waits."""
    row = 2 * job + kind
    belongs = w.virtual[row, c.SIDE] != c.AWAY and w.jobs[job, c.WAITING_TASKS + kind] > 0
    if belongs == (w.virtual[row, c.IN_WAITING_LINE] == 1):
        return
    w.virtual[row, c.IN_WAITING_LINE] = 1 if belongs else 0
    if belongs:
        w.lists[c.WAITING_LIST + kind, w.sums[c.WAITING_LINE, kind]] = job
        w.sums[c.WAITING_LINE, kind] += 1
        w.sums[c.SORTED_UNTIL, kind] = -1
    else:
        remove_from_list(w, c.WAITING_LIST + kind, w.sums[c.WAITING_LINE, kind], job)
        w.sums[c.WAITING_LINE, kind] -= 1


def sort_line(w: Tables, kind: int) -> None:
    """Have them stand as they do now."""
    if w.state[c.NOW] <= w.sums[c.SORTED_UNTIL, kind]:
        return
    _note_all(w, kind)
    w.sums[c.SORTED_UNTIL, kind] = c.LATER
    for place in range(1, w.sums[c.WAITING_LINE, kind]):
        job = w.lists[c.WAITING_LIST + kind, place]
        at = place
        while at > 0 and _is_before(w, kind, job, w.lists[c.WAITING_LIST + kind, at - 1]):
            w.lists[c.WAITING_LIST + kind, at] = w.lists[c.WAITING_LIST + kind, at - 1]
            at -= 1
        w.lists[c.WAITING_LIST + kind, at] = job
    for place in range(1, w.sums[c.WAITING_LINE, kind]):
        one = 2 * w.lists[c.WAITING_LIST + kind, place - 1] + kind
        other = 2 * w.lists[c.WAITING_LIST + kind, place] + kind
        until_ms = _stands_until(w, kind, one, other)
        w.sums[c.SORTED_UNTIL, kind] = min(w.sums[c.SORTED_UNTIL, kind], until_ms)


def _note_all(w: Tables, kind: int) -> None:
    """Note what is left of each, and how long that takes."""
    time_high, time_low = wide_now(w)
    level_high, level_low = level_at(w, kind, time_high, time_low)
    for place in range(w.sums[c.WAITING_LINE, kind]):
        row = 2 * w.lists[c.WAITING_LIST + kind, place] + kind
        note_left(w, row, time_high, time_low, level_high, level_low)
        high, low = time_until(
            w, kind, row, w.virtual[row, c.LEFT_HIGH], w.virtual[row, c.LEFT_LOW]
        )
        w.virtual[row, c.END_HIGH], w.virtual[row, c.END_LOW] = high, low


def _is_before(w: Tables, kind: int, job: int, other: int) -> bool:
    """By what is left and by when that is done, or the other way round; then by submission."""
    one, two = 2 * job + kind, 2 * other + kind
    first, second = (
        (c.LEFT_HIGH, c.END_HIGH) if w.given[c.ORDER] == c.BY_HFSP else (c.END_HIGH, c.LEFT_HIGH)
    )
    for column in (first, first + 1, second, second + 1):
        if w.virtual[one, column] != w.virtual[two, column]:
            return bool(w.virtual[one, column] < w.virtual[two, column])
    return bool(w.jobs[job, c.STANDING] < w.jobs[other, c.STANDING])


def _stands_until(w: Tables, kind: int, one: int, other: int) -> int:
    """Until when the one stands before the other for certain, if nothing else changes."""
    step, other_step = service_per_clock_unit(w, one), service_per_clock_unit(w, other)
    if step == other_step and w.virtual[one, c.SIDE] == w.virtual[other, c.SIDE]:
        return c.LATER
    by_left = w.given[c.ORDER] == c.BY_HFSP
    column = c.LEFT_HIGH if by_left else c.END_HIGH
    high, low = wide_difference(
        w.virtual[other, column],
        w.virtual[other, column + 1],
        w.virtual[one, column],
        w.virtual[one, column + 1],
    )
    ahead = wide_float(high, low) - _UNCERTAIN
    if ahead <= 0.0:
        return int(w.state[c.NOW])
    nearing = _phase_rate(w, kind, other) - _phase_rate(w, kind, one)
    if not by_left or nearing <= 0.0 or ahead / nearing > 1e15:
        return c.LATER
    return int(w.state[c.NOW]) + max(int(ahead / nearing) - 1, 0)


def _phase_rate(w: Tables, kind: int, row: int) -> float:
    """What the phase is given in a millisecond, in slot-ms."""
    rate = float(service_per_clock_unit(w, row)) / float(1 << (42 - w.given[c.UNIT_BITS]))
    if w.virtual[row, c.SIDE] == c.CAPPED:
        return rate
    return rate * float(w.sums[c.SPARE, kind]) / float(w.sums[c.WEIGHTS, kind])
