"""Worlds drawn for the twin, and where it and the actors first disagree about one."""

from array import array
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec
import numpy as np

from callboard.actors.architecture import Architecture
from callboard.actors.config import Cluster, NodeGroup, Tasks
from callboard.actors.job_spec import JobSpec
from callboard.actors.kernel.kernel import Stalled
from callboard.actors.placement import ANYWHERE
from callboard.actors.recorded_tasks import RecordedTasks
from callboard.actors.vocabulary import events as ev
from callboard.actors.world import World
from callboard.experiments.run.plugins import load_architecture
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.simulation import Simulation
from callboard.twin import columns as c
from callboard.twin.cannot_play import CannotPlay
from callboard.twin.twin_run import TwinRun
from tests.support.reference_worlds import draw_calm_world
from trials.worlds.declared_values import DeclaredValues

ORDERS_OF_THE_TWIN = (
    *("fifo", "fair", "las", "ps", "srpt", "psjf", "srpt(guess=1)"),
    *('srpt(size="oracle")', 'psjf(size="oracle",sigma=0.8)', 'srpt(size="requested")'),
    'fair(pool_by="user")',
    *("pools",) * 4,
)
WAITS_OF_THE_TWIN = (
    "",
    "+delay",
    "+delay(node=0,rack=1)",
    "+delay(node=2,rack=0)",
    "+delay(node=3,rack=4)",
    "+delay(skips=0)",
    "+delay(skips=1)",
    "+delay(skips=3)",
)
VIRTUAL_ORDERS_OF_THE_TWIN = (
    *("hfsp", "hfsp(t=1,delta=0)", "hfsp(t=2,delta=1,T=1)", "hfsp(t=3,T=0,delta=0.5,s0=1,xi=2)"),
    *("hfsp(half_speed=true,delta=2)", "hfsp(t=2,flapping=true)", 'hfsp(priority="off",t=1)'),
    *('hfsp(size="oracle")', 'hfsp(size="oracle",sigma=1.0)', "fsp+fifo", "fsp+ps", "psbs"),
    *('fsp+fifo(size="oracle")', 'fsp+ps(size="oracle",sigma=1)', 'psbs(size="oracle",sigma=2)'),
    'fsp+ps(size="requested",guess=1)',
)
KILLS_OF_THE_TWIN = (
    "+kill(interval_s=0.5,min_share_timeout_s=0,fair_share_timeout_s=0)",
    "+kill(interval_s=1,min_share_timeout_s=1,fair_share_timeout_s=2)",
    "+kill(interval_s=0.7,fair_share_timeout_s=0.2)",
    "+kill(interval_s=0.1,min_share_timeout_s=0.5,fair_share_timeout_s=99999)",
)
INITIALISED_FROM = 100_000
"""In the worlds of these seeds jobs are initialised before they run."""
_POOLS = ("ads", "ads/batch", "web", "default")
_TYPES = ("", "io", "cpu")


class RanAttempt(NamedTuple):
    """An attempt in the order of launch; times that have not come are -1."""

    job: int
    kind: int
    task: int
    node: int
    slot: int
    level: int
    launched_ms: int
    shuffled_ms: int = c.NONE
    ended_ms: int = c.NONE
    closed_ms: int = c.NONE


