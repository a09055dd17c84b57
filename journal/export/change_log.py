"""What changes in a run, as columns: when, what, and to which value.

A subject (a slot, a job, a node) is a number, and a row of numbers says how it is.  Of what changes
within one millisecond only the last is kept: nobody can look in between.
"""

from array import array
from collections.abc import Iterable, Iterator

import msgspec

from callboard.scheduler.model import Millis

CountRow = tuple[int, ...]


class Change(msgspec.Struct, frozen=True, gc=False):
    """A subject was in one row before and is in another from `at_ms` on."""

    at_ms: Millis
    subject: int
    before: CountRow
    after: CountRow


class ChangeLog:
    """The changes of all subjects; each is `nothing` until it is noted first."""

    def __init__(self, nothing: CountRow) -> None:
        self._nothing = nothing
        self._at_ms, self._subjects = array("q"), array("i")
        self._rows: list[CountRow] = []
        self._last: dict[int, int] = {}

    def note(self, at_ms: Millis, subject: int, row: CountRow) -> None:
        """The subject is so from now on; times never go back."""
        place = self._last.get(subject)
        if row == (self._nothing if place is None else self._rows[place]):
            return
        if place is not None and self._at_ms[place] == at_ms:
            self._rows[place] = row
            return
        self._last[subject] = len(self._rows)
        self._at_ms.append(at_ms)
        self._subjects.append(subject)
        self._rows.append(row)

    def __iter__(self) -> Iterator[Change]:
        """All changes, in the order of time."""
        known: dict[int, CountRow] = {}
        for at_ms, subject, row in zip(self._at_ms, self._subjects, self._rows, strict=True):
            before = known.get(subject, self._nothing)
            if row != before:
                known[subject] = row
                yield Change(at_ms, subject, before, row)


class CountColumns(msgspec.Struct, frozen=True):
    """Changes of counts: `at` are times after the one before, `of` the subjects, and `kind` says
    which of the few `kinds` of change it is: what is added to each number of the subject's row.
    All rows begin with zeros.
    """

    at: list[Millis]
    of: list[int]
    kind: list[int]
    kinds: list[CountRow]


def count_columns(changes: Iterable[Change]) -> CountColumns:
    """The changes as differences of rows."""
    kinds: dict[CountRow, int] = {}
    listed = list(changes)
    kind = []
    for change in listed:
        added = tuple(b - a for a, b in zip(change.before, change.after, strict=True))
        kind.append(kinds.setdefault(added, len(kinds)))
    at = time_differences(change.at_ms for change in listed)
    return CountColumns(at, [change.subject for change in listed], kind, list(kinds))


def time_differences(times: Iterable[Millis]) -> list[Millis]:
    """How much later each time is than the one before; the first is itself."""
    found, last = [], 0
    for at_ms in times:
        found.append(at_ms - last)
        last = at_ms
    return found
