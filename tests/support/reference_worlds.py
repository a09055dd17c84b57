"""Worlds drawn for the reference cluster, and what the simulator makes of the same ones."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import NamedTuple

import msgspec
import numpy as np

from callboard.actors.config import Cluster, Heartbeats, Tasks, node_facts
from callboard.actors.job_spec import JobSpec
from callboard.actors.kernel.streams import Stream
from callboard.actors.placement import Placement
from callboard.actors.vocabulary.events import AnyEvent, AttemptEnded, AttemptLaunched
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.simulation import Simulation
from callboard.scenarios.listed_jobs import ListedWorkload
from callboard.scenarios.scenario_file import Scenario
from callboard.scheduler.model import Priority
from tests.support.reference_cluster import (
    GivenCluster,
    GivenJob,
    GivenNode,
    Ran,
    ReferenceCluster,
    ReferenceOrder,
    ReferenceWait,
)
from tests.support.reference_orders import (
    Believed,
    FairReference,
    FifoReference,
    GivenPool,
    LasReference,
    PsjfReference,
    PsReference,
    SjfReference,
    SrptReference,
    Undecided,
    VirtualTimeReference,
)
from tests.support.reference_waits import WaitByCount, WaitByTime
from trials.worlds.declared_values import DeclaredValues

POOLS = ("ads", "web", "default")


class KnownOrder(NamedTuple):
    """An order as it is spelled, and the reference's own."""

    spelling: str
    make: Callable[[], ReferenceOrder]


class KnownWait(NamedTuple):
    """A locality rule as it is spelled, and the reference's own."""

    spelling: str
    make: Callable[[], ReferenceWait]


class CalmWorld(NamedTuple):
    """A world without faults or chance, under a policy that the reference knows."""

    spec: RunSpec
    order: KnownOrder
    wait: KnownWait

    @property
    def policy(self) -> str:
        return self.order.spelling + self.wait.spelling


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
        replication=values.one_of((1, 1, 2, 3)),
        heartbeat=heartbeats,
    )
    tasks = Tasks(slowstart=values.one_of((0.0, 0.05, 0.5, 1.0)))
    span_s = values.one_of((2, 10, 40))
    jobs = [_draw_job(values, number, span_s) for number in range(values.one_of((1, 2, 3, 5, 8)))]
    jobs.sort(key=lambda job: job.submit_ms)
    specs = tuple(
        msgspec.structs.replace(job, job=number, name=f"j{number}")
        for number, job in enumerate(jobs)
    )
    scenario = Scenario(
        name="calm", cluster=cluster, tasks=tasks, seed=seed, workload=ListedWorkload(job=())
    )
    order, wait = _draw_order(values), _draw_wait(values)
    spec = RunSpec(scenario, specs, (), order.spelling + wait.spelling)
    return CalmWorld(spec, order, wait)


def _draw_order(values: DeclaredValues) -> KnownOrder:
    kind = values.one_of(("fifo", "fair", "pools", "las", "ps", *("sized",) * 4))
    match kind:
        case "fifo":
            return KnownOrder("fifo", FifoReference)
        case "fair":
            return KnownOrder("fair", FairReference)
        case "pools":
            return _draw_pools(values)
        case "las":
            return KnownOrder("las", lambda: LasReference(Believed(true=False)))
        case "ps":
            return KnownOrder("ps", lambda: PsReference(Believed(true=False)))
    return _draw_sized(values)


def _draw_sized(values: DeclaredValues) -> KnownOrder:
    name, true = values.one_of(tuple(BY_SIZE)), values.chance(0.5)
    guess_s = values.one_of((1, 10, 60))
    if name == "hfsp":  # its training is not the reference's affair
        return KnownOrder('hfsp(size="oracle")', lambda: BY_SIZE[name](Believed(true=True), True))
    size = 'size="oracle"' if true else f"guess={guess_s}"

    def make() -> ReferenceOrder:
        return BY_SIZE[name](Believed(true=true, guess_ms=1000 * guess_s), true)

    return KnownOrder(f"{name}({size})", make)


