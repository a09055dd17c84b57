"""From a world and a policy to tables of numbers; `CannotPlay` says why there are none.

What is looked up here is what a scenario states.  What follows from it at every launch is not: that
the twin has rules of its own for, so that either engine can judge the other.
"""

from collections.abc import Iterable, Sequence
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from callboard.actors.job_spec import JobSpec
from callboard.actors.stall_limits import calm_stall_ms
from callboard.actors.topology import Topology
from callboard.actors.world import World
from callboard.scheduler.locality import Delay, auto_wait_ms
from callboard.scheduler.model import MAPS, Millis, NodeId
from callboard.scheduler.orders.fair.fair import Fair
from callboard.scheduler.orders.fifo import Fifo
from callboard.scheduler.orders.size_based.hfsp import Hfsp
from callboard.scheduler.orders.size_based.single_server import Las, Ps, Psjf, Srpt
from callboard.scheduler.orders.size_based.virtual_time import (
    Fsp,
    FspFifo,
    FspPs,
    Psbs,
    VirtualTimeOrder,
)
from callboard.scheduler.policy import AnyLocality, NoPreemption, NoSpeculation, Part, Policy
from callboard.scheduler.preemption.kill import KillPreemption
from callboard.twin import columns as c
from callboard.twin.addressed_draws import bits_of, draw_key
from callboard.twin.cannot_play import CannotPlay
from callboard.twin.claim_tables import preemption_claims, set_preemption_rules
from callboard.twin.columns import Tables
from callboard.twin.phase_tables import phase_tables, set_virtual_rules, with_training_pool
from callboard.twin.pool_tables import pool_paths, pool_tables, user_table

_Numbers = NDArray[np.int64]

_ORDERS: dict[type[Part], int] = {
    Fifo: c.BY_FIFO,
    Fair: c.BY_FAIR,
    Srpt: c.BY_SRPT,
    Psjf: c.BY_PSJF,
    Las: c.BY_LAS,
    Ps: c.BY_PS,
    FspFifo: c.BY_FSP_FIFO,
    FspPs: c.BY_FSP_PS,
    Psbs: c.BY_PSBS,
    Hfsp: c.BY_HFSP,
}
_SIZES = {"online": c.SIZE_LEARNT, "oracle": c.SIZE_TRUE, "requested": c.SIZE_REQUESTED}
_LINKS_AT_FIRST, _ROWS_AT_FIRST = 1 << 14, 64


# What it cannot play.


def refuse_unplayable(world: World, policy: Policy | None) -> None:
    """CannotPlay for a world or a policy that the twin has no rules for."""
    if policy is None:
        raise CannotPlay("it plays the central master only")
    if world.script:
        raise CannotPlay("things happen to the cluster or to jobs (`--no-faults` leaves them out)")
    if world.cluster.latency_ms == 0:
        raise CannotPlay("messages take no time (cluster.latency_ms = 0)")
    if world.cluster.heartbeat.out_of_band:
        raise CannotPlay("nodes send heartbeats out of band")
    if world.cluster.heartbeat.thinking_ms:
        raise CannotPlay("the master thinks before it answers")
    for job in world.jobs:
        _refuse_job(job)
    _refuse_policy(policy)


def _refuse_job(job: JobSpec) -> None:
    if any(map(any, (job.poisoned, job.hanging))):
        raise CannotPlay("some tasks fail or hang")
    if job.recorded is not None and job.recorded.failures:
        raise CannotPlay("some recorded attempts failed")


def _refuse_policy(policy: Policy) -> None:
    order = policy.order
    if type(order) not in _ORDERS:
        raise CannotPlay(f"it does not know the order `{order.name}`")
    if type(policy.locality) not in (AnyLocality, Delay):
        raise CannotPlay(f"it does not know `{policy.locality.name}`")
    _refuse_preemption(policy)
    if type(policy.speculation) is not NoSpeculation:
        raise CannotPlay("it does not speculate")


def _refuse_preemption(policy: Policy) -> None:
    rule = policy.preemption
    if type(rule) is NoPreemption:
        return
    if not isinstance(rule, KillPreemption):
        raise CannotPlay(f"it does not know `{rule.name}`")
    if not isinstance(policy.order, Fair):
        raise CannotPlay(f"it kills under `fair` only, not under `{policy.order.name}`")
    if rule.params.victims != "global":
        raise CannotPlay('it does not know `kill(victims="job")`')
    if rule.params.most_per_check is not None:
        raise CannotPlay("it does not know `kill(most_per_check=…)`")


