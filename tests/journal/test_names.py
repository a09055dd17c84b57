"""Names and times as people see them."""

import pytest

from callboard.journal.tell.names import node_name, parse_node, task_name
from callboard.scheduler.model import MAPS, REDUCES, SETUP
from callboard.scheduler.text.quantities import clock, compared_durations, count, duration, ordinal


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "00:00:00.000"),
        (83_450, "00:01:23.450"),
        (86_399_999, "23:59:59.999"),
        (86_400_000, "1d 00:00:00.000"),
        (93_784_005, "1d 02:03:04.005"),
    ],
)
def test_clock(ms: int, text: str) -> None:
    assert clock(ms) == text


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "0.000 s"),
        (59_999, "59.999 s"),
        (60_000, "1 min 00 s"),
        (125_499, "2 min 05 s"),
        (125_501, "2 min 06 s"),
        (3_599_499, "59 min 59 s"),
        (3_599_999, "1 h 00 min"),
        (11_220_000, "3 h 07 min"),
        (187_200_000, "2 d 04 h"),
    ],
)
def test_duration(ms: int, text: str) -> None:
    assert duration(ms) == text


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        (45_663, 6_241_000, ("45.7 s", "6,241 s")),
        (634, 59_000, ("0.634 s", "59.000 s")),
        (5_460_000, 7_440_000, ("1 h 31 min", "2 h 04 min")),
        (7_440_000, 125_000, ("7,440 s", "125 s")),
    ],
)
def test_what_is_compared_is_in_the_same_units(one: int, other: int, told: tuple[str, str]) -> None:
    assert compared_durations(one, other) == told


def test_ordinals() -> None:
    told = [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 111, 122)]
    assert told == ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "111th", "122nd"]


def test_counts_and_tasks() -> None:
    assert [count(n, "map") for n in (0, 1, 2, 90_000)] == [
        "0 maps",
        "1 map",
        "2 maps",
        "90,000 maps",
    ]
    assert task_name(12, MAPS, 3) == "map 3 of job-12"
    assert task_name(12, REDUCES, 0, 1) == "reduce 0 of job-12 (attempt 2)"
    assert task_name(12, SETUP, 0) == "setup of job-12"


@pytest.mark.parametrize("number", [0, 7, 123456])
def test_names_are_parsed_back(number: int) -> None:
    assert parse_node(node_name(number)) == parse_node(str(number)) == number


@pytest.mark.parametrize("text", ["", "node-", "job-3", "-3", "3.5", "node-٣", "9" * 30])
def test_what_names_no_node_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="names no node; expected node-12 or just 12"):
        parse_node(text)
