"""The selected node in words, and the timeline of its slots."""

import numpy as np

from callboard.journal.replay.cluster_state import ClusterState
from callboard.journal.replay.frame import (
    DetailText,
    NodeStatus,
    SlotState,
    View,
    is_master_unaware,
)
from callboard.journal.replay.lanes import SelectedOccupancies, occupancies_of_node, slot_lanes
from callboard.journal.replay.recording import Recording
from callboard.journal.replay.scheduler_facts import node_scheduling_facts
from callboard.journal.tell.names import (
    ONE_MASTER,
    keeper_of_books,
    node_name,
    rack_name,
    scheduler_or_cell_name,
)
from callboard.scheduler.model import Millis, NodeId
from callboard.scheduler.text.quantities import count

_WINDOWS_MS = tuple(60_000 * minutes for minutes in (1, 2, 5, 10, 20, 30, 60, 120, 240, 480, 1440))
_OCCUPANCIES_IN_VIEW = 8
"""About how many attempts fit into a slot's lane."""

_STATUS_TEXTS = (
    (NodeStatus.PAUSED, "paused"),
    (NodeStatus.SLOW, "slow: tasks take {slow:g} times as long"),
    (NodeStatus.CUT, "its link to the {keeper} is disturbed"),
    (NodeStatus.APART, "it cannot fetch from some nodes, nor they from it"),
    (NodeStatus.DRAINED, "out of service"),
)


def node_detail(
    recording: Recording, cluster: ClusterState, at_ms: Millis, view: View
) -> DetailText:
    """A node: its status and what the master believes; then a lane for each of its slots."""
    assert view.node is not None
    assert recording.started is not None
    node, facts = view.node, recording.started.nodes[view.node]
    slots = f"{count(facts.map_slots, 'map slot')}, {count(facts.reduce_slots, 'reduce slot')}"
    machine = f"{slots}, speed {facts.speed:g}{f', {facts.node_type}' if facts.node_type else ''}"
    said = [("machine", f"{rack_name(facts.rack)}, {machine}")]
    said += [("node", node_status_text(cluster, node))]
    if keeper_of_books(cluster.run.policy) == ONE_MASTER:
        said += [("the master", master_belief(cluster, node))]
    elif is_master_unaware(cluster.node_status[node], cluster.lost[node]):
        said += [("the scheduler", "does not know that it is down")]
    if given_up_by := sorted(cluster.run.nodes[node].given_up_by):
        said += [("given up by", ", ".join(map(scheduler_or_cell_name, given_up_by)))]
    said += node_scheduling_facts(cluster, node)
    if cluster.suspended_by_node[node]:
        said += [("keeps", count(cluster.suspended_by_node[node], "suspended attempt"))]
    chosen = occupancies_of_node(recording.occupancies, node, at_ms)
    window = timeline_window(chosen, at_ms)
    lanes = slot_lanes(chosen, facts, window, view.lane_columns) if view.lane_columns else []
    return DetailText(node_name(node), said, lanes, *window)


def timeline_window(chosen: SelectedOccupancies, at_ms: Millis) -> tuple[Millis, Millis]:
    """The first and the last moment of a node's timeline around `at_ms`."""
    lasted = chosen.ended - chosen.began
    usual = float(np.median(lasted[-40:])) if len(lasted) else 60_000.0
    width = next((w for w in _WINDOWS_MS if w >= _OCCUPANCIES_IN_VIEW * usual), _WINDOWS_MS[-1])
    from_ms = max(at_ms - width, 0)
    return from_ms, from_ms + width


def node_status_text(cluster: ClusterState, node: NodeId) -> str:
    """How the node really is, in words."""
    status, slow = cluster.node_status[node], cluster.run.nodes[node].factor
    keeper = keeper_of_books(cluster.run.policy)
    said = []
    if status & (NodeStatus.ABSENT | NodeStatus.DOWN):
        said += ["not joined yet" if status & NodeStatus.ABSENT else "down"]
    said += [text.format(slow=slow, keeper=keeper) for flag, text in _STATUS_TEXTS if status & flag]
    return ", ".join(said) or "up and well"


def master_belief(cluster: ClusterState, node: NodeId) -> str:
    """What the master believes of the node, in words."""
    places = range(cluster.first[node], cluster.first[node + 1])
    ghosts = sum(cluster.states[place] == SlotState.GHOST for place in places)
    if cluster.lost[node]:
        return "has given it up for lost"
    if cluster.node_status[node] & NodeStatus.ABSENT:
        return "has never heard of it"
    if cluster.node_status[node] & NodeStatus.DOWN:
        return f"does not know; it counts {count(ghosts, 'attempt')} as running there"
    return "counts on it"
