"""A journal read once: its tables, and its instants."""

from collections.abc import Iterable
from typing import Self

import msgspec

from callboard.actors.vocabulary import events as ev
from callboard.journal.consistency import feed_consistent_events
from callboard.journal.export.attempt_table import AttemptCollector, AttemptColumns
from callboard.journal.figures.metrics import Metrics
from callboard.journal.run_state import RunState
from callboard.journal.tell.names import class_name_in_words, scheduler_or_cell_name
from callboard.journal.tell.sentences import Narrator
from callboard.scheduler.model import AttemptId, Millis, NodeId
from callboard.scheduler.reasons import Why


class Instant(msgspec.Struct, frozen=True, gc=False):
    """Something that took no time: a label, the sentence, and what it happened to: an attempt, a
    node, or (neither) the whole cluster.
    """

    at_ms: Millis
    label: str
    text: str
    attempt: AttemptId | None = None
    node: NodeId | None = None


class ExportData:
    """What the exports are made from; `ExportData.of_events(journal)` reads it."""

    def __init__(self) -> None:
        self._run_state = RunState()
        self.metrics = Metrics(self._run_state)
        self._attempts = AttemptCollector(self._run_state)
        self.instants: list[Instant] = []
        self.submitted: list[ev.JobSubmitted] = []
        """In the order of their submission."""
        self.preempted: dict[AttemptId, Why] = {}
        """The preempted attempts, each with its last reason."""
        self._narrator = Narrator(self._run_state)

    @classmethod
    def of_events(cls, events: Iterable[ev.AnyEvent]) -> Self:
        """All that the events tell; ValueError, with the event's number, if no run can have had
        them, or if they do not begin with a run's start.
        """
        data = cls()
        feed_consistent_events(events, data._run_state, data._collect_event)
        return data

    @property
    def started(self) -> ev.RunStarted:
        assert self._run_state.started is not None
        return self._run_state.started

    @property
    def ended(self) -> ev.RunEnded | None:
        """None for a run that was cut off."""
        return self._run_state.ended

    def attempts(self) -> AttemptColumns:
        return self._attempts.table()

    def _collect_event(self, event: ev.AnyEvent) -> None:
        match event:
            case ev.JobSubmitted():
                self.submitted.append(event)
            case ev.KillOrdered() | ev.SuspendOrdered() if not event.why.reason.is_the_masters:
                self.preempted[event.attempt] = event.why
                word = "killed for another" if isinstance(event, ev.KillOrdered) else "suspended"
                self._note_instant(event, f"preempted: {word}", event)
            case ev.FaultStruck():
                self._note_instant(event, class_name_in_words(type(event.fault)), event.fault)
            case ev.NodeLost():
                self._note_instant(event, "given up for lost", event)
            case ev.NodeReturned():
                self._note_instant(event, "joins again", event)
            case ev.ContactLost():
                self._note_instant(
                    event, f"given up by {scheduler_or_cell_name(event.scheduler)}", event
                )
            case ev.ContactRegained():
                self._note_instant(
                    event, f"heard of by {scheduler_or_cell_name(event.scheduler)}", event
                )
            case ev.MapOutputsLost():
                self._note_instant(event, "maps must run again", event)
            case ev.OrderSwitched():
                self._note_instant(event, f"order: {event.now}", event)
        attempt = self._run_state.observe(event)
        self.metrics.note_event(event, attempt)
        self._attempts.note_event(event, attempt)

    def _note_instant(self, event: ev.AnyEvent, label: str, about: object) -> None:
        text, attempt = self._narrator.describe(event), getattr(about, "attempt", None)
        self.instants.append(
            Instant(event.at_ms, label, text, attempt, getattr(about, "node", None))
        )
