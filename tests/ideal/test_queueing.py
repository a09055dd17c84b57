"""Queueing theory as an outside judge: M/M/1 and M/G/1 in closed form.

Poisson arrivals of rate λ, sizes X of mean 1, ρ = λ.  Closed forms (`docs/ideal.md` says them in
full): FIFO by Pollaczek and Khinchine, PS insensitive to the distribution of sizes, SRPT by
Schrage and Miller (1966).  Sampling error by batch means over 40 batches; 4 standard errors;
fixed seeds.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from callboard.scheduler.ideal import simulate

Floats = NDArray[np.float64]
JOBS = 400_000
BATCHES = 40


class Sizes(NamedTuple):
    """A distribution of mean 1: how to draw it, its density, its second moment, its reach."""

    draw: Callable[[np.random.Generator, int], Floats]
    density: Callable[[Floats], Floats]
    second_moment: float
    reach: float


SIZES = {
    "exponential": Sizes(
        draw=lambda rng, n: rng.exponential(1.0, n),
        density=lambda x: np.exp(-x),
        second_moment=2.0,
        reach=60.0,
    ),
    "uniform": Sizes(
        draw=lambda rng, n: rng.uniform(0.0, 2.0, n),
        density=lambda x: np.where(x <= 2.0, 0.5, 0.0),
        second_moment=4 / 3,
        reach=2.0,
    ),
    # Half the jobs of mean 1/4, half of mean 7/4: more variable than exponential.
    "hyperexponential": Sizes(
        draw=lambda rng, n: rng.exponential(rng.choice([0.25, 1.75], n)),
        density=lambda x: 2.0 * np.exp(-4.0 * x) + np.exp(-x / 1.75) / 3.5,
        second_moment=0.25**2 + 1.75**2,
        reach=110.0,
    ),
}


def integral(y: Floats, x: Floats) -> Floats:
    """The running integral of y over x by trapezia, from 0."""
    return np.concatenate([[0.0], np.cumsum((y[1:] + y[:-1]) / 2 * np.diff(x))])


def fifo_mean(load: float, sizes: Sizes) -> float:
    return 1 + load * sizes.second_moment / (2 * (1 - load))


def ps_mean(load: float, _sizes: Sizes) -> float:
    return 1 / (1 - load)


def srpt_mean(load: float, sizes: Sizes) -> float:
    """E[T(x)] = λ(∫₀ˣt²f + x²F̄(x)) / 2(1-ρ(x))² + ∫₀ˣ dt/(1-ρ(t)), averaged over f."""
    x = np.linspace(0, sizes.reach, 400_001)
    f = sizes.density(x)
    load_below = load * integral(x * f, x)
    longer = np.clip(1 - integral(f, x), 0, 1)
    waiting = load * (integral(x**2 * f, x) + x**2 * longer) / (2 * (1 - load_below) ** 2)
    service = integral(1 / (1 - load_below), x)
    return float(integral((waiting + service) * f, x)[-1])


MEANS = {"fifo": fifo_mean, "ps": ps_mean, "srpt": srpt_mean}


@cache
def workload(distribution: str, load: float) -> tuple[Floats, Floats]:
    rng = np.random.default_rng([17, round(100 * load), sorted(SIZES).index(distribution)])
    arrivals = np.cumsum(rng.exponential(1 / load, JOBS))
    return arrivals, SIZES[distribution].draw(rng, JOBS)


def assert_mean(values: Floats, expected: float) -> None:
    """The mean over all batches but the first, which starts empty, within 4 standard errors."""
    batches = values.reshape(BATCHES, -1).mean(axis=1)[1:]
    error = batches.std(ddof=1) / np.sqrt(len(batches))
    assert abs(batches.mean() - expected) < 4 * error
    assert error < 0.03 * expected  # else the test would pass on anything


@pytest.mark.parametrize(("load", "mean"), [(0.5, 1.4254), (0.7, 1.8746), (0.9, 3.5521)])
def test_the_closed_form_of_srpt(load: float, mean: float) -> None:
    """The judge judged: known values for exponential sizes."""
    assert srpt_mean(load, SIZES["exponential"]) == pytest.approx(mean, abs=5e-5)


@pytest.mark.parametrize("discipline", ["fifo", "ps", "srpt"])
@pytest.mark.parametrize("load", [0.5, 0.7, 0.9])
@pytest.mark.parametrize("distribution", SIZES)
def test_mean_sojourn(discipline: str, load: float, distribution: str) -> None:
    """M/M/1 and M/G/1 under FIFO, PS and SRPT."""
    arrivals, sizes = workload(distribution, load)
    sojourns = simulate(discipline, arrivals, sizes) - arrivals
    assert_mean(sojourns, MEANS[discipline](load, SIZES[distribution]))


@pytest.mark.parametrize("distribution", SIZES)
def test_ps_slows_everyone_down_alike(distribution: str) -> None:
    """PS: E[T(x)] = x/(1-ρ) for every size x, so jobs small and large have the same slowdown."""
    arrivals, sizes = workload(distribution, 0.7)
    slowdowns = (simulate("ps", arrivals, sizes) - arrivals) / sizes
    for half in (sizes < np.median(sizes), sizes >= np.median(sizes)):
        values = slowdowns[half]
        assert_mean(values[: len(values) // BATCHES * BATCHES], 1 / 0.3)


def test_las_on_exponential_sizes() -> None:
    """Blind disciplines all have PS's mean in M/M/1: no attained service tells what is left."""
    arrivals, sizes = workload("exponential", 0.7)
    assert_mean(simulate("las", arrivals, sizes) - arrivals, 1 / 0.3)
