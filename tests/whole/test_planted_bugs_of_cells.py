"""Rules O1 to O3 are broken here by bugs in the state of a cell, its schedulers and its allocator.

The bugs are those that such a system could really have: a dimension that is not looked at, room
given back twice, a conflict that is not noticed, an offer that is not locked.
"""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from callboard.actors.config import Cluster, Tasks
from callboard.actors.job_spec import JobSpec
from callboard.actors.kernel.kernel import KernelError
from callboard.actors.omega.allocator import Allocator
from callboard.actors.omega.cell_holder import CellKeeper
from callboard.actors.omega.cell_messages import AllocationDue, AnswerOffer, Release
from callboard.actors.omega.cell_state import CellState, Claim, CommitResult
from callboard.actors.omega.monolithic_scheduler import MonolithicScheduler
from callboard.actors.omega.omega_scheduler import OmegaScheduler
from callboard.actors.omega.thinking import ThinkingScheduler, Thought, UnplacedStage
from callboard.journal.checks.findings import Violation
from callboard.scheduler.model import NodeId
from callboard.scheduler.resources import Vector
from tests.support.outbox import replace_answer
from tests.support.world import PlayedRun, job, play

Patch = pytest.MonkeyPatch

ROOMY = Cluster(nodes=3, racks=1, map_slots=6, latency_ms=1, capacity={"memory": 4})
MEMORY = ((("memory", 1),), ())
JOBS = [
    replace(job(n, maps=6, map_ms=3000, submit_ms=10 * n), demands=MEMORY, pool=pool)
    for n, pool in enumerate(["", "service", "", "", "service", ""])
]
OMEGA = "omega(schedulers=2,t_job=1,service_t_job=2)"


RIVALS = [
    replace(job(n, maps=6, map_ms=60_000, submit_ms=750 * n), demands=MEMORY, pool=pool)
    for n, pool in enumerate(["service", "service", "", ""])
]
"""Batch jobs come while a scheduler thinks about Service jobs that fill the cell."""


def played(policy: str, jobs: Sequence[JobSpec] = JOBS) -> PlayedRun:
    return play(jobs, policy, cluster=ROOMY, tasks=Tasks(), recount=False)


def memory_is_not_looked_at(patch: Patch) -> None:
    """Slots are, so all but one dimension would be kept."""

    def has_room(self: CellState, node: NodeId, demand: Vector) -> bool:
        return demand[:2] <= self.free[node][:2]

    patch.setattr(CellState, "has_room", has_room)


def room_is_given_back_twice(patch: Patch) -> None:
    """By the cell's state, which hears of each end."""
    rightly = CellKeeper.on_release

    def twice(self: CellKeeper, release: Release) -> None:
        rightly(self, release)
        rightly(self, release)

    replace_answer(patch, Release, twice, CellKeeper)


def room_is_given_back_at_the_launch(patch: Patch) -> None:
    """And not kept until the task has ended."""
    rightly = MonolithicScheduler._launch_on

    def hasty(
        self: MonolithicScheduler, stage: UnplacedStage, nodes: Sequence[NodeId], event: int
    ) -> None:
        rightly(self, stage, nodes, event)
        for node in nodes:
            self.release(node, stage.demand)

    patch.setattr(MonolithicScheduler, "_launch_on", hasty)


def conflicts_are_not_noticed(patch: Patch) -> None:
    """The state of the cell lets every claim pass, and books what there is not."""

    def claim(self: CellState, node: NodeId, demand: Vector) -> Claim:
        self.free[node] = tuple(a - b for a, b in zip(self.free[node], demand, strict=True))
        return node, 0

    patch.setattr(CellState, "is_conflicting", lambda *_: False)
    patch.setattr(CellState, "claim", claim)


def the_allocator_locks_nothing(patch: Patch) -> None:
    """What one framework was offered is offered to the other too."""
    make_offer, answer = Allocator.on_allocation_due, Allocator.on_answer_offer

    def unlocked(self: Allocator, due: AllocationDue) -> None:
        before = set(self.offers)
        make_offer(self, due)
        for offer in self.offers.keys() - before:
            for node, each in self.offers[offer][1]:
                self.cell.release(node, each)

    def answered(self: Allocator, told: AnswerOffer) -> None:
        self.offers[told.offer] = (told.scheduler, (), 0)
        answer(self, told)

    replace_answer(patch, AllocationDue, unlocked, Allocator)
    replace_answer(patch, AnswerOffer, answered, Allocator)


