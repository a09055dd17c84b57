"""Adding seeds until intervals are narrow: when the rule stops, and what its intervals hold."""

from math import sqrt

import numpy as np
import pytest
from numpy.typing import NDArray

from callboard.experiments.many.precision import Precision, PrecisionRule, look_ahead_seeds
from callboard.experiments.many.statistics import compare_paired, interval
from callboard.experiments.many.stopping import SeedRows, Stopping
from trials.coverage import precision_coverage

pytest.importorskip("scipy")

RULE = PrecisionRule(0.05)


def noisy(seed: int, seeds: int = 200, policies: int = 3) -> NDArray[np.float64]:
    """Runs on common jobs under policies that differ a little."""
    rng = np.random.default_rng(seed)
    jobs = 100 * rng.lognormal(sigma=0.4, size=(seeds, 1))
    return np.asarray(jobs * (1 + 0.1 * rng.standard_normal((seeds, policies))))


def driven(rule: PrecisionRule, rows: NDArray[np.float64]) -> Precision:
    """As a runner does: run what is wanted, and ask again."""
    found = rule.judge([])
    while found.stopping is Stopping.MORE:
        assert found.wanted > 0
        found = rule.judge(rows[: found.seeds + found.wanted])
    return found


def test_it_starts_with_what_it_needs_at_least() -> None:
    assert RULE.judge([]).wanted == 10, "what is hopeless is seen by then"
    assert RULE.judge([[7.0, 5.0]] * 10).wanted == 15, "twenty seeds, and five that confirm them"
    assert PrecisionRule(0.05, least=8, most=8).judge([]).wanted == 8


def test_equal_figures_are_precise_at_once() -> None:
    found = RULE.judge([[7.0, 5.0]] * 30)
    assert (found.stopping, found.seeds, found.precise_from) == (Stopping.DONE, 25, 20)
    assert found.reached == (0.0,)


@pytest.mark.parametrize("seed", range(8))
def test_the_seeds_wanted_are_the_fewest_that_can_do(seed: int) -> None:
    """Driven by `wanted` it stops where it stops when told everything at once, with no run too
    many; one seed less is not enough.
    """
    rows = noisy(seed)
    found = driven(RULE, rows)
    assert found == RULE.judge(rows)
    assert found.stopping is Stopping.DONE
    assert RULE.judge(rows[: found.seeds - 1]).stopping is Stopping.MORE


@pytest.mark.parametrize("seed", range(4))
def test_every_difference_is_within_the_share_from_the_first_precise_seed_on(seed: int) -> None:
    """By the same intervals that tables show; not with one seed less."""
    rows = noisy(seed)
    found = RULE.judge(rows)
    assert found.precise_from is not None
    assert found.seeds == found.precise_from + look_ahead_seeds(found.precise_from)
    for n in range(found.precise_from, found.seeds + 1):
        assert max(widths(rows, n)) <= 0.05
    assert found.precise_from == RULE.least or max(widths(rows, found.precise_from - 1)) > 0.05
    assert found.reached == pytest.approx(widths(rows, found.seeds))


def widths(rows: NDArray[np.float64], n: int) -> list[float]:
    first, *others = rows[:n].T.tolist()
    return [compare_paired(other, first).relative_half or 0.0 for other in others]


def test_nothing_at_all_is_known_for_sure() -> None:
    """Slot time wasted by policies that never kill: no share of 0, and nothing to find out."""
    assert RULE.judge([[0.0, 0.0]] * 25).stopping is Stopping.DONE


def test_one_policy_is_measured_by_its_own_mean() -> None:
    rows = noisy(1, policies=1)
    found = PrecisionRule(0.1).judge(rows)
    known = interval(rows[: found.seeds, 0].tolist())
    assert known.half is not None
    assert found.reached == pytest.approx((known.half / known.mean,))
    assert found.stopping is Stopping.DONE


