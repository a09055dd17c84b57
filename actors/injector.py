"""Plays a script of faults: each is noted in the journal and sent to those that it concerns."""

from bisect import insort_right
from collections.abc import Sequence
from operator import attrgetter
from typing import NamedTuple

from callboard.actors.blocks import Blocks
from callboard.actors.kernel import address
from callboard.actors.kernel.actor import NO_CAUSE, Actor, Message
from callboard.actors.kernel.address import MASTER
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.events import FaultStruck, NodeFacts
from callboard.scheduler.model import Millis


class FaultDue(Message, frozen=True):
    """Injector to itself: the next fault is due."""


class ScheduledFault(NamedTuple):
    """A fault and when it happens."""

    at_ms: Millis
    fault: faults.AnyFault


_at_ms = attrgetter("at_ms")


class Injector(Actor):
    """Plays a script of faults, in the order of their times."""

    def __init__(
        self, script: Sequence[ScheduledFault], nodes: Sequence[NodeFacts], blocks: Blocks
    ) -> None:
        super().__init__(address.INJECTOR, "injector")
        self._blocks = blocks
        self._script = sorted(script, key=_at_ms)
        self._slots = {facts.node: facts.map_slots + facts.reduce_slots for facts in nodes}
        self._next = 0

    def join(self, kernel: Kernel) -> None:
        super().join(kernel)
        self._await_next()

    def on_fault_due(self, _: FaultDue) -> None:
        while self._next < len(self._script) and self._script[self._next].at_ms <= self.now_ms:
            self._apply(self._script[self._next].fault)
            self._next += 1
        self.cause = NO_CAUSE
        self._await_next()

    def inject(self, fault: faults.AnyFault) -> None:
        """Schedule a fault, between two supersteps, for a millisecond from now; it is noted too."""
        scheduled = ScheduledFault(self.now_ms + 1, fault)
        insort_right(self._script, scheduled, key=_at_ms)
        self._kernel.progress_ms = max(self._kernel.progress_ms, scheduled.at_ms)
        self.timer(FaultDue(), 1)

    def at_work(self) -> bool:
        """A world in which faults are still to come is not stuck."""
        return self._next < len(self._script)

    def _apply(self, fault: faults.AnyFault) -> None:
        self.cause = self.note(FaultStruck(self.now_ms, fault))
        if isinstance(fault, faults.KillJob):
            self.send(address.job_address(fault.job), fault)
            return
        if not isinstance(fault, faults.NodeFault) or isinstance(fault, faults.Drain):
            self.send(MASTER, fault)
            if isinstance(fault, faults.MasterFault):
                for node in self._slots:
                    self.send(address.node_address(node), fault)
            return
        self.send(address.node_address(fault.node), fault)
        if isinstance(fault, faults.Crash | faults.Restart):
            self._blocks.set_down(fault.node, isinstance(fault, faults.Crash), self.now_ms)
        if isinstance(fault, faults.Disturb):
            self.send(MASTER, fault)
            return
        for slot in range(self._slots[fault.node]):
            self.send(address.slot_address(fault.node, slot), fault)

    def _await_next(self) -> None:
        if self._next < len(self._script):
            self.timer(FaultDue(), self._script[self._next].at_ms - self.now_ms)
