"""The log at any moment of a recording: which events to show, and the sentence for each.

One event is described alone: what its sentence says of earlier ones (the attempt's launch, the
job's name) is looked up in the recording.
"""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice

import msgspec
import numpy as np
from numpy.typing import NDArray

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.events import Importance
from callboard.journal.replay.frame import LogLine
from callboard.journal.replay.recording import Recording
from callboard.journal.run_state import NO_SUBJECT
from callboard.journal.tell.sentences import Narrator
from callboard.journal.tell.show import EVENT_KINDS as KIND_NAMES
from callboard.scheduler.model import AttemptId, JobId, Millis, NodeId

_BLOCK = 65_536
"""How many events are searched at once."""

_READ_MAX = 4_000
"""How many sentences are searched for a text before giving up."""


class LogFilter(msgspec.Struct, frozen=True):
    """Lines down to a level, or of one kind; about the job or the node; with the text."""

    level: Importance = Importance.DETAIL
    job: JobId | None = None
    node: NodeId | None = None
    text: str = ""
    kind: str = ""


def events_before(recording: Recording, index: int, wanted: LogFilter) -> Iterator[int]:
    """The numbers of the wanted events before `index`, the last first."""
    numbers = _events_backwards(recording, index, wanted)
    if not wanted.text:
        yield from numbers
        return
    for each in islice(numbers, _READ_MAX):
        if matches_text(log_line(recording, each).text, wanted.text):
            yield each


def matches_text(text: str, filter_: str) -> bool:
    """Whether the text contains the filter, in any case; after a `!`, whether it does not."""
    if filter_.startswith("!"):
        return len(filter_) == 1 or filter_[1:].lower() not in text.lower()
    return filter_.lower() in text.lower()


def _events_backwards(recording: Recording, index: int, wanted: LogFilter) -> Iterator[int]:
    """The same, but for the text."""
    only, level = KIND_NAMES.get(wanted.kind), wanted.level
    told = np.array([each is only if only else each.importance <= level for each in ev.EVENT_TYPES])
    for low in range((max(index, 1) - 1) // _BLOCK * _BLOCK, -1, -_BLOCK):
        yield from _matching_events_in_block(
            recording, low, min(index, low + _BLOCK), told, wanted
        )[::-1].tolist()


def _matching_events_in_block(
    recording: Recording, low: int, high: int, kinds: NDArray[np.bool_], wanted: LogFilter
) -> NDArray[np.int64]:
    """The wanted events of one block.  No view of the recording's arrays may outlive the call."""
    mask = kinds[np.frombuffer(recording.kinds, np.uint8)[low:high]]
    if wanted.job is not None or wanted.node is not None:
        of_job = np.frombuffer(recording.jobs, np.int32)[low:high] == wanted.job
        of_node = np.frombuffer(recording.nodes, np.int32)[low:high] == wanted.node
        mask &= of_job | of_node
    return np.flatnonzero(mask) + low


def log_line(recording: Recording, index: int) -> LogLine:
    """One event as a line of the log."""
    event = recording.event(index)
    job, node = recording.jobs[index], recording.nodes[index]
    return LogLine(
        index=index,
        at_ms=event.at_ms,
        text=sentence_at(recording, index, event),
        level=event.importance,
        mark=event.mark,
        job=None if job == NO_SUBJECT else job,
        node=None if node == NO_SUBJECT else node,
    )


def sentence_at(recording: Recording, index: int, event: ev.AnyEvent) -> str:
    """The event in words, as a `Narrator` of the whole run says it."""
    return Narrator(_RecordedFacts(recording, index)).describe(event)


class _RecordedFacts:
    """What a sentence mentions of earlier events, looked up in the recording."""

    def __init__(self, recording: Recording, index: int) -> None:
        self._recording = recording
        self._index = index

    def launch(self, number: AttemptId) -> ev.AttemptLaunched | None:
        place = self._recording.launched.get(number)
        if place is None:
            return None
        event = self._recording.event(place)
        assert isinstance(event, ev.AttemptLaunched)
        return event

    def given_name(self, number: JobId) -> str:
        return self._recording.last_state.run.given_name(number)

    def suspended_ms(self, number: AttemptId) -> Millis | None:
        times = self._recording.suspensions.get(number, [])
        place = bisect_right(times, self._recording.times[self._index])
        return times[place - 1] if place else None
