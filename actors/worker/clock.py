"""A machine's own clock, which may go wrong: measuring and waiting go by it, work does not."""

from bisect import bisect_right
from operator import itemgetter

from callboard.scheduler.model import Millis


class Clock:
    """A clock that goes right until it is told otherwise."""

    def __init__(self) -> None:
        self._rates: list[tuple[Millis, float, float]] = [(0, 0.0, 1.0)]
        """From when on, what it showed then, and how fast it has gone since."""
        self.wrong = False
        """Whether it has ever gone at another rate than time."""

    def copy(self) -> "Clock":
        """A clock that shows the same, and goes its own way from now on."""
        clock = Clock()
        clock._rates, clock.wrong = list(self._rates), self.wrong
        return clock

    def set_rate(self, rate: float, now_ms: Millis) -> None:
        if rate != self._rates[-1][2]:
            self._rates.append((now_ms, self._reading_at(now_ms), rate))
            self.wrong = True

    def real_wait_ms(self, own_ms: Millis) -> Millis:
        """How long it takes, at the present rate, until the clock has gone on by `own_ms`."""
        rate = self._rates[-1][2]
        return own_ms if rate == 1 or not own_ms else max(1, round(own_ms / rate))

    def elapsed_ms(self, from_ms: Millis, until_ms: Millis) -> Millis:
        """How long the time between two moments was by the clock."""
        if not self.wrong:
            return until_ms - from_ms
        return round(self._reading_at(until_ms) - self._reading_at(from_ms))

    def measured(
        self, now_ms: Millis, ran_ms: Millis, shuffled_ms: Millis
    ) -> tuple[Millis, Millis]:
        """How long an attempt ran up to now, and was in its shuffle first, by the clock."""
        if not self.wrong:
            return ran_ms, shuffled_ms
        began_ms = now_ms - ran_ms
        return self.elapsed_ms(began_ms, now_ms), self.elapsed_ms(began_ms, began_ms + shuffled_ms)

    def _reading_at(self, at_ms: Millis) -> float:
        since_ms, shown, rate = self._rates[bisect_right(self._rates, at_ms, key=itemgetter(0)) - 1]
        return shown + (at_ms - since_ms) * rate
