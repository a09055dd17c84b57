"""How often intervals hold the truth, and how often the best is named: `python -m bench.coverage`.

Figures are drawn from distributions of known means; runs of one seed under several policies are
correlated as runs on the same jobs are.  First fixed numbers of seeds, with the warnings of skewed
figures and other methods, then the precision rule, then the selection rule, and the means of single
long runs.
"""

import argparse
from collections.abc import Callable, Sequence
from math import nan, sqrt
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.interval_methods import METHODS
from bench.kim_nelson import kn_of_two
from bench.steady_coverage import print_steady
from callboard.arguments import whole_number
from callboard.experiments.many.precision import PrecisionRule
from callboard.experiments.many.selection import SelectionRule
from callboard.experiments.many.statistics import Interval, interval, paired
from callboard.experiments.many.stopping import Stopping

Floats = NDArray[np.float64]

TRIALS = 1000
MEANS = np.array([100.0, 80.0])
"""Of the first policy and the second: the difference is a fifth of the first's mean."""
MOST = 2000
"""Seeds after which the selection gives up among normal figures; so many that it does not."""


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


def fixed_coverage(family: str, correlation: float, seeds: int, trials: int) -> Fixed:
    """How often intervals over so many seeds hold, and the warning comes."""
    rng = np.random.default_rng(1)
    held, shares, warned = np.zeros((3, trials), np.bool_)
    for trial in range(trials):
        figures = MEANS * FAMILIES[family](correlated(rng, (seeds, 2), correlation))
        held[trial], shares[trial] = _holds(figures, seeds)
        warned[trial] = is_warned_of(figures)
    with_warning, without = (float(held[of].mean()) if of.any() else nan for of in (warned, ~warned))
    told = (held, shares, warned)
    return Fixed(*(float(each.mean()) for each in told), with_warning, without)


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
    found = interval(first), interval(second), paired(second, first)
    return any(each.is_skewed for each in found)


def _holds(figures: Floats, seeds: int) -> tuple[bool, bool]:
    """Whether the interval over the first seeds holds the true mean, or the true difference; and
    the same in percent of the first policy's mean.
    """
    columns: Sequence[list[float]] = figures[:seeds].T.tolist()
    if len(columns) == 1:
        held = _held(interval(columns[0]), float(MEANS[0]))
        return held, held
    found, truth = paired(columns[1], columns[0]), float(MEANS[1] - MEANS[0])
    share = truth / float(MEANS[0])
    return _held(found, truth), _held(found, share * fmean(columns[0]))


def _held(found: Interval, truth: float) -> bool:
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


class Rivals(NamedTuple):
    """Two policies and how their figures vary; the first is the better one."""

    families: tuple[str, str]
    correlation: float
    means: tuple[float, float] = (95, 100)


RIVALS = (
    Rivals(("normal, σ = 0.3", "lognormal, σ = 1.5"), 0.0),
    Rivals(("normal, σ = 0.3", "lognormal, σ = 1.5"), 0.8),
    Rivals(("lognormal, σ = 1.5", "lognormal, σ = 1.5"), 0.95),
    Rivals(("normal, σ = 0.3", "lognormal, σ = 1"), 0.0),
    Rivals(("lognormal, σ = 1", "lognormal, σ = 1"), 0.95),
    Rivals(("exponential", "exponential"), 0.8),
    Rivals(("lognormal, σ = 1", "lognormal, σ = 1"), 0.95, (50, 100)),
    Rivals(("exponential", "exponential"), 0.8, (70, 100)),
    Rivals(("normal, σ = 0.3", "normal, σ = 0.3"), 0.8, (70, 100)),
)


class Named(NamedTuple):
    """Shares of the trials in which the worse, or the better policy was named, and seeds."""

    wrong: float
    right: float
    seeds: float


Decide = Callable[[Floats], tuple[int | None, int]]


def named(rivals: Rivals, decide: Decide, trials: int) -> Named:
    """What a rule, with the seeds that are usual, makes of these two; the worse one is the first
    column in every other trial, since the first column's mean gives the zone.
    """
    rng = np.random.default_rng(4)
    wrong = right = seeds = 0
    for trial in range(trials):
        normals = correlated(rng, (SelectionRule().most, 2), rivals.correlation)
        columns = [
            mean * FAMILIES[family](normals[:, place])
            for place, (family, mean) in enumerate(zip(rivals.families, rivals.means, strict=True))
        ]
        better = trial % 2
        best, n = decide(np.column_stack(columns[::-1] if better else columns))
        wrong += best == 1 - better
        right += best == better
        seeds += n
    return Named(wrong / trials, right / trials, seeds / trials)


def before(figures: Floats) -> tuple[int | None, int]:
    """KN with ten seeds first."""
    rule = SelectionRule()
    return kn_of_two(figures, rule.error, rule.share, 10)


def now(figures: Floats) -> tuple[int | None, int]:
    """The rule of `--best`."""
    found = SelectionRule().judge(figures)
    return found.best, found.seeds


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
        percent = " ".join(f"{each.share_held:6.1%}" for each in row)
        print(f"{family:20} {correlation:4.2f} {seconds}   {percent}")
    print("\nhow often a warning of skewed figures comes; held with it, and without")
    for (family, correlation), row in found.items():
        told = "   ".join(
            f"{each.warned:6.1%} {each.held_warned:6.1%} {each.held_unwarned:6.1%}" for each in row
        )
        print(f"{family:20} {correlation:4.2f} {told}")


def print_methods(trials: int) -> None:
    """Other intervals of the difference at ten seeds: how often they hold, and how long they are
    beside Student's.
    """
    n, correlation = 10, 0.95
    print(f"\nother 95 % intervals of a paired difference, {n} seeds, ρ = {correlation}: held, length")
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


def print_selection(trials: int) -> None:
    print(f"\n--best: how often the right one is named, asked for 95 %, {trials} trials")
    print(f"{'policies':>8} {'ρ':>4} {'deviations':>11} {'seeds':>6} {'right':>6}")
    for setting in SETTINGS:
        found = selected(SelectionRule(most=MOST), setting, trials)
        low, high = setting.deviations
        told = f"{f'{low:g} to {high:g}':>11} {found.seeds:6.1f} {found.right:6.1%}"
        print(f"{setting.policies:8} {setting.correlation:4.1f} {told}")


def print_rivals(trials: int) -> None:
    """The rule with its usual cap where figures are skewed, and KN before it."""
    print(f"\n--best of two, at most {SelectionRule().most} seeds, {trials} trials: wrong, right, seeds")
    print(f"{'best, other':42} {'ρ':>4} {'means':>8} {'KN with 10 first':>22} {'now':>22}")
    for rivals in RIVALS:
        told = " ".join(
            f"{each.wrong:6.1%} {each.right:6.1%} {each.seeds:8.1f}"
            for each in (named(rivals, decide, trials) for decide in (before, now))
        )
        means = "{:g}, {:g}".format(*rivals.means)
        families = "; ".join(rivals.families)
        print(f"{families:42} {rivals.correlation:4.2f} {means:>8} {told}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=whole_number(1), default=TRIALS, help="trials a line")
    trials = parser.parse_args().trials
    print_fixed(trials)
    print_methods(trials)
    print_precision(trials)
    print_selection(trials)
    print_rivals(trials)
    print_steady(trials)


if __name__ == "__main__":
    main()
