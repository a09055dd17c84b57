"""Limits of TOML texts, looked at before they are parsed: a key of 200 kB with a hundred thousand
parts takes the parser two gigabytes.
"""

import re
from typing import NamedTuple

KEY_PARTS_MAX = 16
"""Of one dotted key, or of a table's name."""

LEADING_PARTS_MAX = 300_000
"""Of all keys that begin a line: about a kilobyte each while they are parsed."""

# Possessive throughout, begun at the start of a word only, and quoted parts are short (20,000 long
# ones fit into a file, which does no harm): the time is in proportion to the text.
_PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.){0,80}+"|'[^'\n]{0,80}+')"""
_MORE = rf"[ \t]*+\.[ \t]*+{_PART}"
_LONG_KEY = re.compile(rf"(?<![\w\\-]){_PART}(?:{_MORE}){{{KEY_PARTS_MAX}}}")
_LEADING_KEY = re.compile(rf"^[ \t]*+\[?+\[?+[ \t]*+{_PART}(?:{_MORE})*+", re.MULTILINE)


class TomlFlaw(NamedTuple):
    """Why a text is not parsed at all, and the line, if it is one of them."""

    problem: str
    line: int | None = None


def toml_flaw(text: str) -> TomlFlaw | None:
    """What makes the text too costly to parse; None if nothing does."""
    long = _LONG_KEY.search(text)
    if long is not None:
        line = text.count("\n", 0, long.start()) + 1
        return TomlFlaw(f"a key has more than {KEY_PARTS_MAX} parts", line)
    parts = sum(key[0].count(".") + 1 for key in _LEADING_KEY.finditer(text))
    if parts > LEADING_PARTS_MAX:
        return TomlFlaw(f"its keys have {parts:,} parts; the limit is {LEADING_PARTS_MAX:,}")
    return None
