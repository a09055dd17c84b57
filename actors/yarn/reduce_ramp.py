"""How many reduces a master asks for while maps wait: RMContainerAllocator.scheduleReduces.

The more maps are done, the more of what the job may hold goes to reduces, up to a part; what maps
do not need of theirs goes to reduces too.  When no map waits, all reduces are asked for.
"""

import msgspec

from callboard.scheduler.queues.amounts import scaled_and_truncated
from callboard.scheduler.resources import Vector, minus, plus


class JobTaskCounts(msgspec.Struct, frozen=True, kw_only=True):
    """A job's tasks, as its master counts them."""

    maps: int
    maps_done: int
    maps_waiting: int
    maps_running: int
    reduces_waiting: int
    """Those that may run and do not."""
    reduces_asked: int
    """How many of these are asked for."""
    reduces_running: int
    map_demand: Vector
    reduce_demand: Vector


def reduces_to_ask(job: JobTaskCounts, headroom: Vector, ramp: float) -> int:
    """For how many waiting reduces containers are asked for from now on."""
    if not job.maps_waiting:
        return job.reduces_waiting
    maps_need = _amounts_times(job.map_demand, job.maps_waiting + job.maps_running)
    held = plus(
        _amounts_times(job.map_demand, job.maps_running),
        _amounts_times(job.reduce_demand, job.reduces_running),
    )
    limit = plus(headroom, held)
    for_reduces = scaled_and_truncated(limit, min(job.maps_done / job.maps, ramp))
    for_maps = minus(limit, for_reduces)
    if _containers_that_fit(for_maps, job.map_demand) >= job.maps_waiting + job.maps_running:
        for_reduces = plus(for_reduces, minus(for_maps, maps_need))
    scheduled = _amounts_times(job.reduce_demand, job.reduces_asked + job.reduces_running)
    more = _containers_that_fit(minus(for_reduces, scheduled), job.reduce_demand)
    return min(max(job.reduces_asked + more, 0), job.reduces_waiting)


def reduces_to_stop(job: JobTaskCounts, headroom: Vector) -> int:
    """How many running reduces have to make room for a map, for which there is none
    (preemptReducesIfNeeded).
    """
    has_room = _containers_that_fit(headroom, job.map_demand) > 0
    if not job.maps_waiting or job.maps_running or has_room or not job.reduces_running:
        return 0
    needs = [
        -(-need // frees)
        for need, frees in zip(job.map_demand, job.reduce_demand, strict=True)
        if need and frees
    ]
    return min(max(needs, default=0), job.reduces_running)


def _amounts_times(amounts: Vector, count: int) -> Vector:
    return tuple(amount * count for amount in amounts)


def _containers_that_fit(amounts: Vector, demand: Vector) -> int:
    """How many containers fit, below 0 if it is less than nothing; without a demand, one."""
    return min(
        (amount // each for amount, each in zip(amounts, demand, strict=True) if each), default=1
    )
