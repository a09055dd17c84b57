"""How busy the slots were, and how long the queue was, over one period after the other: the second
and third condition of global preemption (§V).  By facts, so exact to the millisecond.
"""

from callboard.scheduler.model import Millis


class UtilisationWindow:
    """The periods of one kind of slot: how many in a row, up to now, were busy with a long queue.

    Periods follow one another from time 0 on.
    """

    def __init__(self, period_ms: Millis, time_share: float) -> None:
        self.streak = 0
        self._period_ms = period_ms
        self._time_share = time_share
        self._ends_ms = period_ms
        self._now_ms: Millis = 0
        self._full_ms: Millis = 0
        self._queued_ms: Millis = 0
        self._full = False
        self._queued = False

    def set(self, now_ms: Millis, *, full: bool, queued: bool) -> bool:
        """From now on the slots are (not) full and the queue is (not) long.

        True if a period has ended since the last call and `streak` counts it.
        """
        ended = False
        while now_ms >= self._ends_ms:
            self._run_to(self._ends_ms)
            limit_ms = self._time_share * self._period_ms
            ended = self._full_ms > limit_ms and self._queued_ms > limit_ms
            self.streak = self.streak + 1 if ended else 0
            self._full_ms = self._queued_ms = 0
            self._ends_ms += self._period_ms
        self._run_to(now_ms)
        self._full, self._queued = full, queued
        return ended

    def _run_to(self, now_ms: Millis) -> None:
        passed = now_ms - self._now_ms
        self._full_ms += passed * self._full
        self._queued_ms += passed * self._queued
        self._now_ms = now_ms
