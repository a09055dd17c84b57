"""Which reservations wait at which nodes (Sparrow, Hawk, Eagle), folded from a run's events.

Counted are those that may still bring a task: of stages that have tasks which no node has been
given.  When the last one is given all others are taken back, or will be answered that none is left.
Nodes forget those of a scheduler that ends.  One that is sticky waits again after its task, which
is not counted.
"""

from collections import Counter
from copy import copy
from typing import Self

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.events import Outcome
from callboard.journal.run_records import AttemptRecord
from callboard.scheduler.model import (
    MAPS,
    REDUCES,
    SETUP,
    JobId,
    NodeId,
    SlotKind,
    Stage,
    slot_kind,
)

_JobStage = tuple[JobId, Stage]


class WaitingReservations:
    """`observe` takes the next event in, with the attempt that it is about."""

    def __init__(self) -> None:
        self.by_node: Counter[NodeId] = Counter()
        """How many wait at each node."""
        self.stages: dict[_JobStage, Counter[NodeId]] = {}
        """How many of each stage's wait where."""
        self._senders: dict[_JobStage, int] = {}
        """Whose they are."""
        self._submitted: dict[JobId, ev.JobSubmitted] = {}
        """Jobs that have not finished."""
        self._left: Counter[_JobStage] = Counter()
        """Tasks that no node has been given."""

    def copy(self) -> Self:
        """The same, to be changed independently."""
        twin = copy(self)
        twin.by_node, twin._left = self.by_node.copy(), self._left.copy()
        twin._senders, twin._submitted = self._senders.copy(), self._submitted.copy()
        twin.stages = {stage: nodes.copy() for stage, nodes in self.stages.items()}
        return twin

    def count_by_job(self, node: NodeId) -> Counter[JobId]:
        """How many of each job's wait at a node."""
        held: Counter[JobId] = Counter()
        for (job, _), nodes in self.stages.items():
            held[job] += nodes.get(node, 0)
        return +held

    def count_by_node(self, job: JobId) -> Counter[NodeId]:
        """How many of a job's wait where."""
        held: Counter[NodeId] = Counter()
        for (number, _), nodes in self.stages.items():
            if number == job:
                held += nodes
        return held

    def any_waits_for(self, job: JobId, kind: SlotKind) -> bool:
        """Whether one of a job's waits for a slot of that kind."""
        of_job = (
            nodes
            for (each, stage), nodes in self.stages.items()
            if each == job and slot_kind(stage) is kind
        )
        return any(nodes.total() for nodes in of_job)

    def observe(self, event: ev.AnyEvent, attempt: AttemptRecord | None) -> None:
        match event:
            case ev.ReservationsSent():
                self._add_sent(event)
            case ev.ReservationsStolen():
                of = (event.job, event.stage)
                self._add_waiting(
                    of, event.node, self._remove_waiting(of, event.victim, event.count)
                )
            case ev.AttemptLaunched():
                of = (event.job, event.stage)
                self._remove_waiting(of, event.node, 1)
                self._count_given_tasks(of, 1)
            case ev.AttemptClosed() if attempt and event.outcome is not Outcome.SUCCEEDED:
                self._count_given_tasks((attempt.launch.job, attempt.launch.stage), -1)
            case ev.MapOutputsLost():
                self._count_given_tasks((event.job, MAPS), -len(event.attempts))
            case ev.JobSubmitted():
                self._submitted[event.job] = event
                self._expect_all_tasks(event)
            case ev.JobResubmitted() if event.job in self._submitted:
                self._expect_all_tasks(self._submitted[event.job])
            case ev.JobFinished():
                self._submitted.pop(event.job, None)
                for of in [of for of in self.stages if of[0] == event.job]:
                    self._drop_stage(of)
                for stage in (MAPS, REDUCES):
                    del self._left[event.job, stage]
            case ev.FaultStruck(fault=faults.CrashScheduler(scheduler=scheduler)):
                for of in [of for of in self.stages if self._senders[of] == scheduler]:
                    self._drop_stage(of)
            case ev.FaultStruck(fault=faults.Crash(node=node)):
                for of in self.stages:
                    self._remove_waiting(of, node, self.stages[of][node])
            case ev.ContactLost(node=node):
                for of in self.stages:
                    if self._senders[of] == event.scheduler:
                        self._remove_waiting(of, node, self.stages[of][node])

    def _expect_all_tasks(self, submitted: ev.JobSubmitted) -> None:
        """None of the job's tasks has a node."""
        self._left[submitted.job, MAPS] = submitted.maps
        self._left[submitted.job, REDUCES] = submitted.reduces

    def _add_sent(self, event: ev.ReservationsSent) -> None:
        of = (event.job, event.stage)
        self._senders[of] = event.scheduler
        if event.stage >= SETUP:
            self._left[of] = 1
        for node, count in Counter(event.refused).items():
            self._remove_waiting(of, node, count)
        for node, count in Counter(event.nodes).items():
            self._add_waiting(of, node, count)

    def _add_waiting(self, of: _JobStage, node: NodeId, count: int) -> None:
        if count:
            self.stages.setdefault(of, Counter())[node] += count
            self.by_node[node] += count

    def _remove_waiting(self, of: _JobStage, node: NodeId, count: int) -> int:
        """That many wait there no more, as far as there are as many."""
        nodes = self.stages.get(of)
        taken = min(count, nodes[node]) if nodes else 0
        if nodes and taken:
            nodes[node] -= taken
            self.by_node[node] -= taken
        return taken

    def _count_given_tasks(self, of: _JobStage, tasks: int) -> None:
        """That many tasks have a node."""
        self._left[of] -= tasks
        if self._left[of] <= 0:
            self._drop_stage(of)

    def _drop_stage(self, of: _JobStage) -> None:
        self.by_node -= self.stages.pop(of, Counter())
