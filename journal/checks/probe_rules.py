"""What becomes of reservations, and where tasks may go: Sparrow, Hawk and Eagle (P3 to P6)."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import msgspec

from callboard.actors.contact import MAY_SILENCE
from callboard.actors.hawk.hawk_messages import LongPlaced, ProbeRejected, ShortProbe
from callboard.actors.kernel.probes import Probe
from callboard.actors.sparrow.probe_messages import (
    CancelTaskReservations,
    EnqueueTaskReservations,
    NoTask,
)
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary import messages as msg
from callboard.actors.vocabulary.events import NodeFacts
from callboard.journal.checks.reservation_rules import ReservationRule
from callboard.journal.checks.rule import Handlers, Rule, RunFacts
from callboard.journal.figures.metrics import Metrics
from callboard.scheduler.model import JobId, Millis, NodeId, Stage, scheduler_of_attempt, slot_kind
from callboard.scheduler.reasons import Reason

OfStage: TypeAlias = tuple[JobId, Stage]


class ReservationsAreKept(ReservationRule):
    """P3.  Counted at nodes, at the end of a run in which no node or scheduler was lost, silent or
    out of reach; of stages about which nothing is under way any more.
    """

    id = "P3"
    says = "each reservation brings an answer, is refused or taken back, or waits, wherever it is"
    idle = "seen at the end of live runs in which nothing is lost"

    def begin(self, run_facts: RunFacts) -> None:
        super().begin(run_facts)
        self._left: Counter[OfStage] = Counter()
        """How many should wait, or have been asked for."""
        self._came: Counter[OfStage] = Counter()
        self._last_ms: dict[OfStage, Millis] = {}
        self._is_disturbed = False
        self._looks: dict[type[msgspec.Struct], Callable[[Any, Any], None]] = {
            **dict.fromkeys((EnqueueTaskReservations, ShortProbe, LongPlaced), self._count_probe),
            ProbeRejected: self._uncount_refused,
            msg.LaunchTask: self._uncount_answered,
            NoTask: self._uncount_answered,
            CancelTaskReservations: self._uncount_taken_back,
            msg.AttemptFinished: self._count_sticky_again,
        }

    def handlers(self) -> Handlers:
        return {ev.FaultStruck: self._note_disturbance}

    def _note_disturbance(self, event: ev.FaultStruck) -> None:
        if isinstance(event.fault, (*MAY_SILENCE, faults.SchedulerFault)):
            self._is_disturbed = True

    def before_message(self, actor: Any, message: Any) -> None:
        look = self._looks.get(type(message))
        if look is not None:
            look(actor, message)

    def _change_expected_count(self, actor: Any, of: OfStage, more: int) -> None:
        self._left[of] += more
        self._last_ms[of] = actor.now_ms

    def _count_probe(
        self, node: Any, probe: EnqueueTaskReservations | ShortProbe | LongPlaced
    ) -> None:
        self._came[probe.job, probe.stage] += probe.count
        self._change_expected_count(node, (probe.job, probe.stage), probe.count)

    def _uncount_refused(self, scheduler: Any, rejected: ProbeRejected) -> None:
        self._change_expected_count(scheduler, (rejected.job, rejected.stage), -rejected.count)

    def _uncount_answered(self, node: Any, answer: msg.LaunchTask | NoTask) -> None:
        self._change_expected_count(node, (answer.job, answer.stage), -1)

    def _uncount_taken_back(self, node: Any, cancel: CancelTaskReservations) -> None:
        of = cancel.job, cancel.stage
        self._change_expected_count(
            node, of, -_reservations_in_queue(node.dialogue, slot_kind(cancel.stage))[of]
        )

    def _count_sticky_again(self, node: Any, over: msg.AttemptFinished) -> None:
        """A sticky reservation is kept when it has brought a task."""
        if not self._sticky:
            return
        held = node.dialogue._serving.get(over.report.attempt)
        if held is not None and not held.long and not held.taken_back:
            self._change_expected_count(node, held.job_stage, 1)

    def check_at_end(self, event: ev.RunEnded, metrics: Metrics) -> None:  # noqa: ARG002
        if self._is_disturbed or not self._came:
            return
        there = Counter[OfStage]()
        for node in self._nodes:
            there.update(_reservations_at_node(node.dialogue))
        quiet_ms = event.at_ms - 4 * self.run_facts.latency_ms - 1
        for of in [each for each, at_ms in self._last_ms.items() if at_ms < quiet_ms]:
            self.times += 1
            if there[of] != self._left[of]:
                told = f"{self._left[of]} of {self._came[of]} should be there, and {there[of]} are"
                raise self.violation(event, f"reservations of job-{of[0]}, stage {of[1]}: {told}")


def _reservations_in_queue(dialogue: Any, kind: int) -> Counter[OfStage]:
    waiting: Counter[OfStage] = Counter()
    for each in dialogue._queues[kind]:
        waiting[each.job_stage] += each.count
    return waiting


def _reservations_at_node(dialogue: Any) -> Iterator[OfStage]:
    """What waits at a node, and what it has asked for."""
    for kind in range(len(dialogue._queues)):
        yield from _reservations_in_queue(dialogue, kind).elements()
    for held in dialogue._asked:
        yield held.job_stage


class LongTasksStayOut(Rule):
    """P4.  Of the jobs that the scheduler of long jobs places: its number is behind all others."""

    id = "P4"
    architectures = ("hawk", "eagle")
    says = "no long task goes to a node that is closed to long tasks"
    idle = "no long job was placed"

    def begin(self, run_facts: RunFacts) -> None:
        super().begin(run_facts)
        short = getattr(run_facts.params, "short", None)
        self._closed = (
            frozenset[NodeId]()
            if short is None
            else _nodes_closed_to_long_tasks(run_facts.nodes, short)
        )
        central = getattr(run_facts.params, "central", False)
        self._number = getattr(run_facts.params, "schedulers", 0) + 1 if central else None

    def handlers(self) -> Handlers:
        return {
            ev.ReservationsSent: self._check_long_placement,
            ev.AttemptLaunched: self._check_launch,
        }

    def _check_long_placement(self, event: ev.ReservationsSent) -> None:
        if event.long:
            self.times += 1
            for node in self._closed.intersection(event.nodes):
                raise self.violation(event, f"node-{node} is closed to long tasks")

    def _check_launch(self, event: ev.AttemptLaunched) -> None:
        if scheduler_of_attempt(event.attempt) == self._number:
            self.times += 1
            if event.node in self._closed:
                raise self.violation(event, f"node-{event.node} is closed to long tasks")


class TasksRunOnAllowedNodes(Rule, Probe):
    """P5.  Of the jobs that say to a scheduler on which types of node alone they may run."""

    id = "P5"
    architectures = ("sparrow",)
    says = "no task is given to a node on which its job may not run"
    idle = "no job said beside a live scheduler that it may not run anywhere"

    def begin(self, run_facts: RunFacts) -> None:
        super().begin(run_facts)
        self._types: dict[JobId, tuple[str, ...]] = {}

    def before_message(self, actor: Any, message: Any) -> None:  # noqa: ARG002
        if isinstance(message, msg.SubmitStage) and message.profile.only_on:
            self._types[message.job] = message.profile.only_on

    def handlers(self) -> Handlers:
        return {ev.AttemptLaunched: self._check_launch}

    def _check_launch(self, event: ev.AttemptLaunched) -> None:
        types = self._types.get(event.job)
        if types is not None:
            self.times += 1
            if self.run_facts.nodes[event.node].node_type not in types:
                raise self.violation(event, f"job-{event.job} may run only on {', '.join(types)}")


class ShortestQueuesAreTaken(Rule):
    """P6.  Of the nodes that are probed together those that tell the least loads get the tasks, one
    each as far as there are as many (SOSP 2013, §4.1).
    """

    id = "P6"
    architectures = ("sparrow",)
    says = "a task goes to a node that was probed for it, and to none that told more than others"
    idle = "no node was asked how much waits there"

    def begin(self, run_facts: RunFacts) -> None:
        super().begin(run_facts)
        self._samples: dict[tuple[int, int], Sequence[NodeId]] = {}
        """The nodes of each scheduler's samples that are not answered, by number."""
        self._answers: dict[OfStage, ev.ProbesAnswered] = {}
        """What was told last for a stage."""
        self._given: Counter[OfStage] = Counter()
        """How many tasks have a node since."""

    def handlers(self) -> Handlers:
        return {
            ev.NodesProbed: self._note_sample,
            ev.ProbesAnswered: self._note_loads_told,
            ev.AttemptLaunched: self._check_launch,
        }

    def _note_sample(self, event: ev.NodesProbed) -> None:
        self._samples[event.scheduler, event.sample] = event.nodes

    def _note_loads_told(self, event: ev.ProbesAnswered) -> None:
        asked = self._samples.pop((event.scheduler, event.sample), ())
        if asked != event.nodes:
            raise self.violation(event, "the nodes are not those that were asked")
        self._answers[event.job, event.stage] = event
        self._given[event.job, event.stage] = 0

    def _check_launch(self, event: ev.AttemptLaunched) -> None:
        if event.why.reason is not Reason.SHORT_QUEUE:
            return
        self.times += 1
        of = event.job, event.stage
        told, what = self._answers.get(of), f"node-{event.node} was given a task of job-{event.job}"
        if told is None or told.at_ms != event.at_ms or event.node not in told.nodes:
            raise self.violation(event, f"{what} and had not been probed for it")
        self._given[of] += 1
        if self._given[of] > told.tasks:
            raise self.violation(
                event, f"{what}, the {self._given[of]}th for {told.tasks} probed for"
            )
        load = told.loads[told.nodes.index(event.node)]
        least = sorted(each for each in told.loads if each is not None)[: told.tasks]
        if load is None or load > least[-1]:
            raise self.violation(event, f"{what} and told {load}; {least[-1]} would have done")


def _nodes_closed_to_long_tasks(nodes: Sequence[NodeFacts], short: float) -> frozenset[NodeId]:
    """The first of the nodes, but for those that alone have slots of a kind."""
    end = int(Fraction(str(short)) * len(nodes))
    others = [(each.map_slots, each.reduce_slots) for each in nodes[end:]]
    there = [any(slots) for slots in zip(*others, strict=True)] or [False, False]
    return frozenset(
        each.node
        for each in nodes[:end]
        if (there[0] or not each.map_slots) and (there[1] or not each.reduce_slots)
    )
