"""The selected slot in words, and its timeline."""

from callboard.actors.vocabulary.events import AttemptLaunched
from callboard.actors.vocabulary.job_names import job_name, job_title
from callboard.journal.replay.cluster_state import ClusterState
from callboard.journal.replay.detail_node import master_belief, node_status_text, timeline_window
from callboard.journal.replay.frame import (
    WASTED,
    DetailText,
    Lane,
    SlotState,
    View,
    is_master_unaware,
)
from callboard.journal.replay.lanes import SelectedOccupancies, lane, occupancies_of_node
from callboard.journal.replay.recording import Recording
from callboard.journal.run_records import AttemptRecord
from callboard.journal.tell import names
from callboard.journal.tell.names import ONE_MASTER, keeper_of_books
from callboard.journal.tell.reason_words import reason_with_score
from callboard.journal.tell.time_format import clock_time
from callboard.scheduler.model import MAPS, JobId, Millis, NodeId, Stage
from callboard.scheduler.text.quantities import duration, printable

_BEFORE = 5
"""How many earlier attempts are named."""

_BELIEFS: dict[int, str] = {
    SlotState.GHOST: "counts it as running",
    SlotState.ORPHAN: "has given it up, but it still runs",
}


def slot_detail(
    recording: Recording, cluster: ClusterState, at_ms: Millis, view: View
) -> DetailText:
    """A slot: its attempt and why that was launched, what the master believes, earlier attempts."""
    assert view.node is not None
    assert view.slot is not None
    assert recording.started is not None
    node, slot, facts = view.node, view.slot, recording.started.nodes[view.node]
    place = cluster.first[node] + slot
    said = [("holds", _held_attempt_text(cluster, place))]
    attempt = cluster.attempt_in(place)
    if attempt is not None:
        said += _launch_facts(attempt.launch)
        what, since_ms = "since", attempt.began_ms
        if attempt.ended is not None:
            what, since_ms = "ended", attempt.ended.at_ms
        said += [(what, f"{clock_time(since_ms)}, {duration(at_ms - since_ms)} ago")]
        said += _stall_facts(attempt)
    keeper = keeper_of_books(cluster.run.policy)
    said += [(f"the {keeper}", _belief_text(cluster, node, place))]
    status = node_status_text(cluster, node)
    if keeper == ONE_MASTER:
        status = f"{status}; the master {master_belief(cluster, node)}"
    said += [("node", status)]
    chosen = occupancies_of_node(recording.occupancies, node, at_ms)
    mine = [at for at, number in enumerate(chosen.slot.tolist()) if number == slot]
    window = timeline_window(chosen, at_ms)
    over = [at for at in mine[::-1] if chosen.ended[at] < at_ms]
    said += [_past_attempt_fact(chosen, at) for at in over[:_BEFORE]]
    lanes: list[Lane] = []
    if view.lane_columns:
        lanes = [
            lane(names.slot_name(slot, facts.map_slots), chosen, mine, window, view.lane_columns)
        ]
    return DetailText(
        f"{names.node_name(node)}, {names.slot_name(slot, facts.map_slots)}", said, lanes, *window
    )


def _belief_text(cluster: ClusterState, node: NodeId, place: int) -> str:
    """What the master, or the job's scheduler, believes of the slot."""
    if cluster.states[place] in _BELIEFS:
        return _BELIEFS[cluster.states[place]]
    unaware = is_master_unaware(cluster.node_status[node], cluster.lost[node])
    one_master = keeper_of_books(cluster.run.policy) == ONE_MASTER
    return "takes it for free" if unaware and one_master else "knows"


def _held_attempt_text(cluster: ClusterState, place: int) -> str:
    attempt = cluster.attempt_in(place)
    if attempt is None:
        return "nothing"
    launch = attempt.launch
    name = printable(cluster.run.given_name(launch.job)) or job_name(launch.job)
    number = f", attempt {launch.number + 1}" if launch.number else ""
    copy = ", a speculative attempt" if launch.original else ""
    task = f"{names.task_name_in_job(launch.stage, launch.task)} of {job_title(launch.job, name)}"
    text = f"{task}{number}{copy}"
    return f"nothing any more; {text} is over" if attempt.ended is not None else text


def _launch_facts(launch: AttemptLaunched) -> list[tuple[str, str]]:
    where = f", {names.LOCALITY_NAMES[launch.level]}" if launch.stage == MAPS else ""
    return [("launched", f"{clock_time(launch.at_ms)}{where}, {reason_with_score(launch.why)}")]


def _stall_facts(attempt: AttemptRecord) -> list[tuple[str, str]]:
    stalled = attempt.stalled
    if stalled is None or not attempt.is_stalled:
        return []
    since = clock_time(stalled.at_ms)
    return [("stalled", f"since {since}, at {stalled.progress:.0%}: {stalled.why}")]


def _past_attempt_fact(chosen: SelectedOccupancies, at: int) -> tuple[str, str]:
    begin, end = (clock_time(int(ms)) for ms in (chosen.began[at], chosen.ended[at]))
    wasted = ", wasted" if chosen.state[at] == WASTED else ""
    job, stage, task = (int(each[at]) for each in (chosen.job, chosen.stage, chosen.task))
    return f"{begin}", f"to {end} {names.task_name(JobId(job), Stage(stage), task)}{wasted}"