BY_SIZE: Mapping[str, Callable[[Believed, bool], ReferenceOrder]] = {
    "srpt": lambda sizes, _: SrptReference(sizes),
    "psjf": lambda sizes, _: PsjfReference(sizes),
    "sjf": lambda sizes, _: SjfReference(sizes),
    "fsp+fifo": lambda sizes, true: VirtualTimeReference(sizes, "one by one", corrects=not true),
    "fsp+ps": lambda sizes, true: VirtualTimeReference(sizes, "in turn", corrects=not true),
    "psbs": lambda sizes, true: VirtualTimeReference(sizes, "by weight", corrects=not true),
    "hfsp": lambda sizes, _: VirtualTimeReference(sizes, "one by one", by_size=True),
}
"""Orders by size, from what is believed of sizes and whether that is the truth."""


def _draw_pools(values: DeclaredValues) -> KnownOrder:
    drawn = {
        name: GivenPool(
            weight=values.one_of((Fraction(1), Fraction(1, 2), Fraction(3))),
            min_shares=(values.one_of((0, 1, 3)), values.one_of((0, 0, 1))),
            fifo=values.chance(0.25),
        )
        for name in POOLS
        if values.chance(0.7)
    }
    inside = ", ".join(f"{name} = {{{_pool_text(pool)}}}" for name, pool in drawn.items())
    spelling = f'fair(pool_by="pool", pools={{{inside}}})'
    return KnownOrder(spelling, lambda: FairReference(drawn))


def _pool_text(pool: GivenPool) -> str:
    mode = "fifo" if pool.fifo else "fair"
    maps, reduces = pool.min_shares
    shares = f"min_maps = {maps}, min_reduces = {reduces}"
    return f'weight = {float(pool.weight)}, {shares}, mode = "{mode}"'


def _draw_wait(values: DeclaredValues) -> KnownWait:
    node_s, rack_s = values.one_of((0.0, 0.5, 2.0, 7.0)), values.one_of((0.0, 1.0, 4.0))
    skips = values.one_of((0, 1, 2, 3, 5))
    by_time = f"+delay(node={node_s},rack={rack_s})"
    by_count = f"+delay(skips={skips})"
    waits = round(1000 * node_s), round(1000 * rack_s)
    return values.one_of(
        (
            KnownWait("", ReferenceWait),
            KnownWait(by_time, lambda: WaitByTime(*waits)),
            KnownWait(by_count, lambda: WaitByCount(skips)),
        )
    )


def _draw_job(values: DeclaredValues, number: int, span_s: int) -> JobSpec:
    maps = values.one_of((1, 2, 3, 7, 20))
    return JobSpec(
        job=number,
        name=f"j{number}",
        submit_ms=500 * int(values.rng.integers(2 * span_s)) + values.one_of((0, 0, 1, 7)),
        maps=maps,
        map_ms=4 * values.one_of((1, 250, 331, 750, 1287, 1752, 5000)),
        reduces=values.one_of((0, 0, 1, 3)),
        shuffle_ms=maps * values.one_of((0, 10, 600)),
        reduce_ms=values.one_of((0, 500, 3000)),
        priority=values.one_of(tuple(Priority)),
        pool=values.one_of(POOLS),
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
            pool=job.pool,
        )
        for job in jobs
    ]
    return ReferenceCluster(given, given_jobs, world.order.make(), world.wait.make()).run()


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
    """Where the two first disagree; None if they do not, or if it is for rounding to decide."""
    try:
        theirs = sorted(by_the_reference(world))
    except Undecided:
        return None
    ours = sorted(by_the_simulator(world))
    for one, two in zip(ours, theirs, strict=False):
        if one != two:
            return f"under {world.policy} the simulator says {one}, the reference {two}"
    if len(ours) != len(theirs):
        return f"the simulator ran {len(ours)} attempts, the reference {len(theirs)}"
    return None
