"""What the actors of one machine have in common: they stand and fall with it.

A crashed machine's actors answer nothing until it starts again; a paused one's answer all that
came meanwhile when it goes on.
"""

import msgspec

from callboard.actors.kernel.actor import Actor
from callboard.actors.vocabulary.faults import (
    Crash,
    Drift,
    Fault,
    Flaky,
    Hang,
    Pause,
    Restart,
    Resume,
    Separate,
    Slow,
    StickLaunches,
)
from callboard.actors.worker.clock import Clock
from callboard.scheduler.model import NodeId


class Machine(Actor):
    """An actor that lives on a machine.

    A subclass's `receive` begins with `if self.halted and self.absorbs(message): return` and hands
    faults to `on_fault`.
    """

    def __init__(self, address: int, name: str) -> None:
        super().__init__(address, name)
        self.halted = False
        self._down = False
        self._clock = Clock()
        self._failing: Flaky | None = None  # what is to become of attempts that start here
        self._hanging: Hang | None = None
        self._sticking = 0.0
        self._apart: frozenset[NodeId] = frozenset()
        self._backlog: list[msgspec.Struct] = []

    def begin_absent(self) -> None:
        """The machine is off from the start, until it is started."""
        self.halted = self._down = True

    def absorbs(self, message: msgspec.Struct) -> bool:
        """Whether a halted machine leaves this message unanswered, for now or for ever."""
        if isinstance(message, Fault):
            return False
        if not self._down:
            self._backlog.append(message)
        return True

    def on_fault(self, fault: Fault) -> None:
        """Bear what happens to the machine; what makes no sense, a second crash, does nothing."""
        match fault:
            case Crash() if not self._down:
                self.halted = self._down = True
                self._backlog.clear()
                self.crash()
            case Restart() if self._down:
                self.halted = self._down = False
                self.restart()
            case Pause() if not self.halted:
                self.halted = True
                self.pause()
            case Resume() if self.halted and not self._down:
                self.halted = False
                self.resume()
                backlog, self._backlog = self._backlog, []
                for message in backlog:
                    self.receive(message)
            case Slow():
                self.slow(fault.factor)
            case Flaky():
                self._failing = fault
            case Hang():
                self._hanging = fault
            case StickLaunches():
                self._sticking = fault.share
            case Drift():
                self._clock.set_rate(fault.rate, self.now_ms)
            case Separate():
                self._apart = frozenset(fault.others)
            case _:
                pass

    def crash(self) -> None:
        """Forget everything."""

    def restart(self) -> None:
        """Begin anew."""

    def pause(self) -> None:
        """Stand still; what has come by `resume` is answered after it."""

    def resume(self) -> None:
        """Go on."""

    def slow(self, factor: float) -> None:
        """Take so many times as long for everything from now on."""
