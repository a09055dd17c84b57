"""A file's cells: what a released program gave, and what comes out here."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

import msgspec

C = TypeVar("C")


class Cell(NamedTuple):
    """One number of a file beside ours; equal, or within a share of theirs where so much is
    allowed for draws of our own.
    """

    what: str
    theirs: float
    ours: float | None
    """None where nothing here plays such a case."""
    within: float = 0.0

    @property
    def agrees(self) -> bool:
        if self.ours is None:
            return False
        return abs(self.ours - self.theirs) <= self.within * abs(self.theirs) + 1e-9


class Check(NamedTuple):
    """What a case asks for at one place, beside what comes out."""

    place: str
    theirs: Any
    ours: Any


class UnknownFormat(ValueError):
    """A file that is none of those that can be played; the message says what was found."""


class NotPlayed(ValueError):
    """What a case needs and is not here, or what is wrong with it."""


def case_as(data: dict[str, Any], case: type[C]) -> C:
    """A case as it stands in the file; NotPlayed for what nothing here knows."""
    try:
        return msgspec.convert(data, case)
    except msgspec.ValidationError as error:
        raise NotPlayed(str(error)) from None


def case_cell(name: str, asked: int, play: Callable[[], Iterable[Check]]) -> Cell:
    """A case as one cell: how many of its checks agree, and the first that does not."""
    try:
        checks = list(play())
    except NotPlayed as lack:
        return Cell(f"{name}: {lack}", asked, None)
    if not checks:
        return Cell(f"{name}: it asks for nothing", asked, None)
    wrong = [each for each in checks if each.theirs != each.ours]
    first = _difference(wrong[0]) if wrong else ""
    return Cell(f"{name}{first}", len(checks), len(checks) - len(wrong))


def _difference(wrong: Check) -> str:
    return f": {wrong.place}, {_in_words(wrong.theirs)}, here {_in_words(wrong.ours)}"


def _in_words(found: Any) -> str:
    return " ".join(map(str, found)) or "nothing" if isinstance(found, list) else str(found)
