"""Distributions of job sizes: a density, between which sizes all jobs are, and how to draw some."""

from collections.abc import Callable
from math import exp, gamma, log
from typing import NamedTuple

import numpy as np

from callboard.scheduler.ideal.panel_grid import GridValues, PanelGrid


class SizeLaw(NamedTuple):
    """A distribution of sizes above 0."""

    density: Callable[[GridValues], GridValues]
    lowest: float
    highest: float
    """Outside of these there is less than 10⁻¹⁰ of the jobs, and less of the work."""
    draw: Callable[[np.random.Generator, int], GridValues]
    """That many sizes, drawn without the density, so that either can judge the other."""


def exponential(mean: float = 1.0) -> SizeLaw:
    """Without memory."""
    return hyperexponential(1 / mean, 1 / mean, 1.0)


def hyperexponential(first_rate: float, second_rate: float, first_portion: float) -> SizeLaw:
    """Exponential of the first rate for a portion of the jobs, of the second for the others."""
    rates = [(first_portion, first_rate), (1 - first_portion, second_rate)]
    slow, fast = min(first_rate, second_rate), max(first_rate, second_rate)

    def draw(rng: np.random.Generator, jobs: int) -> GridValues:
        means = np.where(rng.random(jobs) < first_portion, 1 / first_rate, 1 / second_rate)
        return rng.standard_exponential(jobs) * means

    return SizeLaw(
        lambda x: sum((part * rate * np.exp(-rate * x) for part, rate in rates), np.zeros(())),
        1e-11 / fast,
        60 / slow,
        draw,
    )


def weibull(shape: float, mean: float = 1.0) -> SizeLaw:
    """1 − F(x) = exp(−(x/s)^shape); shapes below 1 have heavy tails."""
    scale = mean / gamma(1 + 1 / shape)
    return SizeLaw(
        lambda x: shape / x * (x / scale) ** shape * np.exp(-((x / scale) ** shape)),
        scale * 1e-11 ** (1 / shape),
        scale * 60 ** (1 / shape),
        lambda rng, jobs: scale * rng.weibull(shape, jobs),
    )


def bounded_pareto(alpha: float, ratio: float, mean: float = 1.0) -> SizeLaw:
    """Density as x^(−alpha−1) between two sizes, the larger `ratio` times the smaller."""
    kept = 1 - ratio**-alpha
    if alpha == 1:
        relative = np.log(ratio) / kept
    else:
        relative = alpha / (alpha - 1) * (1 - ratio ** (1 - alpha)) / kept
    low = float(mean / relative)
    return SizeLaw(
        lambda x: alpha / (kept * x) * (low / x) ** alpha,
        low,
        low * ratio,
        lambda rng, jobs: low * (1 - kept * rng.random(jobs)) ** (-1 / alpha),
    )


def uniform(low: float, high: float) -> SizeLaw:
    """The same density everywhere between two sizes."""
    return SizeLaw(
        lambda x: np.full_like(x, 1 / (high - low)),
        max(low, 1e-11 * high),
        high,
        lambda rng, jobs: rng.uniform(low, high, jobs),
    )


def lognormal(sigma: float, mean: float = 1.0) -> SizeLaw:
    """The logarithm of a size is normal with deviation sigma."""
    centre = np.log(mean) - sigma**2 / 2

    def density(x: GridValues) -> GridValues:
        score = (np.log(x) - centre) / sigma
        return np.asarray(np.exp(-(score**2) / 2) / (x * sigma * np.sqrt(2 * np.pi)))

    reach = 7 * sigma
    return SizeLaw(
        density,
        exp(centre - reach),
        exp(centre + reach + 2 * sigma**2),
        lambda rng, jobs: np.exp(centre + sigma * rng.standard_normal(jobs)),
    )


def truncated_law(law: SizeLaw, highest: float) -> SizeLaw:
    """The law of its jobs up to a size, which lies between its ends."""
    grid = PanelGrid(log(law.lowest), log(highest))
    x: GridValues = np.exp(grid.points)
    mass = grid.integral(x * law.density(x))

    def draw(rng: np.random.Generator, jobs: int) -> GridValues:
        sizes = law.draw(rng, jobs)
        while (over := sizes > highest).any():
            sizes[over] = law.draw(rng, int(over.sum()))
        return sizes

    return SizeLaw(lambda x: law.density(x) / mass, law.lowest, highest, draw)
