"""Whole numbers of two limbs, as virtual time needs them: `high` · 2**42 + `low`, 0 ≤ low < 2**42.

Factors and divisors are below 2**21, so that no product or remainder leaves a machine's integer.
Of work, `high` is whole slot-milliseconds; the comparison is that of tuples.
"""

import numpy as np

BITS = 42
_MASK = (1 << BITS) - 1
FACTOR_LIMIT = 1 << 21
HIGH_LIMIT = 1 << 42
"""What a number's high limb must stay below to be multiplied."""


def wide_of(whole: int, bits: int) -> tuple[int, int]:
    """whole · 2**bits, for at most 42 bits."""
    spare = BITS - bits
    return whole >> spare, (whole & ((1 << spare) - 1)) << bits


def wide_of_float(number: float) -> tuple[int, int]:
    """number · 2**42, which is positive, rounded half to even."""
    high = int(number)
    low = int(np.rint((number - high) * float(1 << BITS)))
    return high + (low >> BITS), low & _MASK


def wide_float(high: int, low: int) -> float:
    """The number over 2**42."""
    return float(high) + float(low) / float(1 << BITS)


def wide_sum(high: int, low: int, more_high: int, more_low: int) -> tuple[int, int]:
    """One and the other."""
    total = low + more_low
    return high + more_high + (total >> BITS), total & _MASK


def wide_difference(high: int, low: int, less_high: int, less_low: int) -> tuple[int, int]:
    """One without the other."""
    total = low - less_low
    return high - less_high + (total >> BITS), total & _MASK


def wide_product(high: int, low: int, factor: int) -> tuple[int, int]:
    """That many times the number."""
    total = low * factor
    return high * factor + (total >> BITS), total & _MASK


def wide_quotient(high: int, low: int, divisor: int) -> tuple[int, int]:
    """The number over the divisor, rounded down."""
    whole = high // divisor
    rest = high - whole * divisor
    return whole, ((rest << BITS) + low) // divisor


def wide_quotient_up(high: int, low: int, divisor: int) -> tuple[int, int]:
    """The number over the divisor, rounded up."""
    high, low = wide_sum(high, low, 0, divisor - 1)
    return wide_quotient(high, low, divisor)


def wide_units_up(high: int, low: int, bits: int) -> int:
    """The number over 2**bits, rounded up, for at most 42 bits."""
    rest = low & ((1 << bits) - 1)
    return (high << (BITS - bits)) + (low >> bits) + (1 if rest else 0)
