"""What is in each slot of a small cluster, for slots that are drawn as cards."""

from callboard.journal.replay.cluster_state import ClusterState
from callboard.journal.replay.frame import SlotCard
from callboard.journal.run_records import AttemptRecord
from callboard.scheduler.model import MAPS, Millis, stage_on


def slot_cards(cluster: ClusterState, at_ms: Millis) -> list[SlotCard | None]:
    """A card for each slot, None for an empty one."""
    return [
        _slot_card(cluster, cluster.attempt_in(place), at_ms)
        for place in range(len(cluster.states))
    ]


def _slot_card(
    cluster: ClusterState, attempt: AttemptRecord | None, at_ms: Millis
) -> SlotCard | None:
    if attempt is None:
        return None
    launch = attempt.launch
    usual = cluster.run.jobs[launch.job].phases[stage_on(launch.kind)]
    return SlotCard(
        job=launch.job,
        kind=launch.kind,
        task=launch.task,
        level=launch.level if launch.stage == MAPS else None,
        held_ms=attempt.held_ms_until(at_ms),
        usual_ms=None if attempt.unseen else usual.usual_ms,
    )
