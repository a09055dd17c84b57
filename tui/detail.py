"""What the detail pane says of the selected job or node, and its timeline."""

import numpy as np
from numpy.typing import NDArray

from actors.events import NodeFacts
from journal.names import clock, count, duration, job_name, node_name, printable, rack_name
from scheduler.model import JobId, Millis, NodeId
from tui.frame import Detail, JobState, Lane, SlotState, Truth, View
from tui.stage import Stage
from tui.tally import Tally
from tui.tape import Stints, Tape

Ints = NDArray[np.int64]

_STATES = {
    JobState.WAITING: "waits for its first slot",
    JobState.RUNNING: "running",
    JobState.STARVED: "begun, but nothing of it runs",
    JobState.SUCCEEDED: "succeeded",
    JobState.FAILED: "failed",
    JobState.KILLED: "killed",
}
_WINDOWS_MS = tuple(60_000 * minutes for minutes in (1, 2, 5, 10, 20, 30, 60, 120, 240, 480, 1440))
_STINTS_IN_VIEW = 8
"""A node's timeline is so wide that about as many attempts fit into a slot's lane."""


def job_detail(tape: Tape, stage: Stage, at_ms: Millis, view: View) -> Detail:
    """A job: how far it is, where it ran, why it waits; how many of its attempts ran when."""
    assert view.job is not None
    row = stage.jobs.rows[view.job]
    told = row.told
    until_ms = row.finished_ms if row.finished_ms is not None else at_ms
    facts = [("state", _job_state(row)), ("submitted", _submission(row))]
    facts += [("maps", _progress(row.maps_done, told.maps, row.maps_on))]
    if told.reduces:
        facts += [("reduces", _progress(row.reduces_done, told.reduces, row.reduces_on))]
    facts += [("waited", _waited(row, until_ms)), ("response", _response(row, until_ms))]
    if sum(row.levels):
        near, rack, far = (f"{level / sum(row.levels):.0%}" for level in row.levels)
        facts += [("maps ran", f"{near} node-local, {rack} rack-local, {far} off-rack")]
    if row.preempted or row.suspended:
        facts += [("gave way", f"{count(row.preempted, 'time')}; {row.suspended} suspended now")]
    if row.wasted_ms:
        facts += [("lost", f"{duration(row.wasted_ms)} of slot time, in attempts that did not do")]
    if row.skip is not None and row.finished_ms is None:
        when_ms, why, rival = row.skip
        facts += [("passed over", f"{clock(when_ms)[:-4]} for {job_name(rival)}: {why}")]
    lanes: list[Lane] = []
    if view.lane_columns:
        lanes = _profile(tape.stints, view.job, (told.at_ms, until_ms), at_ms, view)
    title = f"{job_name(told.job)} “{printable(told.name)}”"
    return Detail(title, facts, lanes, told.at_ms, max(until_ms, told.at_ms + 1))


def _job_state(row: Tally) -> str:
    if row.state is JobState.RUNNING and row.suspended:
        return f"running, {count(row.suspended, 'attempt')} suspended"
    return _STATES[row.state]


def _submission(row: Tally) -> str:
    told = row.told
    by = f" by {printable(told.user)}" if told.user else ""
    pool = f", pool {printable(told.pool)}" if told.pool else ""
    priority = told.priority.name.lower().replace("_", " ")
    return f"{clock(told.at_ms)[:-4]}{by}{pool}, {priority} priority"


def _progress(done: int, tasks: int, on: int) -> str:
    return f"{done:,} of {tasks:,} done, {on:,} on, {tasks - done - on:,} waiting"


def _waited(row: Tally, until_ms: Millis) -> str:
    if row.first_ms is None:
        return f"{duration(until_ms - row.told.at_ms)}, and nothing launched yet"
    return f"{duration(row.first_ms - row.told.at_ms)} for its first launch"


def _response(row: Tally, until_ms: Millis) -> str:
    so_far = "" if row.finished_ms is not None else " so far"
    return f"{duration(until_ms - row.told.at_ms)}{so_far}"


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
    stints = tape.stints
    mine = np.flatnonzero(np.frombuffer(stints.node, np.int32) == node)
    began = np.frombuffer(stints.began_ms, np.int64)[mine]
    mine = mine[began < at_ms]
    ended = _ends(stints, mine, at_ms)
    lasted = ended - np.frombuffer(stints.began_ms, np.int64)[mine]
    usual = float(np.median(lasted[-40:])) if len(lasted) else 60_000.0
    window = next((w for w in _WINDOWS_MS if w >= _STINTS_IN_VIEW * usual), _WINDOWS_MS[-1])
    from_ms = max(at_ms - window, 0)
    lanes: list[Lane] = []
    if view.lane_columns:
        lanes = _slot_lanes(stints, mine, ended, facts, (from_ms, from_ms + window), view)
    return Detail(node_name(node), said, lanes, from_ms, from_ms + window)


