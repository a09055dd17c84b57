"""Short forms of times, for screens, and what people type for a time."""

import re
from functools import reduce

from callboard.scheduler.model import Millis
from callboard.scheduler.text.quantities import clock

NO_BREAK = "\N{NO-BREAK SPACE}"
_BEFORE_A_UNIT = re.compile(r"(?<=\d) (?=(?:d|h|min|s|ms|MB|GB)\b)")


def clock_time(at_ms: Millis) -> str:
    """A moment to the nearest second: `00:07:30`, and from the second day on `1d 02:03:04`."""
    return clock(1000 * round(at_ms / 1000))[:-4]


def seconds_in_full(ms: Millis) -> str:
    """As an option takes it, every millisecond: `90`, `12345.678`."""
    return f"{ms / 1000:.3f}".rstrip("0").rstrip(".")


def short_duration(ms: float) -> str:
    """A length of time, rounded to the last unit that is told: `0.4s`, `59s`, `2m05s`, `3h07m`,
    `2d04h`.
    """
    if (tenths := round(ms / 100)) < 100:
        return f"{tenths // 10}.{tenths % 10}s"
    if (seconds := round(ms / 1000)) < 60:
        return f"{seconds}s"
    if seconds < 3600:
        return f"{seconds // 60}m{seconds % 60:02}s"
    if (minutes := round(ms / 60_000)) < 1440:
        return f"{minutes // 60}h{minutes % 60:02}m"
    hours = round(ms / 3_600_000)
    return f"{hours // 24}d{hours % 24:02}h"


def axis_time(ms: Millis) -> str:
    """A moment on an axis, to the nearest second: `0:07:30`."""
    seconds = round(ms / 1000)
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


_UNITS_MS = {"": 1000, "s": 1000, "m": 60_000, "h": 3_600_000}
_PIECE = re.compile(r"([^smh]+)([smh]?)")
_DAYS = re.compile(r"(\d+)(?:d\s*|-(?=\d+:))")
_DAY_MS = 86_400_000
_LATEST_MS = 10**15
"""Thirty thousand years: the clock stays a 64-bit number."""


class TooLateError(ValueError):
    """A time beyond what the clock can hold."""


def parse_time(text: str) -> Millis:
    """The moment that `90`, `90s`, `7m`, `1h30m`, `7:30` or `1:07:30` names; days come before it,
    as in `2d`, `1d 02:03:04` and `1-02:03:04`.

    Raises ValueError with a message for people; TooLateError, which is one, after 10¹⁵ ms.
    """
    trimmed = text.strip().lower()
    days = _DAYS.match(trimmed)
    rest = trimmed[days.end() :] if days else trimmed
    try:
        in_day_ms = 0 if days and not rest else _parse_time_of_day(rest)
        at_ms = in_day_ms + (int(days[1]) * _DAY_MS if days else 0)
    except (ValueError, OverflowError):
        problem = f"{text!r} is no time; try 7:30, 1:07:30, 90s, 1h30m or 2d"
        raise ValueError(problem) from None
    if at_ms > _LATEST_MS:
        raise TooLateError(f"{text!r} is too late: at most {_LATEST_MS // 1000:,} s")
    return at_ms


def _parse_time_of_day(text: str) -> Millis:
    """Without days, which may be long; ValueError or OverflowError if it is none."""
    if "-" in text or "_" in text:
        raise ValueError
    if ":" in text:
        parts = [float(part) for part in text.split(":")]
        if len(parts) > 3 or not all(0 <= part < 60 for part in parts[1:]):
            raise ValueError
        return round(1000 * reduce(lambda total, part: 60 * total + part, parts))
    if not re.fullmatch(f"({_PIECE.pattern})+", text):
        raise ValueError
    return round(sum(float(number) * _UNITS_MS[unit] for number, unit in _PIECE.findall(text)))


def with_unbroken_units(text: str) -> str:
    """The text with a number and its unit on one line: `4 min 10 s` breaks before the 10."""
    return _BEFORE_A_UNIT.sub(NO_BREAK, text)
