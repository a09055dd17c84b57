"""A journal read once: its tables, and what happened at single moments."""

import re
from collections.abc import Iterable
from typing import Self

import msgspec

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import faults
from callboard.journal.figures.metrics import Metrics
from callboard.journal.run_changes import preempts
from callboard.journal.run_state import RunState
from callboard.journal.tell.sentences import Narrator
from callboard.scheduler.model import AttemptId, Millis, NodeId
from callboard.scheduler.reasons import Why


class Instant(msgspec.Struct, frozen=True, gc=False):
    """Something that took no time: a word for it, the sentence, and whom it befell: an attempt, a
    node, or (neither) the whole cluster.
    """

    at_ms: Millis
    label: str
    text: str
    attempt: AttemptId | None = None
    node: NodeId | None = None


class ExportData:
    """What the exports are made from; `ExportData.of(journal)` reads it."""

    def __init__(self) -> None:
        self.metrics = Metrics()
        self.instants: list[Instant] = []
        self.submitted: list[ev.JobSubmitted] = []
        """In the order of their submission."""
        self.preempted: dict[AttemptId, Why] = {}
        """Attempts that had to give way by the policy's decision, and the last reason."""
        self._run_state = RunState()
        self._narrator = Narrator(self._run_state)

    @classmethod
    def of(cls, events: Iterable[ev.AnyEvent]) -> Self:
        """All that the events tell; ValueError if they do not begin with a run's start."""
        recording = cls()
        for event in events:
            recording._observe(event)
        if recording.metrics.started is None:
            raise ValueError("no run has been recorded in it yet")
        return recording

    @property
    def started(self) -> ev.RunStarted:
        """What was run."""
        assert self.metrics.started is not None
        return self.metrics.started

    def _observe(self, event: ev.AnyEvent) -> None:
        self.metrics.observe(event)
        match event:
            case ev.JobSubmitted():
                self.submitted.append(event)
            case ev.KillOrdered() | ev.SuspendOrdered() if preempts(event):
                self.preempted[event.attempt] = event.why
                word = "killed for another" if isinstance(event, ev.KillOrdered) else "suspended"
                self._note(event, f"preempted: {word}", attempt=event.attempt)
            case ev.FaultStruck():
                fault = event.fault
                node = fault.node if isinstance(fault, faults.NodeFault) else None
                self._note(event, _fault_label(fault), node=node)
            case ev.NodeLost():
                self._note(event, "given up for lost", node=event.node)
            case ev.NodeReturned():
                self._note(event, "joins again", node=event.node)
            case ev.MapOutputsLost():
                self._note(event, "maps must run again", node=event.node)
            case ev.OrderSwitched():
                self._note(event, f"order: {event.now}")
        self._run_state.follow(event)

    def _note(
        self,
        event: ev.AnyEvent,
        label: str,
        *,
        attempt: AttemptId | None = None,
        node: NodeId | None = None,
    ) -> None:
        text = self._narrator.describe(event)
        self.instants.append(Instant(event.at_ms, label, text, attempt, node))


def _fault_label(fault: faults.Fault) -> str:
    """`crash`, `switch policy`."""
    return re.sub(r"(?<!^)(?=[A-Z])", " ", type(fault).__name__).lower()
