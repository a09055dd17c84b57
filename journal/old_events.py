"""Events of journals of before, told as they would be today.

Up to format 6 the tasks that set jobs up and clean up after them had events of their own; they are
attempts like others since, whose launches say what they are for.
"""

from collections import Counter
from enum import StrEnum

from callboard.actors.vocabulary.events import (
    AnyEvent,
    AttemptClosed,
    AttemptEnded,
    AttemptLaunched,
    AttemptStarted,
    JobEvent,
    Outcome,
)
from callboard.scheduler.model import AttemptId, JobId, Locality, Millis, NodeId, SlotKind
from callboard.scheduler.reasons import Reason, Why

OWN_EVENTS_UP_TO = 6
"""The last format in which setup and cleanup have events of their own."""


class _Purpose(StrEnum):
    """What such a task is for."""

    SETUP = "setup"
    CLEANUP = "cleanup"


class _AuxiliaryEvent(JobEvent, frozen=True):
    """What happened to one; `attempt` numbers it among attempts."""

    attempt: AttemptId
    purpose: _Purpose
    node: NodeId


class _AuxiliaryLaunched(_AuxiliaryEvent, frozen=True, tag="AuxiliaryLaunched"):
    kind: SlotKind


class _AuxiliaryStarted(_AuxiliaryEvent, frozen=True, tag="AuxiliaryStarted"):
    slot: int


class _AuxiliaryEnded(_AuxiliaryEvent, frozen=True, tag="AuxiliaryEnded"):
    outcome: Outcome
    slot: int


class _AuxiliaryClosed(_AuxiliaryEvent, frozen=True, tag="AuxiliaryClosed"):
    outcome: Outcome


_OwnEvent = _AuxiliaryLaunched | _AuxiliaryStarted | _AuxiliaryEnded | _AuxiliaryClosed

OldEvent = AnyEvent | _OwnEvent
"""What such a journal may have."""

_REASONS = {_Purpose.SETUP: Reason.JOB_SETUP, _Purpose.CLEANUP: Reason.JOB_CLEANUP}


class EventRenewal:
    """Renews the events of one journal, in their order."""

    def __init__(self) -> None:
        self._attempts: Counter[tuple[JobId, _Purpose]] = Counter()
        self._started_ms: dict[AttemptId, Millis] = {}

    def renewed(self, event: OldEvent) -> AnyEvent:
        """The event as it would be told today."""
        if not isinstance(event, _AuxiliaryEvent):
            return event
        at_ms, attempt, cause = event.at_ms, event.attempt, event.cause
        match event:
            case _AuxiliaryLaunched(job=job, purpose=purpose):
                number = self._attempts[job, purpose]
                self._attempts[job, purpose] += 1
                task = (attempt, job, event.kind, 0, number, event.node, Locality.OFF_RACK)
                return AttemptLaunched(at_ms, *task, Why(_REASONS[purpose]), cause=cause)
            case _AuxiliaryStarted():
                self._started_ms[attempt] = at_ms
                return AttemptStarted(at_ms, attempt, event.node, event.slot, cause=cause)
            case _AuxiliaryEnded():
                began_ms = self._started_ms.pop(attempt, at_ms)
                return AttemptEnded(at_ms, attempt, event.outcome, began_ms, cause=cause)
            case _AuxiliaryClosed():
                return AttemptClosed(at_ms, attempt, event.outcome, cause=cause)
        raise AssertionError(event)
