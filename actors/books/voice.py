"""What a part of a scheduler may do: note, tell, send."""

from typing import Protocol

import msgspec

from callboard.actors.vocabulary.events import AnyEvent
from callboard.scheduler.facts import Fact
from callboard.scheduler.model import Millis


class Voice(Protocol):
    """A scheduler's, lent to its parts; each says by which event it was brought about (`cause`)."""

    address: int
    """To which the scheduler itself is sent what it is to do a round later, or in time."""

    def note(self, event: AnyEvent) -> int:
        """Tell the journal what happened; the event's number there."""

    def tell_policy(self, fact: Fact, cause: int) -> None:
        """Tell what decides, as a rule a policy, what has changed in the books."""

    def send(self, to: int, message: msgspec.Struct, cause: int, delay_ms: Millis = 0) -> None:
        """Send a message in the scheduler's name."""