# Tables.


def lower(world: World, policy: Policy, until_ms: Millis | None, *, keep_log: bool) -> Tables:
    """The tables of a run that has not begun; with `keep_log` it will keep every attempt."""
    jobs, cluster = world.jobs, world.cluster
    places, lengths = _recorded_places_and_lengths(world)
    attempts = sum(
        job.maps + job.reduces + bool(job.setup_ms) + bool(job.cleanup_ms) for job in jobs
    )
    nodes, phases, speeds = _node_order_and_phases(world)
    state = np.zeros(c.STATE_WIDTH, np.int64)
    racks, rack_nodes = _rack_tables(cluster.topology(), len(nodes))
    width = len(nodes) + 1 + len(racks)
    rows = np.zeros((_ROWS_AT_FIRST, width), np.int32)
    slots = int(nodes[:, c.HAS : c.HAS + 2].sum())
    berths = np.full((slots, c.BERTH_WIDTH), c.NONE, np.int64)
    for at, node in enumerate(nodes):
        first = node[c.BERTH]
        berths[first : first + node[c.HAS] + node[c.HAS + 1], c.OF_NODE] = at
    lowered = _job_table(world, places, lengths)
    pools, standings = pool_tables(policy.order, jobs, lowered)
    virtual, measures = phase_tables(policy.order, jobs, lowered)
    users = user_table(policy.order, jobs, lowered)
    given = _run_constants(world, policy, until_ms, attempts, slots, pools)
    given[c.HAS_CAPS] = bool(
        (users[:, 0] != c.NONE).any() or (pools[:, c.MAX_JOBS] != c.NONE).any()
    )
    if isinstance(policy.order, VirtualTimeOrder):
        pools = with_training_pool(pools, len(jobs))
    claims = np.zeros((0, c.CLAIM_WIDTH), np.int64)
    if isinstance(policy.preemption, KillPreemption):
        paces = np.concatenate([lowered[:, c.INVERSE_WEIGHT], pools[:, c.POOL_PACE]])
        set_preemption_rules(given, policy.preemption, paces)
        paths = pool_paths(policy.order, jobs)
        claims = preemption_claims(policy.preemption, policy.order, len(jobs), paths)
    killable = slots if len(claims) else 0
    lowered[:, c.RUNNABLE] = not given[c.HAS_CAPS]
    lists = np.zeros((c.LIST_ROWS, len(jobs) + len(pools) + 1), np.int64)
    ready = _by_readiness(jobs)
    given[c.INITIALISED_JOBS] = len(ready)
    lists[c.READY_LIST, : len(ready)] = ready
    return Tables(
        given=given,
        reals=_real_settings(world, policy),
        keys=_draw_keys(world.seed, min(cluster.replication, len(nodes))),
        state=state,
        sums=_empty_sums(),
        jobs=lowered,
        factors=_speed_factors(world),
        nodes=nodes,
        speeds=speeds,
        phases=phases,
        free=np.zeros((2, len(nodes) // 64 + 1), np.uint64),
        minima=_minima_tree(phases),
        berths=berths,
        virtual=virtual,
        measures=measures,
        pools=pools,
        claims=claims,
        lost=np.zeros((killable, 3), np.int64),
        newest=np.zeros(killable + 1, np.int64),
        users=users,
        queues=np.zeros((2, int(pools[-1, c.QUEUE_START]) + len(jobs) + len(pools)), np.int64),
        standings=standings,
        lists=lists,
        racks=racks,
        rack_nodes=rack_nodes,
        held=np.zeros(max(cluster.replication, 2), np.int64),
        rows=rows,
        links=np.zeros(_LINKS_AT_FIRST, np.int32),
        blocks=np.full(64, c.NONE, np.int64),
        places=_joined_pieces(places, np.int32),
        lengths=_joined_pieces(lengths, np.float64),
        skewed=_joined_pieces(map(_skew_marks, jobs), np.int8),
        log=np.zeros((slots if keep_log else 0, c.LOG_WIDTH), np.int64),
        refused=np.zeros((0, c.REFUSED_WIDTH), np.int64),
        estimates=np.zeros((0, c.ESTIMATE_WIDTH), np.int64),
    )


def _empty_sums() -> _Numbers:
    sums = np.zeros((c.SUM_LENGTH, 2), np.int64)
    sums[[c.NEXT_HIGH, c.NEXT_MS]] = c.LATER
    return sums


def grown_tables(w: Tables) -> Tables:
    """The same with twice the room of what was too small for the next instant."""
    if len(w.log) and (grown_log := _grown_log(w)) is not None:
        return grown_log
    if w.state[c.ROWS_FREE] == 0 and w.state[c.ROWS_TOP] == len(w.rows):
        return w._replace(rows=_grown(w.rows, 2 * len(w.rows)))
    return w._replace(links=_grown(w.links, 2 * len(w.links)))


def _grown_log(w: Tables) -> Tables | None:
    """With a longer log, if it is too short."""
    slots = len(w.berths)
    log = _grown_if_too_short(w.log, int(w.state[c.LOG_TOP]) + slots)
    refused = _grown_if_too_short(
        w.refused, int(w.state[c.REFUSED_TOP]) + (slots + 1) * c.REFUSED_MOST
    )
    estimates = _grown_if_too_short(w.estimates, int(w.state[c.ESTIMATES_TOP]) + slots)
    if log is w.log and refused is w.refused and estimates is w.estimates:
        return None
    return w._replace(log=log, refused=refused, estimates=estimates)


def _grown_if_too_short(table: _Numbers, rows: int) -> _Numbers:
    """The table if it is long enough, else twice as long as that."""
    return table if rows <= len(table) else _grown(table, 2 * rows)


def _grown(table: NDArray[Any], rows: int) -> NDArray[Any]:
    """With that many rows; the new ones take memory only where they are written."""
    longer = np.zeros((rows, *table.shape[1:]), table.dtype)
    longer[: len(table)] = table
    return longer


def _run_constants(
    world: World,
    policy: Policy,
    until_ms: Millis | None,
    attempts: int,
    slots: int,
    pools: _Numbers,
) -> _Numbers:
    cluster, given = world.cluster, np.zeros(c.GIVEN_WIDTH, np.int64)
    interval_ms = cluster.heartbeat.period_ms(len(world.nodes))
    order = _ORDERS[type(policy.order)]
    given[c.PERIOD] = interval_ms + 2 * cluster.latency_ms
    given[c.LATENCY] = cluster.latency_ms
    given[c.UNTIL] = c.LATER - 1 if until_ms is None else until_ms
    given[c.JOBS], given[c.NODES] = len(world.jobs), len(world.nodes)
    given[c.REPLICAS], given[c.RACKS] = cluster.replication, cluster.topology().racks
    given[c.ORDER] = order
    given[c.ONE_EACH] = cluster.heartbeat.tasks_per_heartbeat == "one"
    given[c.STALL] = calm_stall_ms(cluster)
    given[c.STANDING_BITS] = (len(world.jobs) + len(pools)).bit_length()
    given[c.NEEDY_SCALE] = int(pools[:, c.MIN_SHARE : c.MIN_SHARE + 2].max()) ** 2
    given[c.MIDDLE_BITS] = (
        attempts if order in (c.BY_PS, c.BY_FSP_PS, c.BY_PSBS) else slots
    ).bit_length()
    if isinstance(policy.order, Srpt | Psjf | Fsp):
        given[c.GUESS] = round(policy.order.params.guess * 1000)
        given[c.SIZE_SOURCE] = _SIZES[policy.order.params.size]
    if isinstance(policy.order, VirtualTimeOrder):
        set_virtual_rules(given, policy.order)
    if isinstance(policy.locality, Delay):
        _set_waits(given, policy.locality, interval_ms)
    return given


def _set_waits(given: _Numbers, delay: Delay, interval_ms: Millis) -> None:
    params, auto_ms = delay.params, auto_wait_ms(interval_ms)
    given[c.WAIT] = c.WAIT_BY_TIME if params.skips is None else c.WAIT_BY_COUNT
    given[c.SKIPS_MAX] = params.skips or 0
    given[c.NODE_WAIT] = auto_ms if params.node is None else round(params.node * 1000)
    given[c.RACK_WAIT] = auto_ms if params.rack is None else round(params.rack * 1000)


def _real_settings(world: World, policy: Policy) -> NDArray[np.float64]:
    tasks, reals = world.tasks, np.zeros(c.REAL_WIDTH)
    reals[c.LEVEL_FACTOR : c.LEVEL_FACTOR + 3] = 1.0, tasks.rack_factor, tasks.off_rack_factor
    reals[c.SIGMA] = tasks.sigma
    reals[c.STRAGGLERS], reals[c.STRAGGLING] = tasks.straggler_share, tasks.straggler_factor
    if isinstance(policy.order, Srpt | Psjf | Fsp | Hfsp):
        reals[c.SIZE_ERROR] = policy.order.params.sigma
    if isinstance(policy.order, Hfsp):
        reals[c.FIRST_SIZE] = policy.order.params.s0 * 1000
        reals[c.FIRST_SIZE_FACTOR] = policy.order.params.xi
    return reals


def _draw_keys(seed: int, replicas: int) -> NDArray[np.uint64]:
    tries = [f"placement/{n}/{each}" for n in range(replicas) for each in range(c.TRIES)]
    keys = [draw_key(seed, purpose) for purpose in ("duration", "straggler", "estimate", *tries)]
    return np.array(keys, np.uint64)


def _node_order_and_phases(world: World) -> tuple[_Numbers, _Numbers, NDArray[np.float64]]:
    """The nodes by when their heartbeats arrive, those phases, and the nodes' speeds."""
    rules, key = world.cluster.heartbeat, np.uint64(draw_key(world.seed, "phase"))
    grid_ms = rules.phase_grid_ms
    steps = max(rules.period_ms(len(world.nodes)) // grid_ms, 1)
    with np.errstate(over="ignore"):
        drawn = [int(bits_of(key, facts.node, 0)) * steps >> 64 for facts in world.nodes]
    arriving = [
        _first_ms(world, facts.node, each * grid_ms) + world.cluster.latency_ms
        for facts, each in zip(world.nodes, drawn, strict=True)
    ]
    if max(arriving) >= world.cluster.heartbeat_cycle_ms():
        raise CannotPlay("a node's first heartbeat arrives after a whole round")
    order = sorted(range(len(arriving)), key=lambda node: (arriving[node], node))
    types = _node_types(world)
    nodes = np.zeros((len(order), c.NODE_WIDTH), np.int64)
    berth = 0
    for at, number in enumerate(order):
        facts = world.nodes[number]
        maps, reduces = facts.map_slots, facts.reduce_slots
        nodes[at, c.HAS : c.HAS + 2] = maps, reduces
        nodes[at, c.BERTH : c.BERTH + 2] = berth, berth + maps
        nodes[at, c.NODE], nodes[at, c.RACK] = facts.node, facts.rack
        nodes[at, c.NODE_TYPE] = types.index(facts.node_type)
        berth += maps + reduces
    speeds = np.array([world.nodes[number].speed for number in order], np.float64)
    return nodes, np.array([arriving[number] for number in order], np.int64), speeds


def _first_ms(world: World, node: NodeId, drawn_ms: Millis) -> Millis:
    """When a node's first heartbeat is due, unless stated as drawn."""
    stated = world.cluster.heartbeat.phases_ms[node : node + 1]
    return (
        drawn_ms if not stated or stated[0] < 0 else stated[0] % world.cluster.heartbeat_cycle_ms()
    )


def _node_types(world: World) -> list[str]:
    return sorted({facts.node_type for facts in world.nodes})


def _minima_tree(phases: _Numbers) -> _Numbers:
    """A tree whose leaves say when each node's next telling heartbeat comes: its first."""
    leaves = 1 << max(len(phases) - 1, 1).bit_length()
    tree = np.full(2 * leaves, c.LATER, np.int64)
    tree[leaves : leaves + len(phases)] = phases
    for place in range(leaves - 1, 0, -1):
        tree[place] = min(tree[2 * place], tree[2 * place + 1])
    return tree


def _rack_tables(topology: Topology, nodes: int) -> tuple[_Numbers, _Numbers]:
    """Where each rack's nodes begin, and how many they are; then the nodes rack by rack, and behind
    them the rack of each.
    """
    of = [topology.rack_of(node) for node in range(nodes)]
    by_rack = sorted(range(nodes), key=lambda node: (of[node], node))
    sizes = np.bincount(of, minlength=topology.racks)
    firsts = np.cumsum(sizes) - sizes
    return np.stack((firsts, sizes), axis=1), np.array([*by_rack, *of], np.int64)


def _job_table(
    world: World,
    places: Sequence[NDArray[Any] | None],
    lengths: Sequence[NDArray[Any] | None],
) -> _Numbers:
    specs = world.jobs
    jobs = np.zeros((len(specs), c.JOB_WIDTH), np.int64)
    for job, spec in zip(jobs, specs, strict=True):
        job[c.NUMBER], job[c.SUBMIT], job[c.READY] = spec.job, spec.submit_ms, spec.ready_ms
        job[c.TASKS : c.TASKS + 2] = spec.maps, spec.reduces
        job[c.MAP_MS], job[c.SHUFFLE_MS] = spec.map_ms, spec.shuffle_ms
        job[c.REDUCE_MS] = spec.reduce_ms
        job[c.SETUP_MS], job[c.CLEANUP_MS] = spec.setup_ms, spec.cleanup_ms
        job[c.REQUESTED] = c.NONE if spec.requested_ms is None else spec.requested_ms
        job[c.SLOWSTART] = ceil(world.tasks.slowstart * spec.maps)
    jobs[:, c.KEY : c.KEY + 2] = jobs[:, c.TRUE_SIZE : c.TRUE_SIZE + 2] = c.NONE
    jobs[:, c.SKEWED] = _piece_offsets([_skew_marks(spec) for spec in specs])
    for column in (c.MAPPED, c.FETCHING, c.FINISHED, c.FIRST_LAUNCH, c.LINKS, c.HEARD_AT):
        jobs[:, column] = c.NONE
    jobs[:, c.PLACES], jobs[:, c.LENGTHS] = _piece_offsets(places), _piece_offsets(lengths)
    return jobs


def _by_readiness(jobs: Sequence[JobSpec]) -> list[int]:
    """The places of the jobs that are initialised first, by when they have been."""
    initialised = [at for at, job in enumerate(jobs) if job.initialisation_ms]
    return sorted(initialised, key=lambda at: (jobs[at].ready_ms, at))


def _speed_factors(world: World) -> NDArray[np.float64]:
    types = _node_types(world)
    rows = [[*(spec.duration_factor_on(each) for each in types), spec.skew] for spec in world.jobs]
    return np.array(rows, np.float64).reshape(len(rows), len(types) + 1)


def _skew_marks(spec: JobSpec) -> NDArray[np.int8] | None:
    """A mark for each of the job's tasks, maps first; None if none of them is skewed."""
    if not any(spec.skewed):
        return None
    marks, (maps, reduces) = np.zeros(spec.maps + spec.reduces, np.int8), spec.skewed
    marks[[*maps, *(spec.maps + task for task in reduces)]] = 1
    return marks


def _recorded_places_and_lengths(
    world: World,
) -> tuple[list[NDArray[Any] | None], list[NDArray[Any] | None]]:
    """By job: where its blocks lie, and what its tasks take, if that was recorded."""
    places: list[NDArray[Any] | None] = []
    lengths: list[NDArray[Any] | None] = []
    for spec in world.jobs:
        if spec.recorded is None:
            places.append(None)
            lengths.append(None)
            continue
        places.append(world.placement.place_job_blocks(spec.job, spec.maps).ravel())
        parts = (ms for each in spec.parts_of_reduces() for ms in each)
        lengths.append(
            np.array([*spec.nominal_task_lengths_ms(MAPS, world.tasks), *parts], np.float64)
        )
    return places, lengths


def _piece_offsets(pieces: Sequence[NDArray[Any] | None]) -> list[int]:
    """Where each piece begins when they are put one behind the other."""
    offsets, end = [], 0
    for each in pieces:
        offsets.append(c.NONE if each is None else end)
        end += 0 if each is None else len(each)
    return offsets


def _joined_pieces(pieces: Iterable[NDArray[Any] | None], kind: type) -> NDArray[Any]:
    there = (each for each in pieces if each is not None)
    return np.concatenate([np.zeros(0, kind), *there]).astype(kind)
