"""The way between the master and one node, one direction of it, when it is not what it should be.

A healthy way delivers every message after the cluster's latency.  A disturbed one loses, doubles
or delays; messages that are delayed by different times overtake each other.  What happens to a
message is drawn at its own number, so it hangs on nothing else.
"""

import msgspec

from actors.streams import Stream
from scheduler.model import Millis


class Way(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """How one direction of a link treats a message.

    `cut` loses every one; `loss` and `twice` are the shares lost and delivered twice;
    `delay_ms` is the mean of an exponential delay beyond the latency.
    """

    cut: bool = False
    loss: float = 0.0
    twice: float = 0.0
    delay_ms: Millis = 0


HEALTHY = Way()
"""A way that delivers every message once and on time."""


class Link:
    """One direction of one link, from the moment when something happens to it.

    `purpose` tells its draws from all others'.
    """

    def __init__(self, seed: int, purpose: str, latency_ms: Millis) -> None:
        self.way = HEALTHY
        self._latency_ms = latency_ms
        self._draws = Stream(seed, purpose)
        self._sent = 0

    def deliveries(self) -> list[Millis]:
        """After how long each copy of the next message arrives; none if it is lost."""
        self._sent += 1
        way = self.way
        if way.cut or (way.loss and self._draws.uniform(self._sent, 0) < way.loss):
            return []
        copies = 2 if way.twice and self._draws.uniform(self._sent, 1) < way.twice else 1
        return [self._latency_ms + self._extra(copy) for copy in range(copies)]

    def _extra(self, copy: int) -> Millis:
        if not self.way.delay_ms:
            return 0
        return round(self._draws.exponential(self.way.delay_ms, self._sent, 2 + copy))
