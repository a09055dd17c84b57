"""How often intervals hold the truth, and how often the best is named: `python -m trials.coverage`.

Figures are drawn from distributions of known means; runs of one seed under several policies are
correlated as runs on the same jobs are.  First fixed numbers of seeds, with the warnings of skewed
figures and other methods, then the precision rule, then the selection rule, and the means of single
long runs.
"""

import argparse
from collections.abc import Callable, Sequence
from math import nan
from statistics import fmean
from typing import NamedTuple

import numpy as np

from callboard.arguments import whole_number_type
from callboard.experiments.many.precision import PrecisionRule
from callboard.experiments.many.statistics import Interval, interval, paired_interval
from callboard.experiments.many.stopping import Stopping
from trials.drawn_figures import FAMILIES, Floats, correlated, percent
from trials.interval_methods import METHODS
from trials.selection_coverage import print_rivals, print_selection
from trials.steady_coverage import print_steady

TRIALS = 1000
MEANS = np.array([100.0, 80.0])
"""Of the first policy and the second: the difference is a fifth of the first's mean."""
SIZES = (5, 10, 20, 50)
CORRELATIONS = (0.0, 0.8, 0.95)


class Fixed(NamedTuple):
    """Shares of the trials with a fixed number of seeds."""

    held: float
    """The interval held the true difference."""
    share_held: float
    """The interval in percent of the first policy's mean held the true share."""
    warned: float
    """A mean or the difference was skewed."""
    held_warned: float
    held_unwarned: float


class Coverage(NamedTuple):
    """Shares of the trials in which the interval held the truth, with all seeds that the rule took,
    and seeds on average.
    """

    held: float
    share_held: float
    """The same of the share of the first policy's mean."""
    seeds: float
    gave_up: float


def fixed_coverage(family: str, correlation: float, seeds: int, trials: int) -> Fixed:
    """How often intervals over that many seeds hold, and the warning comes."""
    rng = np.random.default_rng(1)
    held, shares, warned = np.zeros((3, trials), np.bool_)
    for trial in range(trials):
        figures = MEANS * FAMILIES[family](correlated(rng, (seeds, 2), correlation))
        held[trial], shares[trial] = _holds(figures, seeds)
        warned[trial] = is_warned_of(figures)
    with_warning, without = (
        float(held[of].mean()) if of.any() else nan for of in (warned, ~warned)
    )
    found = float(held.mean()), float(shares.mean()), float(warned.mean())
    return Fixed(*found, with_warning, without)


def precision_coverage(
    rule: PrecisionRule, family: str, correlation: float | None, trials: int
) -> Coverage:
    """The rule with two policies; with one where there is no correlation."""
    rng = np.random.default_rng(2)
    policies = 1 if correlation is None else 2
    held = shares = seeds = gave_up = 0
    for _ in range(trials):
        normals = correlated(rng, (rule.most, policies), correlation or 0.0)
        figures = MEANS[:policies] * FAMILIES[family](normals)
        found = rule.judge(figures)
        told = _holds(figures, found.seeds)
        held, shares = held + told[0], shares + told[1]
        seeds += found.seeds
        gave_up += found.stopping is Stopping.GAVE_UP
    return Coverage(held / trials, shares / trials, seeds / trials, gave_up / trials)


def is_warned_of(figures: Floats) -> bool:
    """Whether `run --seeds` says that a mean, or the difference, is skewed."""
    first, second = figures.T.tolist()
    found = interval(first), interval(second), paired_interval(second, first)
    return any(each.is_skewed for each in found)


def _holds(figures: Floats, seeds: int) -> tuple[bool, bool]:
    """Whether the interval over the first seeds holds the true mean, or the true difference; and
    the same in percent of the first policy's mean.
    """
    columns: Sequence[list[float]] = figures[:seeds].T.tolist()
    if len(columns) == 1:
        held = _held(interval(columns[0]), float(MEANS[0]))
        return held, held
    found, truth = paired_interval(columns[1], columns[0]), float(MEANS[1] - MEANS[0])
    share = truth / float(MEANS[0])
    return _held(found, truth), _held(found, share * fmean(columns[0]))


