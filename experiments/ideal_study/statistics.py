"""Means over runs, and paired differences, with Student's confidence intervals."""

from collections.abc import Sequence
from functools import cache
from math import atan, cos, pi, sin, sqrt
from statistics import fmean, median, stdev
from typing import NamedTuple


class Interval(NamedTuple):
    """A mean over `runs` runs, give or take `half` (nothing where there is but one run)."""

    mean: float
    half: float | None
    runs: int


class RunRange(NamedTuple):
    """How the runs lie: least, median and greatest."""

    least: float
    median: float
    greatest: float


def interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """The mean of independent values and its confidence interval, by Student's t."""
    n = len(values)
    if n < 2:
        return Interval(fmean(values), None, n)
    half = student(n - 1, confidence) * stdev(values) / sqrt(n)
    return Interval(fmean(values), half, n)


def paired(values: Sequence[float], other: Sequence[float], confidence: float = 0.95) -> Interval:
    """The mean of `values` minus `other`, run by run; one run stands for all where it must.  The
    runs share their draws, so the interval is narrower than the means'.
    """
    n = max(len(values), len(other))
    ours, theirs = (list(row) * (n if len(row) == 1 else 1) for row in (values, other))
    return interval([a - b for a, b in zip(ours, theirs, strict=True)], confidence)


def run_range(values: Sequence[float]) -> RunRange:
    """Least, median, greatest."""
    return RunRange(min(values), median(values), max(values))


@cache
def student(freedom: int, confidence: float) -> float:
    """The t that a Student variable of `freedom` degrees stays within with `confidence`."""
    low, high = 0.0, 1.0
    while student_within(high, freedom) < confidence:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if student_within(middle, freedom) < confidence else (low, middle)
        )
    return high


def student_within(t: float, freedom: int) -> float:
    """P(|T| <= t) for whole degrees of freedom (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    angle = atan(t / sqrt(freedom))
    odd = freedom % 2
    term = cos(angle) if odd else 1.0
    total = term if freedom > 1 or not odd else 0.0
    for k in range(2 + odd, freedom, 2):
        term *= cos(angle) ** 2 * (k - 1) / k
        total += term
    if odd:
        return (angle + sin(angle) * (total if freedom > 1 else 0.0)) * 2 / pi
    return sin(angle) * total
