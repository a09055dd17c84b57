"""The one place where a world is assembled: a cluster, jobs and a policy become actors."""

from collections.abc import Callable, Mapping, Sequence
from math import exp

from callboard.actors.blocks import Blocks
from callboard.actors.client import Client
from callboard.actors.config import Cluster, Tasks
from callboard.actors.elided_heartbeats import HeartbeatSchedule
from callboard.actors.injector import Injector, ScheduledFault
from callboard.actors.job import Job
from callboard.actors.job_spec import JobSpec
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.kernel.streams import Stream
from callboard.actors.master.master import Master
from callboard.actors.placement import Placement
from callboard.actors.recorded_tasks import RecordedTasks
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.events import NodeFacts
from callboard.actors.worker.copier import GROWTH
from callboard.actors.worker.durations import Durations
from callboard.actors.worker.node import Node
from callboard.actors.worker.slot import Slot
from callboard.scenarios.oracle import WorkloadOracle
from callboard.scheduler.model import JobId, Millis
from callboard.scheduler.policy import Policy
from callboard.scheduler.registry import parts

FETCH_FAILURES_MS: Millis = 600_000  # ten take six minutes, the heartbeats that tell a little more
_HEARTBEATS_WITHOUT_EVENTS = 20  # of every node, before which a run is not stuck


def node_facts(cluster: Cluster) -> tuple[NodeFacts, ...]:
    """The nodes that a cluster begins with, plain ones first, then group by group."""
    nodes = [group[1:] for group in cluster.groups() for _ in range(group[0])]
    rack_of = cluster.topology().of
    return tuple(NodeFacts(node, rack_of(node), *facts) for node, facts in enumerate(nodes))


def assemble(
    kernel: Kernel,
    *,
    cluster: Cluster,
    tasks: Tasks,
    jobs: Sequence[JobSpec],
    policy: Policy,
    seed: int,
    master: Callable[..., Master] = Master,
    script: Sequence[ScheduledFault] = (),
    make_policy: Callable[[str], Policy] = parts.make_policy,
) -> None:
    """Bring every actor of a run into the kernel; `make_policy` makes those that `script` names."""
    nodes = node_facts(cluster)
    round_ms = cluster.round_ms()
    kernel.stall_timeout_ms = max(kernel.stall_timeout_ms, _HEARTBEATS_WITHOUT_EVENTS * round_ms)

    def informed(policy: Policy) -> Policy:
        if policy.wants_oracle:
            policy.set_oracle(WorkloadOracle(jobs, tasks, seed))
        return policy

    def make_informed(spelling: str) -> Policy:
        return informed(make_policy(spelling))

    kernel.admit(master(cluster, len(nodes), informed(policy), seed, make_informed))
    recorded = {job.job: job.recorded for job in jobs if job.recorded is not None}
    placement = Placement(
        seed,
        nodes=len(nodes),
        topology=cluster.topology(),
        replication=cluster.replication,
        recorded=recorded,
    )
    blocks = Blocks(placement)
    _admit_nodes(kernel, cluster, nodes, tasks, seed, script, blocks, recorded)

    def make_job(spec: JobSpec) -> Job:
        return Job(
            spec,
            placement=placement,
            slowstart=tasks.slowstart,
            latency_ms=cluster.latency_ms,
            hosts_asked=bool(script),
        )

    kernel.admit(Client(jobs, make_job))
    if script:
        kernel.admit(Injector(script, nodes, blocks))
        kernel.is_progress = _is_progress
        last_ms = max((job.submit_ms for job in jobs), default=0)
        kernel.progress_ms = max(last_ms, *(each.at_ms for each in script))
        kernel.progress_timeout_ms = progress_timeout_ms(cluster, tasks, jobs, nodes, script)
        fetching_ms = FETCH_FAILURES_MS + _fetch_pause_ms(script)
        kernel.stall_timeout_ms = max(kernel.stall_timeout_ms, fetching_ms)


def _is_progress(event: ev.AnyEvent) -> bool:
    if isinstance(event, ev.AttemptClosed):
        return event.outcome is ev.Outcome.SUCCEEDED
    return isinstance(event, ev.JobSubmitted | ev.JobFinished)


