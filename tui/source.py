"""What a screen can ask for, and who answers: moves through a run, and the `Source` protocol."""

from collections.abc import Callable
from enum import IntEnum
from typing import Protocol

import msgspec

from scheduler.model import Millis
from tui.frame import Frame, View


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
    """Whether the run itself goes on behind it: then as fast as it goes means all it can do."""

    def ask(self, request: Request, answer: Callable[[Frame], None]) -> None:
        """Move and show; `answer` is called with the frame, now or later."""

    def close(self) -> None:
        """Let go of whatever stands behind it."""
