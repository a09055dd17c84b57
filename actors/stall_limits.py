"""How long a run may go on without news, or without progress, before it counts as stuck."""

from collections.abc import Sequence
from math import exp

from callboard.actors.architecture import Architecture
from callboard.actors.config import Cluster
from callboard.actors.injector import ScheduledFault
from callboard.actors.kernel.kernel import STALL_TIMEOUT_MS, Kernel
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import faults
from callboard.actors.worker.copier import GROWTH
from callboard.actors.world import World
from callboard.scheduler.model import Millis

FETCH_FAILURES_MS: Millis = 600_000  # ten take six minutes, the heartbeats that tell a little more
HEARTBEATS_WITHOUT_EVENTS = 20
"""Of everybody, before which a run is not stuck."""


def set_limits(kernel: Kernel[ev.AnyEvent], world: World, architecture: Architecture) -> None:
    """Let the kernel wait as long as this world and its schedulers may need."""
    wait_ms = architecture.longest_wait_ms(world)
    kernel.stall_timeout_ms = max(calm_stall_ms(world.cluster), wait_ms)
    if world.script:
        kernel.is_progress = _is_progress
        last_ms = max((job.ready_ms for job in world.jobs), default=0)
        kernel.progress_ms = max(last_ms, *(each.at_ms for each in world.script))
        kernel.progress_timeout_ms = progress_timeout_ms(world, wait_ms)
        fetching_ms = FETCH_FAILURES_MS + _fetch_pause_ms(world.script)
        kernel.stall_timeout_ms = max(kernel.stall_timeout_ms, fetching_ms)


def calm_stall_ms(cluster: Cluster) -> Millis:
    """How long nothing need happen on a calm cluster while nothing is at work."""
    return max(STALL_TIMEOUT_MS, HEARTBEATS_WITHOUT_EVENTS * cluster.longest_heartbeat_cycle_ms())


def _is_progress(event: ev.AnyEvent) -> bool:
    """A task fails four times at most (rule S4), so its failures too lead to an end."""
    if isinstance(event, ev.AttemptClosed):
        return event.outcome is not ev.Outcome.KILLED
    return isinstance(event, ev.JobSubmitted | ev.JobInitialised | ev.JobFinished)


def progress_timeout_ms(world: World, wait_ms: Millis = 0) -> Millis:
    """How long the next success or failure may take when nothing happens any more: until every loss
    is noticed and every failed fetch given up, and four of the longest attempts, even if they hang,
    wait for their input, or do not begin; and `wait_ms` of their schedulers.
    """
    cluster, tasks, jobs, script = world.cluster, world.tasks, world.jobs, world.script
    happening = [each.fault for each in script]
    worst = max([1.0, *(fault.factor for fault in happening if isinstance(fault, faults.Slow))])
    slowest = min(facts.speed for facts in world.nodes)
    worst *= exp(4 * tasks.sigma) * tasks.straggler_factor / slowest
    far = max(1.0, tasks.rack_factor, tasks.off_rack_factor)
    lengths_ms = (
        max(job.longest_map_ms() * far, job.longest_reduce_ms())
        * max(1.0, job.skew)  # skewed tasks may be the shorter ones
        * max([1.0, *(factor for _, factor in job.factors)])
        for job in jobs
    )
    longest_ms = max(lengths_ms, default=0.0)
    expiry_ms = cluster.heartbeat.expiry_ms
    heartbeats_ms = HEARTBEATS_WITHOUT_EVENTS * cluster.heartbeat.period_ms(len(world.nodes))
    slow = min([1.0, *(fault.rate for fault in happening if isinstance(fault, faults.Drift))])
    kinds = {type(fault) for fault in happening}
    stalls_ms = tasks.input_wait_ms if faults.Crash in kinds else 0
    if faults.Hang in kinds or any(any(job.hanging) for job in jobs):
        stalls_ms += tasks.timeout_ms
    if faults.StickLaunches in kinds:
        stalls_ms += 2 * expiry_ms
    fetching_ms = FETCH_FAILURES_MS + _fetch_pause_ms(script)
    by_clocks_ms = round((4 * stalls_ms + fetching_ms + heartbeats_ms + wait_ms) / slow)
    return 4 * round(worst * longest_ms) + 2 * expiry_ms + by_clocks_ms


def _fetch_pause_ms(script: Sequence[ScheduledFault]) -> Millis:
    """How long a reduce may pause before it tries a host again that was out of reach until the last
    partition ended: pauses grow by 1.3, so the next is 0.3 times all before together.
    """
    last_ms = max((s.at_ms for s in script if isinstance(s.fault, faults.Partition)), default=0)
    return round((GROWTH - 1) * last_ms)
