"""Bugs in Sparrow, Hawk and Eagle that rules P1 to P4 and P6 catch."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from callboard.actors.books.attempts import BookedAttempt
from callboard.actors.books.job_tasks import BookedJob
from callboard.actors.books.ledger import Ledger
from callboard.actors.books.members import BookedNode
from callboard.actors.config import Cluster, Tasks
from callboard.actors.hawk.hawk_messages import ShortProbe
from callboard.actors.hawk.mixed_queues import MixedQueues
from callboard.actors.hawk.short_partition import ShortPartition
from callboard.actors.injector import ScheduledFault
from callboard.actors.kernel.address import node_address
from callboard.actors.kernel.message import NO_CAUSE
from callboard.actors.sparrow.asked_frontend import AskedFrontend
from callboard.actors.sparrow.probe_messages import GetTask, NoTask
from callboard.actors.sparrow.reservations import HeldReservations, Reservation, Reservations
from callboard.actors.sparrow.sampling import Sample
from callboard.actors.vocabulary import faults
from callboard.experiments.run.simulation import Simulation
from callboard.journal.checks.checker import Checker
from callboard.journal.checks.findings import Violation
from callboard.scheduler.model import MAP, SlotKind, Stage
from tests.support.world import job, play, spec_of

Patch = pytest.MonkeyPatch

SMALL = Cluster(nodes=4, racks=1, map_slots=1, reduce_slots=1, latency_ms=5)
PLAIN = Tasks(rack_factor=1, off_rack_factor=1)

JOBS = [
    job(0, maps=3, map_ms=100_000),
    *(job(n, maps=3, map_ms=5000 + 1000 * n, submit_ms=3000 * n) for n in range(1, 8)),
]
"""A long job, by the cutoff of these tests, and short ones that wait behind it."""

SPARROW = "sparrow(cancellation=false,schedulers=2)"
PER_TASK, BATCH = 'sparrow(placement="per-task")', 'sparrow(placement="batch",probes=1.2)'
HAWK = "hawk(cutoff=50,short=25%)"
EAGLE = "eagle(cutoff=50,short=25%,minimum=4)"


def answered_twice(monkeypatch: Patch) -> None:
    """A node that gets a task is told as well that there is none."""
    rightly = AskedFrontend.answer_question

    def wrongly(self: AskedFrontend, ask: GetTask, cause: int) -> int | None:
        event = rightly(self, ask, cause)
        if event is not None:
            self.send(node_address(ask.node), NoTask(ask.job, ask.stage), cause, 5)
        return event

    monkeypatch.setattr(AskedFrontend, "answer_question", wrongly)


def not_answered(monkeypatch: Patch) -> None:
    """Nothing is said when no task is left."""
    rightly = AskedFrontend.answer_question

    def wrongly(self: AskedFrontend, ask: GetTask, cause: int) -> int | None:
        return rightly(self, ask, cause) if self.tasks_left(ask.job, ask.stage) else None

    monkeypatch.setattr(AskedFrontend, "answer_question", wrongly)


def asked_twice(monkeypatch: Patch) -> None:
    """A reservation that is asked for stays in the queue."""

    def wrongly(self: Reservations, kind: SlotKind) -> HeldReservations:
        return self._queues[kind][0]

    for queues in (Reservations, MixedQueues):
        monkeypatch.setattr(queues, "take", wrongly)


def kept_by_the_victim(monkeypatch: Patch) -> None:
    """What is stolen waits on where it was as well."""
    rightly = MixedQueues.drop

    def wrongly(self: MixedQueues, held: HeldReservations, kind: SlotKind, count: int) -> None:
        if count == 1 or held.long:
            rightly(self, held, kind, count)

    monkeypatch.setattr(MixedQueues, "drop", wrongly)


def returned_twice(monkeypatch: Patch) -> None:
    """A sticky reservation waits twice when its task has ended."""
    rightly = MixedQueues._wait_again

    def wrongly(self: MixedQueues, held: HeldReservations, kind: SlotKind) -> None:
        rightly(self, held, kind)
        held.count += 1

    monkeypatch.setattr(MixedQueues, "_wait_again", wrongly)


def refused_and_kept(monkeypatch: Patch) -> None:
    """A node refuses a probe, and asks for tasks all the same."""
    rightly = MixedQueues._refuse

    def wrongly(self: MixedQueues, probe: ShortProbe, kind: SlotKind) -> None:
        rightly(self, probe, kind)
        reservation = Reservation(probe.job, probe.stage, probe.scheduler, probe.place, NO_CAUSE)
        self._queue_reservations(reservation, probe.count, probe.estimate_ms, probe.left)

    monkeypatch.setattr(MixedQueues, "_refuse", wrongly)


def given_and_kept(monkeypatch: Patch) -> None:
    """A task that is given to a node is pending as before."""
    rightly = Ledger.launch_task

    def wrongly(self: Ledger, entry: BookedJob, stage: Stage, member: BookedNode) -> BookedAttempt:
        attempt = rightly(self, entry, stage, member)
        entry.tasks[stage].give_back(attempt.task)
        return attempt

    monkeypatch.setattr(Ledger, "launch_task", wrongly)


def one_is_lost(monkeypatch: Patch) -> None:
    """Of the first two that wait for a slot, one is forgotten; enough others bring the tasks."""
    lost: list[object] = []
    rightly = Reservations.serve

    def wrongly(self: Reservations, kind: SlotKind, cause: int) -> None:
        rightly(self, kind, cause)
        waiting = self._queues[MAP]
        if len(waiting) > 1 and not lost:
            lost.append(waiting.pop())

    monkeypatch.setattr(Reservations, "serve", wrongly)


def nothing_is_closed(monkeypatch: Patch) -> None:
    """Long tasks go to any node."""
    monkeypatch.setattr(ShortPartition, "nodes_open_to_long", ShortPartition.nodes_with_slots)
    monkeypatch.setattr(ShortPartition, "is_open_to_long", lambda *_: True)


def longest_first(monkeypatch: Patch) -> None:
    """Tasks go to the nodes with the longest queues."""
    rightly = Sample.least_loaded

    def wrongly(self: Sample) -> list[int]:
        return rightly(replace(self, loads={place: -load for place, load in self.loads.items()}))

    monkeypatch.setattr(Sample, "least_loaded", wrongly)


def places_for_nodes(monkeypatch: Patch) -> None:
    """A task goes to the node whose number is the place of the right one in the sample."""
    rightly = Sample.least_loaded

    def wrongly(self: Sample) -> list[int]:
        return [self.nodes.index(node) for node in rightly(self)]

    monkeypatch.setattr(Sample, "least_loaded", wrongly)


def one_too_many(monkeypatch: Patch) -> None:
    """A sample that was asked for one task brings two."""
    rightly = Sample.least_loaded

    def wrongly(self: Sample) -> list[int]:
        return rightly(self) * 2

    monkeypatch.setattr(Sample, "least_loaded", wrongly)


EVERY_QUESTION = "cancellation=false,srpt=false"
"""All reservations are asked for in the end."""

BUGS = [
    (answered_twice, "sparrow", "P1"),
    (not_answered, SPARROW, "P1"),
    (not_answered, HAWK, "P1"),
    (asked_twice, SPARROW, "P1"),
    (asked_twice, HAWK, "P1"),
    (kept_by_the_victim, HAWK, "P1"),
    (returned_twice, f"eagle(cutoff=50,short=25%,minimum=4,{EVERY_QUESTION})", "P1"),
    (refused_and_kept, f"eagle(cutoff=50,short=25%,sticky=false,{EVERY_QUESTION})", "P1"),
    (given_and_kept, SPARROW, "P2"),
    (given_and_kept, HAWK, "P2"),
    (given_and_kept, EAGLE, "P2"),
    (one_is_lost, "sparrow(schedulers=2)", "P3"),
    (one_is_lost, HAWK, "P3"),
    (nothing_is_closed, HAWK, "P4"),
    (nothing_is_closed, EAGLE, "P4"),
    (longest_first, PER_TASK, "P6"),
    (places_for_nodes, PER_TASK, "P6"),
    (one_too_many, PER_TASK, "P6"),
]


@pytest.mark.parametrize(("bug", "policy", "rule"), BUGS)
def test_the_bug_is_caught(
    bug: Callable[[Patch], None], policy: str, rule: str, monkeypatch: Patch
) -> None:
    bug(monkeypatch)
    with pytest.raises(Violation) as found:
        play(JOBS, policy, cluster=SMALL, tasks=PLAIN, recount=False)
    assert found.value.rule == rule


@pytest.mark.parametrize("policy", ["sparrow", SPARROW, HAWK, EAGLE])
def test_without_a_bug_both_rules_look_and_find_nothing(policy: str) -> None:
    checker = Checker()
    spec = replace(spec_of(JOBS, cluster=SMALL, tasks=PLAIN), policy=policy)
    Simulation(spec, onlookers=[checker]).run()
    times = {each.rule: each.times for each in checker.report()}
    assert times["P1"] >= times["P2"] == 24


@pytest.mark.parametrize("at_ms", [17, 1, 3, 6, 8])
def test_a_node_that_stands_still_is_answered_when_it_goes_on(at_ms: int) -> None:
    """Its questions are open for longer than a latency, which breaks nothing (P1), be it that they
    are heard when it stands still already.
    """
    script = [
        ScheduledFault(at_ms, faults.PauseNode(0)),
        ScheduledFault(60_000, faults.ResumeNode(0)),
    ]
    run = play(JOBS, HAWK, cluster=SMALL, tasks=PLAIN, script=script)
    assert any(each.node == 0 for each in run.launches())


@pytest.mark.parametrize("policy", [PER_TASK, BATCH])
def test_each_task_that_a_probed_node_gets_is_looked_at(policy: str) -> None:
    checker = Checker()
    spec = replace(spec_of(JOBS, cluster=SMALL, tasks=PLAIN), policy=policy)
    Simulation(spec, onlookers=[checker]).run()
    assert {each.rule: each.times for each in checker.report()}["P6"] == 24


def test_where_tasks_are_sent_without_a_question_there_is_none_to_look_at() -> None:
    checker = Checker()
    policy = 'sparrow(placement="random")'
    spec = replace(spec_of(JOBS, cluster=SMALL), policy=policy)
    Simulation(spec, onlookers=[checker]).run()
    found = {each.rule: each.times for each in checker.report()}
    assert (found["P1"], found["P2"]) == (0, 24)


def test_the_central_master_is_told_of_no_rule_of_another_family() -> None:
    checker = Checker()
    Simulation(spec_of(JOBS[:1]), onlookers=[checker]).run()
    assert [each.rule for each in checker.report()] == [f"S{n}" for n in range(1, 16)]