def progress_timeout_ms(
    cluster: Cluster,
    tasks: Tasks,
    jobs: Sequence[JobSpec],
    nodes: Sequence[NodeFacts],
    script: Sequence[ScheduledFault],
) -> Millis:
    """How long the next success may take when nothing happens any more: until every loss is noticed
    and every failed fetch given up, and four of the longest attempts, even if they hang, wait for
    their input, or do not begin.
    """
    happening = [each.fault for each in script]
    worst = max([1.0, *(fault.factor for fault in happening if isinstance(fault, faults.Slow))])
    worst *= exp(4 * tasks.sigma) * tasks.straggler_factor / min(facts.speed for facts in nodes)
    far = max(1.0, tasks.rack_factor, tasks.off_rack_factor)
    lengths_ms = (
        max(job.longest_map_ms() * far, job.longest_reduce_ms())
        * job.skew
        * max([1.0, *(factor for _, factor in job.factors)])
        for job in jobs
    )
    longest_ms = max(lengths_ms, default=0.0)
    expiry_ms = cluster.heartbeat.expiry_ms
    heartbeats_ms = _HEARTBEATS_WITHOUT_EVENTS * cluster.heartbeat.period_ms(len(nodes))
    slow = min([1.0, *(fault.rate for fault in happening if isinstance(fault, faults.Drift))])
    kinds = {type(fault) for fault in happening}
    stalls_ms = tasks.input_wait_ms if faults.Crash in kinds else 0
    if faults.Hang in kinds or any(any(job.hanging) for job in jobs):
        stalls_ms += tasks.timeout_ms
    if faults.StickLaunches in kinds:
        stalls_ms += 2 * expiry_ms
    fetching_ms = FETCH_FAILURES_MS + _fetch_pause_ms(script)
    by_clocks_ms = round((4 * stalls_ms + fetching_ms + heartbeats_ms) / slow)
    return 4 * round(worst * longest_ms) + 2 * expiry_ms + by_clocks_ms


def _fetch_pause_ms(script: Sequence[ScheduledFault]) -> Millis:
    """How long a reduce may pause before it tries a host again that was out of reach until the last
    partition ended: pauses grow by 1.3, so the next is 0.3 times all before together.
    """
    last_ms = max((s.at_ms for s in script if isinstance(s.fault, faults.Partition)), default=0)
    return round((GROWTH - 1) * last_ms)


def _admit_nodes(
    kernel: Kernel,
    cluster: Cluster,
    nodes: Sequence[NodeFacts],
    tasks: Tasks,
    seed: int,
    script: Sequence[ScheduledFault],
    blocks: Blocks,
    recorded: Mapping[JobId, RecordedTasks],
) -> None:
    """Nodes and slots, with first heartbeats drawn on the grid; a node that crashes at 0 is off."""
    first = [each.fault for each in script if each.at_ms == 0]
    absent = {fault.node for fault in first if isinstance(fault, faults.Crash)}
    rules, phases, round_ms = cluster.heartbeat, Stream(seed, "phase"), cluster.round_ms()
    steps = max(rules.period_ms(len(nodes)) // rules.phase_grid_ms, 1)
    durations_on: dict[tuple[float, str], Durations] = {}
    for facts in nodes:
        schedule = HeartbeatSchedule(
            phases.below(steps, facts.node) * rules.phase_grid_ms,
            cluster.latency_ms,
            out_of_band=rules.out_of_band,
            elides=rules.send == "needed" and cluster.latency_ms > 0,
        )
        node = Node(
            facts,
            schedule,
            latency_ms=cluster.latency_ms,
            retry_ms=round_ms,
            keeps_outputs=bool(script),
            seed=seed,
        )
        alike, latency_ms = (facts.speed, facts.node_type), cluster.latency_ms
        if alike not in durations_on:
            durations_on[alike] = Durations(facts, tasks, seed, recorded)
        durations = durations_on[alike]
        slots = (
            Slot(facts, slot, latency_ms=latency_ms, durations=durations, blocks=blocks)
            for slot in range(facts.map_slots + facts.reduce_slots)
        )
        for actor in (node, *slots):
            if facts.node in absent:
                actor.begin_absent()
            kernel.admit(actor)
