"""Times that people type: also each form in which one is shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.journal.tell.time_format import axis_time, clock_time, parse_time, seconds_in_full


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("90", 90_000),
        ("1.5", 1_500),
        ("7m", 420_000),
        ("1h30m", 5_400_000),
        ("7:30", 450_000),
        ("1:07:30", 4_050_000),
        ("2d", 172_800_000),
        ("1d4h", 100_800_000),
        ("1d 02:03:04", 93_784_000),
        ("1-02:03:04", 93_784_000),  # as sacct writes it
    ],
)
def test_a_time_is_read(text: str, ms: int) -> None:
    assert parse_time(text) == ms


@pytest.mark.parametrize(
    "text",
    [
        *("", "noon", "7:70", "-5", "1d noon", "1-", "1-2", "d", "1:2:3:4"),
        *("-0:30", "1d 2d", "1_0", "1h-5m"),
    ],
)
def test_what_is_no_time_is_refused_whole(text: str) -> None:
    with pytest.raises(ValueError, match=f"^{text!r} is no time; try 7:30"):
        parse_time(text)


@pytest.mark.parametrize("text", ["9999999999999999999h", "99999999d", "1d 9999999999999", "1e290"])
def test_a_time_that_the_clock_cannot_hold_is_refused_as_too_late(text: str) -> None:
    """Typed into the screen it ended that: no message to the run could say it."""
    with pytest.raises(ValueError, match=f"^{text!r} is too late: at most 1,000,000,000,000 s$"):
        parse_time(text)
    assert parse_time("1e12") == 10**15


@given(st.integers(0, 40 * 86_400).map(lambda seconds: 1000 * seconds))
def test_every_moment_that_is_shown_can_be_typed(ms: int) -> None:
    for shown in (clock_time(ms), axis_time(ms), seconds_in_full(ms)):
        assert parse_time(shown) == ms
