"""What a screen can ask for, and who answers: moves through a run, and the `Source` protocol."""

from collections.abc import Callable
from enum import IntEnum
from typing import Protocol

import msgspec

from callboard.journal.replay.frame import Frame, View
from callboard.scheduler.model import JobId, Millis


class Stay(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Look again at the same moment."""


class GoTo(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Go to a moment, or as near to it as the run is known; None is the end of what is known."""

    at_ms: Millis | None


class GoToEvent(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Go to right after event number `index` (from 0)."""

    index: int


class StepKind(IntEnum):
    """What a step goes to the next of."""

    EVENT = 0
    MASTER = 1
    """The next moment at which the master acts: it books an end, launches, or takes away."""
    JOB = 2
    """The next end of a job."""
    MARK = 3
    """The next mark on the time bar."""
    FAULT = 4
    """The next fault that strikes, or intervention."""
    DIVERGENCE = 5
    """Where two runs beside each other first decide differently."""


class Step(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Go to the next of a kind, or to the one before; with `job` only to an end of that job."""

    kind: StepKind
    back: bool = False
    job: JobId | None = None


class Play(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Go on by so much virtual time; None: as far as can be shown at once.

    It stops at what it is played `until`; that it is there is in the frame's `reached`.
    """

    by_ms: float | None
    until: GoTo | Step | None = None


Move = Stay | GoTo | GoToEvent | Play | Step
"""What any source can do."""


class Request(msgspec.Struct, frozen=True, array_like=True, tag=True):
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
