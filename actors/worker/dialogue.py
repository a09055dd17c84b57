"""How a node speaks with its schedulers: what an architecture provides for its nodes.

The node is the machine: it holds slots, attempts and outputs, and does what it is told.  When it
reports, to which scheduler, and how orders reach it is its dialogue's affair.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Protocol

import msgspec

from callboard.actors.kernel.actor import Answering
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary import messages as msg
from callboard.actors.vocabulary.events import AnyEvent, NodeFacts
from callboard.actors.worker.clock import Clock
from callboard.scheduler.model import AttemptId, Millis, SlotKind


class NodeSide(Protocol):
    """What a dialogue may ask of its node."""

    address: int
    facts: NodeFacts
    clock: Clock
    cause: int
    """The event that brought about what is answered now."""

    @property
    def now_ms(self) -> Millis: ...
    @property
    def tracks(self) -> bool:
        """Whether the progress of any attempt is to be told."""

    def note(self, event: AnyEvent) -> int: ...
    def send(self, to: int, message: msgspec.Struct, cause: int, delay_ms: Millis = 0) -> None: ...
    def timer(self, message: msgspec.Struct, delay_ms: Millis, cause: int) -> None: ...

    def receive_held_back(self, mail: Iterable[tuple[int, msgspec.Struct]]) -> None:
        """Answer (cause, message) pairs that have not come by themselves."""

    def progress(self) -> tuple[msg.AttemptProgress, ...]:
        """How far the tracked attempts are now."""

    def launch(self, launch: msg.LaunchTask) -> None: ...
    def resume_attempt(self, resume: msg.ResumeTask) -> None: ...
    def kill(self, kill: msg.KillTask) -> None: ...
    def suspend(self, suspend: msg.SuspendTask) -> None: ...
    def track(self, attempt: AttemptId) -> None: ...

    def drop_all_attempts(self, cause: int) -> None:
        """Drop all that runs, and tell nobody of it."""


class Dialogue(Answering, ABC):
    """One node's; its methods `on_…` answer the messages to the node that are for its dialogue,
    from schedulers or timers of its own.
    """

    __slots__ = ("_node",)

    _node: NodeSide

    def attach(self, node: NodeSide) -> None:
        """Belong to this node from now on."""
        self._node = node

    @abstractmethod
    def begin(self) -> None:
        """The run begins, and the machine is up."""

    @abstractmethod
    def begin_life(self, cause: int) -> None:
        """The machine has started with nothing on it."""

    @abstractmethod
    def end_life(self) -> None:
        """The machine has stopped dead."""

    @abstractmethod
    def report(self, report: msg.AnyReport) -> None:
        """There is something to tell."""

    def freed(self, kind: SlotKind) -> None:
        """A slot of this kind is free again."""

    @abstractmethod
    def disturbed(self, fault: faults.NodeFault | faults.MasterFault) -> None:
        """A fault has struck that may delay or lose what is said."""