def node_truth(stage: Stage, node: NodeId) -> str:
    """How the node really is, in words."""
    truth = stage.truth[node]
    said = []
    if truth & Truth.DOWN:
        said += ["down"]
    if truth & Truth.PAUSED:
        said += ["stands still"]
    if truth & Truth.SLOW:
        said += [f"takes {stage.slow.get(node, 1):g} times as long"]
    if truth & Truth.CUT:
        said += ["its links are disturbed"]
    if truth & Truth.DRAINED:
        said += ["out of service"]
    return ", ".join(said) or "up and well"


def node_belief(stage: Stage, node: NodeId) -> str:
    """What the master believes of the node, in words."""
    places = range(stage.first[node], stage.first[node + 1])
    ghosts = sum(stage.states[place] == SlotState.GHOST for place in places)
    if stage.lost[node]:
        return "has given it up for lost"
    if stage.truth[node] & Truth.DOWN:
        return f"does not know; it counts {count(ghosts, 'attempt')} as running there"
    return "believes in it"


def _ends(stints: Stints, mine: Ints, at_ms: Millis) -> Ints:
    """When the stints ended, at the latest now."""
    ended = np.frombuffer(stints.ended_ms, np.int64)[mine]
    return np.where((ended < 0) | (ended > at_ms), at_ms, ended)


def _slot_lanes(
    stints: Stints, mine: Ints, ended: Ints, facts: NodeFacts, window: tuple[int, int], view: View
) -> list[Lane]:
    """A lane for each slot: who held it for the longest part of each column."""
    columns = view.lane_columns
    began, slots = (
        np.frombuffer(each, kind)[mine]
        for each, kind in ((stints.began_ms, np.int64), (stints.slot, np.int32))
    )
    jobs, states = (
        np.frombuffer(each, kind)[mine]
        for each, kind in ((stints.job, np.int32), (stints.state, np.int8))
    )
    edges = np.linspace(*window, columns + 1)
    lanes = []
    for slot in range(facts.map_slots + facts.reduce_slots):
        label = f"map {slot}" if slot < facts.map_slots else f"reduce {slot - facts.map_slots}"
        owners, codes = np.zeros(columns, np.int64), np.zeros(columns, np.uint8)
        best = np.zeros(columns)
        for at in np.flatnonzero((slots == slot) & (ended > window[0])):
            inside = np.minimum(edges[1:], ended[at]) - np.maximum(edges[:-1], began[at])
            more = inside > best
            owners[more], codes[more], best[more] = jobs[at] + 1, states[at], inside[more]
        fill = np.minimum(best / np.maximum(np.diff(edges), 1e-9), 1)
        lanes.append(Lane(label, owners.tolist(), codes.tobytes(), fill.tolist()))
    return lanes


def _profile(
    stints: Stints, job: JobId, life: tuple[int, int], at_ms: Millis, view: View
) -> list[Lane]:
    """How many of the job's attempts ran at a time, maps and reduces apart, over its life so far.

    `fill` is the share of the most that ever ran, which the label names.
    """
    rows = np.flatnonzero(np.frombuffer(stints.job, np.int32) == job)
    began = np.frombuffer(stints.began_ms, np.int64)[rows]
    of_map = np.frombuffer(stints.map_slot, np.int8)[rows] == 1
    ended = _ends(stints, rows, at_ms)
    edges = np.linspace(life[0], max(life[1], life[0] + 1), view.lane_columns + 1)
    lanes = []
    for name, state, which in (
        ("maps", SlotState.MAP, of_map),
        ("reduces", SlotState.REDUCE, ~of_map),
    ):
        mine = which & (began < at_ms)
        if not mine.any():
            continue
        level = _mean_running(began[mine], ended[mine], edges)
        most = max(float(level.max()), 1.0)
        owners = np.where(level > 0, job + 1, 0).tolist()
        label = f"{name} ≤{most:.0f}"
        lanes.append(Lane(label, owners, bytes([state]) * len(owners), (level / most).tolist()))
    return lanes


def _mean_running(began: Ints, ended: Ints, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """How many intervals cover each column on average."""
    began, ended = np.sort(began), np.sort(ended)
    sums = [np.concatenate(((0,), np.cumsum(each))) for each in (began, ended)]
    begun, done = (np.searchsorted(each, edges) for each in (began, ended))
    # The area up to an edge: of those begun, edge - began; of those done, less edge - ended.
    area = edges * begun - sums[0][begun] - (edges * done - sums[1][done])
    return np.asarray(np.diff(area) / np.diff(edges))
