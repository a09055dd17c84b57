"""Distributions of job sizes, for formulas: a density, and between which sizes all jobs are."""

from collections.abc import Callable
from math import exp, gamma
from typing import NamedTuple

import numpy as np

from callboard.scheduler.ideal.panel_grid import GridValues


class SizeLaw(NamedTuple):
    """A distribution of sizes above 0."""

    density: Callable[[GridValues], GridValues]
    lowest: float
    highest: float
    """Outside of these there is less than 10⁻¹⁰ of the jobs, and less of the work."""


def exponential(mean: float = 1.0) -> SizeLaw:
    """Without memory."""
    return hyperexponential(1 / mean, 1 / mean, 1.0)


def hyperexponential(first_rate: float, second_rate: float, first_portion: float) -> SizeLaw:
    """Exponential of the first rate for a portion of the jobs, of the second for the others."""
    rates = [(first_portion, first_rate), (1 - first_portion, second_rate)]
    slow, fast = min(first_rate, second_rate), max(first_rate, second_rate)
    return SizeLaw(
        lambda x: sum((part * rate * np.exp(-rate * x) for part, rate in rates), np.zeros(())),
        1e-11 / fast,
        60 / slow,
    )


def weibull(shape: float, mean: float = 1.0) -> SizeLaw:
    """1 − F(x) = exp(−(x/s)^shape); shapes below 1 have heavy tails."""
    scale = mean / gamma(1 + 1 / shape)
    return SizeLaw(
        lambda x: shape / x * (x / scale) ** shape * np.exp(-((x / scale) ** shape)),
        scale * 1e-11 ** (1 / shape),
        scale * 60 ** (1 / shape),
    )


def bounded_pareto(alpha: float, ratio: float, mean: float = 1.0) -> SizeLaw:
    """Density as x^(−alpha−1) between two sizes, the larger `ratio` times the smaller."""
    kept = 1 - ratio**-alpha
    if alpha == 1:
        relative = np.log(ratio) / kept
    else:
        relative = alpha / (alpha - 1) * (1 - ratio ** (1 - alpha)) / kept
    low = float(mean / relative)
    return SizeLaw(lambda x: alpha / (kept * x) * (low / x) ** alpha, low, low * ratio)


def uniform(low: float, high: float) -> SizeLaw:
    """The same density everywhere between two sizes."""
    return SizeLaw(lambda x: np.full_like(x, 1 / (high - low)), max(low, 1e-11 * high), high)


def lognormal(sigma: float, mean: float = 1.0) -> SizeLaw:
    """The logarithm of a size is normal with deviation sigma."""
    centre = np.log(mean) - sigma**2 / 2

    def density(x: GridValues) -> GridValues:
        score = (np.log(x) - centre) / sigma
        return np.asarray(np.exp(-(score**2) / 2) / (x * sigma * np.sqrt(2 * np.pi)))

    reach = 7 * sigma
    return SizeLaw(density, exp(centre - reach), exp(centre + reach + 2 * sigma**2))
