"""A node's side of Sparrow: what waits for a free slot, and what is told of attempts."""

from abc import abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from callboard.actors.kernel.address import scheduler_address
from callboard.actors.vocabulary import messages as msg
from callboard.actors.vocabulary.events import NodeFacts
from callboard.actors.worker.contact_dialogue import ContactDialogue
from callboard.scheduler.model import KINDS, AttemptId, JobId, Millis, SlotKind, scheduler_of

Waiting = TypeVar("Waiting")


class NodeQueues(ContactDialogue, Generic[Waiting]):
    """One queue for each kind of slot, first come first served unless `take` says otherwise."""

    __slots__ = ("_free", "_queues", "_running", "_slots")

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
        self._running: dict[AttemptId, msg.LaunchTask] = {}

    def forget_all(self) -> None:
        self._free = [*self._slots]
        self._running.clear()
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

    def launch(self, launch: msg.LaunchTask) -> None:
        """Start an attempt in a slot that is held for it."""
        self._running[launch.attempt] = launch
        self._node.launch(launch)

    def stop_those_of(self, scheduler: int, cause: int) -> None:
        """The scheduler at this address is gone: nobody wants what it has begun here."""
        for attempt in list(self._running):
            if scheduler_address(scheduler_of(attempt)) == scheduler:
                self._node.kill(msg.KillTask(attempt, cause))

    def scheduler_of_running(self, job: JobId) -> int:
        """That of any attempt of the job which runs here."""
        running = (attempt for attempt, launch in self._running.items() if launch.job == job)
        for attempt in running:
            return scheduler_address(scheduler_of(attempt))
        return super().scheduler_of_running(job)

    def report(self, report: msg.AnyReport) -> None:
        """Tell it; an end frees a slot."""
        super().report(report)
        if isinstance(report, msg.EndReport):
            self.release(self._running.pop(report.attempt).kind, report.cause)
