"""The actor that plays a script of faults.

Each is noted in the journal and sent to the actors that it concerns.  No other actor is told: the
master learns of it by what heartbeats say, or by their silence.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from callboard.actors.blocks import Blocks
from callboard.actors.kernel.actor import NO_CAUSE, Actor, Message
from callboard.actors.kernel.address import (
    INJECTOR,
    MASTER,
    job_address,
    node_address,
    slot_address,
)
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.vocabulary.events import FaultStruck, NodeFacts
from callboard.actors.vocabulary.faults import (
    AnyFault,
    Crash,
    Disturb,
    Drain,
    KillJob,
    MasterFault,
    Restart,
    SetPool,
    SetPriority,
    SwitchPolicy,
)
from callboard.scheduler.model import Millis


class FaultDue(Message, frozen=True):
    """Injector to itself: the next fault is due."""


class ScheduledFault(NamedTuple):
    """A fault and when it happens."""

    at_ms: Millis
    fault: AnyFault


def _at_ms(strike: ScheduledFault) -> Millis:
    return strike.at_ms


class Injector(Actor):
    """Plays a script of faults, in the order of their times."""

    def __init__(
        self, script: Sequence[ScheduledFault], nodes: Sequence[NodeFacts], blocks: Blocks
    ) -> None:
        super().__init__(INJECTOR, "injector")
        self._blocks = blocks
        self._script = sorted(script, key=_at_ms)
        self._slots = {facts.node: facts.map_slots + facts.reduce_slots for facts in nodes}
        self._next = 0

    def join(self, kernel: Kernel) -> None:
        super().join(kernel)
        self._await_next()

    def on_fault_due(self, _: FaultDue) -> None:
        """Let everything happen that is due by now."""
        while self._next < len(self._script) and self._script[self._next].at_ms <= self.now_ms:
            self._strike(self._script[self._next].fault)
            self._next += 1
        self.cause = NO_CAUSE
        self._await_next()

    def inject(self, fault: AnyFault) -> None:
        """Let something happen a millisecond from now; to be called between two supersteps.

        It is noted like the script's own, so a run of the journal's faults is the same run.
        """
        strike = ScheduledFault(self.now_ms + 1, fault)
        self._script.insert(bisect_right(self._script, strike.at_ms, key=_at_ms), strike)
        self._kernel.progress_ms = max(self._kernel.progress_ms, strike.at_ms)
        self.timer(FaultDue(), 1)

    def at_work(self) -> bool:
        """A world to which something is still to happen is not stuck."""
        return self._next < len(self._script)

    def _strike(self, fault: AnyFault) -> None:
        """Note it, and send it to the actors that it concerns."""
        self.cause = self.note(FaultStruck(self.now_ms, fault))
        if isinstance(fault, KillJob):
            self.send(job_address(fault.job), fault)
            return
        if isinstance(fault, SwitchPolicy | MasterFault | Drain | SetPriority | SetPool):
            self.send(MASTER, fault)
            if isinstance(fault, MasterFault):
                for node in self._slots:
                    self.send(node_address(node), fault)
            return
        self.send(node_address(fault.node), fault)
        if isinstance(fault, Crash | Restart):
            self._blocks.set_down(fault.node, isinstance(fault, Crash), self.now_ms)
        if isinstance(fault, Disturb):
            self.send(MASTER, fault)
            return
        for slot in range(self._slots[fault.node]):
            self.send(slot_address(fault.node, slot), fault)

    def _await_next(self) -> None:
        if self._next < len(self._script):
            self.timer(FaultDue(), self._script[self._next].at_ms - self.now_ms)
