"""Numbers, lengths of time and foreign names as people read them: one form each."""

import re
from collections.abc import Iterable

from callboard.scheduler.model import Millis


def count(number: int, noun: str) -> str:
    """`1 map`, `40 maps`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def only_few(number: int, noun: str) -> str:
    """`only 3 maps`, `no map`."""
    return f"only {count(number, noun)}" if number else f"no {noun}"


def as_sentence(text: str) -> str:
    """The text with a capital and a full stop."""
    return f"{text[:1].upper()}{text[1:]}."


def and_more(shown: Iterable[str], rest: int) -> str:
    """`a, b, c and 4 more`: the first of some, and how many are left."""
    return ", ".join(shown) + (f" and {rest} more" if rest > 0 else "")


def ordinal(number: int) -> str:
    """`1st`, `2nd`, `3rd`, `4th`, `11th`."""
    tail = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10)
    return f"{number}{tail or 'th'}"


def with_sign(value: float, form: str) -> str:
    """The number in this form (`,.1f`, `.0%`) with its sign, which nothing, as written, has not."""
    text = f"{value:+{form}}"
    return text if re.search("[1-9]", text) else text[1:]


def percent_text(share: float) -> str:
    """A share of 0 to 1, or more: `38%`, `130%`.  What is not nothing is not told as nothing, nor
    what is not all as all: `under 1%`, `over 99%`.
    """
    if 0 < share <= 0.005:  # of which the half is rounded to the even 0%
        return "under 1%"
    return "over 99%" if 0.995 <= share < 1 else f"{share:.0%}"


def percent_cell(share: float) -> str:
    """A share of 0 to 1 in a column of four: ` 38%`, and ` <1%` and `>99%` as `percent_text`."""
    told = percent_text(share).replace("under ", "<").replace("over ", ">")
    return f"{told:>4}"


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


def duration(ms: float) -> str:
    """A length of time, rounded to the last unit that is told: `0.450 s`, `59.999 s`, `2 min 05 s`,
    `3 h 07 min`, `2 d 04 h`.
    """
    if (whole := round(ms)) < 60_000:
        return f"{whole // 1000}.{whole % 1000:03} s"
    if (seconds := round(ms / 1000)) < 3600:
        return f"{seconds // 60} min {seconds % 60:02} s"
    if (minutes := round(ms / 60_000)) < 1440:
        return f"{minutes // 60} h {minutes % 60:02} min"
    hours = round(ms / 3_600_000)
    return f"{hours // 24} d {hours % 24:02} h"


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
