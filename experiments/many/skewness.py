"""How far figures lean to one side, and whether that matters to an interval of their mean.

Student's interval supposes that the mean of the sample is about normal.  Of skewed figures it is
not while they are few: the rare large one is mostly not among them, so mean and deviation are both
too small.  A sample counts as skewed where its skewness G1

- is beyond chance: more than `CHANCE` standard errors that it has in samples of normal figures,
  √(6n(n − 1) / ((n − 2)(n + 1)(n + 3))), and
- matters to so few: n is not above `SEEDS_PER_SQUARE` G1², Cochran's rule for when a 95 % interval
  is wrong in at most 6 % ("Sampling techniques", third edition, 1977, page 42).
"""

from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

CHANCE = 2.0
SEEDS_PER_SQUARE = 25.0

_LEAST = 3


def running_skewness(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """G1 of the first 1, 2, … values along the first axis: 0 of fewer than three, and of equal
    ones.
    """
    n = _row_numbers(values)
    above = values - values[:1]
    first, second, third = (np.cumsum(above**power, axis=0) / n for power in (1, 2, 3))
    variance = np.maximum(second - first**2, 0)
    moment = third - 3 * first * second + 2 * first**3
    unbiased = np.sqrt(n * np.maximum(n - 1, 0)) / np.maximum(n - 2, 1)
    known = (n >= _LEAST) & (variance > 1e-12 * second)
    found = np.zeros(values.shape)
    np.divide(moment * unbiased, np.where(known, variance, 1) ** 1.5, out=found, where=known)
    return found


def sample_skewness(values: NDArray[np.float64]) -> float:
    """G1 of all the values."""
    return float(running_skewness(values)[-1]) if len(values) else 0.0


def is_skewed(skewness: Any, n: Any) -> Any:
    """Whether figures of this skewness are so skewed, or each where they are arrays, that n of them
    are too few.
    """
    several = np.maximum(n, _LEAST)
    error = np.sqrt(6 * several * (several - 1) / ((several - 2) * (several + 1) * (several + 3)))
    matters = n <= SEEDS_PER_SQUARE * np.square(skewness)
    return (np.abs(skewness) > CHANCE * error) & matters & (n >= _LEAST)


def seeds_for(skewness: float) -> int:
    """How many figures of this skewness Cochran's rule wants."""
    return ceil(SEEDS_PER_SQUARE * skewness**2)


def _row_numbers(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """1, 2, … along the first axis."""
    return np.arange(1.0, len(values) + 1).reshape(-1, *[1] * (values.ndim - 1))
