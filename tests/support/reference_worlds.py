"""Worlds drawn for the reference cluster, and what the simulator makes of the same ones."""

from fractions import Fraction
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from callboard.actors.config import Cluster, Heartbeats, Tasks
from callboard.actors.job_spec import JobSpec
from callboard.actors.kernel.streams import Stream
from callboard.actors.placement import Placement
from callboard.actors.vocabulary.events import AnyEvent, AttemptEnded, AttemptLaunched
from callboard.experiments.run_spec import RunSpec
from callboard.experiments.simulation import Simulation
from callboard.fairness.drawing.declared_values import DeclaredValues
from callboard.scenarios.build import node_facts
from callboard.scenarios.listed_jobs import ListedWorkload
from callboard.scenarios.scenario_file import Scenario
from callboard.scheduler.model import Priority
from tests.support.reference_cluster import (
    GivenCluster,
    GivenJob,
    GivenNode,
    Ran,
    ReferenceCluster,
)

PolicyName = Literal["fifo", "fair"]


class CalmWorld(NamedTuple):
    """A world without faults or chance, under a policy that the reference knows."""

    spec: RunSpec
    policy: PolicyName


def draw_calm_world(seed: int) -> CalmWorld:
    """The world of this seed."""
    values = DeclaredValues(np.random.default_rng([seed, 2]))
    nodes = values.one_of((1, 2, 3, 4, 6))
    heartbeats = Heartbeats(
        interval_ms=values.one_of((None, 200, 1000, 3333)),
        phase_grid_ms=values.one_of((1, 100, 3000)),
        tasks_per_heartbeat=values.one_of(("many", "many", "one")),
        send=values.one_of(("needed", "all")),
    )
    cluster = Cluster(
        nodes=nodes,
        racks=min(nodes, values.one_of((1, 2, 3))),
        map_slots=values.one_of((1, 2, 3, 4)),
        reduce_slots=values.one_of((1, 2)),
        latency_ms=values.one_of((1, 7, 50)),
        replication=values.one_of((1, 2, 3)),
        heartbeat=heartbeats,
    )
    tasks = Tasks(slowstart=values.one_of((0.0, 0.05, 0.5, 1.0)))
    jobs = [_draw_job(values, number) for number in range(values.one_of((1, 2, 3, 5, 8)))]
    jobs.sort(key=lambda job: job.submit_ms)
    specs = tuple(
        msgspec.structs.replace(job, job=number, name=f"j{number}")
        for number, job in enumerate(jobs)
    )
    scenario = Scenario(
        name="calm", cluster=cluster, tasks=tasks, seed=seed, workload=ListedWorkload(job=())
    )
    policy: PolicyName = values.one_of(("fifo", "fair"))
    return CalmWorld(RunSpec(scenario, specs, (), policy), policy)


def _draw_job(values: DeclaredValues, number: int) -> JobSpec:
    maps = values.one_of((1, 2, 3, 7, 20))
    return JobSpec(
        job=number,
        name=f"j{number}",
        submit_ms=500 * int(values.rng.integers(80)) + values.one_of((0, 0, 1, 7)),
        maps=maps,
        map_ms=4 * values.one_of((1, 250, 750, 1752, 5000)),
        reduces=values.one_of((0, 0, 1, 3)),
        shuffle_ms=maps * values.one_of((0, 10, 600)),
        reduce_ms=values.one_of((0, 500, 3000)),
        priority=values.one_of(tuple(Priority)),
    )


def by_the_reference(world: CalmWorld) -> list[Ran]:
    """What the reference makes of it; placements and first heartbeats are the simulator's draws."""
    scenario, jobs = world.spec.scenario, world.spec.jobs
    cluster, tasks = scenario.cluster, scenario.tasks
    rules = cluster.heartbeat
    facts = node_facts(cluster)
    interval_ms = rules.period_ms(len(facts))
    phases = Stream(scenario.seed, "phase")
    steps = max(interval_ms // rules.phase_grid_ms, 1)
    placement = Placement(
        scenario.seed,
        nodes=len(facts),
        topology=cluster.topology(),
        replication=cluster.replication,
    )
    given = GivenCluster(
        nodes=tuple(
            GivenNode(
                (node.map_slots, node.reduce_slots),
                node.rack,
                phases.below(steps, node.node) * rules.phase_grid_ms,
            )
            for node in facts
        ),
        interval_ms=interval_ms,
        latency_ms=cluster.latency_ms,
        slowstart=Fraction(str(tasks.slowstart)),
        factors=(
            Fraction(1),
            Fraction(str(tasks.rack_factor)),
            Fraction(str(tasks.off_rack_factor)),
        ),
        one_each=rules.tasks_per_heartbeat == "one",
    )
    given_jobs = [
        GivenJob(
            submit_ms=job.submit_ms,
            map_ms=job.map_ms,
            hosts=tuple(
                frozenset(placement.place_block(job.job, block)) for block in range(job.maps)
            ),
            reduces=job.reduces,
            shuffle_ms=job.shuffle_ms,
            reduce_ms=job.reduce_ms,
            priority=int(job.priority),
        )
        for job in jobs
    ]
    return ReferenceCluster(given, given_jobs, world.policy).run()


def by_the_simulator(world: CalmWorld) -> list[Ran]:
    """What the simulator makes of it."""
    events: list[AnyEvent] = []
    Simulation(world.spec, [events.append]).run()
    ended = {e.attempt: e.at_ms for e in events if isinstance(e, AttemptEnded)}
    return [
        Ran(e.at_ms, e.node, e.job, int(e.kind), e.task, int(e.level), ended[e.attempt])
        for e in events
        if isinstance(e, AttemptLaunched)
    ]


def disagreement(world: CalmWorld) -> str | None:
    """Where the two first disagree; None if they do not."""
    ours, theirs = sorted(by_the_simulator(world)), sorted(by_the_reference(world))
    for one, two in zip(ours, theirs, strict=False):
        if one != two:
            return f"under {world.policy} the simulator says {one}, the reference {two}"
    if len(ours) != len(theirs):
        return f"the simulator ran {len(ours)} attempts, the reference {len(theirs)}"
    return None
