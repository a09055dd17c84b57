"""Whether tasks are longer than their nodes stay up, so that a run may take ages."""

from callboard.actors.vocabulary.faults import Crash
from callboard.experiments.run.run_spec import RunSpec
from callboard.journal.tell.names import duration

_CRASHES_LEAST = 10
"""Of fewer there is no telling how long a node stays up."""
_TOO_LONG = 2.0
"""A task of so many times as a node stays up on average ends in one of seven attempts."""


def outage_hint(spec: RunSpec) -> str:
    """What to know before a run whose nodes fail too often for its longest task; else empty."""
    crashes = [each.at_ms for each in spec.script if isinstance(each.fault, Crash)]
    if len(crashes) < _CRASHES_LEAST:
        return ""
    up_ms = (crashes[-1] - crashes[0]) * spec.scenario.cluster.node_count() / len(crashes)
    longest_ms = max(
        (max(job.map_ms if job.maps else 0, job.reduce_ms) for job in spec.jobs), default=0
    )
    if longest_ms < _TOO_LONG * up_ms:
        return ""
    return (
        f"a task takes {duration(longest_ms)}, and a node stays up for {duration(round(up_ms))} on"
        " average: it begins again and again, and this may take long. `--no-faults` leaves the"
        " outages out; if the number of nodes was guessed, `--nodes` says it"
    )
