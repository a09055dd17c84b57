"""Plays a script of faults: each is noted in the journal and sent to those that it concerns."""

from bisect import insort_right
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import NamedTuple

from callboard.actors.blocks import Blocks
from callboard.actors.kernel.actor import Actor
from callboard.actors.kernel.address import INJECTOR, job_address, node_address
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.kernel.message import NO_CAUSE, Message
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.events import AnyEvent, FaultStruck, NodeFacts
from callboard.scheduler.model import Millis


class FaultDue(Message, frozen=True):
    """Injector to itself: the next fault is due."""


class ScheduledFault(NamedTuple):
    """A fault and when it happens."""

    at_ms: Millis
    fault: faults.AnyFault


_at_ms = attrgetter("at_ms")


class Injector(Actor[AnyEvent]):
    """Plays a script of faults, in the order of their times.  `routes` says which schedulers a
    fault concerns beside the machines and the job that it strikes.
    """

    def __init__(
        self,
        script: Iterable[ScheduledFault],
        nodes: Iterable[NodeFacts],
        blocks: Blocks,
        routes: Callable[[faults.AnyFault], Iterable[int]],
    ) -> None:
        super().__init__(INJECTOR, "injector")
        self._blocks = blocks
        self._routes = routes
        self._script = sorted(script, key=_at_ms)
        self._nodes = [facts.node for facts in nodes]
        self._next = 0

    def join(self, kernel: Kernel[AnyEvent]) -> None:
        super().join(kernel)
        self._await_next_fault()

    def on_fault_due(self, _: FaultDue) -> None:
        while self._next < len(self._script) and self._script[self._next].at_ms <= self.now_ms:
            self._inject_fault(self._script[self._next].fault)
            self._next += 1
        self._await_next_fault()

    def inject(self, fault: faults.AnyFault) -> None:
        """Schedule a fault, between two supersteps, for a millisecond from now; it is noted too."""
        scheduled = ScheduledFault(self.now_ms + 1, fault)
        insort_right(self._script, scheduled, key=_at_ms)
        self.expect_nothing_before(scheduled.at_ms)
        self.timer(FaultDue(), 1, NO_CAUSE)

    def at_work(self) -> bool:
        """A world in which faults are still to come is not stuck."""
        return self._next < len(self._script)

    def _inject_fault(self, fault: faults.AnyFault) -> None:
        struck = self.note(FaultStruck(self.now_ms, fault))
        for to in (*self._struck_addresses(fault), *self._routes(fault)):
            self.send(to, fault, struck)
        if isinstance(fault, faults.Crash | faults.Restart):
            self._blocks.set_down(fault.node, isinstance(fault, faults.Crash), self.now_ms)

    def _struck_addresses(self, fault: faults.AnyFault) -> list[int]:
        """The job or the machines that notice it."""
        if isinstance(fault, faults.KillJob):
            return [job_address(fault.job)]
        if isinstance(fault, faults.MasterFault):
            return [node_address(node) for node in self._nodes]
        if isinstance(fault, faults.NodeFault) and not isinstance(fault, faults.Drain):
            return [node_address(fault.node)]
        return []

    def _await_next_fault(self) -> None:
        if self._next < len(self._script):
            wait_ms = self._script[self._next].at_ms - self.now_ms
            self.timer(FaultDue(), wait_ms, NO_CAUSE)
