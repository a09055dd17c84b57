"""A recorded run as a history."""

from collections.abc import Iterable

from callboard.actors.vocabulary import events as ev
from callboard.histories.played_history import PlayedHistory
from callboard.journal.consistency import feed_consistent_events
from callboard.journal.event_limits import InconsistentEvents
from callboard.journal.run_state import RunState
from callboard.journal.told_scenario import told_scenario


def played_history_of_run(events: Iterable[ev.AnyEvent]) -> PlayedHistory:
    """What the events tell; ValueError, with the event's number, if no run can have had them, or if
    they do not begin with a run's start.
    """
    state, found = RunState(), list[PlayedHistory]()

    def take_event(event: ev.AnyEvent) -> None:
        state.observe(event)
        if isinstance(event, ev.RunStarted):
            found.append(PlayedHistory(event, told_scenario(event).cluster.latency_ms))
            return
        if not found:
            return  # that it does not begin with its start is said at the end
        if isinstance(event, ev.MapOutputsLost):
            for attempt in event.attempts:
                if not found[0].knows_attempt(attempt):
                    raise InconsistentEvents(f"attempt {attempt} was never launched")
        found[0].observe(event)

    feed_consistent_events(events, state, take_event)
    return found[0]
