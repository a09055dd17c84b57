"""Figures of seeds, drawn from distributions of known means, and alike under two policies."""

from collections.abc import Callable
from math import isnan, sqrt

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def exponential(z: Floats) -> Floats:
    """Standard normals as exponentials of mean 1."""
    from scipy.special import log_ndtr

    return np.asarray(-log_ndtr(-z))


FAMILIES: dict[str, Callable[[Floats], Floats]] = {
    "normal, σ = 0.3": lambda z: 1 + 0.3 * z,
    "exponential": exponential,
    "lognormal, σ = 1": lambda z: np.exp(z - 0.5),
    "lognormal, σ = 1.5": lambda z: np.exp(1.5 * z - 1.125),
}
"""Standard normals as variables of mean 1."""


def correlated(rng: np.random.Generator, shape: tuple[int, int], correlation: float) -> Floats:
    """A row a seed of standard normals, any two of a row with this correlation."""
    common = rng.standard_normal((shape[0], 1))
    return sqrt(correlation) * common + sqrt(1 - correlation) * rng.standard_normal(shape)


def percent(share: float) -> str:
    """A share in six characters; a dash for none."""
    return f"{'-':>6}" if isnan(share) else f"{share:6.1%}"
