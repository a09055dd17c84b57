"""How often `--best` names the best policy: among normal figures, and where some are skewed."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from callboard.experiments.many.selection import SelectionRule, screening_factor
from callboard.experiments.many.stopping import Stopping
from trials.drawn_figures import FAMILIES, Floats, correlated

MOST = 2000
"""Seeds after which the selection gives up among normal figures; so many that it does not."""


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


def kn_of_two(figures: Floats, error: float, share: float, n0: int) -> tuple[int | None, int]:
    """Which of two policies KN names, None where the rows are too few, and after how many seeds.

    The variance of the first n0 differences stands for good (Kim and Nelson, ACM TOMACS 11, 2001).
    """
    differences = figures[:, 0] - figures[:, 1]
    delta = share * abs(figures[:n0, 0].mean())
    factor = float(screening_factor(np.array([n0]), error)[0])
    reach = factor * differences[:n0].var(ddof=1) / delta
    r = np.arange(n0, len(figures) + 1)
    sums = np.cumsum(differences)[n0 - 1 :]
    decided: NDArray[np.int64] = np.flatnonzero(np.abs(sums) > np.maximum(0, reach - delta * r) / 2)
    if not len(decided):
        return None, len(figures)
    first = int(decided[0])
    return int(sums[first] > 0), first + n0


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
    print(f"\n--best of two, {trials} trials: wrong, right, seeds (at most {SelectionRule().most})")
    print(f"{'best, other':42} {'ρ':>4} {'means':>8} {'KN with 10 first':>22} {'now':>22}")
    for rivals in RIVALS:
        told = " ".join(
            f"{each.wrong:6.1%} {each.right:6.1%} {each.seeds:8.1f}"
            for each in (named(rivals, decide, trials) for decide in (before, now))
        )
        means = "{:g}, {:g}".format(*rivals.means)
        families = "; ".join(rivals.families)
        print(f"{families:42} {rivals.correlation:4.2f} {means:>8} {told}")
