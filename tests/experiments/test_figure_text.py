"""How differences are written."""

import pytest

from callboard.experiments.many.statistics import compare_paired
from callboard.experiments.pages.figure_text import difference_cells, with_half
from callboard.scheduler.text.quantities import percent_cell, percent_text, with_sign


@pytest.mark.parametrize(
    ("differences", "written"),
    [
        ((-0.01, -0.0101), ("under 0.1 s", "under 1%", "2 of 2")),
        ((0.001, -0.002), ("under 0.1 s", "under 1%", "1 of 2")),
        ((0.0, 0.0), ("0.0 s", "0%", "0 of 2, equal in 2")),
        ((-0.2, 0.2), ("0.0 ± 2.5 s", "0 ± 5%", "1 of 2")),
        ((-5.0, -5.2), ("−5.1 ± 1.3 s", "−10 ± 3%", "2 of 2")),
    ],
)
def test_what_is_written_as_nothing_has_no_sign(
    differences: tuple[float, float], written: tuple[str, str, str]
) -> None:
    """“-0.0 ± 0.0 s, less in 2 of 2 seeds”, stood there, and “-0 ± 0%”."""
    first = (50.0, 50.0)
    found = compare_paired([a + b for a, b in zip(first, differences, strict=True)], first)
    assert difference_cells(found, " s")[:3] == written


@pytest.mark.parametrize(
    ("mean", "half", "written"),
    [
        ("1,153 s", 322.0, "1,153 ± 322 s"),
        ("87%", 0.31, "87 ± 0.3%"),
        ("87%", 0.031, "87 ± 0.03%"),
        ("87%", 0.0004, "87%"),
        ("2.4×", 0.04, "2.4 ± 0.04×"),
        ("0%", 0.0, "0%"),
        ("-", 3.0, "-"),
    ],
)
def test_half_an_interval_shows_a_digit(mean: str, half: float, written: str) -> None:
    """“87 ± 0%” said of runs that differ that they do not."""
    assert with_half(mean, half) == written


def test_a_share_is_never_nothing_nor_all_of_what_it_is_not() -> None:
    """“Faster by 0%”, a page said where its table had “under 1%”; “100% less than 421,955 s”."""
    written = [percent_text(each) for each in (0.0, 0.005, 0.38, 0.994, 0.9985, 1.0, 1.3)]
    assert written == ["0%", "under 1%", "38%", "99%", "over 99%", "100%", "130%"]


def test_a_column_of_shares_says_the_same_in_four_columns() -> None:
    """“100%, 0%, 0%”, `explain` said of three parts of a response."""
    written = [percent_cell(each) for each in (0.0, 0.005, 0.38, 0.9985, 1.0)]
    assert written == ["  0%", " <1%", " 38%", ">99%", "100%"]


def test_a_number_has_its_sign_where_it_shows() -> None:
    assert [with_sign(each, ",.1%") for each in (-0.0004, 0.0, 0.02, -12.0)] == [
        "0.0%",
        "0.0%",
        "+2.0%",
        "-1,200.0%",
    ]
