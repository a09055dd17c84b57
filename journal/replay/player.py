"""Whether virtual time passes on the screen, and how fast.  No clock is read here."""

from bisect import bisect_left
from collections.abc import Callable
from functools import partial
from math import inf

import msgspec

from callboard.journal.replay.source import GoTo, Play, Step
from callboard.scheduler.model import Millis

SPEEDS: tuple[float | None, ...] = (
    0.001, 0.01, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, None,
)  # fmt: skip
"""Virtual seconds in a real one, for `+` and `-`; None for as fast as possible."""

_FINITE = [speed for speed in SPEEDS if speed is not None]

USUAL_SPEED = 60


class Opening(msgspec.Struct, frozen=True):
    """How a screen begins: at which moment, whether time passes, and how fast (see `SPEEDS`);
    whether it is for an audience, with fewer and larger panes.
    """

    at_ms: Millis = 0
    playing: bool = False
    speed: float | None = USUAL_SPEED
    presenting: bool = False


class Player:
    """Whether time passes, and how fast."""

    def __init__(self) -> None:
        self.playing = False
        self.until: GoTo | Step | None = None
        """Where playing stops by itself."""
        self.until_text = ""
        self.speed: float | None = USUAL_SPEED
        """Virtual seconds in a real one; None for as fast as possible."""

    @property
    def speed_text(self) -> str:
        return "as fast as it goes" if self.speed is None else f"×{self.speed:g}"

    def faster(self, steps: int) -> None:
        """Faster by steps of `SPEEDS`, or slower below 0; from between two to the next."""
        at = bisect_left(_FINITE, self._current_speed)
        if steps < 0 or (at < len(_FINITE) and _FINITE[at] == self._current_speed):
            at += steps
        else:
            at += steps - 1
        self.speed = SPEEDS[max(0, min(at, len(SPEEDS) - 1))]

    @property
    def _current_speed(self) -> float:
        return inf if self.speed is None else self.speed

    def play_move(self, seconds: float) -> Play:
        """The move for that much real time."""
        return Play(None if self.speed is None else 1000 * seconds * self.speed, self.until)

    def play_until(self, until: GoTo | Step, text: str) -> None:
        self.playing, self.until, self.until_text = True, until, text

    def hold(self) -> Callable[[], None]:
        """Pause while something is asked; what goes on as before."""
        resume = partial(setattr, self, "playing", self.playing)
        self.playing = False
        return resume

    def stop(self) -> None:
        """Pause, and forget where playing was to stop."""
        self.playing, self.until, self.until_text = False, None, ""
