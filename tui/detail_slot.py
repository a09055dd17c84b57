"""What the detail pane says of the selected slot, and its timeline."""

from callboard.actors.vocabulary.events import AttemptLaunched, NodeFacts
from callboard.journal.names import clock, duration, job_name, kind_name, node_name, printable
from callboard.journal.sentences import LEVELS
from callboard.scheduler.model import Millis, TaskKind
from callboard.tui.detail_node import node_belief, node_truth, window_of
from callboard.tui.frame import LOST, Detail, Lane, SlotState, View
from callboard.tui.insight import standing
from callboard.tui.lanes import Chosen, lane, of_node, slot_name
from callboard.tui.stage import Act, Stage
from callboard.tui.tape import Tape

_BEFORE = 5
"""So many of those that had the slot before are named."""


def slot_detail(tape: Tape, stage: Stage, at_ms: Millis, view: View) -> Detail:
    """A slot: what it holds and why, what the master believes, who had it before."""
    assert view.node is not None
    assert view.slot is not None
    assert tape.started is not None
    node, slot, facts = view.node, view.slot, tape.started.nodes[view.node]
    place = stage.first[node] + slot
    said = [("holds", _held(stage, place))]
    act = _act(stage, place)
    if act is not None:
        said += _launch(act.launch)
        ago = duration(at_ms - act.since_ms)
        said += [("since" if not act.over else "ended", f"{clock(act.since_ms)[:-4]}, {ago} ago")]
        said += _stall(stage, act.launch)
    said += [("the master", _belief(stage, place))]
    said += [("node", f"{node_truth(stage, node)}; the master {node_belief(stage, node)}")]
    chosen = Chosen(tape.stints, of_node(tape.stints, node), at_ms)
    mine = [at for at, number in enumerate(chosen.slot.tolist()) if number == slot]
    window = window_of(chosen, at_ms)
    said += [_past(chosen, at, facts) for at in mine[::-1] if chosen.ended[at] < at_ms][:_BEFORE]
    lanes: list[Lane] = []
    if view.lane_columns:
        lanes = [lane(slot_name(facts, slot), chosen, mine, window, view.lane_columns)]
    return Detail(f"{node_name(node)}, {slot_name(facts, slot)}", said, lanes, *window)


def _act(stage: Stage, place: int) -> Act | None:
    """The attempt that the slot holds, or that the master believes it to hold."""
    if stage.states[place] == SlotState.IDLE:
        return None
    holder = stage.holders[place]
    return stage.acts.get(holder) or stage.orphans.get(holder)


def _held(stage: Stage, place: int) -> str:
    act = _act(stage, place)
    if act is None:
        return "nothing"
    launch = act.launch
    row = stage.jobs.rows.get(launch.job)
    name = f" “{printable(row.told.name)}”" if row is not None else ""
    number = f", attempt {launch.number + 1}" if launch.number else ""
    copy = ", a copy" if launch.copy_of else ""
    text = f"{kind_name(launch.kind)} {launch.task} of {job_name(launch.job)}{name}{number}{copy}"
    return f"nothing any more; {text} is over" if act.over else text


def _launch(launch: AttemptLaunched) -> list[tuple[str, str]]:
    where = f", {LEVELS[launch.level]}" if launch.kind is TaskKind.MAP else ""
    return [("launched", f"{clock(launch.at_ms)[:-4]}{where}, {standing(launch.why)}")]


def _stall(stage: Stage, launch: AttemptLaunched) -> list[tuple[str, str]]:
    stalled = stage.stalls.get(launch.attempt)
    if stalled is None:
        return []
    since = clock(stalled.at_ms)[:-4]
    return [("stands still", f"since {since}, at {stalled.progress:.0%}: {stalled.why}")]


def _belief(stage: Stage, place: int) -> str:
    match stage.states[place]:
        case SlotState.GHOST:
            return "counts it as running"
        case SlotState.ORPHAN:
            return "has given it up, and it runs all the same"
        case _:
            return "knows"


def _past(chosen: Chosen, at: int, facts: NodeFacts) -> tuple[str, str]:
    """Who had the slot, from when to when."""
    kind = "map" if chosen.slot[at] < facts.map_slots else "reduce"
    begin, end = (clock(int(ms))[:-4] for ms in (chosen.began[at], chosen.ended[at]))
    lost = ", which came to nothing" if chosen.state[at] == LOST else ""
    who = f"{kind} {chosen.task[at]} of {job_name(int(chosen.job[at]))}"
    return f"{begin}", f"to {end} {who}{lost}"
