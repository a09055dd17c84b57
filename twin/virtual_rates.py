"""How fast phases are served in the virtual cluster, and what is left of them.

A phase that is given its cap goes by the time, one that is given by weight what others leave goes
by the integral of the level, both in units of 2**-40 ms (2**-39 at half speed); what it is still to
be given is its key less its step times that clock, in 2**-42 slot-ms.
"""

from callboard.twin import columns as c
from callboard.twin.columns import Tables
from callboard.twin.wide_numbers import (
    wide_difference,
    wide_of,
    wide_product,
    wide_quotient,
    wide_quotient_up,
    wide_sum,
)


def wide_now(w: Tables) -> tuple[int, int]:
    """The present time."""
    return wide_of(w.state[c.NOW], w.given[c.UNIT_BITS])


def level_at(w: Tables, kind: int, high: int, low: int) -> tuple[int, int]:
    """What the level has come to at a time, at or after the last change."""
    level_high, level_low = w.sums[c.LEVEL_HIGH, kind], w.sums[c.LEVEL_LOW, kind]
    if w.sums[c.WEIGHTS, kind] == 0:
        return level_high, level_low
    high, low = wide_difference(high, low, w.sums[c.TIME_HIGH, kind], w.sums[c.TIME_LOW, kind])
    high, low = wide_product(high, low, w.sums[c.SPARE, kind])
    high, low = wide_quotient(high, low, w.sums[c.WEIGHTS, kind])
    return wide_sum(level_high, level_low, high, low)


def service_per_clock_unit(w: Tables, row: int) -> int:
    """What the phase is given for one unit of its clock."""
    return int(w.virtual[row, c.CAP_STEP if w.virtual[row, c.SIDE] == c.CAPPED else c.WEIGHT_STEP])


def served_at_change(w: Tables, kind: int, row: int) -> tuple[int, int]:
    """What the phase's clock and step came to at the last change."""
    if w.virtual[row, c.SIDE] == c.CAPPED:
        high, low = w.sums[c.TIME_HIGH, kind], w.sums[c.TIME_LOW, kind]
    else:
        high, low = w.sums[c.LEVEL_HIGH, kind], w.sums[c.LEVEL_LOW, kind]
    return wide_product(high, low, service_per_clock_unit(w, row))


def left_at_change(w: Tables, kind: int, row: int) -> tuple[int, int]:
    """What was left of the phase at the last change."""
    high, low = served_at_change(w, kind, row)
    return wide_difference(
        w.virtual[row, c.PHASE_KEY_HIGH], w.virtual[row, c.PHASE_KEY_LOW], high, low
    )


def time_until(w: Tables, kind: int, row: int, high: int, low: int) -> tuple[int, int]:
    """How long the phase takes at present rates to be given so much, rounded up."""
    if w.virtual[row, c.SIDE] == c.CAPPED:
        return wide_quotient_up(high, low, w.virtual[row, c.CAP_STEP])
    high, low = wide_product(high, low, w.sums[c.WEIGHTS, kind])
    return wide_quotient_up(
        high, low, w.virtual[row, c.WEIGHT_STEP] * max(w.sums[c.SPARE, kind], 1)
    )


def note_left(
    w: Tables, row: int, time_high: int, time_low: int, level_high: int, level_low: int
) -> None:
    """Write down what is left of the phase when the clocks show this."""
    if w.virtual[row, c.SIDE] == c.CAPPED:
        high, low = wide_product(time_high, time_low, w.virtual[row, c.CAP_STEP])
    else:
        high, low = wide_product(level_high, level_low, w.virtual[row, c.WEIGHT_STEP])
    high, low = wide_difference(
        w.virtual[row, c.PHASE_KEY_HIGH], w.virtual[row, c.PHASE_KEY_LOW], high, low
    )
    w.virtual[row, c.LEFT_HIGH] = high
    w.virtual[row, c.LEFT_LOW] = low
