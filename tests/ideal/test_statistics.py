"""Confidence intervals: against tables of Student's t, and the gain from pairing."""

import random

import pytest

from callboard.experiments.ideal_study.statistics import interval, paired, run_range, student


@pytest.mark.parametrize(
    ("freedom", "t"),
    [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (19, 2.093), (30, 2.042), (99, 1.984)],
)
def test_student(freedom: int, t: float) -> None:
    """The 97.5 % points of any table of Student's distribution."""
    assert student(freedom, 0.95) == pytest.approx(t, abs=5e-4)


def test_interval_by_hand() -> None:
    """1, 2, 3: mean 2, standard error 1/√3, and t = 4.303 for two degrees of freedom."""
    found = interval([1.0, 2.0, 3.0])
    assert (found.mean, found.runs) == (2.0, 3)
    assert found.half == pytest.approx(4.303 / 3**0.5, abs=1e-3)


def test_one_run_has_no_interval() -> None:
    assert interval([5.0]).half is None
    assert paired([5.0], [2.0]) == (3.0, None, 1)


def test_one_run_stands_for_all() -> None:
    assert paired([5.0, 6.0, 7.0], [2.0]).mean == 4.0
    assert paired([2.0], [5.0, 6.0, 7.0]).mean == -4.0


def test_coverage() -> None:
    """95 % intervals over 5 normals hold the mean in 95 % of 4,000 trials, give or take 4σ."""
    rng = random.Random(7)
    trials, held = 4000, 0
    for _ in range(trials):
        mean, half, _n = interval([rng.gauss(3, 2) for _ in range(5)])
        held += abs(mean - 3) <= (half or 0)
    assert abs(held / trials - 0.95) < 4 * (0.95 * 0.05 / trials) ** 0.5


def test_pairing_takes_out_what_is_common() -> None:
    rng = random.Random(1)
    common = [rng.gauss(100, 50) for _ in range(30)]
    ours = [value + rng.gauss(1, 0.1) for value in common]
    together = paired(ours, common)
    assert together.half is not None
    assert together.half < 0.1
    assert abs(together.mean - 1) < 0.1
    alone = interval(ours).half
    assert alone is not None
    assert alone > 10


def test_spread() -> None:
    assert run_range([3.0, 1.0, 2.0, 9.0]) == (1.0, 2.5, 9.0)
