"""A node's side of Sparrow: the queue in which reservations wait for a free slot.

A reservation is the right to ask for a task, not a task (late binding, SOSP 2013, §4.2).  The slot
is held from the question to the answer, so each slot has one question under way at most.
"""

from collections.abc import Callable
from typing import NamedTuple

from callboard.actors.sparrow.node_queues import NodeQueues
from callboard.actors.sparrow.probe_messages import (
    CancelTaskReservations,
    EnqueueTaskReservations,
    GetTask,
    NoTask,
)
from callboard.actors.vocabulary import messages as msg
from callboard.actors.vocabulary.events import NodeFacts
from callboard.scheduler.model import JobId, Millis, Stage, slot_kind


class Reservation(NamedTuple):
    """A stage's task may run here, if any is left then; `cause` brought it."""

    job: JobId
    stage: Stage
    scheduler: int
    place: int
    cause: int


class Reservations(NodeQueues[Reservation]):
    """Reservations wait."""

    __slots__ = ("_asked",)

    def __init__(
        self,
        facts: NodeFacts,
        latency_ms: Millis,
        scheduler_of_job: Callable[[JobId], int],
        seed: int = 0,
    ) -> None:
        super().__init__(facts, latency_ms, scheduler_of_job, seed)
        self._asked: list[tuple[JobId, Stage, int]] = []
        """Schedulers it has asked for a task that have not answered: a slot is held for each."""

    def forget_all(self) -> None:
        super().forget_all()
        self._asked.clear()

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
        self.kill_attempts_of(gone.scheduler, self._node.cause)

    def forget_scheduler(self, scheduler: int, cause: int) -> None:
        """Nothing will be answered that it has been asked."""
        self.on_scheduler_gone(msg.SchedulerGone(scheduler))
        unanswered = [each for each in self._asked if each[2] == scheduler]
        self._asked = [each for each in self._asked if each[2] != scheduler]
        for _, stage, _ in unanswered:
            self.release(slot_kind(stage), cause)

    def on_launch_task(self, launch: msg.LaunchTask) -> None:
        if not self.is_stale:
            self._note_answer(launch.job, launch.stage)
            self.launch(launch)

    def on_no_task(self, answer: NoTask) -> None:
        if not self.is_stale:
            self._note_answer(answer.job, answer.stage)
            self.release(slot_kind(answer.stage), self._node.cause)

    def _note_answer(self, job: JobId, stage: Stage) -> None:
        """The oldest question of a stage has been answered, by the scheduler that is heard."""
        for place, (of_job, of_stage, scheduler) in enumerate(self._asked):
            if (of_job, of_stage) == (job, stage) and self._hears in (None, scheduler):
                del self._asked[place]
                return

    def on_kill_task(self, kill: msg.KillTask) -> None:
        self._node.kill(kill)

    def use_slot(self, first: Reservation, cause: int) -> None:
        """Hold the slot, and ask for a task.  The later event of two has brought that about: that a
        slot is free, or that the reservation came.
        """
        self._asked.append((first.job, first.stage, first.scheduler))
        question = GetTask(first.job, first.stage, self._node.facts.node, first.place)
        self.say(first.scheduler, question, max(cause, first.cause))
