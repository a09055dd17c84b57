"""Who looks on at a run, whichever engine plays it."""

from typing import TYPE_CHECKING

from callboard.actors.kernel.kernel import Kernel
from callboard.actors.onlooker import Onlooker
from callboard.actors.vocabulary.events import AnyEvent

if TYPE_CHECKING:
    from callboard.twin.twin_run import TwinRun


GIVEN_UP = "given up"
"""How a run ended that had more messages than it was worth."""


class MessageLimit(Onlooker):
    """Ends a run that has more messages than it is worth."""

    def __init__(self, messages: int) -> None:
        self._messages = messages

    def on_progress(self, kernel: Kernel[AnyEvent]) -> None:
        if kernel.messages > self._messages:
            kernel.end_run(GIVEN_UP)


class RunWatcher(Onlooker):
    """An onlooker that the twin can have too."""

    def on_twin_progress(self, run: "TwinRun") -> None:
        """Called after each moment that the twin has played; may interrupt it."""
