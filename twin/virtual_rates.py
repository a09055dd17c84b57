"""How fast phases are served in the virtual cluster, and what is left of them.

A phase that is given its cap goes by the time, one that is given by weight what others leave goes
by the integral of the level, both in units of 2**-40 ms (2**-39 at half speed); what it is still to
be given is its key less its step times that clock, in 2**-42 slot-ms.
"""

from callboard.twin.columns import (
    CAP_STEP,
    CAPPED,
    LEFT_HIGH,
    LEFT_LOW,
    LEVEL_HIGH,
    LEVEL_LOW,
    NOW,
    PHASE_KEY_HIGH,
    PHASE_KEY_LOW,
    SIDE,
    SPARE,
    TIME_HIGH,
    TIME_LOW,
    UNIT_BITS,
    WEIGHT_STEP,
    WEIGHTS,
    Tables,
)
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
    return wide_of(w.state[NOW], w.given[UNIT_BITS])


def level_at(w: Tables, kind: int, high: int, low: int) -> tuple[int, int]:
    """What the level has come to at a time, at or after the last change."""
    level_high, level_low = w.sums[LEVEL_HIGH, kind], w.sums[LEVEL_LOW, kind]
    if w.sums[WEIGHTS, kind] == 0:
        return level_high, level_low
    high, low = wide_difference(high, low, w.sums[TIME_HIGH, kind], w.sums[TIME_LOW, kind])
    high, low = wide_product(high, low, w.sums[SPARE, kind])
    high, low = wide_quotient(high, low, w.sums[WEIGHTS, kind])
    return wide_sum(level_high, level_low, high, low)


def service_per_clock_unit(w: Tables, row: int) -> int:
    """What the phase is given for one unit of its clock."""
    return int(w.virtual[row, CAP_STEP if w.virtual[row, SIDE] == CAPPED else WEIGHT_STEP])


def served_at_change(w: Tables, kind: int, row: int) -> tuple[int, int]:
    """What the phase's clock and step came to at the last change."""
    if w.virtual[row, SIDE] == CAPPED:
        high, low = w.sums[TIME_HIGH, kind], w.sums[TIME_LOW, kind]
    else:
        high, low = w.sums[LEVEL_HIGH, kind], w.sums[LEVEL_LOW, kind]
    return wide_product(high, low, service_per_clock_unit(w, row))


def left_at_change(w: Tables, kind: int, row: int) -> tuple[int, int]:
    """What was left of the phase at the last change."""
    high, low = served_at_change(w, kind, row)
    return wide_difference(w.virtual[row, PHASE_KEY_HIGH], w.virtual[row, PHASE_KEY_LOW], high, low)


def time_until(w: Tables, kind: int, row: int, high: int, low: int) -> tuple[int, int]:
    """How long the phase takes at present rates to be given so much, rounded up."""
    if w.virtual[row, SIDE] == CAPPED:
        return wide_quotient_up(high, low, w.virtual[row, CAP_STEP])
    high, low = wide_product(high, low, w.sums[WEIGHTS, kind])
    return wide_quotient_up(high, low, w.virtual[row, WEIGHT_STEP] * max(w.sums[SPARE, kind], 1))


def note_left(
    w: Tables, row: int, time_high: int, time_low: int, level_high: int, level_low: int
) -> None:
    """Write down what is left of the phase when the clocks show this."""
    if w.virtual[row, SIDE] == CAPPED:
        high, low = wide_product(time_high, time_low, w.virtual[row, CAP_STEP])
    else:
        high, low = wide_product(level_high, level_low, w.virtual[row, WEIGHT_STEP])
    high, low = wide_difference(
        w.virtual[row, PHASE_KEY_HIGH], w.virtual[row, PHASE_KEY_LOW], high, low
    )
    w.virtual[row, LEFT_HIGH] = high
    w.virtual[row, LEFT_LOW] = low
