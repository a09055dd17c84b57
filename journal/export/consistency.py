"""What an export asks of events beyond `RunState`: nodes and slots that exist, and sane numbers.

A sealed journal need not have been written by a run; no table is made of one that cannot have been.
"""

from collections.abc import Callable, Iterable

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.lifecycle import IllegalTransition
from callboard.journal.run_state import InconsistentEvents, RunState
from callboard.journal.tell.names import class_words
from callboard.scheduler.model import NodeId

NUMBER_LIMIT = 1 << 50
"""Of every number: so that times fit into 64 bits in microseconds too."""

SLOTS_LIMIT = 1_000_000
"""Of all nodes together, five times what a scenario may have."""

_NUMBERS = {
    ev.JobSubmitted: ("job", "maps", "reduces"),
    ev.JobFinished: ("submitted_ms",),
    ev.AttemptLaunched: ("attempt", "job", "task", "number", "original"),
    ev.AttemptEnded: ("started_ms", "suspended_ms"),
}


def take_events(
    events: Iterable[ev.AnyEvent], state: RunState, take: Callable[[ev.AnyEvent], None]
) -> None:
    """Give all events to `take`, which has the state take each in.  ValueError, with the event's
    number, if no run can have had it, or if they do not begin with a run's start.
    """
    for number, event in enumerate(events):
        try:
            check_event(event, state)
            take(event)
        except (IllegalTransition, InconsistentEvents) as error:
            told = f"event {number} ({class_words(type(event))})"
            raise ValueError(f"{told} cannot have happened: {error}") from None
    if state.started is None:
        raise ValueError("no run has been recorded in it yet")


def check_event(event: ev.AnyEvent, before: RunState) -> None:
    """InconsistentEvents for an event that no run can have after `before`."""
    if not before.now_ms <= event.at_ms < NUMBER_LIMIT:
        raise InconsistentEvents(f"the time goes from {before.now_ms} to {event.at_ms} ms")
    for name in _NUMBERS.get(type(event), ()):
        _check_number(name, getattr(event, name))
    match event:
        case ev.RunStarted():
            _check_nodes(event)
        case ev.AttemptLaunched():
            _node(event.node, before)
        case ev.AttemptStarted() | ev.AttemptResumed():
            facts = _node(event.node, before)
            if not 0 <= event.slot < facts.map_slots + facts.reduce_slots:
                raise InconsistentEvents(f"node {event.node} has no slot {event.slot}")


def _check_nodes(started: ev.RunStarted) -> None:
    for facts in started.nodes:
        for name in ("node", "rack", "map_slots", "reduce_slots"):
            _check_number(name, getattr(facts, name))
    if len({facts.node for facts in started.nodes}) < len(started.nodes):
        raise InconsistentEvents("two nodes have the same number")
    slots = sum(facts.map_slots + facts.reduce_slots for facts in started.nodes)
    if slots > SLOTS_LIMIT:
        raise InconsistentEvents(f"{slots:,} slots; the limit is {SLOTS_LIMIT:,}")


def _check_number(name: str, number: int) -> None:
    if not 0 <= number < NUMBER_LIMIT:
        raise InconsistentEvents(f"{name} is {number}")


def _node(number: NodeId, before: RunState) -> ev.NodeFacts:
    node = before.nodes.get(number)
    if node is None:
        raise InconsistentEvents(f"there is no node {number}")
    return node.facts
