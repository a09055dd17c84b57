"""What actors of one machine share: after a crash silence, when paused answers later."""

from typing import NamedTuple

import msgspec

from callboard.actors.kernel.actor import Actor
from callboard.actors.kernel.message import NO_CAUSE
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.events import AnyEvent
from callboard.actors.vocabulary.lifecycle import MACHINE, MachineChange, MachineState, step
from callboard.actors.worker.clock import Clock
from callboard.scheduler.model import NodeId

_UP = MachineState.UP

MACHINE_CHANGES = {
    faults.Crash: MachineChange.CRASH,
    faults.Restart: MachineChange.RESTART,
    faults.PauseNode: MachineChange.PAUSE,
    faults.ResumeNode: MachineChange.RESUME,
}


class Ailments(NamedTuple):
    """What is to become of attempts that start on a machine, and the events that brought it."""

    flaky: faults.Flaky | None = None
    flaky_since: int = NO_CAUSE
    hang: faults.Hang | None = None
    hang_since: int = NO_CAUSE
    sticking: float = 0.0
    sticking_since: int = NO_CAUSE


NO_AILMENTS = Ailments()
_NOBODY: frozenset[NodeId] = frozenset()
_RIGHT = Clock()
"""The clock of every machine until its own goes wrong."""


class Machine(Actor[AnyEvent]):
    """An actor that lives on a machine; faults reach it by `on_fault`."""

    __slots__ = ("_ailments", "_backlog", "_slowness", "_unreachable", "clock", "state")

    def __init__(self, address: int, name: str) -> None:
        super().__init__(address, name)
        self.state = _UP
        self.clock = _RIGHT
        self._ailments = NO_AILMENTS
        self._unreachable = _NOBODY
        self._slowness = 1.0
        self._backlog: list[tuple[int, msgspec.Struct]] | None = None  # while it is paused

    def begin_absent(self) -> None:
        """The machine is off from the start, until it is started."""
        self.state = MachineState.DOWN

    def begin_like(self, other: "Machine") -> None:
        """Be where another actor of this machine is: what has struck the machine has struck it."""
        self.state = other.state
        self._ailments = other._ailments
        self._unreachable = other._unreachable
        self._slowness = other._slowness
        self.clock = _RIGHT if other.clock is _RIGHT else other.clock.copy()

    def receive(self, message: msgspec.Struct) -> None:
        if self.state is _UP or isinstance(message, faults.Fault):
            self.answers[type(message)](self, message)  # what the base class does, a call less
        elif self._backlog is not None:
            self._backlog.append((self.cause, message))

    def on_fault(self, fault: faults.NodeFault | faults.MasterFault) -> None:
        match fault:
            case faults.Crash() | faults.Restart() | faults.PauseNode() | faults.ResumeNode():
                self._change_state(MACHINE_CHANGES[type(fault)])
            case faults.Slow():
                ratio, self._slowness = fault.factor / self._slowness, fault.factor
                self.slow(ratio)
            case faults.Flaky():
                self._ailments = self._ailments._replace(flaky=fault, flaky_since=self.cause)
            case faults.Hang():
                self._ailments = self._ailments._replace(hang=fault, hang_since=self.cause)
            case faults.StickLaunches():
                ails = self._ailments._replace(sticking=fault.share, sticking_since=self.cause)
                self._ailments = ails
            case faults.Drift():
                if self.clock is _RIGHT:
                    self.clock = Clock()
                self.clock.set_rate(fault.rate, self.now_ms)
            case faults.Partition():
                self._unreachable = frozenset(fault.others)
            case _:
                pass

    def _change_state(self, change: MachineChange) -> None:
        """Stop or go on; what makes no sense, as a second crash, does nothing."""
        if (self.state, change) not in MACHINE:
            return
        self.state = step(MACHINE, self.state, change, self.name)
        match change:
            case MachineChange.CRASH:
                self._backlog = None
                self.crash()
            case MachineChange.RESTART:
                self.restart()
            case MachineChange.PAUSE:
                self._backlog = []
                self.pause()
            case MachineChange.RESUME:
                backlog, self._backlog = self._backlog, None
                self.resume()
                self.receive_held_back(backlog or ())

    def crash(self) -> None:
        """Forget everything."""

    def restart(self) -> None:
        """Begin anew."""

    def pause(self) -> None:
        """Stand still; what has come by `resume` is answered after it."""

    def resume(self) -> None:
        """Go on."""

    def slow(self, ratio: float) -> None:
        """Take `ratio` times as long as before for everything from now on."""
