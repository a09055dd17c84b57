"""Numbers, lengths of time and foreign names as people read them: one form each."""

import re

from callboard.scheduler.model import Millis


def count(number: int, noun: str) -> str:
    """`1 map`, `40 maps`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def ordinal(number: int) -> str:
    """`1st`, `2nd`, `3rd`, `4th`, `11th`."""
    tail = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10)
    return f"{number}{tail or 'th'}"


def with_sign(value: float, form: str) -> str:
    """The number in this form (`,.1f`, `.0%`) with its sign, which nothing, as written, has not."""
    text = f"{value:+{form}}"
    return text if re.search("[1-9]", text) else text[1:]


def printable(text: str) -> str:
    """`text` on one line: names come from users' files and may hold anything, even escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def clock(at_ms: Millis) -> str:
    """A moment: `00:01:23.450`, and from the second day on `1d 02:03:04.005`."""
    seconds, ms = divmod(at_ms, 1000)
    minutes, s = divmod(seconds, 60)
    hours, m = divmod(minutes, 60)
    days, h = divmod(hours, 24)
    return f"{f'{days}d ' if days else ''}{h:02}:{m:02}:{s:02}.{ms:03}"


def duration(ms: Millis) -> str:
    """A length of time: `0.450 s`, `59.999 s`, `2 min 05 s`, `3 h 07 min`, `2 d 04 h`.

    From a minute on the smaller parts are cut off, not rounded.
    """
    seconds = ms // 1000
    if seconds < 60:
        return f"{seconds}.{ms % 1000:03} s"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60:02} s"
    if seconds < 86400:
        return f"{seconds // 3600} h {seconds // 60 % 60:02} min"
    return f"{seconds // 86400} d {seconds // 3600 % 24:02} h"


def compared_durations(one_ms: Millis, other_ms: Millis) -> tuple[str, str]:
    """Two lengths of time that are compared, in the same units: `1 h 31 min` and `2 h 04 min`, but
    `45.7 s` and `6,241 s`.
    """
    one, other = duration(one_ms), duration(other_ms)
    if re.sub("[^a-z]+", " ", one) == re.sub("[^a-z]+", " ", other):
        return one, other
    return _in_seconds(one_ms), _in_seconds(other_ms)


def _in_seconds(ms: Millis) -> str:
    """With a decimal where they are few."""
    return f"{ms / 1000:,.{0 if ms >= 100_000 else 1}f} s"


def rounded_duration(ms: float) -> str:
    """A mean, or another figure of many: `2 min 09 s` for 128.6 s, rounded as tables round it."""
    return duration(1000 * round(ms / 1000) if ms >= 60_000 else round(ms))