def test_a_lull_is_not_precision() -> None:
    """As many seeds as the first stage has that happen to agree, before the others: the look-ahead
    goes on.
    """
    lull = [[100.0, 90.0 + 0.1 * n] for n in range(21)]
    storm = [[100.0, 60.0 + 60 * (n % 2)] for n in range(30)]
    found = RULE.judge([*lull, *storm])
    assert RULE.judge(lull).wanted == 4
    assert found.stopping is Stopping.MORE
    assert found.seeds == 51


def test_the_look_ahead_grows_with_the_seeds() -> None:
    """Hoad's kLimit: 5 up to 100 seeds, then 5 for each 100."""
    assert [look_ahead_seeds(n) for n in (5, 100, 120, 199, 200, 1000)] == [5, 5, 6, 9, 10, 50]


def test_few_seeds_are_not_believed() -> None:
    """Five that agree by chance were: the deviation of few skewed figures is mostly too small."""
    rows = noisy(3)
    found, before = PrecisionRule(0.2).judge(rows), PrecisionRule(0.2, least=5).judge(rows)
    assert before.precise_from is not None
    assert before.precise_from < 20 == found.precise_from
    assert found.seeds == 25


def test_it_gives_up_at_the_most_and_says_how_far_it_came() -> None:
    rows = noisy(2, seeds=60)
    found = driven(PrecisionRule(0.001, most=40), rows)
    assert (found.stopping, found.seeds, found.wanted) == (Stopping.GAVE_UP, 40, 0)
    assert found.reached == pytest.approx(widths(rows, 40))
    said = found.sentence(["fifo", "fair", "hfsp"])
    assert "after 40 seeds; gave up, ± 0.1 % asked for" in said


def test_seeds_without_a_figure_are_left_out_of_their_own_comparison_only() -> None:
    rows: list[list[float | None]] = [[100.0, 90.0, 80.0] for _ in range(27)]
    rows[3][1] = None
    rows[4][0] = float("nan")
    found = RULE.judge(rows)
    assert found.left_out == (2, 1)
    assert (found.stopping, found.seeds) == (Stopping.DONE, 25)
    told = found.sentence(["a", "b", "c"])
    assert told == (
        "b − a: ± 0 % of a's mean after 25 seeds (2 of them left out: a run has no figure), "
        "± 5 % asked for"
    )


@pytest.mark.parametrize(
    "rows",
    [[[100.0, None]] * 30, [[None, 100.0]] * 30, [[None]] * 30, [[0.0, n] for n in range(30)]],
)
def test_what_can_never_be_precise_costs_ten_seeds_and_no_more(rows: SeedRows) -> None:
    found = RULE.judge(rows)
    assert (found.stopping, found.seeds, found.reached) == (Stopping.GAVE_UP, 10, (None,))
    assert "no interval beside a's mean after 10 seeds" in found.sentence(["a", "b"])


@pytest.mark.soak
@pytest.mark.parametrize(
    ("family", "correlation", "share", "measured"),
    [
        ("normal, σ = 0.3", None, 0.2, 0.953),
        ("normal, σ = 0.3", 0.8, 0.1, 0.947),
        ("exponential", 0.8, 0.2, 0.930),
        ("lognormal, σ = 1", 0.95, 0.2, 0.879),
    ],
)
def test_coverage(family: str, correlation: float | None, share: float, measured: float) -> None:
    """With the seeds that the rule chose 95 % intervals hold the truth as often as the table in
    docs/statistics.md says, give or take four standard errors of 1,000 trials; drawn anew.
    """
    found = precision_coverage(PrecisionRule(share), family, correlation, trials=1000)
    assert abs(found.held - measured) < 4 * sqrt(measured * (1 - measured) / 1000)
    assert found.gave_up == 0


def test_what_makes_no_rule() -> None:
    with pytest.raises(ValueError, match="share is 0,"):
        PrecisionRule(0.0)
    with pytest.raises(ValueError, match="20 seeds come before the first look, and there are 4"):
        PrecisionRule(0.1, most=4)
    with pytest.raises(ValueError, match="inhomogeneous"):
        RULE.judge([[1.0, 2.0], [1.0]])
