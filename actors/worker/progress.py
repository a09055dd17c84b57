"""How far attempts are: a timed phase as its slot knows it, and as its node can tell it."""

from typing import NamedTuple

from callboard.actors.vocabulary.messages import AttemptProgress, PhaseBegan, ProgressTold
from callboard.actors.worker.clock import Clock
from callboard.scheduler.model import AttemptId, Millis


class Phase(NamedTuple):
    """A phase up to `ends_ms`, and the attempt's progress at its beginning and end."""

    began_ms: Millis
    ends_ms: Millis
    done: float
    goal: float = 1.0

    def progress(self, now_ms: Millis) -> float:
        if now_ms >= self.ends_ms:
            return self.goal
        share = (now_ms - self.began_ms) / (self.ends_ms - self.began_ms)
        return self.done + (self.goal - self.done) * share

    def length_if_completed_ms(self) -> Millis:
        """How long it would take to come to the end of all work; 0 where none is being done."""
        length_ms = self.ends_ms - self.began_ms
        if self.goal == 1:
            return length_ms
        if self.goal <= self.done:
            return 0
        return round(length_ms * (1 - self.done) / (self.goal - self.done))


class ProgressClock(NamedTuple):
    """A tracked attempt; at `phase_ms` a phase began whose length can be told, no shuffle."""

    attempt: AttemptId
    started_ms: Millis
    phase_ms: Millis | None = None
    length_ms: Millis = 0
    done: float = 0.0
    shuffled_ms: Millis = 0

    @classmethod
    def of_told(cls, told: ProgressTold, now_ms: Millis) -> "ProgressClock":
        """What is to be known of an attempt that was so far at this moment."""
        phase_ms = None if told.left_ms is None else now_ms
        started_ms, left_ms = now_ms - told.ran_ms, told.left_ms or 0
        return cls(told.attempt, started_ms, phase_ms, left_ms, told.done, told.shuffled_ms)

    def progress(self, now_ms: Millis, clock: Clock) -> AttemptProgress:
        """What a heartbeat sent now says of it; times are by the machine's clock."""
        times = clock.measured(now_ms, now_ms - self.started_ms, self.shuffled_ms)
        if self.phase_ms is None:
            return AttemptProgress(self.attempt, times[0], times[0], 0.0)
        share = min((now_ms - self.phase_ms) / self.length_ms, 1.0) if self.length_ms else 0.0
        return AttemptProgress(self.attempt, *times, self.done + (1 - self.done) * share)

    def in_phase(self, began: PhaseBegan, now_ms: Millis) -> "ProgressClock":
        """The same in a phase that began, or went on, now."""
        shuffled_ms = now_ms - self.started_ms if self.phase_ms is None else self.shuffled_ms
        return ProgressClock(
            self.attempt, self.started_ms, now_ms, began.length_ms, began.done, shuffled_ms
        )

    def later(self, by_ms: Millis) -> "ProgressClock":
        """The same with all its times so much later: it was suspended as long."""
        phase_ms = None if self.phase_ms is None else self.phase_ms + by_ms
        return self._replace(started_ms=self.started_ms + by_ms, phase_ms=phase_ms)
