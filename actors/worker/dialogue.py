"""How a node speaks with its schedulers: what an architecture provides for its nodes.

The node is the machine: it holds slots, attempts and outputs, and does what it is told.  When it
reports, to which scheduler, and how orders reach it is its dialogue's affair.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from callboard.actors.kernel.actor import Answering
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary import messages as msg
from callboard.scheduler.model import SlotKind

if TYPE_CHECKING:
    from callboard.actors.worker.node import Node


class Dialogue(Answering, ABC):
    """One node's; its methods `on_…` answer the messages to the node that are for its dialogue,
    from schedulers or timers of its own.
    """

    __slots__ = ("_node",)

    _node: Node

    def attach(self, node: Node) -> None:
        """Belong to this node from now on."""
        self._node = node

    def begin(self) -> None:
        """The run begins, and the machine is up."""

    def begin_life(self, cause: int) -> None:
        """The machine has started with nothing on it."""

    def end_life(self) -> None:
        """The machine has stopped dead."""

    @abstractmethod
    def report(self, report: msg.AnyReport) -> None:
        """There is something to tell."""

    def freed(self, kind: SlotKind) -> None:
        """A slot of this kind is free again."""

    def take_in_fault(self, fault: faults.NodeFault | faults.MasterFault) -> None:
        """A fault has struck that may delay or lose what is said."""
