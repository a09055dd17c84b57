"""A node's side of Sparrow: the queue in which reservations wait for a free slot.

A reservation is the right to ask for a task, not a task (late binding, SOSP 2013, §4.2).  The slot
is held from the question to the answer, so each slot has one question under way at most.
"""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from callboard.actors.sparrow.probe_messages import (
    CancelTaskReservations,
    EnqueueTaskReservations,
    GetTask,
    NoTask,
)
from callboard.actors.sparrow.reporting import Reporting
from callboard.actors.vocabulary import messages as msg
from callboard.actors.vocabulary.events import NodeFacts
from callboard.scheduler.model import KINDS, JobId, Millis, SlotKind, Stage, slot_kind


class Reservation(NamedTuple):
    """A stage's task may run here, if any is left then; `cause` brought it."""

    job: JobId
    stage: Stage
    scheduler: int
    place: int
    cause: int


class Reservations(Reporting):
    """One queue for each kind of slot, first come first served."""

    __slots__ = ("_free", "_queues")

    def __init__(
        self,
        facts: NodeFacts,
        latency_ms: Millis,
        address_of: Callable[[int], int],
        address_for: Callable[[JobId], int],
    ) -> None:
        super().__init__(latency_ms, address_of, address_for)
        self._queues: tuple[deque[Reservation], ...] = tuple(deque() for _ in KINDS)
        self._free = [facts.map_slots, facts.reduce_slots]

    def on_enqueue(self, enqueue: EnqueueTaskReservations) -> None:
        """Wait with the others, and ask at once if a slot is free."""
        kind, cause = slot_kind(enqueue.stage), self._node.cause
        what = (enqueue.job, enqueue.stage, enqueue.scheduler, enqueue.place)
        reservation = Reservation(*what, cause)
        self._queues[kind].extend([reservation] * enqueue.count)
        self._ask(kind, cause)

    def on_cancel(self, cancel: CancelTaskReservations) -> None:
        """Forget those that wait; what has been asked for is answered all the same."""
        queue, what = self._queues[slot_kind(cancel.stage)], (cancel.job, cancel.stage)
        left = [each for each in queue if (each.job, each.stage) != what]
        queue.clear()
        queue.extend(left)

    def on_launch_task(self, launch: msg.LaunchTask) -> None:
        self.launch(launch)

    def on_no_task(self, answer: NoTask) -> None:
        self.released(slot_kind(answer.stage), self._node.cause)

    def on_kill_task(self, kill: msg.KillTask) -> None:
        self._node.kill(kill)

    def released(self, kind: SlotKind, cause: int) -> None:
        self._free[kind] += 1
        self._ask(kind, cause)

    def _ask(self, kind: SlotKind, cause: int) -> None:
        """Hold free slots for the reservations at the head of the queue.  The later event of two
        has brought that about: that a slot is free, or that the reservation came.
        """
        queue, node = self._queues[kind], self._node.facts.node
        while queue and self._free[kind]:
            self._free[kind] -= 1
            first = queue.popleft()
            question = GetTask(first.job, first.stage, node, first.place)
            cause_of_both = max(cause, first.cause)
            self._node.send(first.scheduler, question, cause_of_both, self._latency_ms)
