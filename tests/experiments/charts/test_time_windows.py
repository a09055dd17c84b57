"""Means over windows keep the whole; axes of time have readable units."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.experiments.pages.charts.time_windows import (
    busy_in_windows,
    time_unit,
    window_edges,
    window_means,
)
from callboard.journal.figures.steps import steps

SPANS = st.lists(
    st.tuples(st.integers(0, 1000), st.integers(0, 1000), st.integers(0, 3)).map(
        lambda span: (*sorted(span[:2]), span[2])
    ),
    max_size=12,
)


@given(SPANS, st.integers(1, 40))
def test_the_area_stays(spans: list[tuple[int, int, int]], windows: int) -> None:
    began, ended, rows = np.array(spans, np.int64).reshape(-1, 3).T
    edges = window_edges(1000, windows)
    covered = steps(began, ended, 1000)
    means = window_means(covered, edges)
    assert (means * 1000 / windows).sum() == pytest.approx(covered.integral())
    table = busy_in_windows(rows, began, ended, (4, windows), 1000)
    assert table.sum(axis=0) == pytest.approx(means)
    for row in range(4):
        mine = rows == row
        lasted = (ended[mine] - began[mine]).sum()
        assert (table[row] * 1000 / windows).sum() == pytest.approx(lasted)


def test_after_the_end_nothing_is_known() -> None:
    means = window_means(steps(np.array([0]), np.array([], np.int64), 500), window_edges(1000, 4))
    assert means[:2].tolist() == [1, 1]
    assert np.isnan(means[2:]).all()


@pytest.mark.parametrize(
    ("until_ms", "unit"),
    [(0, "s"), (600_000, "s"), (600_001, "min"), (90_000_000, "h"), (400_000_000, "d")],
)
def test_units_keep_numbers_short(until_ms: int, unit: str) -> None:
    assert time_unit(until_ms).name == unit
