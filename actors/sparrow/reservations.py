"""A node's side of Sparrow: the queue in which reservations wait for a free slot.

A reservation is the right to ask for a task, not a task (late binding, SOSP 2013, §4.2).  The slot
is held from the question to the answer, so each slot has one question under way at most.
"""

from typing import NamedTuple

from callboard.actors.sparrow.node_queues import NodeQueues
from callboard.actors.sparrow.probe_messages import (
    CancelTaskReservations,
    EnqueueTaskReservations,
    GetTask,
    NoTask,
)
from callboard.actors.vocabulary import messages as msg
from callboard.scheduler.model import JobId, Stage, slot_kind


class Reservation(NamedTuple):
    """A stage's task may run here, if any is left then; `cause` brought it."""

    job: JobId
    stage: Stage
    scheduler: int
    place: int
    cause: int


class Reservations(NodeQueues[Reservation]):
    """Reservations wait."""

    __slots__ = ()

    def on_enqueue(self, enqueue: EnqueueTaskReservations) -> None:
        """Wait with the others, and ask at once if a slot is free."""
        kind, cause = slot_kind(enqueue.stage), self._node.cause
        what = (enqueue.job, enqueue.stage, enqueue.scheduler, enqueue.place)
        reservation = Reservation(*what, cause)
        self._queues[kind].extend([reservation] * enqueue.count)
        self.serve(kind, cause)

    def on_cancel(self, cancel: CancelTaskReservations) -> None:
        """Forget those that wait; what has been asked for is answered all the same."""
        queue, what = self._queues[slot_kind(cancel.stage)], (cancel.job, cancel.stage)
        left = [each for each in queue if (each.job, each.stage) != what]
        queue.clear()
        queue.extend(left)

    def on_scheduler_gone(self, gone: msg.SchedulerGone) -> None:
        """Forget its reservations too; one that has been asked for is refused by its machine."""
        for queue in self._queues:
            left = [each for each in queue if each.scheduler != gone.scheduler]
            queue.clear()
            queue.extend(left)
        self.stop_those_of(gone.scheduler, self._node.cause)

    def on_launch_task(self, launch: msg.LaunchTask) -> None:
        self.launch(launch)

    def on_no_task(self, answer: NoTask) -> None:
        self.release(slot_kind(answer.stage), self._node.cause)

    def on_kill_task(self, kill: msg.KillTask) -> None:
        self._node.kill(kill)

    def use_slot(self, first: Reservation, cause: int) -> None:
        """Hold the slot, and ask for a task.  The later event of two has brought that about: that a
        slot is free, or that the reservation came.
        """
        question = GetTask(first.job, first.stage, self._node.facts.node, first.place)
        self._node.send(first.scheduler, question, max(cause, first.cause), self._latency_ms)
