"""Skewed figures: their skewness, from when on it counts, and how often a warning is false."""

from math import sqrt

import numpy as np
import pytest

from callboard.experiments.many.skewness import (
    is_skewed,
    running_skewness,
    sample_skewness,
    seeds_for,
)
from callboard.experiments.many.statistics import Interval, interval
from callboard.experiments.pages.figure_text import skewed_words
from trials.coverage import fixed_coverage

scipy_stats = pytest.importorskip("scipy.stats")


def test_skewness_is_scipys_unbiased_one_of_every_beginning() -> None:
    values = np.random.default_rng(1).lognormal(3, 1, (30, 2))
    found = running_skewness(values)
    for n in range(3, 31):
        assert found[n - 1] == pytest.approx(scipy_stats.skew(values[:n], bias=False), rel=1e-9)
    assert sample_skewness(values[:, 0]) == found[-1, 0]
    assert (found[:2] == 0).all()


@pytest.mark.parametrize("values", [[], [7.0], [7.0, 9.0], [0.1] * 50, [1e9 + 0.1] * 9])
def test_too_few_and_equal_figures_have_none(values: list[float]) -> None:
    assert sample_skewness(np.array(values)) == 0.0
    assert not interval(values).is_skewed


def test_it_counts_where_it_is_beyond_chance_and_the_figures_are_few() -> None:
    """Twice the standard error of printed tables (Tabachnick and others: n = 10 .687, 20 .512,
    50 .337), and n of at most 25 G1².
    """
    assert [bool(is_skewed(g, 10)) for g in (1.36, 1.39, -1.39)] == [False, True, True]
    assert [bool(is_skewed(g, 20)) for g in (1.02, 1.03)] == [False, True]
    assert [bool(is_skewed(g, 50)) for g in (1.0, 1.40, 1.42)] == [False, False, True]
    assert seeds_for(2.0) == 100, "that many are enough: the exponential's"
    assert not is_skewed(2.0, 101)


def test_an_interval_of_skewed_figures_says_so() -> None:
    lean = [1.0, 1.1, 0.9, 1.2, 1.0, 0.8, 1.1, 1.0, 0.9, 9.0]
    assert interval(lean).is_skewed
    assert not interval([value % 3 for value in lean[:-1]]).is_skewed
    assert not Interval(1.0, 0.5, 10).is_skewed, "where nothing is known of it"
    told = skewed_words({"fifo": interval(lean), "fair": interval([1.0, 2.0, 3.0, 4.0, 5.0])})
    assert told == (
        "a few seeds differ much from the rest (fifo): 95 % intervals may be too narrow;"
        " 249 seeds or more would be enough"
    )
    assert skewed_words({"fair": interval([1.0, 2.0, 3.0])}) == ""


@pytest.mark.parametrize(
    ("family", "correlation", "held", "share_held", "warned"),
    [
        ("normal, σ = 0.3", 0.95, 0.962, 0.993, 0.132),
        ("lognormal, σ = 1", 0.95, 0.881, 0.960, 0.736),
    ],
)
def test_warnings_come_as_often_as_the_page_says(
    family: str, correlation: float, held: float, share_held: float, warned: float
) -> None:
    """Of ten seeds, give or take four standard errors of 600 trials; as docs/statistics.md has it,
    drawn anew.
    """
    found = fixed_coverage(family, correlation, 10, trials=600)
    for ours, page in zip(found, (held, share_held, warned), strict=False):
        assert abs(ours - page) < 4 * sqrt(page * (1 - page) / 600)
