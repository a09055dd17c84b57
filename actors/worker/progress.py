"""A timed phase of an attempt: when it ends, and how far it has come meanwhile."""

from typing import NamedTuple

from callboard.scheduler.model import Millis


class Phase(NamedTuple):
    """A phase of the running attempt that will end at `ends_ms`; `done` is the attempt's progress
    at its beginning, `goal` at its end.
    """

    began_ms: Millis
    ends_ms: Millis
    done: float
    goal: float = 1.0

    def progress(self, now_ms: Millis) -> float:
        """The attempt's progress now."""
        if now_ms >= self.ends_ms:
            return self.goal
        share = (now_ms - self.began_ms) / (self.ends_ms - self.began_ms)
        return self.done + (self.goal - self.done) * share

    def whole_ms(self) -> Millis:
        """How long it would take to come to the end of all work; 0 where none is being done."""
        length_ms = self.ends_ms - self.began_ms
        if self.goal == 1:
            return length_ms
        if self.goal <= self.done:
            return 0
        return round(length_ms * (1 - self.done) / (self.goal - self.done))
