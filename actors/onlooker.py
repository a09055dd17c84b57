"""Who looks on while a world is played, and changes nothing in it."""

from callboard.actors.architecture import Architecture
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.vocabulary.events import AnyEvent


class Onlooker:
    """Looks on at one run; what a subclass does not need it leaves out, and costs nothing."""

    def begin(self, kernel: Kernel[AnyEvent], architecture: Architecture) -> None:
        """All actors are there and nothing has happened: probes can be put beside them."""

    def observe(self, event: AnyEvent) -> None:
        """The next event, in order."""

    def after_superstep(self) -> None:
        """A superstep is over, and its events have been told.  What this raises ends the run."""

    def on_progress(self, kernel: Kernel[AnyEvent]) -> None:
        """Called every thousand or so supersteps."""
