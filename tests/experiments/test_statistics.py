"""Intervals: against published tables, what pairing gains, and runs without a figure."""

import random
import sys
from math import inf, isnan, nan, sqrt

import pytest

from callboard.experiments.error_messages import describe_error
from callboard.experiments.many.statistics import (
    Interval,
    MedianInterval,
    compare_paired,
    interval,
    is_wide,
    median_interval,
    paired_interval,
    run_range,
)
from callboard.experiments.user_errors import EXIT_BAD_INPUT
from callboard.histories.quantiles import require_scipy
from callboard.scheduler.text.missing_extra import MissingExtraError

pytest.importorskip("scipy")


@pytest.mark.parametrize(
    ("runs", "confidence", "t"),
    [
        *((2, 0.95, 12.706), (3, 0.95, 4.303), (4, 0.95, 3.182), (5, 0.95, 2.776)),
        *((20, 0.95, 2.093), (31, 0.95, 2.042), (100, 0.95, 1.984)),
        *((10, 0.90, 1.833), (10, 0.99, 3.250), (121, 0.99, 2.617)),
    ],
)
def test_half_widths_are_those_of_student_tables(runs: int, confidence: float, t: float) -> None:
    """n values, half of them 1 above and half of them 1 below (one at the mean where n is odd)."""
    values = [float(sign) for sign in (1, -1) for _ in range(runs // 2)] + [0.0] * (runs % 2)
    error = sqrt(2 * (runs // 2) / (runs - 1) / runs)
    found = interval(values, confidence)
    assert found.half == pytest.approx(t * error, rel=3e-4)
    assert (found.mean, found.runs) == (0.0, runs)


def test_interval_by_hand() -> None:
    """1, 2, 3: mean 2, standard error 1/√3, and t = 4.303 for two degrees of freedom."""
    found = interval([1.0, 2.0, 3.0])
    assert (found.mean, found.runs) == (2.0, 3)
    assert found.half == pytest.approx(4.303 / 3**0.5, abs=1e-3)


def test_one_run_has_no_interval() -> None:
    assert interval([5.0]) == Interval(5.0, None, 1)
    assert paired_interval([5.0], [2.0]) == Interval(3.0, None, 1)
    assert not interval([5.0]).excludes_zero


def test_one_run_stands_for_all() -> None:
    assert paired_interval([5.0, 6.0, 7.0], [2.0]).mean == 4.0
    assert paired_interval([2.0], [5.0, 6.0, 7.0]).mean == -4.0


def test_coverage() -> None:
    """95 % intervals over 5 normals hold the mean in 95 % of 4,000 trials, give or take 4σ."""
    rng = random.Random(7)
    trials, held = 4000, 0
    for _ in range(trials):
        found = interval([rng.gauss(3, 2) for _ in range(5)])
        held += abs(found.mean - 3) <= (found.half or 0)
    assert abs(held / trials - 0.95) < 4 * (0.95 * 0.05 / trials) ** 0.5


def test_pairing_takes_out_what_is_common() -> None:
    rng = random.Random(1)
    common = [rng.gauss(100, 50) for _ in range(30)]
    ours = [value + rng.gauss(1, 0.1) for value in common]
    together = paired_interval(ours, common)
    assert together.half is not None
    assert together.half < 0.1
    assert abs(together.mean - 1) < 0.1
    assert together.excludes_zero
    alone = interval(ours).half
    assert alone is not None
    assert alone > 10


def test_runs_without_a_figure_are_left_out_and_counted() -> None:
    found = interval([1.0, None, 2.0, nan, 3.0, inf])
    half = interval([1.0, 2.0, 3.0]).half
    assert found == Interval(2.0, half, runs=3, left_out=3, skewness=0.0)
    assert paired_interval([1.0, None, 5.0, 6.0], [0.0, 0.0, nan, 1.0]).left_out == 2
    assert run_range([3.0, 1.0, 2.0, 9.0]) == (1.0, 2.5, 9.0)


@pytest.mark.parametrize("values", [[], [None], [None, nan]])
def test_no_figure_at_all_is_no_crash(values: list[float | None]) -> None:
    found = interval(values)
    assert (isnan(found.mean), found.half, found.runs) == (True, None, 0)
    assert found.left_out == len(values)
    assert isnan(median_interval(values).median)
    compared = compare_paired(values, values)
    assert (compared.relative, compared.relative_half, compared.better_in) == (None, None, 0)
    assert compared.is_wide


class TestCompared:
    def test_against_the_first_policy(self) -> None:
        """Differences -20, -30, 0, -10 and a seed that one of the two does not have."""
        found = compare_paired([80.0, 70.0, 100.0, 90.0, None], [100.0, 100.0, 100.0, 100.0, 300.0])
        assert (found.difference.mean, found.difference.runs) == (-15.0, 4)
        assert (found.better_in, found.ties, found.difference.left_out) == (3, 1, 1)
        assert (found.first_mean, found.relative) == (100.0, -0.15)
        assert found.relative_half == pytest.approx(3.182 * sqrt(500 / 3 / 4) / 100, rel=1e-3)
        assert not found.difference.excludes_zero

    def test_the_first_mean_is_of_the_seeds_compared(self) -> None:
        found = compare_paired([1.0, nan, 2.0, 3.0], [2.0, 9.0, None, 4.0])
        assert found.first_mean == 3.0
        assert found.relative == pytest.approx(-1 / 3)

    def test_no_share_of_a_mean_of_zero(self) -> None:
        found = compare_paired([1.0, 2.0], [0.0, 0.0])
        assert (found.relative, found.relative_half, found.is_wide) == (None, None, True)

    def test_the_same_seeds_are_wanted(self) -> None:
        with pytest.raises(ValueError, match="zip"):
            compare_paired([1.0, 2.0], [1.0, 2.0, 3.0])

    def test_wide_is_measured_against_the_first_policy(self) -> None:
        """A difference of about nothing is known well enough beside means of 100."""
        close = compare_paired([101.0, 99.0, 101.0, 99.0], [100.0] * 4)
        assert not close.is_wide
        assert is_wide(close.difference)


def test_a_wide_interval_is_more_than_a_fifth_of_the_mean() -> None:
    assert is_wide(Interval(100.0, 20.1, 5))
    assert not is_wide(Interval(-100.0, 20.0, 5))
    assert is_wide(Interval(100.0, None, 1)), "one seed says nothing of the others"


@pytest.mark.parametrize(
    ("n", "rank"), [(6, 1), (8, 1), (9, 2), (10, 2), (12, 3), (20, 6), (50, 18), (100, 40)]
)
def test_the_median_has_the_interval_of_the_sign_test(n: int, rank: int) -> None:
    """Ranks from any table of the sign test at 5 %."""
    found = median_interval([*(float(value) for value in range(n, 0, -1)), None])
    assert found == MedianInterval(rank, (n + 1) / 2, n + 1 - rank, runs=n, left_out=1)


def test_five_values_give_no_interval_of_the_median() -> None:
    assert median_interval([3.0, 1.0, 2.0, 5.0, 4.0]) == MedianInterval(None, 3.0, None, 5)
    assert median_interval([3.0, 1.0, 2.0, 5.0, 4.0], confidence=0.9).low == 1.0


def test_without_scipy_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("scipy", "scipy.special"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError) as raised:
        require_scipy()
    message, status = describe_error(raised.value)
    assert str(message).startswith("intervals need SciPy: ")
    assert str(message).endswith("pip install 'callboard[experiments]'")
    assert status == EXIT_BAD_INPUT
    assert interval([5.0]).mean == 5.0, "a single run needs no SciPy"