def _held(found: Interval, truth: float) -> bool:
    return found.half is not None and abs(found.mean - truth) <= found.half


def print_fixed(trials: int) -> None:
    """How often intervals hold, in seconds and in percent, and the warnings."""
    print(f"\n95 % intervals of a paired difference, fixed seeds, {trials} trials: held in seconds")
    print(f"{'':20} {'ρ':>4} " + " ".join(f"{n:>6}" for n in SIZES) + "   in percent of the first")
    found = {
        (family, correlation): [fixed_coverage(family, correlation, n, trials) for n in SIZES]
        for family in FAMILIES
        for correlation in CORRELATIONS
    }
    for (family, correlation), row in found.items():
        seconds = " ".join(f"{each.held:6.1%}" for each in row)
        shares = " ".join(f"{each.share_held:6.1%}" for each in row)
        print(f"{family:20} {correlation:4.2f} {seconds}   {shares}")
    print("\nhow often a warning of skewed figures comes; held with it, and without")
    print(f"{'':25} " + "   ".join(f"{f'{n} seeds':>20}" for n in SIZES))
    for (family, correlation), row in found.items():
        told = "   ".join(
            f"{percent(each.warned)} {percent(each.held_warned)} {percent(each.held_unwarned)}"
            for each in row
        )
        print(f"{family:20} {correlation:4.2f} {told}")


def print_methods(trials: int) -> None:
    """Other intervals of the difference at ten seeds: how often they hold, and how long they are
    beside Student's.
    """
    n, correlation = 10, 0.95
    print(
        f"\nother 95 % intervals of a paired difference, {n} seeds, ρ = {correlation}: held, length"
    )
    print(f"{'':24} " + " ".join(f"{family:>20}" for family in FAMILIES))
    rng = np.random.default_rng(5)
    drawn = [
        (MEANS * FAMILIES[family](correlated(rng, (trials * n, 2), correlation))).reshape(-1, n, 2)
        for family in FAMILIES
    ]
    rows = [each[:, :, 1] - each[:, :, 0] for each in drawn]
    for name, method in METHODS.items():
        print(f"{name:24} " + " ".join(f"{_method_told(method, each):>20}" for each in rows))


def _method_told(method: Callable[[Floats], tuple[Floats, Floats]], rows: Floats) -> str:
    truth = MEANS[1] - MEANS[0]
    (low, high), (least, most) = method(rows), METHODS["Student"](rows)
    held = ((low <= truth) & (truth <= high)).mean()
    return f"{held:.1%} × {(high - low).mean() / (most - least).mean():.2f}"


def print_precision(trials: int) -> None:
    """The rule with its usual cap, and how it was with a first stage of five."""
    print(f"\n--precision: 95 % intervals with the seeds that the rule took, {trials} trials")
    heads = f"{'seeds':>6} {'gave up':>7} {'held':>6} {'in %':>6}"
    print(f"{'':20} {'ρ':>4} {'asked':>6} {heads}   first stage of 5: {heads}")
    for family in FAMILIES:
        for correlation in (None, 0.8, 0.95):
            for share in (0.1, 0.2):
                rules = PrecisionRule(share), PrecisionRule(share, least=5)
                found = [precision_coverage(rule, family, correlation, trials) for rule in rules]
                name = "own" if correlation is None else f"{correlation:.2f}"
                told = "                     ".join(
                    f"{each.seeds:6.1f} {each.gave_up:7.1%} {each.held:6.1%} {each.share_held:6.1%}"
                    for each in found
                )
                print(f"{family:20} {name:>4} {share:6.0%} {told}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=whole_number_type(1), default=TRIALS, help="trials a line")
    trials = parser.parse_args().trials
    print_fixed(trials)
    print_methods(trials)
    print_precision(trials)
    print_selection(trials)
    print_rivals(trials)
    print_steady(trials)


if __name__ == "__main__":
    main()
