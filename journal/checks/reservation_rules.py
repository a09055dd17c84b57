"""Reservations, and the tasks that they bring: Sparrow, Hawk and Eagle (P1, P2)."""

from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from callboard.actors.architecture import Architecture
from callboard.actors.hawk.hawk_messages import LongPlaced, ProbeRejected, ShortProbe
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.kernel.probes import Probe
from callboard.actors.sparrow.probe_messages import EnqueueTaskReservations, GetTask, NoTask
from callboard.actors.sparrow.reservations import Reservations
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary import messages as msg
from callboard.actors.vocabulary.events import AnyEvent
from callboard.actors.worker.node import Node
from callboard.journal.checks.rule import Handlers, Rule, RunFacts
from callboard.journal.figures.metrics import Metrics
from callboard.scheduler.model import SETUP, JobId, Millis, NodeId, Stage

RESERVING = ("sparrow", "hawk", "eagle")
"""The architectures whose nodes ask for tasks."""

_Probes = EnqueueTaskReservations | ShortProbe | LongPlaced


class ReservationRule(Rule, Probe):
    """Looks on beside the schedulers and the nodes that ask them for tasks."""

    architectures = RESERVING

    def probed_addresses(
        self, kernel: Kernel[AnyEvent], architecture: Architecture
    ) -> Sequence[int]:
        """None where no node asks."""
        self._nodes = [
            actor
            for actor in kernel.actors.values()
            if isinstance(actor, Node) and isinstance(actor.dialogue, Reservations)
        ]
        asking = [each.address for each in self._nodes]
        self._sticky = getattr(getattr(architecture, "params", None), "sticky", False)
        return [*architecture.schedulers(), *asking] if asking else []


class ReservationAnswers(ReservationRule):
    """P1.  A node may ask again for a reservation that is sticky when it has been given a task for
    it.  One that stands still hears its answer when it goes on, one whose link is or has been bad
    may hear it late.  A question is void when the node crashes, or the scheduler gives it up.
    """

    id = "P1"
    says = "a node asks once for a reservation, and each question is answered once, without delay"
    idle = "seen only beside live nodes that ask"

    def begin(self, run_facts: RunFacts) -> None:
        super().begin(run_facts)
        self._reserved: Counter[tuple[JobId, Stage]] = Counter()
        """How often nodes may still ask."""
        self._open: dict[tuple[NodeId, JobId, Stage], deque[Millis]] = {}
        """When the questions were heard that have not been answered."""
        self._asked_of: dict[tuple[NodeId, JobId, Stage], int] = {}
        """The scheduler of each node's last question."""
        self._voided: Counter[tuple[NodeId, JobId, Stage]] = Counter()
        """Questions that are void, though an answer may be under way."""
        self._may_be_late: set[NodeId] = set()
        self._heard: deque[tuple[Millis, NodeId, JobId, Stage]] = deque()
        """All questions but those that are known to have been answered in time."""
        self._looks: dict[type[msgspec.Struct], Callable[[Any, Any], None]] = {
            **dict.fromkeys(
                (EnqueueTaskReservations, ShortProbe, LongPlaced), self._count_reservations
            ),
            ProbeRejected: self._uncount_refused,
            GetTask: self._note_question,
            msg.LaunchTask: self._note_task_given,
            NoTask: self._note_answer,
        }

    def handlers(self) -> Handlers:
        return {
            ev.FaultStruck: self._note_crash_or_bad_link,
            ev.ContactLost: self._note_node_given_up,
        }

    def _note_crash_or_bad_link(self, event: ev.FaultStruck) -> None:
        match event.fault:
            case faults.Crash(node=node):
                self._may_be_late.add(node)  # what its earlier life has asked is under way
                self._void_questions(node, None)
            case faults.Disturb(node=node):
                self._may_be_late.add(node)

    def _note_node_given_up(self, event: ev.ContactLost) -> None:
        self._may_be_late.add(event.node)
        self._void_questions(event.node, event.scheduler)

    def _void_questions(self, node: NodeId, scheduler: int | None) -> None:
        """Nothing will be answered that the node has asked this scheduler, or any."""
        for question in [each for each in self._open if each[0] == node]:
            if scheduler in (None, self._asked_of[question]):
                self._voided[question] += len(self._open.pop(question))

    def before_message(self, actor: Any, message: Any) -> None:
        look = self._looks.get(type(message))
        if look is not None and self.found is None:
            self._find_overdue_answers(actor.now_ms)
            look(actor, message)

    def _count_reservations(self, _: Any, probe: _Probes) -> None:
        self._reserved[probe.job, probe.stage] += probe.count

    def _uncount_refused(self, _: Any, rejected: ProbeRejected) -> None:
        self._reserved[rejected.job, rejected.stage] -= rejected.count

    def _note_question(self, scheduler: Any, ask: GetTask) -> None:
        self.times += 1
        self._reserved[ask.job, ask.stage] -= 1
        if self._reserved[ask.job, ask.stage] < 0:
            self.keep_first_violation(
                f"node-{ask.node} asks for a task of job-{ask.job} without a reservation"
            )
        question = (ask.node, ask.job, ask.stage)
        self._asked_of[question] = scheduler.number
        self._open.setdefault(question, deque()).append(scheduler.now_ms)
        self._heard.append((scheduler.now_ms, *question))

    def _note_task_given(self, node: Any, launch: msg.LaunchTask) -> None:
        self._note_answer(node, launch)
        self._reserved[launch.job, launch.stage] += self._sticky

    def _note_answer(self, node: Any, answer: msg.LaunchTask | NoTask) -> None:
        number = node.facts.node
        question = number, answer.job, answer.stage
        heard = self._open.get(question)
        if heard:
            heard.popleft()
        elif self._voided[question]:
            self._voided[question] -= 1
        else:
            self.keep_first_violation(
                f"node-{number} is answered, and has not asked for job-{answer.job}"
            )

    def _find_overdue_answers(self, now_ms: Millis) -> None:
        """Look at the questions whose answers have come, or should have."""
        while self._heard and self._heard[0][0] + self.run_facts.latency_ms < now_ms:
            asked_ms, node, job, stage = self._heard.popleft()
            unanswered, state = self._open.get((node, job, stage)), self.run_state.nodes[node]
            excused = (
                state.is_down_or_paused or state.since_ms > asked_ms or node in self._may_be_late
            )
            if unanswered and unanswered[0] == asked_ms and not excused:
                self.keep_first_violation(f"node-{node} has not been answered about job-{job}")

    def check_at_end(self, event: ev.RunEnded, metrics: Metrics) -> None:
        self._find_overdue_answers(event.at_ms)
        super().check_at_end(event, metrics)


class TasksGivenOnce(Rule):
    """P2.  A task whose attempt failed, or whose output was lost, may be given again."""

    id = "P2"
    architectures = RESERVING
    says = "no task is given to a node while another one has it, or once it is done"

    def handlers(self) -> Handlers:
        return {ev.AttemptLaunched: self._check_launch}

    def _check_launch(self, event: ev.AttemptLaunched) -> None:
        if event.stage >= SETUP:
            return
        self.times += 1
        task = self.tasks.task(event)
        if task.open or task.valid:
            raise self.violation(event, "the task was given before", task)
