"""Whether tasks are longer than their nodes stay up, so that a run may take ages."""

from collections.abc import Iterable
from statistics import fmean

from callboard.actors.injector import ScheduledFault
from callboard.actors.vocabulary.faults import Crash, Restart
from callboard.experiments.run.run_spec import RunSpec
from callboard.scheduler.model import Millis, NodeId
from callboard.scheduler.text.quantities import duration

_INTERVALS_LEAST = 10
"""Of fewer there is no telling how long nodes stay up."""
_TOO_LONG = 2.0
"""A task of so many times as a node stays up on average ends in one of seven attempts."""


def outage_hint(spec: RunSpec) -> str:
    """What to know before a run in which at least half of the nodes fail again and again, too often
    for its longest task; else empty.
    """
    up_ms, failing = _times_up(spec.script)
    nodes = spec.scenario.cluster.node_count()
    if len(up_ms) < _INTERVALS_LEAST or 2 * failing < nodes:
        return ""
    mean_ms = round(fmean(up_ms))
    longest_ms = max(
        (max(job.map_ms if job.maps else 0, job.reduce_ms) for job in spec.jobs), default=0
    )
    if longest_ms < _TOO_LONG * mean_ms:
        return ""
    return (
        f"a task takes {duration(longest_ms)}, and a node stays up for {duration(mean_ms)} on"
        " average: it begins again and again, and this may take long. `--no-faults` leaves the"
        " outages out; if the number of nodes was guessed, `--nodes` says it"
    )


def _times_up(script: Iterable[ScheduledFault]) -> tuple[list[Millis], int]:
    """How long nodes were up between two crashes, and of how many nodes that tells."""
    up_since: dict[NodeId, Millis] = {}
    up_ms: list[Millis] = []
    failing: set[NodeId] = set()
    for at_ms, fault in ((each.at_ms, each.fault) for each in script):
        if isinstance(fault, Restart):
            up_since[fault.node] = at_ms
        elif isinstance(fault, Crash) and fault.node in up_since:
            up_ms.append(at_ms - up_since.pop(fault.node))
            failing.add(fault.node)
    return up_ms, len(failing)
