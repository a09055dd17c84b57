"""How often `run --steady` tells a mean, and how often its interval holds the true one.

Poisson arrivals and exponential sizes on the ideal machine, first come first served (M/M/1): the
mean response time is 1/(1 − load) mean sizes.
"""

from typing import NamedTuple

import numpy as np

from callboard.experiments.many.steady_state import SteadyState, jobs_present, steady_state
from callboard.scheduler.ideal import simulate
from trials.drawn_figures import percent

LOADS = (0.5, 0.8, 0.9)
OVERLOAD = 1.1
JOBS = (1000, 10_000, 100_000)

_TICKS = 1_000_000
"""Moments are compared as whole numbers, that many to a mean size."""


class Steady(NamedTuple):
    """Shares of the runs: that told a mean; of these, that held the true one; half of the interval,
    as a share of the mean; and the share of the jobs that was left out as warm-up.
    """

    told: float
    held: float
    half: float
    warm_up: float


def mm1_run(rng: np.random.Generator, load: float, jobs: int) -> SteadyState:
    """What a run of that many jobs tells, from the empty machine on."""
    arrivals = np.cumsum(rng.exponential(1 / load, jobs))
    ends = np.asarray(simulate("fifo", arrivals, rng.exponential(1.0, jobs)))
    came, went = ((_TICKS * each).astype(np.int64) for each in (arrivals, ends))
    return steady_state(ends - arrivals, jobs_present(came, went, came))


def mm1_coverage(load: float, jobs: int, trials: int) -> Steady:
    """How often the mean of this queue is told, and held."""
    rng = np.random.default_rng(6)
    runs = [mm1_run(rng, load, jobs) for _ in range(trials)]
    told = [each.response for each in runs if each.response is not None]
    mean = 1 / (1 - load)
    held = [each.half is not None and abs(each.mean - mean) <= each.half for each in told]
    return Steady(
        len(told) / trials,
        float(np.mean(held)) if told else np.nan,
        float(np.mean([each.half or 0.0 for each in told])) / mean if told else np.nan,
        float(np.mean([each.warm_up for each in runs])) / jobs,
    )


def print_steady(trials: int) -> None:
    """The table; a quarter of the trials, for they are long."""
    trials = max(trials // 4, 1)
    print(f"\nrun --steady: mean response times of M/M/1, first come first served, {trials} trials")
    print(f"{'load':>5} {'jobs':>8} {'told':>6} {'held, of these':>15} {'±':>6} {'warm-up':>8}")
    for load in (*LOADS, OVERLOAD):
        for jobs in JOBS:
            found = mm1_coverage(load, jobs, trials)
            told = f"{percent(found.told)} {percent(found.held):>15} {percent(found.half)}"
            print(f"{load:5.1f} {jobs:8,} {told} {found.warm_up:8.1%}")
