"""The tables of `actors.vocabulary.lifecycle`: every edge, every non-edge, and who goes by them."""

from collections.abc import Mapping
from enum import StrEnum
from itertools import product
from typing import Any

import pytest

from callboard.actors.books.attempts import BookedAttempt
from callboard.actors.books.members import BookedNode
from callboard.actors.central.heartbeats import HEARTBEATS, HeartbeatChange, HeartbeatState
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary import lifecycle as lc
from callboard.actors.vocabulary.events import NodeFacts
from callboard.actors.vocabulary.messages import LaunchTask, MapWork
from callboard.actors.worker.attempt import RunningAttempt
from callboard.actors.worker.machine import Machine
from callboard.scheduler.model import MAP, MAPS, Locality
from docs.making import diagrams

Table = Mapping[tuple[Any, Any], Any]

TABLES: dict[str, tuple[Table, type[StrEnum], type[StrEnum]]] = {
    "attempt": (lc.ATTEMPT, lc.AttemptState, lc.AttemptChange),
    "booked attempt": (lc.BOOKED_ATTEMPT, lc.BookedState, lc.BookedChange),
    "job": (lc.JOB, lc.JobState, lc.JobChange),
    "booked job": (lc.BOOKED_JOB, lc.BookedJobState, lc.BookedJobChange),
    "machine": (lc.MACHINE, lc.MachineState, lc.MachineChange),
    "booked node": (lc.BOOKED_NODE, lc.BookedNodeState, lc.BookedNodeChange),
    "heartbeats": (HEARTBEATS, HeartbeatState, HeartbeatChange),
}

EDGES = [(name, *edge) for name, (table, _, _) in TABLES.items() for edge in table]
NON_EDGES = [
    (name, *pair)
    for name, (table, states, changes) in TABLES.items()
    for pair in product(states, changes)
    if pair not in table
]

OVER = {"succeeded", "failed", "killed", "gone"}


def launch() -> LaunchTask:
    work = MapWork(1000)
    return LaunchTask(1, 0, MAPS, MAP, 0, 0, Locality.NODE, work, tracked=False, cause=0)


@pytest.mark.parametrize(("name", "state", "change"), EDGES)
def test_an_edge_leads_where_the_table_says(name: str, state: StrEnum, change: StrEnum) -> None:
    table, states, _ = TABLES[name]
    after = lc.step(table, state, change)
    assert after is table[state, change]
    assert isinstance(after, states)


@pytest.mark.parametrize(("name", "state", "change"), NON_EDGES)
def test_what_is_no_edge_raises_and_says_why(name: str, state: StrEnum, change: StrEnum) -> None:
    with pytest.raises(lc.IllegalTransition) as found:
        lc.step(TABLES[name][0], state, change, "node 7")
    assert str(found.value) == f"node 7 is {state.value!r}: no {change.value!r} from there"
    assert (found.value.state, found.value.change) == (state, change)


@pytest.mark.parametrize("name", TABLES)
def test_every_state_can_be_come_to_and_every_change_is_used(name: str) -> None:
    table, states, changes = TABLES[name]
    reached, ways = {next(iter(states))}, list(table.items())
    for _ in states:
        reached |= {after for (before, _), after in ways if before in reached}
    assert reached == set(states)
    assert {change for _, change in table} == set(changes)


@pytest.mark.parametrize("name", ["attempt", "booked attempt", "job", "booked job"])
def test_only_what_is_over_has_no_way_out(name: str) -> None:
    """A success in the books can still be lost: rules T2 and T6."""
    table, states, _ = TABLES[name]
    stuck = {state for state in states if not any(before is state for before, _ in table)}
    lost = {lc.BookedState.SUCCEEDED} if name == "booked attempt" else set()
    assert stuck == {state for state in states if state.value in OVER} - lost


def test_a_slots_attempt_is_as_it_was_after_an_illegal_change() -> None:
    attempt = RunningAttempt(launch(), 0)
    attempt.change_state(lc.AttemptChange.START_MAP)
    with pytest.raises(lc.IllegalTransition, match="attempt 1 is 'working'"):
        attempt.change_state(lc.AttemptChange.RESUME)
    assert attempt.state is lc.AttemptState.WORKING


def test_a_booked_attempt_is_as_it_was_after_an_illegal_change() -> None:
    nobody: Any = None
    entry = BookedAttempt(nobody, 4, 0, MAPS, MAP, 0, 0, 0, Locality.NODE, 0)
    entry.change_state(lc.BookedChange.ORDER_KILL)
    with pytest.raises(lc.IllegalTransition, match="attempt 4 is 'killing'"):
        entry.change_state(lc.BookedChange.EXPIRE)
    assert (entry.state, entry.killing) == (lc.BookedState.KILLING, True)


def test_a_booked_node_is_as_it_was_after_an_illegal_change() -> None:
    entry = BookedNode(NodeFacts(3, 0, 2, 1, 1.0))
    entry.change_state(lc.BookedNodeChange.DRAIN)
    with pytest.raises(lc.IllegalTransition, match="node 3 is 'out of service'"):
        entry.change_state(lc.BookedNodeChange.DRAIN)
    assert entry.drained


def test_a_machine_bears_what_makes_no_sense() -> None:
    """A script may crash a machine twice, or resume one that was never paused."""
    machine = Machine(1, "node 0")
    machine.join(Kernel())
    states = []
    for fault in (
        faults.ResumeNode(0),
        faults.Crash(0),
        faults.Crash(0),
        faults.PauseNode(0),
        faults.Restart(0),
        faults.PauseNode(0),
        faults.ResumeNode(0),
    ):
        machine.on_fault(fault)
        states.append(machine.state.value)
    assert states == ["up", "down", "down", "down", "up", "paused", "up"]


def test_the_diagrams_are_those_of_the_tables() -> None:
    """On failure: `make diagrams`."""
    assert diagrams.PAGE.read_text(encoding="utf-8") == diagrams.page()
