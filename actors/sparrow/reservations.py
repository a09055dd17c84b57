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
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary import messages as msg
from callboard.actors.vocabulary.events import NodeFacts
from callboard.actors.worker.dialogue import Dialogue
from callboard.scheduler.model import (
    KINDS,
    AttemptId,
    JobId,
    Millis,
    Stage,
    TaskKind,
    scheduler_of,
    slot_kind,
)


class Reservation(NamedTuple):
    """A stage's task may run here, if any is left then; `cause` brought it."""

    job: JobId
    stage: Stage
    scheduler: int
    place: int
    cause: int


class Reservations(Dialogue):
    """One queue for each kind of slot, first come first served.

    `address_of` gives the address of a scheduler by its number in attempts, `address_for` that of
    a job's.
    """

    __slots__ = ("_address_for", "_address_of", "_free", "_latency_ms", "_queues", "_running")

    def __init__(
        self,
        facts: NodeFacts,
        latency_ms: Millis,
        address_of: Callable[[int], int],
        address_for: Callable[[JobId], int],
    ) -> None:
        self._latency_ms = latency_ms
        self._address_of = address_of
        self._address_for = address_for
        self._queues: tuple[deque[Reservation], ...] = tuple(deque() for _ in KINDS)
        self._free = [facts.map_slots, facts.reduce_slots]
        self._running: dict[AttemptId, TaskKind] = {}

    def begin(self) -> None:
        pass

    def begin_life(self, cause: int) -> None:
        pass

    def end_life(self) -> None:
        pass

    def disturbed(self, fault: faults.NodeFault | faults.MasterFault) -> None:
        pass

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
        self._running[launch.attempt] = launch.kind
        self._node.launch(launch)

    def on_no_task(self, answer: NoTask) -> None:
        self._release(slot_kind(answer.stage), self._node.cause)

    def on_kill_task(self, kill: msg.KillTask) -> None:
        self._node.kill(kill)

    def report(self, report: msg.AnyReport) -> None:
        """Tell it the scheduler that it concerns; an end frees a slot."""
        if isinstance(report, msg.FetchFailure):
            self._send(self._address_for(report.job), report, report.cause)
            return
        self._send(self._address_of(scheduler_of(report.attempt)), report, report.cause)
        if isinstance(report, msg.EndReport):
            self._release(self._running.pop(report.attempt), report.cause)

    def _release(self, kind: TaskKind, cause: int) -> None:
        self._free[kind] += 1
        self._ask(kind, cause)

    def _ask(self, kind: TaskKind, cause: int) -> None:
        """Hold free slots for the reservations at the head of the queue.  The later event of two
        has brought that about: that a slot is free, or that the reservation came.
        """
        queue, node = self._queues[kind], self._node.facts.node
        while queue and self._free[kind]:
            self._free[kind] -= 1
            first = queue.popleft()
            question = GetTask(first.job, first.stage, node, first.place)
            self._send(first.scheduler, question, max(cause, first.cause))

    def _send(self, to: int, message: msg.AnyReport | GetTask, cause: int) -> None:
        self._node.send(to, message, cause, self._latency_ms)
