"""Who answers a screen's questions: `Source`, and the one that holds the tape itself."""

from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import Protocol

import msgspec

from actors.events import (
    AnyEvent,
    AttemptClosed,
    AttemptLaunched,
    JobFinished,
    KillOrdered,
    ResumeOrdered,
    SuspendOrdered,
)
from scheduler.model import Millis
from tui.frame import Frame, View
from tui.projector import project
from tui.tape import NUMBERS, Tape


class Stay(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Look again at the same moment."""


class GoTo(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Go to a moment, or as near to it as the run is known; None is the end of what is known."""

    at_ms: Millis | None


class GoToEvent(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Go to right after event number `index` (from 0)."""

    index: int


class Play(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Go on by so much virtual time; None: as far as can be shown at once."""

    by_ms: float | None


class StepKind(IntEnum):
    """What a step goes to the next of."""

    EVENT = 0
    MASTER = 1
    """The next moment at which the master acts: it books an end, launches, or takes away."""
    JOB = 2
    """The next end of a job."""
    MARK = 3
    """The next mark on the time bar."""


class Step(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Go to the next of a kind, or to the one before."""

    kind: StepKind
    back: bool = False


Move = Stay | GoTo | GoToEvent | Play | Step


class Request(msgspec.Struct, frozen=True, array_like=True):
    """What the screen asks: move, then show this."""

    move: Move
    view: View


class Source(Protocol):
    """Answers requests in their order, each with one frame."""

    live: bool
    """Whether the run itself goes on behind it, so that it can be played further than known."""

    def ask(self, request: Request, answer: Callable[[Frame], None]) -> None:
        """Move and show; `answer` is called with the frame, now or later."""

    def close(self) -> None:
        """Let go of whatever stands behind it."""


_STEPS = {
    StepKind.MASTER: (AttemptLaunched, AttemptClosed, KillOrdered, SuspendOrdered, ResumeOrdered),
    StepKind.JOB: (JobFinished,),
}
_LEAP = 2_000
"""How many events are shown at once when a recorded run is played as fast as it goes."""


class Head:
    """A place on a tape, and how it moves.  The tape is known as far as it goes.

    Fractions of a millisecond that playing leaves over are kept, so that the slowest speed moves.
    """

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self.index = 0
        self.at_ms: Millis = 0
        self._part_ms = 0.0

    def move(self, move: Move) -> None:
        """Go where the move leads."""
        match move:
            case Stay():
                pass
            case GoTo(at_ms=at_ms):
                self._to_ms(self.tape.end_ms if at_ms is None else at_ms)
            case GoToEvent(index=index):
                self._to_index(index + 1)
            case Play(by_ms=None):
                index = min(self.index + _LEAP, len(self.tape))
                self._to_ms(self.tape.times[index - 1] if index else 0)
            case Play(by_ms=by_ms):
                passed, self._part_ms = divmod(self._part_ms + (by_ms or 0.0), 1)
                self._to_ms(self.at_ms + int(passed))
            case Step(kind=kind, back=back):
                self._step(kind, back)

    def frame(self, view: View) -> Frame:
        """What there is to see here."""
        return project(self.tape, self.index, self.at_ms, view)

    def _to_ms(self, at_ms: Millis) -> None:
        self.at_ms = max(0, min(at_ms, self.tape.end_ms))
        self.index = self.tape.index_at(self.at_ms)

    def _to_index(self, index: int) -> None:
        """To right after the first `index` events; the first of all, the run's start, is kept."""
        self.index = min(max(index, 1), len(self.tape))
        self.at_ms = self.tape.times[self.index - 1] if self.index else 0

    def _step(self, kind: StepKind, back: bool) -> None:
        if kind is StepKind.EVENT:
            self._to_index(self.index + (-1 if back else 1))
        elif kind is StepKind.MARK:
            found = self.tape.history.next_mark(self.at_ms, back=back)
            if found is not None:
                self._to_ms(found)
        else:
            self._to_kind({NUMBERS[each] for each in _STEPS[kind]}, back)

    def _to_kind(self, numbers: set[int], back: bool) -> None:
        """To the end of the next instant, or the one before, at which such an event happens."""
        kinds, times = self.tape.kinds, self.tape.times
        if back:
            places: Iterator[int] = reversed(range(self.index))
        else:
            places = iter(range(self.index, len(kinds)))
        for place in places:
            if kinds[place] in numbers and times[place] != self.at_ms:
                self._to_ms(times[place])
                return


class RecordedSource:
    """A recorded run, read in as it is needed and kept.

    `read_on` takes in some more of it; everything but where the run ends can be asked meanwhile.
    """

    live = False

    def __init__(self, events: Iterator[AnyEvent]) -> None:
        self.tape = Tape()
        self.head = Head(self.tape)
        self._events: Iterator[AnyEvent] | None = events

    def read_on(self, count: int | None = None) -> bool:
        """Take in so many more events, or all; whether there may be more.

        Raises what the events do: JournalError at the first damage.
        """
        if self._events is None:
            return False
        left = -1 if count is None else count
        append = self.tape.append
        for event in self._events:
            append(event)
            left -= 1
            if left == 0:
                return True
        self._events = None
        self.tape.closed = True
        return False

    def ask(self, request: Request, answer: Callable[[Frame], None]) -> None:
        self.head.move(request.move)
        answer(self.head.frame(request.view))

    def close(self) -> None:
        self._events = None
