"""Intervals of the mean that were tried where figures are skewed, beside Student's.

Each takes a row of n values a trial, and gives the lower and upper ends of 95 % intervals.
"""

from collections.abc import Callable
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from callboard.experiments.many.skewness import running_skewness
from callboard.experiments.many.statistics import CONFIDENCE
from callboard.histories.quantiles import student_quantile

Floats = NDArray[np.float64]
Ends = tuple[Floats, Floats]

_RESAMPLES = 499


def student(rows: Floats) -> Ends:
    """Student's t ("The probable error of a mean", Biometrika 6, 1908)."""
    mean, error = _mean_and_error(rows)
    half = _quantile(rows) * error
    return mean - half, mean + half


def johnson(rows: Floats) -> Ends:
    """Student's, moved by the third moment: Johnson's modified t without its square ("Modified t
    tests and confidence intervals for asymmetrical populations", JASA 73, 1978).
    """
    mean, error = _mean_and_error(rows)
    moved = mean + _skewness(rows) * error / (6 * sqrt(rows.shape[1]))
    half = _quantile(rows) * error
    return moved - half, moved + half


def willink(rows: Floats) -> Ends:
    """Johnson's t as a cubic that can be inverted (Willink, "A confidence interval and test for
    the mean of an asymmetric distribution", Communications in Statistics 34, 2005).
    """
    mean, error = _mean_and_error(rows)
    a = _skewness(rows) / (6 * sqrt(rows.shape[1]))
    a = np.where(np.abs(a) < 1e-6, 1e-6, a)

    def inverted(t: float) -> Floats:
        return np.asarray((np.cbrt(1 + 6 * a * (t - a)) - 1) / (2 * a))

    t = _quantile(rows)
    return mean - inverted(t) * error, mean - inverted(-t) * error


def willink_wide(rows: Floats) -> Ends:
    """As long as Willink's where that is longer than Student's, about the mean."""
    (low, high), (least, most) = student(rows), willink(rows)
    mean, half = (low + high) / 2, np.maximum(high - low, most - least) / 2
    return mean - half, mean + half


def edgeworth(rows: Floats) -> Ends:
    """Student's, longer by what the skewness takes from its coverage in the Edgeworth expansion of
    the two-sided t (Hall, "On symmetric bootstrap confidence intervals", JRSS B 50, 1988).
    """
    n, z = rows.shape[1], 1.959964
    more = 1 + (z**4 + 2 * z**2 - 3) / 18 * _skewness(rows) ** 2 / n
    mean, error = _mean_and_error(rows)
    half = _quantile(rows) * error * more
    return mean - half, mean + half


def bootstrap_t(rows: Floats) -> Ends:
    """The quantiles of t over resamples in place of Student's (Efron, "Nonparametric standard
    errors and confidence intervals", Canadian Journal of Statistics 9, 1981).
    """
    tails = ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)
    low, high = np.array([np.quantile(t, tails) for t in _resampled_t(rows)]).T
    mean, error = _mean_and_error(rows)
    return mean - high * error, mean - low * error


def symmetric_bootstrap_t(rows: Floats) -> Ends:
    """The quantile of |t| over resamples (Hall, as above)."""
    half = np.array([np.quantile(np.abs(t), CONFIDENCE) for t in _resampled_t(rows)])
    mean, error = _mean_and_error(rows)
    return mean - half * error, mean + half * error


METHODS: dict[str, Callable[[Floats], Ends]] = {
    "Student": student,
    "Johnson": johnson,
    "Willink": willink,
    "Willink, symmetric": willink_wide,
    "Edgeworth": edgeworth,
    "bootstrap-t": bootstrap_t,
    "bootstrap-t, symmetric": symmetric_bootstrap_t,
}


def _mean_and_error(rows: Floats) -> Ends:
    return rows.mean(axis=1), rows.std(axis=1, ddof=1) / sqrt(rows.shape[1])


def _quantile(rows: Floats) -> float:
    return float(student_quantile(rows.shape[1] - 1, CONFIDENCE))


def _skewness(rows: Floats) -> Floats:
    return np.asarray(running_skewness(rows.T)[-1])


def _resampled_t(rows: Floats) -> list[Floats]:
    """t of resamples of each row; the draws are the same for each."""
    n = rows.shape[1]
    drawn = np.random.default_rng(0).integers(n, size=(_RESAMPLES, n))
    return [_t(row[drawn], row.mean()) for row in rows]


def _t(resamples: Floats, mean: float) -> Floats:
    centre, error = _mean_and_error(resamples)
    return (centre - mean)[error > 0] / error[error > 0]
