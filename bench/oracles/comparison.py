"""A file's cells: what a released program gave, and what comes out here."""

from typing import NamedTuple


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


class UnknownFormat(ValueError):
    """A file that is none of those that can be played; the message says what was found."""
