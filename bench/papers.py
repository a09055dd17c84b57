"""What the papers claim of schedulers, over random workloads, with confidence intervals.

    python -m bench.papers [SEEDS] [CLAIM ...]

Every claim is a difference between two policies on the same draws, seed by seed; it holds if the
whole 95 % interval of its mean lies on the right side.
"""

import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

import callboard
from callboard.ideal.statistics import Interval, interval
from callboard.play import Options, Result
from scheduler.ideal import simulate

DIRECT = Options(host="direct")


class Claim(NamedTuple):
    """A claim: who says it, the difference that should be above 0, and one seed's value of it."""

    says: str
    source: str
    unit: str
    difference: Callable[[int], float]


def _run(scenario: str, policy: str, seed: int, *overrides: str) -> Result:
    changes = [f"seed={seed}", *overrides]
    return callboard.run(scenario, policy, overrides=changes, options=DIRECT)


def _mean(result: Result) -> float:
    mean = result.summary.response_seconds.mean
    assert mean is not None
    return mean


def _hfsp_below_fair(*overrides: str) -> Callable[[int], float]:
    """By what percentage HFSP's mean response time is below Fair's."""

    def below_fair(seed: int) -> float:
        runs = (_run("facebook-morning", policy, seed, *overrides) for policy in ("fair", "hfsp"))
        fair, hfsp = map(_mean, runs)
        return 100 * (fair - hfsp) / fair

    return below_fair


def _fsp_ps_robust(sigma: float) -> Callable[[int], float]:
    """By what percentage FSP+PS with errors is below processor sharing on the ideal machine."""

    def below_ps(seed: int) -> float:
        draws = np.random.default_rng(seed)
        sizes = draws.weibull(0.5, JOBS)  # heavy tail: shape 1/2
        arrivals = np.cumsum(draws.exponential(sizes.mean() / LOAD, JOBS))
        believed = sizes * np.exp(sigma * draws.standard_normal(JOBS))
        shared = (simulate("ps", arrivals, sizes) - arrivals).mean()
        mine = (simulate("fsp+ps", arrivals, sizes, believed) - arrivals).mean()
        return float(100 * (shared - mine) / shared)

    return below_ps


JOBS = 1000
LOAD = 0.9


def _delay_local(seed: int) -> float:
    """The percentage of node-local maps beyond 90 with a wait of 5 s."""
    local = _run("small-jobs", "fair+delay(node=5,rack=5)", seed).summary.locality.node
    assert local is not None
    return 100 * local - 90


def _global_wastes_less(seed: int) -> float:
    """By how much less slot time is thrown away, in percent of what per-job preemption does."""
    per_job, whole = (
        _run("preemption-storm", policy, seed).summary.slot_seconds.wasted
        for policy in ('fair+kill(victims="job")', "fair+global")
    )
    return 100 * (per_job - whole) / per_job


CLAIMS: dict[str, Claim] = {
    "hfsp": Claim(
        "on a heavy-tailed load HFSP's mean response time is below Fair's",
        "HFSP, IV; `facebook-morning`, 350 jobs, overloaded",
        "% below",
        _hfsp_below_fair(),
    ),
    "hfsp-early": Claim(
        "… also before the backlog has grown",
        "`facebook-morning`, its first 120 jobs",
        "% below",
        _hfsp_below_fair("workload.jobs=120"),
    ),
    "fsp+ps": Claim(
        "FSP+PS stays below PS with errors of σ = 1",
        f"simulator report, 4; ideal machine, Weibull ½, load {LOAD}, {JOBS:,} jobs",
        "% below",
        _fsp_ps_robust(1.0),
    ),
    "fsp+ps-2": Claim(
        "… and with errors of σ = 2",
        "beyond what is claimed",
        "% below",
        _fsp_ps_robust(2.0),
    ),
    "delay": Claim(
        "a wait of 5 s gives small jobs more than 90 % node-local maps",
        "delay-scheduling slides; `small-jobs`",
        "points above 90 %",
        _delay_local,
    ),
    "global": Claim(
        "global preemption wastes less than per-job preemption",
        "Cheng, Zhang, Boutaba, CNSM 2011; `preemption-storm`",
        "% less waste",
        _global_wastes_less,
    ),
}


def verdict(found: Interval) -> str:
    """What the interval says."""
    assert found.half is not None
    if found.mean - found.half > 0:
        return "holds"
    return "does not hold" if found.mean + found.half < 0 else "cannot be told"


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    seeds = int(arguments[0]) if arguments else 10
    print("| claim | source and load | mean ± 95 % | of so many seeds | |\n|---|---|---|---|---|")
    for name in arguments[1:] or CLAIMS:
        claim = CLAIMS[name]
        found = interval([claim.difference(seed) for seed in range(1, seeds + 1)])
        told = f"{found.mean:.1f} ± {found.half or 0:.1f} {claim.unit}"
        row = (claim.says, claim.source, told, f"{seeds}", verdict(found))
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
