"""What a screen can ask for, and who answers: moves through a run, and the `Source` protocol."""

from collections.abc import Callable
from enum import IntEnum
from typing import Protocol

import msgspec

from callboard.journal.replay.frame import Frame, View
from callboard.scheduler.model import JobId, Millis


class Stay(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Look again at the same moment."""


class Halt(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Stop where a move that takes long has come to."""


class GoTo(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Go to a moment, or as near to it as the run is known; None for the end of that."""

    at_ms: Millis | None


class GoToEvent(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Go to right after event number `index` (from 0)."""

    index: int


class StepKind(IntEnum):
    """What a step goes to the next of.

    The master acts when it books an end, launches, or preempts; a job is over at its end; marks are
    those on the time bar; interventions are faults too; two compared runs diverge once.
    """

    EVENT = 0
    MASTER = 1
    JOB = 2
    MARK = 3
    FAULT = 4
    DIVERGENCE = 5


class Step(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Go to the next of a kind, or to the one before; with `job` only to an end of that job, of
    marks with `or_here` the present moment may have one too.
    """

    kind: StepKind
    back: bool = False
    job: JobId | None = None
    or_here: bool = False


class Play(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Go on by that much virtual time, or None: by as much as can be shown at once.

    It stops at `until`, which the frame's `reached` tells.
    """

    by_ms: float | None
    until: GoTo | Step | None = None


Move = Stay | Halt | GoTo | GoToEvent | Play | Step


class Request(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """What the screen asks: move, then show this."""

    move: Move
    view: View


class Source(Protocol):
    """Answers requests in their order, each with one frame."""

    live: bool
    """Whether the run itself goes on behind it, so that it can be played no faster than that."""

    def ask_frame(self, request: Request, answer: Callable[[Frame], None]) -> None:
        """Move and show; `answer` is called with the frame, now or later."""

    def close(self) -> None:
        """Close what stands behind it."""
