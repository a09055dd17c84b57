"""A node's side of Sparrow: the queue in which reservations wait for a free slot.

A reservation is the right to ask for a task, not a task (late binding, SOSP 2013, §4.2).  The slot
is held from the question to the answer, so each slot has one question under way at most.
"""

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from callboard.actors.sparrow.node_queues import NodeQueues
from callboard.actors.sparrow.probe_messages import (
    CancelTaskReservations,
    EnqueueTaskReservations,
    GetTask,
    NoTask,
)
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


class HeldReservations(msgspec.Struct, eq=False):
    """As many of a stage as came at once, under Hawk and Eagle with what the node was told of its
    tasks.
    """

    reservation: Reservation
    count: int
    """How many wait; others may have been asked for, or run."""
    estimate_ms: Millis = 0
    left: int = 0
    """How many tasks of the stage no node had been given, when this node was last told."""
    long: bool = False
    number: int = 0
    """Their place in the order of arrival at the node."""
    put_off_ms: Millis = 0
    """By estimate, how long tasks run that went before them although they had come later."""
    taken_back: bool = False

    @property
    def job_stage(self) -> tuple[JobId, Stage]:
        """The stage for whose tasks they stand."""
        return self.reservation.job, self.reservation.stage

    def was_sent_by(self, scheduler: int) -> bool:
        """Whether the scheduler at this address has sent them."""
        return self.reservation.scheduler == scheduler


class Reservations(NodeQueues[HeldReservations]):
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
        self._asked: list[HeldReservations] = []
        """Those that have been asked for and not answered: a slot is held for each."""

    def forget_all(self) -> None:
        super().forget_all()
        self._asked.clear()

    # What comes.

    def on_enqueue(self, enqueue: EnqueueTaskReservations) -> None:
        """Wait with the others, and ask at once if a slot is free."""
        kind, cause = slot_kind(enqueue.stage), self._node.cause
        job, stage, scheduler, place = enqueue.job, enqueue.stage, enqueue.scheduler, enqueue.place
        reservation = Reservation(job, stage, scheduler, place, cause)
        self._queues[kind].append(HeldReservations(reservation, enqueue.count))
        self.serve(kind, cause)

    def on_cancel(self, cancel: CancelTaskReservations) -> None:
        """Forget those that wait; what has been asked for is answered all the same."""
        kind, of = slot_kind(cancel.stage), (cancel.job, cancel.stage)
        for held in [each for each in self._queues[kind] if each.job_stage == of]:
            self.take_back(held, kind)

    def on_scheduler_gone(self, gone: msg.SchedulerGone) -> None:
        """Forget its reservations too; one that has been asked for is refused by its machine."""
        for kind in KINDS:
            for held in [each for each in self._queues[kind] if each.was_sent_by(gone.scheduler)]:
                self.take_back(held, kind)
        self.kill_attempts_of(gone.scheduler, self._node.cause)

    def forget_scheduler(self, scheduler: int, cause: int) -> None:
        """Nothing will be answered that it has been asked."""
        self.on_scheduler_gone(msg.SchedulerGone(scheduler))
        for held in [each for each in self._asked if each.was_sent_by(scheduler)]:
            self._asked.remove(held)
            self.release_in_vain(held, slot_kind(held.reservation.stage), cause)

    def take_back(self, held: HeldReservations, kind: SlotKind) -> None:
        """None of these waits any more."""
        self.drop(held, kind, held.count)

    def drop(self, held: HeldReservations, kind: SlotKind, count: int) -> None:
        """That many of these wait no more."""
        held.count -= count
        if not held.count:
            self._queues[kind].remove(held)

    # Slots.

    def take(self, kind: SlotKind) -> HeldReservations:
        held = self._queues[kind][0]
        held.count -= 1
        if not held.count:
            self._queues[kind].popleft()
        return held

    def use_slot(self, first: HeldReservations, cause: int) -> None:
        """Hold the slot, and ask for a task.  The later event of two has brought that about: that a
        slot is free, or that the reservation came.
        """
        job, stage, scheduler, place, came = first.reservation
        self._asked.append(first)
        question = GetTask(job, stage, self._node.facts.node, place)
        self.say(scheduler, question, max(cause, came))

    def on_launch_task(self, launch: msg.LaunchTask) -> None:
        if not self.is_stale:
            self.take_answered(launch.job, launch.stage)
            self.launch(launch)

    def on_no_task(self, answer: NoTask) -> None:
        held = None if self.is_stale else self.take_answered(answer.job, answer.stage)
        if held is not None:
            self.release_in_vain(held, slot_kind(answer.stage), self._node.cause)

    def take_answered(self, job: JobId, stage: Stage) -> HeldReservations | None:
        """What was asked for first of the stage, of the scheduler that is heard; no longer open."""
        for held in self._asked:
            if held.job_stage == (job, stage) and self._hears in (None, held.reservation.scheduler):
                self._asked.remove(held)
                return held
        return None

    def release_in_vain(self, held: HeldReservations, kind: SlotKind, cause: int) -> None:  # noqa: ARG002
        """No task will come for the slot that was held."""
        self.release(kind, cause)
