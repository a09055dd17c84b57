"""One direction of the link between the master and a node, when it is not what it should be: it
loses, doubles, delays or reorders messages, each by draws at its own number.
"""

import msgspec

from callboard.actors.kernel.streams import Stream
from callboard.scheduler.model import Millis


class LinkConditions(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """How one direction of a link treats messages: `cut` loses all; `loss` and `twice` are the
    shares lost and delivered twice; `delay_ms` is the mean of an exponential delay beyond the
    latency; the share `reordered` is held back, each message until another has passed it.
    """

    cut: bool = False
    loss: float = 0.0
    twice: float = 0.0
    delay_ms: Millis = 0
    reordered: float = 0.0


_HOLDING = 4  # the column of the draw that says whether a message is held back
HEALTHY = LinkConditions()
"""Every message arrives once and on time."""


class Link:
    """One direction of one link, from its first fault on; `purpose` sets its draws apart."""

    def __init__(self, seed: int, purpose: str, latency_ms: Millis) -> None:
        self.conditions = HEALTHY
        self._held: msgspec.Struct | None = None
        self._latency_ms = latency_ms
        self._draws = Stream(seed, purpose)
        self._sent = 0

    def draw_deliveries(self, message: msgspec.Struct) -> list[tuple[Millis, msgspec.Struct]]:
        """What arrives because of the message, and when: its copies, and one that was held back."""
        delays = self._delivery_delays_ms()
        if not delays:
            return []
        held = self._held
        reordered = self.conditions.reordered
        if held is None and self._draws.uniform(self._sent, _HOLDING) < reordered:
            self._held = message
            return []
        self._held = None
        behind = [] if held is None else [(max(delays), held)]
        return [*((delay_ms, message) for delay_ms in delays), *behind]

    def _delivery_delays_ms(self) -> list[Millis]:
        """After how long each copy of the next message arrives; none if it is lost."""
        self._sent += 1
        now = self.conditions
        if now.cut or (now.loss and self._draws.uniform(self._sent, 0) < now.loss):
            return []
        copies = 2 if now.twice and self._draws.uniform(self._sent, 1) < now.twice else 1
        return [self._latency_ms + self._extra_delay_ms(copy) for copy in range(copies)]

    def _extra_delay_ms(self, copy: int) -> Millis:
        if not self.conditions.delay_ms:
            return 0
        return round(self._draws.exponential(self.conditions.delay_ms, self._sent, 2 + copy))