def an_end_is_not_told(patch: Patch) -> None:
    """So that its room is lost to the cell."""
    patch.setattr(OmegaScheduler, "release", lambda *_: None)


def conflicts_are_launched(patch: Patch) -> None:
    """The scheduler launches on all nodes that it has claimed."""
    rightly = ThinkingScheduler._launch_on
    conflicted: list[NodeId] = []

    def conclude(self: OmegaScheduler, thought: Thought, verdict: CommitResult) -> int:
        conflicted[:] = verdict.conflicted
        return rightly_concluded(self, thought, verdict)

    def launch_on(
        self: OmegaScheduler, stage: UnplacedStage, nodes: Sequence[NodeId], event: int
    ) -> None:
        rightly(self, stage, [*conflicted, *nodes], event)

    rightly_concluded = ThinkingScheduler.conclude
    patch.setattr(OmegaScheduler, "conclude", conclude)
    patch.setattr(OmegaScheduler, "_launch_on", launch_on)


def tasks_go_to_the_next_node(patch: Patch) -> None:
    """Not to the one whose claim was committed."""
    rightly = ThinkingScheduler._launch_on

    def elsewhere(
        self: ThinkingScheduler, stage: UnplacedStage, nodes: Sequence[NodeId], event: int
    ) -> None:
        rightly(self, stage, [(node + 1) % 3 for node in nodes], event)

    patch.setattr(ThinkingScheduler, "_launch_on", elsewhere)


def a_second_claim_conflicts(patch: Patch) -> None:
    """Of two claims of one scheduler on one node the second does not hold, though it fits."""

    def commit(self: CellState, claims: Sequence[Claim], demand: Vector, *how: Any) -> CommitResult:
        result = rightly(self, list({node: (node, n) for node, n in claims}.values()), demand, *how)
        twice = [node for node, _ in claims]
        for node in {*twice}:
            twice.remove(node)
        return CommitResult(result.committed, (*result.conflicted, *twice))

    rightly = CellState.commit
    patch.setattr(CellState, "commit", commit)


PLANTED: list[tuple[Callable[[Patch], None], str, str]] = [
    (memory_is_not_looked_at, OMEGA, "O1"),
    (memory_is_not_looked_at, "monolithic", "O1"),
    (memory_is_not_looked_at, "mesos", "O1"),
    (room_is_given_back_twice, OMEGA, "O1"),
    (room_is_given_back_at_the_launch, "monolithic", "O1"),
    (conflicts_are_not_noticed, OMEGA, "O1"),
    (an_end_is_not_told, OMEGA, "O1"),
    (conflicts_are_launched, OMEGA, "O2"),
    (tasks_go_to_the_next_node, "monolithic", "O2"),
    (tasks_go_to_the_next_node, "mesos", "O2"),
    (a_second_claim_conflicts, "omega", "O3"),
]


@pytest.mark.parametrize(("plant", "policy", "rule"), PLANTED)
def test_a_planted_bug_breaks_its_rule(
    plant: Callable[[Patch], None], policy: str, rule: str, monkeypatch: Patch
) -> None:
    plant(monkeypatch)
    with pytest.raises(Violation) as found:
        played(policy)
    assert found.value.rule == rule


def test_o1_an_offer_that_is_not_locked_is_taken_twice(monkeypatch: Patch) -> None:
    """The allocator itself stops when it is to commit what there is not."""
    the_allocator_locks_nothing(monkeypatch)
    with pytest.raises((KernelError, Violation), match="O1"):
        played("mesos(service_t_job=3)", RIVALS)


@pytest.mark.parametrize("policy", [OMEGA, "monolithic", "mesos", "mesos(service_t_job=3)"])
def test_the_same_run_without_a_bug_breaks_none(policy: str) -> None:
    assert played(policy).events
    assert played(policy, RIVALS).events
