"""What goes round and round while nothing is to be done, such as heartbeats that say nothing."""

from typing import Protocol

import msgspec

from callboard.scheduler.model import Millis


class IdleRounds(Protocol):
    """Rounds that an idle run may leave out.

    Each begins `period_ms` after the one before, and is message for message the same.  So where
    nothing else comes for some time, moving what is under way by whole periods is what playing them
    would have come to: the same messages, in the same order, at the same instants.
    """

    period_ms: Millis

    def is_idle(self) -> bool:
        """Whether a round can change nothing, as long as no other message comes."""

    def belongs(self, message: msgspec.Struct) -> bool:
        """Whether the message is one of a round in which nothing is said."""