def draw_twin_world(seed: int) -> RunSpec:
    """The world of this seed: a calm one, with noise, stragglers and unlike nodes."""
    spec, values = draw_calm_world(seed).spec, DeclaredValues(np.random.default_rng([seed, 7]))
    scenario = msgspec.structs.replace(
        spec.scenario,
        cluster=_with_phases(seed, _draw_cluster(values, spec.scenario.cluster)),
        tasks=_draw_tasks(values, spec.scenario.tasks),
    )
    hurry = values.one_of((1, 1, 10, 100))  # a queue of jobs for pools to share, and for padding
    jobs = [_draw_job(values, job, spec.scenario.cluster) for job in spec.jobs]
    drawn = msgspec.structs.replace(
        spec,
        scenario=scenario,
        jobs=tuple(
            msgspec.structs.replace(each, submit_ms=each.submit_ms // hurry) for each in jobs
        ),
        policy=_draw_order(values) + values.one_of(WAITS_OF_THE_TWIN),
        until_ms=values.one_of((None, None, None, 0, 1, 7001, 20_000)),
    )
    if values.chance(0.4):
        order = values.one_of(VIRTUAL_ORDERS_OF_THE_TWIN)
        drawn = msgspec.structs.replace(drawn, policy=order + values.one_of(WAITS_OF_THE_TWIN))
    elif drawn.policy.startswith("fair") and values.chance(0.5):
        drawn = _draw_starving(values, drawn)
    return _initialised(seed, drawn) if seed >= INITIALISED_FROM else drawn


def _initialised(seed: int, drawn: RunSpec) -> RunSpec:
    """Jobs come, and may run tasks when it suits a heartbeat, or none, or others' submissions."""
    values, gap_ms = DeclaredValues(np.random.default_rng([seed, 9])), drawn.jobs[-1].submit_ms
    jobs = [
        msgspec.structs.replace(
            each, initialisation_ms=values.one_of((0, 0, 1, 2998, gap_ms - each.submit_ms, 20_000))
        )
        for each in drawn.jobs
    ]
    return msgspec.structs.replace(drawn, jobs=tuple(jobs))


def _draw_starving(values: DeclaredValues, drawn: RunSpec) -> RunSpec:
    """Some jobs are long and there from the start; who comes later may have their slots."""
    jobs = [
        msgspec.structs.replace(
            each,
            submit_ms=0,
            maps=each.maps if each.recorded is not None else max(each.maps, 30),
            map_ms=each.map_ms + values.one_of((9000, 40_000)),
            reduce_ms=each.reduce_ms + values.one_of((0, 30_000)),
        )
        if values.chance(0.4)
        else msgspec.structs.replace(each, submit_ms=each.submit_ms + 9000)
        for each in drawn.jobs
    ]
    jobs = sorted(jobs, key=lambda job: (job.submit_ms, job.job))
    policy = drawn.policy + values.one_of(KILLS_OF_THE_TWIN)
    until_ms = values.one_of((None, None, 40_000))
    return msgspec.structs.replace(drawn, jobs=tuple(jobs), policy=policy, until_ms=until_ms)


def _draw_order(values: DeclaredValues) -> str:
    drawn: str = values.one_of(ORDERS_OF_THE_TWIN)
    if drawn != "pools":
        return drawn
    pools = [f'"{path}" = {{{_draw_pool(values, path)}}}' for path in _POOLS if values.chance(0.6)]
    caps = values.one_of(("", "", "", "", ", max_jobs_per_user = 2", ", max_jobs_per_pool = 1"))
    return f'fair(pool_by="pool", pools={{{", ".join(pools)}}}{caps})'


def _draw_pool(values: DeclaredValues, path: str) -> str:
    """What a pool is due and allowed."""
    stated = [f"weight = {values.one_of((1.0, 0.3, 2.5))}"]
    for each in ("min_maps", "min_reduces"):
        stated.append(f"{each} = {values.one_of((0, 1, 2, 5))}")
    if path == "ads/batch" or not values.chance(0.3):
        stated.append(f'mode = "{values.one_of(("fair", "fifo")) if path != "ads" else "fair"}"')
    if values.chance(0.15):
        stated.append(f"max_maps = {values.one_of((1, 2))}, max_reduces = 1")
    if values.chance(0.1):
        stated.append(f"max_jobs = {values.one_of((1, 2))}")
    return ", ".join(stated)


def _with_phases(seed: int, cluster: Cluster) -> Cluster:
    """In a third of the worlds some first heartbeats are stated."""
    values = DeclaredValues(np.random.default_rng([seed, 8]))
    stated = tuple(values.one_of((-1, 0, 17, 100)) for _ in range(values.one_of((0, 0, 2))))
    heartbeats = msgspec.structs.replace(cluster.heartbeat, phases_ms=stated)
    return msgspec.structs.replace(cluster, heartbeat=heartbeats)


def _draw_cluster(values: DeclaredValues, cluster: Cluster) -> Cluster:
    groups = [_draw_group(values) for _ in range(values.one_of((0, 0, 1, 2)))]
    sizes = values.one_of((None, (1, cluster.nodes + sum(group.nodes for group in groups) - 1)))
    return msgspec.structs.replace(
        cluster,
        group=tuple(groups),
        speed=values.one_of((1.0, 1.0, 0.7)),
        rack_sizes=sizes if sizes is not None and all(sizes) else None,
        racks=2 if sizes is not None and all(sizes) else cluster.racks,
        replication=values.one_of((1, 2, 3, 3, 5)),
    )


def _draw_group(values: DeclaredValues) -> NodeGroup:
    return NodeGroup(
        nodes=values.one_of((1, 3)),
        map_slots=values.one_of((None, 0, 1, 5)),
        reduce_slots=values.one_of((None, 0, 3)),
        speed=values.one_of((1.0, 0.5, 3.0)),
        node_type=values.one_of(_TYPES),
    )


def _draw_tasks(values: DeclaredValues, tasks: Tasks) -> Tasks:
    return msgspec.structs.replace(
        tasks,
        sigma=values.one_of((0.0, 0.0, 0.3, 1.7)),
        straggler_share=values.one_of((0.0, 0.0, 0.3)),
        straggler_factor=3.0,
    )


def _draw_job(values: DeclaredValues, job: JobSpec, cluster: Cluster) -> JobSpec:
    drawn = _draw_lengths(values, job)
    if not drawn.maps or values.chance(0.8):
        return drawn
    return msgspec.structs.replace(drawn, recorded=_draw_recording(values, drawn, cluster))


def _draw_recording(values: DeclaredValues, job: JobSpec, cluster: Cluster) -> RecordedTasks:
    """What each task took on a cluster as large, or larger, with some inputs that lay nowhere."""
    nodes = cluster.node_count() + values.one_of((0, 0, 2))
    places = values.rng.integers(0, nodes, (job.maps, 2)).astype("<i4")
    places[values.rng.random(job.maps) < 0.2, 0] = ANYWHERE
    reduces = [[values.one_of((0, 600, 3002)) for _ in range(job.reduces)] for _ in range(3)]
    return RecordedTasks(
        map_ms=array("q", [values.one_of((0, 700, 4003)) for _ in range(job.maps)]),
        map_levels=bytes(values.one_of((0, 1, 2)) for _ in range(job.maps)),
        shuffle_ms=array("q", reduces[0]),
        tail_ms=array("q", reduces[1]),
        rest_ms=array("q", reduces[2]),
        failures={},
        replicas=places.tobytes(),
        replication=2,
        nodes=nodes,
    )


def _draw_lengths(values: DeclaredValues, job: JobSpec) -> JobSpec:
    """Some tasks that take no time, some jobs without maps, some that like a type of node."""
    maps = job.maps * values.one_of((0, 1, 1, 1, 1, 1, 1, 3, 3, 8))
    skewed = ((0,) * min(maps, 1), (0,) * min(job.reduces, 1))
    return msgspec.structs.replace(
        job,
        maps=maps,
        map_ms=values.one_of((job.map_ms, job.map_ms, 0, 1, 998)),
        reduce_ms=values.one_of((job.reduce_ms, 0, 1)),
        factors=values.one_of(((), (), (("io", 0.25), ("cpu", 3.0)))),
        setup_ms=values.one_of((0, 0, 1, 900)),
        cleanup_ms=values.one_of((0, 0, 1, 2500)),
        pool=values.one_of(("ads", "ads/batch", "ads/batch/late", "web", "")),
        user=values.one_of(("ann", "bob")),
        requested_ms=values.one_of((None, 700, 5000)),
        skewed=values.one_of((((), ()), ((), ()), skewed)),
        skew=2.5,
    )


# What either makes of it.


def disagreement_of_engines(
    spec: RunSpec, play: Callable[[Any, int], int] | None = None
) -> str | None:
    """Where the twin and the actors first disagree; None if they do not."""
    run = TwinRun(
        world_of(spec), schedulers_of(spec).policy, spec.until_ms, keep_log=True, play=play
    )
    events: list[ev.AnyEvent] = []
    actors = Simulation(spec, [events.append])
    try:
        run.play()
    except CannotPlay:  # stuck: so must they be
        with suppress(Stalled):
            actors.run()
            return "only the twin is stuck"
        return None
    actors.run()
    theirs, ours = by_the_actors(events), list(by_the_twin(run))
    for number, (one, two) in enumerate(zip(theirs, ours, strict=False), start=1):
        if one != two:
            return f"attempt {number} under {spec.policy}: the actors say {one}, the twin {two}"
    if len(theirs) != len(ours):
        return f"the actors ran {len(theirs)} attempts, the twin {len(ours)}"
    if events[-1].at_ms != run.now_ms:
        return f"the actors end at {events[-1].at_ms}, the twin at {run.now_ms}"
    return None


def world_of(spec: RunSpec) -> World:
    """The world that a spec comes to."""
    scenario = spec.scenario
    return World(scenario.cluster, scenario.tasks, spec.jobs, scenario.seed, spec.script)


def schedulers_of(spec: RunSpec) -> Architecture:
    """The schedulers that its policy means."""
    return load_architecture(spec.policy, spec.scenario.parts)


def by_the_actors(events: list[ev.AnyEvent]) -> list[RanAttempt]:
    """The attempts that events tell of."""
    ran: dict[int, RanAttempt] = {}
    for event in events:
        match event:
            case ev.AttemptLaunched():
                where = event.node, c.NONE, int(event.level), event.at_ms
                ran[event.attempt] = RanAttempt(event.job, int(event.kind), event.task, *where)
            case ev.AttemptStarted():
                ran[event.attempt] = ran[event.attempt]._replace(slot=event.slot)
            case ev.ShuffleEnded():
                ran[event.attempt] = ran[event.attempt]._replace(shuffled_ms=event.at_ms)
            case ev.AttemptEnded():
                ran[event.attempt] = ran[event.attempt]._replace(ended_ms=event.at_ms)
            case ev.AttemptClosed():
                ran[event.attempt] = ran[event.attempt]._replace(closed_ms=event.at_ms)
    return [ran[number] for number in sorted(ran)]


def by_the_twin(run: TwinRun) -> Iterator[RanAttempt]:
    """The attempts that it has kept, as far as the run has come."""
    latency_ms = run.world.cluster.latency_ms
    log = run.tables.log[: run.tables.state[c.LOG_TOP]].copy()
    log[:, c.LOG_JOB] = run.tables.jobs[log[:, c.LOG_JOB], c.NUMBER]
    for row in log.tolist():
        attempt = RanAttempt(*row[: len(RanAttempt._fields)])
        if attempt.launched_ms + latency_ms > run.now_ms:
            attempt = attempt._replace(slot=c.NONE)
        shuffled_ms, ended_ms = (
            c.NONE if ms > run.now_ms or ms == c.LATER else ms
            for ms in (attempt.shuffled_ms, attempt.ended_ms)
        )
        yield attempt._replace(shuffled_ms=shuffled_ms, ended_ms=ended_ms)
