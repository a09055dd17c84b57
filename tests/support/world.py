"""A small world for a test: assemble it, play it, keep every event."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import msgspec

from callboard.actors.central.central import Central
from callboard.actors.central.heartbeats import Talk
from callboard.actors.central.master import Master
from callboard.actors.config import Cluster, Heartbeats, Tasks, node_facts
from callboard.actors.injector import ScheduledFault
from callboard.actors.job_spec import JobSpec, TasksOfStages
from callboard.actors.kernel.drivers import run_direct
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.kernel.message import NO_CAUSE
from callboard.actors.several_schedulers import SeveralSchedulers
from callboard.actors.vocabulary.events import (
    AnyEvent,
    AttemptClosed,
    AttemptLaunched,
    Event,
    RunEnded,
    RunStarted,
)
from callboard.experiments.run.plugins import load_architecture, load_policy
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.simulation import Simulation
from callboard.journal.checks.checker import Checker
from callboard.scenarios.listed_jobs import ListedWorkload
from callboard.scenarios.scenario_file import Scenario
from callboard.scheduler.model import JobId, Millis, NodeId, Priority, SlotKind
from callboard.scheduler.policy import Policy
from tests.support import sometimes
from tests.support.ledger_check import check_sums

E = TypeVar("E", bound=Event)

IN_STEP = Heartbeats(phase_grid_ms=3000)
"""Every node's first heartbeat at 0, so that a test can be worked by hand."""


def job(
    number: JobId,
    maps: int = 1,
    map_ms: Millis = 10_000,
    *,
    submit_ms: Millis = 0,
    reduces: int = 0,
    shuffle_ms: Millis = 0,
    reduce_ms: Millis = 0,
    priority: Priority = Priority.NORMAL,
    user: str = "user",
    factors: tuple[tuple[str, float], ...] = (),
    poisoned: TasksOfStages = ((), ()),
) -> JobSpec:
    """A job with defaults for what a test does not care about."""
    return JobSpec(
        job=number,
        name=f"j{number}",
        submit_ms=submit_ms,
        maps=maps,
        map_ms=map_ms,
        reduces=reduces,
        shuffle_ms=shuffle_ms,
        reduce_ms=reduce_ms,
        priority=priority,
        user=user,
        factors=factors,
        poisoned=poisoned,
    )


class PlayedRun:
    """A run, and what its journal says between its first event and its last."""

    def __init__(self, simulation: Simulation, events: list[AnyEvent]) -> None:
        self.kernel = simulation.kernel
        self.events = events
        self.architecture = simulation.architecture

    def all(self, kind: type[E]) -> list[E]:
        """The events of one type, in order."""
        return [event for event in self.events if type(event) is kind]

    def launches(self, kind: SlotKind | None = None) -> list[AttemptLaunched]:
        """The launches, of both kinds or of one."""
        return [e for e in self.all(AttemptLaunched) if kind is None or e.kind is kind]

    @property
    def master(self) -> Master:
        """The master as the run left it."""
        assert isinstance(self.architecture, Central)
        return self.architecture.master

    def check_sums(self) -> None:
        """Recount the books of every scheduler."""
        if isinstance(self.architecture, Central):
            check_sums(self.architecture.master.ledger)
        elif isinstance(self.architecture, SeveralSchedulers):
            for each in self.architecture.frontends:
                check_sums(each.ledger)

    def talk(self, node: NodeId) -> Talk:
        """The master's side of its dialogue with a node."""
        talk = self.master.heartbeats.talk(node)
        assert talk is not None
        return talk


def spec_of(
    jobs: Sequence[JobSpec],
    *,
    cluster: Cluster | None = None,
    tasks: Tasks | None = None,
    seed: int = 1,
    script: Sequence[ScheduledFault] = (),
    until_ms: Millis | None = None,
    tie_order: int | None = None,
) -> RunSpec:
    """These jobs on a cluster of one node, unless it is said otherwise, under FIFO."""
    scenario = Scenario(
        name="test",
        cluster=cluster or Cluster(nodes=1, racks=1, heartbeat=IN_STEP),
        tasks=tasks or Tasks(),
        seed=seed,
        workload=ListedWorkload(job=()),
    )
    return RunSpec(scenario, tuple(jobs), tuple(script), "fifo", until_ms, tie_order)


def play(
    jobs: Sequence[JobSpec],
    policy: str | Policy = "fifo",
    *,
    cluster: Cluster | None = None,
    tasks: Tasks | None = None,
    seed: int = 1,
    host: Callable[[Kernel], None] = run_direct,
    until_ms: Millis | None = None,
    tie_order: int | None = None,
    script: Sequence[ScheduledFault] = (),
    recount: bool = True,
) -> PlayedRun:
    """Run the jobs to the end, held against every rule, and recount the schedulers' books after
    every closed attempt.
    """
    made = load_architecture(policy) if isinstance(policy, str) else Central(policy, load_policy)
    spec = spec_of(
        jobs,
        cluster=cluster,
        tasks=tasks,
        seed=seed,
        script=script,
        until_ms=until_ms,
        tie_order=tie_order,
    )
    checker = Checker()
    events: list[AnyEvent] = []

    def listen(event: AnyEvent) -> None:
        sometimes.notice(event, checker)
        if not isinstance(event, RunStarted | RunEnded):
            events.append(event)
        if recount and type(event) is AttemptClosed:
            played.check_sums()

    simulation = Simulation(spec, [listen], architecture=made, onlookers=[checker])
    played = PlayedRun(simulation, events)
    simulation.run(host)
    played.check_sums()
    return played


def uncaused(events: Iterable[Event]) -> list[Event]:
    """The same events without their causes, for runs whose events have other numbers."""
    return [msgspec.structs.replace(event, cause=NO_CAUSE) for event in events]


def header(cluster: Cluster, tasks: Tasks, seed: int = 1) -> RunStarted:
    """The first event of such a run."""
    tables = {"cluster": msgspec.to_builtins(cluster), "tasks": msgspec.to_builtins(tasks)}
    return RunStarted(0, "0", "test", "test", seed, tables, node_facts(cluster))
