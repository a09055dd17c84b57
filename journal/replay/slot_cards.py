"""What is in each slot of a small cluster, for slots that are drawn as cards."""

from callboard.journal.replay.cluster_state import ClusterState
from callboard.journal.replay.frame import SlotCard, SlotState
from callboard.journal.run_records import AttemptRecord
from callboard.scheduler.model import MAPS, Millis, stage_on


def slot_cards(cluster: ClusterState, at_ms: Millis) -> list[SlotCard | None]:
    """A card for each slot, None for an empty one."""
    return [
        None if state == SlotState.IDLE else _slot_card(cluster, cluster.holders[place], at_ms)
        for place, state in enumerate(cluster.states)
    ]


def _slot_card(cluster: ClusterState, number: int, at_ms: Millis) -> SlotCard | None:
    attempt = cluster.run.attempts.get(number)
    if attempt is None:
        return None
    launch = attempt.launch
    return SlotCard(
        job=launch.job,
        kind=launch.kind,
        task=launch.task,
        level=launch.level if launch.stage == MAPS else None,
        held_ms=attempt.held_ms_until(at_ms),
        usual_ms=_usual_ms(cluster, attempt),
    )


def _usual_ms(cluster: ClusterState, attempt: AttemptRecord) -> float | None:
    """How long tasks of its job and kind have held a slot; None without any that has succeeded:
    those of other jobs say nothing of it.
    """
    phase = cluster.run.jobs[attempt.launch.job].phases[stage_on(attempt.launch.kind)]
    return phase.held_ms / phase.succeeded if phase.succeeded else None
