"""Refuses event sequences that no run can produce, before figures are made of them."""

from collections.abc import Callable, Iterable
from pathlib import Path

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.lifecycle import IllegalTransition
from callboard.journal.event_limits import InconsistentEvents, check_numbers
from callboard.journal.format import HEADER, JournalError
from callboard.journal.run_state import RunState
from callboard.journal.tell.names import class_name_in_words


def check_begins_with_start(first: ev.AnyEvent, path: Path) -> None:
    """JournalError for a journal whose first event is not the start of its run."""
    if not isinstance(first, ev.RunStarted):
        problem = "the start of the run is missing here; the file has been cut off at its beginning"
        raise JournalError(path, len(HEADER), problem)


def feed_consistent_events(
    events: Iterable[ev.AnyEvent], state: RunState, take: Callable[[ev.AnyEvent], None]
) -> None:
    """Give all events to `take`, which has the state take each in.  ValueError, with the event's
    number, if no run can have had it, or if they do not begin with a run's start.
    """
    for number, event in enumerate(events):
        try:
            check_numbers(event)
            if event.at_ms < state.now_ms:
                raise InconsistentEvents(f"the time goes from {state.now_ms} to {event.at_ms} ms")
            take(event)
        except (IllegalTransition, InconsistentEvents) as error:
            told = f"event {number} ({class_name_in_words(type(event))})"
            raise ValueError(f"{told} cannot have happened: {error}") from None
    if state.started is None:
        raise ValueError("no run has been recorded in it yet")
