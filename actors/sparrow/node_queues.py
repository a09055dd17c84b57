"""A node's side of Sparrow: what waits for a free slot, and what is told of attempts."""

from abc import abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from callboard.actors.vocabulary import messages as msg
from callboard.actors.vocabulary.events import NodeFacts
from callboard.actors.worker.contact_dialogue import ContactDialogue
from callboard.scheduler.model import KINDS, JobId, Millis, SlotKind

Waiting = TypeVar("Waiting")


class NodeQueues(ContactDialogue, Generic[Waiting]):
    """One queue for each kind of slot, first come first served unless `take` says otherwise."""

    __slots__ = ("_free", "_queues", "_slots")

    def __init__(
        self,
        facts: NodeFacts,
        latency_ms: Millis,
        scheduler_of_job: Callable[[JobId], int],
        seed: int = 0,
    ) -> None:
        super().__init__(latency_ms, scheduler_of_job, seed)
        self._slots = [facts.map_slots, facts.reduce_slots]
        self._free = [*self._slots]
        self._queues: tuple[deque[Waiting], ...] = tuple(deque() for _ in KINDS)

    def forget_all(self) -> None:
        super().forget_all()
        self._free = [*self._slots]
        for queue in self._queues:
            queue.clear()

    @abstractmethod
    def use_slot(self, first: Waiting, cause: int) -> None:
        """Use a free slot for what is served first; `cause` is why that can be done now."""

    def take(self, kind: SlotKind) -> Waiting:
        """What of all that waits is served first, no longer in the queue."""
        return self._queues[kind].popleft()

    def serve(self, kind: SlotKind, cause: int) -> None:
        """Use free slots as long as anything waits for them."""
        queue = self._queues[kind]
        while queue and self._free[kind]:
            self._free[kind] -= 1
            self.use_slot(self.take(kind), cause)

    def release(self, kind: SlotKind, cause: int) -> None:
        """A slot is free again."""
        self._free[kind] += 1
        self.serve(kind, cause)

    def report(self, report: msg.AnyReport) -> None:
        """Tell it; an end frees a slot."""
        super().report(report)
        if isinstance(report, msg.EndReport):
            self.release(self._running.pop(report.attempt).kind, report.cause)
