"""Who looks on at a run, whichever engine plays it."""

from typing import TYPE_CHECKING

from callboard.actors.onlooker import Onlooker

if TYPE_CHECKING:
    from callboard.twin.twin_run import TwinRun


class RunWatcher(Onlooker):
    """An onlooker that the twin can have too."""

    def on_twin(self, run: "TwinRun") -> None:
        """Called after each moment that the twin has played; may interrupt it."""
