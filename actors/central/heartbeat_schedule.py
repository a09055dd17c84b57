"""When a node's heartbeats are due, sent or not, and which would be under way now."""

from typing import NamedTuple

from callboard.scheduler.model import Millis


class NextHeartbeat(NamedTuple):
    """When the next heartbeat is due; with `reply`, when a reply that is left out would come."""

    at_ms: Millis
    reply: bool = False


class HeartbeatSchedule:
    """When a node's heartbeats are due, sent or not: every interval + round trip, since the next is
    timed from the return of the last (rule H3). With `out_of_band` an attempt's end brings it
    forward to at once: Hadoop divides the interval by a million (rule H4, the damper's default).
    """

    def __init__(
        self, first_ms: Millis, latency_ms: Millis, *, out_of_band: bool, elides: bool
    ) -> None:
        self.elides = elides
        self.next_ms = first_ms
        self.left_out_ms: Millis = -1
        """When the last heartbeat that was left out would have arrived; -1 if none was."""
        self._latency_ms = latency_ms
        self._out_of_band = out_of_band
        self._sent_ms: Millis = -latency_ms - 1  # the last whose reply may be left out
        self.interval_ms: Millis = 0  # that the master told last
        self._replied_ms: Millis = 0  # when the reply comes that was under way on waking

    @property
    def _period_ms(self) -> Millis:
        return self.interval_ms + 2 * self._latency_ms

    def after_reply(self, now_ms: Millis, wait_ms: Millis, *, reports: bool) -> Millis:
        """When the heartbeat after a reply of now is due, `wait_ms` being the interval."""
        self.next_ms = now_ms + wait_ms
        return now_ms if self._out_of_band and reports else self.next_ms

    def to_report(self, now_ms: Millis) -> NextHeartbeat | None:
        """When the heartbeat is due that tells what has just happened; None if a planned one will.
        One due at this very instant has gone already: they are due in an instant's first round, and
        what a slot says comes in a later one.
        """
        if not self.elides:
            at_once = self._out_of_band and now_ms >= self._replied_ms
            return NextHeartbeat(now_ms) if at_once else None
        self.skip_to(now_ms)
        reply_ms = self.next_ms - self.interval_ms
        if self._out_of_band and now_ms < reply_ms:
            return NextHeartbeat(reply_ms, reply=True)
        return NextHeartbeat(now_ms if self._out_of_band else self.next_ms)

    def note_sent(self, now_ms: Millis) -> None:
        """A heartbeat is sent now whose reply is left out if it says nothing."""
        self._sent_ms = now_ms
        self.next_ms = now_ms + self._period_ms

    def is_under_way(self, now_ms: Millis) -> bool:
        """Whether such a heartbeat has not arrived yet."""
        return now_ms < self._sent_ms + self._latency_ms

    def skip_to(self, now_ms: Millis) -> None:
        """Make the next heartbeat the grid's first one after now; those before it are left out."""
        if self.next_ms > now_ms:
            return
        missed = (now_ms - self.next_ms) // self._period_ms + 1
        self.next_ms += missed * self._period_ms
        self.left_out_ms = self.next_ms - self._period_ms + self._latency_ms

    def under_way(self, now_ms: Millis) -> NextHeartbeat | None:
        """The elided heartbeat, or reply, that would be under way now, and its arrival."""
        arrives_ms = max(self.left_out_ms, self._sent_ms + self._latency_ms)
        if arrives_ms < 0:
            return None
        reply_ms = arrives_ms + self._latency_ms
        if now_ms < self.left_out_ms:
            self.left_out_ms -= self._period_ms
            return NextHeartbeat(arrives_ms)
        if now_ms < reply_ms:
            self._replied_ms = reply_ms
            return NextHeartbeat(reply_ms, reply=True)
        return None
