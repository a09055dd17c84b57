"""What became of everything in a file that was imported: read, inferred, guessed or dropped."""

import re
from collections.abc import Iterator
from typing import Literal, get_args

import msgspec

Fate = Literal["read", "inferred", "guessed", "dropped"]
FATES: tuple[Fate, ...] = get_args(Fate)
PLACES_SHOWN = 3  # the first lines of each remark


class Remark(msgspec.Struct):
    """One thing that happened `count` times, and where it did at first (`file:line`)."""

    what: str
    count: int = 0
    first: list[str] = msgspec.field(default_factory=list)

    @property
    def said(self) -> str:
        """What happened, as people say it of so many: of one `1 job out of order`."""
        return _of_one(self.what) if self.count == 1 else self.what

    @property
    def where(self) -> str:
        """Its first places in brackets, for people; empty where none is known."""
        if not self.first:
            return ""
        more = ", ..." if self.count > len(self.first) == PLACES_SHOWN else ""
        return f" ({', '.join(self.first)}{more})"


def _of_one(what: str) -> str:
    """A remark that begins with a plural, of one thing; any other as it is."""
    noun = _FIRST_PLURAL.match(what)
    if noun is None:
        return what
    rest = what[noun.end() :]
    verb = _VERB.match(rest)
    if verb is not None:
        rest = f" that {_OF_ONE[verb[1]]}{rest[verb.end() :]}"
    owner = rest if rest.startswith(" of ") else re.sub(r"\btheir\b", "its", rest)
    return f"{noun[1]}{owner}"


_OF_ONE = {
    "are": "is",
    "begin": "begins",
    "do": "does",
    "have": "has",
    "hold": "holds",
    "tell": "tells",
    "were": "was",
}
_FIRST_PLURAL = re.compile(
    r"((?:(?!(?:a|an|and|at|by|in|of|that|to|with|without) )[a-z]+ )*?[a-z]+?)s\b(?!')"
)
_VERB = re.compile(rf" that ({'|'.join(_OF_ONE)})\b")


class Remarks:
    """All remarks on one import, by fate, in the order in which each was first made."""

    def __init__(self) -> None:
        self._made: dict[Fate, dict[str, Remark]] = {fate: {} for fate in FATES}
        self._cut: dict[str, int] = {}

    def add(self, fate: Fate, what: str, place: str = "", count: int = 1) -> None:
        """Count it; `place` is where it stands, if that can be told.  Nothing, if `count` is 0."""
        if not count:
            return
        remark = self._made[fate].setdefault(what, Remark(what))
        remark.count += count
        if place and place not in remark.first and len(remark.first) < PLACES_SHOWN:
            remark.first.append(place)

    def cut_off(self, what: str, file: str, line: int) -> None:
        """Drop `what`, which is in the last line of a file that is cut off there, or after it."""
        self.add("dropped", what, f"{file}:{line}")
        self.mark_cut(file, line)

    def mark_cut(self, file: str, line: int) -> None:
        """Remember that a file is cut off there; what was lost by it is remarked on already."""
        self._cut.setdefault(file, line)

    @property
    def cut(self) -> str:
        """Which files are cut off, and where, for people; empty if none is."""
        if not self._cut:
            return ""
        (file, line), *others = self._cut.items()
        more = f", as {len(others):,} of the other files are" if others else ""
        return f"{file} is cut off at line {line:,}{more}; what came after is missing"

    def of(self, fate: Fate) -> tuple[Remark, ...]:
        """The remarks of one fate."""
        return tuple(self._made[fate].values())

    def lines(self) -> Iterator[str]:
        """The remarks for people, fate by fate."""
        for fate in FATES:
            for nth, remark in enumerate(self.of(fate)):
                head = f"{fate}:" if nth == 0 else ""
                yield f"{head:<10}{remark.count:>11,}  {remark.said}{remark.where}"
