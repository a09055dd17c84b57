"""Amounts of several resources, and the two ways in which YARN compares and scales them.

The rules are those of Resources, DefaultResourceCalculator and DominantResourceCalculator of
apache/hadoop.  Where Java computes with floats of 32 bits it is done so here: how a tenth of a
container is rounded decides which container goes.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import ceil
from struct import pack, unpack
from typing import Protocol

from callboard.scheduler.resources import Vector, fits


def float32(number: float | Fraction) -> float:
    """The number as Java's `float` holds it."""
    (rounded,) = unpack("f", pack("f", number))
    return float(rounded)


def half_up(number: float) -> int:
    """Rounded as Java's `(long) (number + 0.5)`, for numbers that are not negative."""
    return int(number + 0.5)


def smaller_of_each(one: Vector, other: Vector) -> Vector:
    """The smaller amount, resource by resource."""
    return tuple(map(min, one, other))


def larger_of_each(one: Vector, other: Vector) -> Vector:
    """The larger amount, resource by resource."""
    return tuple(map(max, one, other))


def scaled_and_truncated(amounts: Vector, by: float) -> Vector:
    """Each amount times a factor, without what is behind the point."""
    return tuple(int(amount * by) for amount in amounts)


def nothing(like: Vector) -> Vector:
    """As many zeros."""
    return (0,) * len(like)


def clamped_at_zero(amounts: Vector) -> Vector:
    """The amounts, those below 0 as 0."""
    return larger_of_each(amounts, nothing(amounts))


class ResourceCalculator(Protocol):
    """How amounts of several resources are one number."""

    def compare(self, total: Vector, one: Vector, other: Vector) -> int:
        """Below, at or above 0 as the one is less than, equal to or more than the other."""

    def ratio(self, total: Vector, one: Vector, other: Vector) -> float:
        """How many times the other the one is; the other is more than nothing.  Of a total of
        nothing it is 0.
        """

    def portion(self, amounts: Vector, by: Sequence[float]) -> Vector:
        """Each amount times its factor, as whole numbers."""


class MemoryCalculator:
    """Only the first resource counts; portions are rounded half up (DefaultResourceCalculator)."""

    def compare(self, total: Vector, one: Vector, other: Vector) -> int:  # noqa: ARG002
        return one[0] - other[0]

    def ratio(self, total: Vector, one: Vector, other: Vector) -> float:  # noqa: ARG002
        return float32(Fraction(one[0], other[0]))

    def portion(self, amounts: Vector, by: Sequence[float]) -> Vector:
        return tuple(half_up(amount * each) for amount, each in zip(amounts, by, strict=True))


class DominantCalculator:
    """The largest share of the total counts, of equal ones the next; portions are rounded up
    (DominantResourceCalculator).
    """

    def compare(self, total: Vector, one: Vector, other: Vector) -> int:
        if not any(total):
            return (one > other and fits(other, one)) - (one < other and fits(one, other))
        ours, theirs = shares(total, one), shares(total, other)
        return (ours > theirs) - (ours < theirs)

    def ratio(self, total: Vector, one: Vector, other: Vector) -> float:
        if not any(total):
            return 0.0  # Java's 0 / 0, which makes any amount 0 in turn
        return float32(shares(total, one)[0] / shares(total, other)[0])

    def portion(self, amounts: Vector, by: Sequence[float]) -> Vector:
        return tuple(ceil(float32(amount * each)) for amount, each in zip(amounts, by, strict=True))


def shares(total: Vector, amounts: Vector) -> list[Fraction]:
    """Shares of the total, the largest first; a resource that there is none of has none."""
    found = (Fraction(a, whole) for a, whole in zip(amounts, total, strict=True) if whole)
    return sorted(found, reverse=True)
