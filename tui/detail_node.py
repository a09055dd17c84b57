"""What the detail pane says of the selected node, and the timeline of its slots."""

import numpy as np

from callboard.journal.names import count, node_name, rack_name
from callboard.scheduler.model import Millis, NodeId
from callboard.tui.frame import Detail, Lane, SlotState, Truth, View
from callboard.tui.lanes import Chosen, of_node, slot_lanes
from callboard.tui.stage import Stage
from callboard.tui.tape import Tape

_WINDOWS_MS = tuple(60_000 * minutes for minutes in (1, 2, 5, 10, 20, 30, 60, 120, 240, 480, 1440))
_STINTS_IN_VIEW = 8
"""A node's timeline is so wide that about as many attempts fit into a slot's lane."""


def node_detail(tape: Tape, stage: Stage, at_ms: Millis, view: View) -> Detail:
    """A node: how it is and what the master believes; what its slots did of late, one lane each."""
    assert view.node is not None
    assert tape.started is not None
    node, facts = view.node, tape.started.nodes[view.node]
    truth, belief = node_truth(stage, node), node_belief(stage, node)
    slots = f"{count(facts.map_slots, 'map slot')}, {count(facts.reduce_slots, 'reduce slot')}"
    machine = f"{slots}, speed {facts.speed:g}{f', {facts.kind}' if facts.kind else ''}"
    said = [("machine", f"{rack_name(facts.rack)}, {machine}"), ("truth", truth)]
    said += [("the master", belief)]
    if stage.held[node]:
        said += [("keeps", count(stage.held[node], "suspended attempt"))]
    chosen = Chosen(tape.stints, of_node(tape.stints, node), at_ms)
    window = window_of(chosen, at_ms)
    lanes: list[Lane] = []
    if view.lane_columns:
        lanes = slot_lanes(chosen, facts, window, view.lane_columns)
    return Detail(node_name(node), said, lanes, *window)


def window_of(chosen: Chosen, at_ms: Millis) -> tuple[Millis, Millis]:
    """From when to when a node's timeline goes; it begins at a moment before `at_ms`."""
    lasted = chosen.ended - chosen.began
    usual = float(np.median(lasted[-40:])) if len(lasted) else 60_000.0
    width = next((w for w in _WINDOWS_MS if w >= _STINTS_IN_VIEW * usual), _WINDOWS_MS[-1])
    from_ms = max(at_ms - width, 0)
    return from_ms, from_ms + width


def node_truth(stage: Stage, node: NodeId) -> str:
    """How the node really is, in words."""
    truth = stage.truth[node]
    said = []
    if truth & Truth.ABSENT:
        said += ["not there yet"]
    elif truth & Truth.DOWN:
        said += ["down"]
    if truth & Truth.PAUSED:
        said += ["stands still"]
    if truth & Truth.SLOW:
        said += [f"takes {stage.slow.get(node, 1):g} times as long"]
    if truth & Truth.CUT:
        said += ["its link to the master is disturbed"]
    if truth & Truth.APART:
        said += ["it cannot fetch from some nodes, nor they from it"]
    if truth & Truth.DRAINED:
        said += ["out of service"]
    return ", ".join(said) or "up and well"


def node_belief(stage: Stage, node: NodeId) -> str:
    """What the master believes of the node, in words."""
    places = range(stage.first[node], stage.first[node + 1])
    ghosts = sum(stage.states[place] == SlotState.GHOST for place in places)
    if stage.lost[node]:
        return "has given it up for lost"
    if stage.truth[node] & Truth.ABSENT:
        return "has never heard of it"
    if stage.truth[node] & Truth.DOWN:
        return f"does not know; it counts {count(ghosts, 'attempt')} as running there"
    return "believes in it"
