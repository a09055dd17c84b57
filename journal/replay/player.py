"""Whether virtual time passes on the screen, and how fast.  No clock is read here."""

from callboard.journal.replay.source import GoTo, Play, Step

SPEEDS: tuple[float | None, ...] = (
    0.001, 0.01, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, None,
)  # fmt: skip
"""Virtual seconds in a real one; None for as fast as possible."""

_USUAL = SPEEDS.index(60)


class Player:
    """Whether time passes, and how fast."""

    def __init__(self) -> None:
        self.playing = False
        self.until: GoTo | Step | None = None
        """Where playing stops by itself."""
        self.until_text = ""
        self._at = _USUAL

    @property
    def speed(self) -> float | None:
        return SPEEDS[self._at]

    @property
    def speed_text(self) -> str:
        return "as fast as it goes" if self.speed is None else f"×{self.speed:g}"

    def faster(self, steps: int) -> None:
        """Faster by steps of `SPEEDS`, or slower below 0."""
        self._at = max(0, min(self._at + steps, len(SPEEDS) - 1))

    def set_speed(self, speed: float | None) -> None:
        """One of `SPEEDS`."""
        self._at = SPEEDS.index(speed)

    def play(self, seconds: float) -> Play:
        """The move for that much real time."""
        return Play(None if self.speed is None else 1000 * seconds * self.speed, self.until)

    def play_until(self, until: GoTo | Step, text: str) -> None:
        self.playing, self.until, self.until_text = True, until, text

    def stop(self) -> None:
        """Pause, and forget where playing was to stop."""
        self.playing, self.until, self.until_text = False, None, ""
