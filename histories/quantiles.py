"""The quantiles that intervals go by; SciPy (the extra `experiments`) has them."""

from typing import Any

import numpy as np

from callboard.scheduler.text.missing_extra import imported_extra


def _scipy_special() -> Any:
    missing = "intervals need SciPy: pip install 'callboard[experiments]'"
    return imported_extra("scipy.special", missing)


def require_scipy() -> None:
    """MissingExtraError if intervals cannot be computed here; to be asked before long work."""
    _scipy_special()


def student_quantile(freedom: Any, confidence: float) -> Any:
    """The t that a Student variable of `freedom` degrees (a number or an array) stays within, on
    both sides of 0, with `confidence`.
    """
    return _scipy_special().stdtrit(freedom, (1 + confidence) / 2)


def student_bound(freedom: float, confidence: float) -> float:
    """The same of one number."""
    return float(student_quantile(freedom, confidence))


def normal_bound(confidence: float) -> float:
    """The same of the normal distribution."""
    return float(_scipy_special().ndtri((1 + confidence) / 2))


def proportion_interval(found: int, of: int, confidence: float) -> tuple[float, float]:
    """Clopper and Pearson's exact interval of a share."""
    inverse, tail = _scipy_special().betaincinv, (1 - confidence) / 2
    low = 0.0 if found == 0 else float(inverse(found, of - found + 1, tail))
    high = 1.0 if found == of else float(inverse(found + 1, of - found, 1 - tail))
    return low, high


def sign_test_rank(samples: int, confidence: float) -> int:
    """k, such that the median lies between the k-th smallest of `samples` values and the k-th
    largest, by the sign test: below the k-th smallest it lies with the chance that fewer than k of
    as many fair coins show heads, and above the k-th largest with the same.  0 with too few values
    for the confidence.
    """
    misses = 2 * _scipy_special().bdtr(np.arange(samples), samples, 0.5)
    return int(np.count_nonzero(misses <= 1 - confidence))
