"""How often intervals hold the truth, and how often the best is named: `python -m bench.coverage`.

Figures are drawn from distributions of known means; runs of one seed under several policies are
correlated as runs on the same jobs are.  First fixed numbers of seeds, then the precision rule,
then the selection rule.
"""

import argparse
from collections.abc import Callable, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from callboard.arguments import whole_number
from callboard.experiments.many.precision import PrecisionRule, relative_widths
from callboard.experiments.many.selection import SelectionRule
from callboard.experiments.many.statistics import interval, paired
from callboard.experiments.many.stopping import Stopping

Floats = NDArray[np.float64]

TRIALS = 1000
MEANS = np.array([100.0, 80.0])
"""Of the first policy and the second: the difference is a fifth of the first's mean."""
MOST = 2000
"""Seeds after which the rules give up here; so many that they do not."""


def exponential(z: Floats) -> Floats:
    """Standard normals as exponentials of mean 1."""
    from scipy.special import log_ndtr

    return np.asarray(-log_ndtr(-z))


FAMILIES: dict[str, Callable[[Floats], Floats]] = {
    "normal, σ = 0.3": lambda z: 1 + 0.3 * z,
    "exponential": exponential,
    "lognormal, σ = 1": lambda z: np.exp(z - 0.5),
}
"""Standard normals as variables of mean 1."""


class Coverage(NamedTuple):
    """Shares of the trials in which the interval held the truth, and seeds on average."""

    held: float
    """With all seeds that the rule took."""
    held_at_once: float
    """With the seeds at which a rule that does not look ahead would stop."""
    seeds: float
    gave_up: float


class Setting(NamedTuple):
    """`k` policies with means that are `delta` apart; how they vary, and vary together."""

    policies: int
    correlation: float = 0.0
    deviations: tuple[float, float] = (10.0, 10.0)
    """Of the first and the last policy; the others lie between."""


class Selected(NamedTuple):
    """Shares of the trials in which the best was named, and seeds on average."""

    right: float
    seeds: float
    gave_up: float


def correlated(rng: np.random.Generator, shape: tuple[int, int], correlation: float) -> Floats:
    """A row a seed of standard normals, any two of a row with this correlation."""
    common = rng.standard_normal((shape[0], 1))
    return sqrt(correlation) * common + sqrt(1 - correlation) * rng.standard_normal(shape)


def fixed_coverage(family: str, correlation: float, seeds: int, trials: int) -> float:
    """The share of intervals over so many seeds that hold the true difference."""
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(trials):
        figures = MEANS * FAMILIES[family](correlated(rng, (seeds, 2), correlation))
        held += _holds(figures, seeds)
    return held / trials


def precision_coverage(
    rule: PrecisionRule, family: str, correlation: float | None, trials: int
) -> Coverage:
    """The rule with two policies; with one where there is no correlation."""
    rng = np.random.default_rng(2)
    policies = 1 if correlation is None else 2
    held = at_once = seeds = gave_up = 0
    for _ in range(trials):
        normals = correlated(rng, (rule.most, policies), correlation or 0.0)
        figures = MEANS[:policies] * FAMILIES[family](normals)
        found = rule.judge(figures)
        held += _holds(figures, found.seeds)
        at_once += _holds(figures, precise_at_once(rule, figures))
        seeds += found.seeds
        gave_up += found.stopping is Stopping.GAVE_UP
    return Coverage(held / trials, at_once / trials, seeds / trials, gave_up / trials)


def precise_at_once(rule: PrecisionRule, figures: Floats) -> int:
    """The number of seeds, from the least on, that are precise enough for the first time."""
    precise = np.all(relative_widths(figures, rule.confidence) <= rule.share, axis=1)
    return int(np.argmax(precise[rule.least - 1 :])) + rule.least


def _holds(figures: Floats, seeds: int) -> bool:
    """Whether the interval over the first seeds holds the true mean, or the true difference."""
    columns: Sequence[list[float]] = figures[:seeds].T.tolist()
    if len(columns) == 1:
        found, truth = interval(columns[0]), float(MEANS[0])
    else:
        found, truth = paired(columns[1], columns[0]), float(MEANS[1] - MEANS[0])
    return found.half is not None and abs(found.mean - truth) <= found.half


def selected(rule: SelectionRule, setting: Setting, trials: int) -> Selected:
    """The rule on normal figures: the last policy is better than all others by just the
    indifference zone, the hardest case that the rule promises to decide.
    """
    rng = np.random.default_rng(3)
    means = np.full(setting.policies, 100.0)
    means[-1] -= 100 * rule.share
    deviations = np.linspace(*setting.deviations, setting.policies)
    right = seeds = gave_up = 0
    for _ in range(trials):
        normals = correlated(rng, (rule.most, setting.policies), setting.correlation)
        found = rule.judge(means + deviations * normals)
        right += found.best == setting.policies - 1
        seeds += found.seeds
        gave_up += found.stopping is Stopping.GAVE_UP
    return Selected(right / trials, seeds / trials, gave_up / trials)


SETTINGS = (
    *(Setting(policies) for policies in (2, 3, 5, 10)),
    *(Setting(policies, correlation=0.8, deviations=(20, 20)) for policies in (2, 5)),
    Setting(5, deviations=(5, 15)),
    Setting(5, deviations=(15, 5)),
    Setting(5, correlation=0.8, deviations=(10, 30)),
    Setting(5, correlation=0.8, deviations=(30, 10)),
)


def print_fixed(trials: int) -> None:
    print(f"\n95 % intervals of a paired difference, fixed seeds, {trials} trials")
    print(f"{'':20} {'ρ':>4} " + " ".join(f"{n:>6}" for n in (5, 10, 20, 50)))
    for family in FAMILIES:
        for correlation in (0.0, 0.8):
            held = [fixed_coverage(family, correlation, n, trials) for n in (5, 10, 20, 50)]
            print(f"{family:20} {correlation:4.1f} " + " ".join(f"{h:6.1%}" for h in held))


def print_precision(trials: int) -> None:
    print(f"\n--precision: 95 % intervals with the seeds that the rule took, {trials} trials")
    print(f"{'':20} {'ρ':>4} {'asked':>6} {'seeds':>6} {'held':>6} {'no look-ahead':>14}")
    for family in FAMILIES:
        for correlation in (None, 0.0, 0.8):
            for share in (0.1, 0.2):
                rule = PrecisionRule(share, most=MOST)
                found = precision_coverage(rule, family, correlation, trials)
                name = "own" if correlation is None else f"{correlation:.1f}"
                told = f"{found.seeds:6.1f} {found.held:6.1%} {found.held_at_once:14.1%}"
                print(f"{family:20} {name:>4} {share:6.0%} {told}")


def print_selection(trials: int) -> None:
    print(f"\n--best: how often the right one is named, asked for 95 %, {trials} trials")
    print(f"{'policies':>8} {'ρ':>4} {'deviations':>11} {'seeds':>6} {'right':>6}")
    for setting in SETTINGS:
        found = selected(SelectionRule(most=MOST), setting, trials)
        low, high = setting.deviations
        told = f"{f'{low:g} to {high:g}':>11} {found.seeds:6.1f} {found.right:6.1%}"
        print(f"{setting.policies:8} {setting.correlation:4.1f} {told}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=whole_number(1), default=TRIALS, help="trials a line")
    trials = parser.parse_args().trials
    print_fixed(trials)
    print_precision(trials)
    print_selection(trials)


if __name__ == "__main__":
    main()
