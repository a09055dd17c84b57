"""The log at any moment of a recording: which events to show, and the sentence for each.

A `Narrator` goes through a run from its beginning.  Here one event is described alone, and what its
sentence says of earlier ones (the attempt's launch, the job's name) is looked up in the recording.
"""

from collections.abc import Iterator

import msgspec
import numpy as np
from numpy.typing import NDArray

from callboard.actors.vocabulary import events as ev
from callboard.journal.replay.frame import LogLevel, LogLine, Mark
from callboard.journal.replay.recording import (
    EVENT_MARKS,
    EVENT_TYPES,
    LOG_LEVELS,
    NO_SUBJECT,
    Recording,
)
from callboard.journal.tell.sentences import Narrator
from callboard.journal.tell.show import EVENT_KINDS as KIND_NAMES
from callboard.scheduler.model import JobId, NodeId

_BLOCK = 65_536
"""How many events are searched at once."""

_READ_MAX = 4_000
"""How many sentences are searched for a text before giving up."""


class LogFilter(msgspec.Struct, frozen=True):
    """Which lines: those down to a level, or all of one kind; about the job or the node; with the
    text.
    """

    level: LogLevel = LogLevel.ALL
    job: JobId | None = None
    node: NodeId | None = None
    text: str = ""
    kind: str = ""


def lines_before(recording: Recording, index: int, count: int, wanted: LogFilter) -> list[LogLine]:
    """The last `count` lines among the first `index` events, the oldest first."""
    found: list[LogLine] = []
    for read, each in enumerate(_backwards(recording, index, wanted), 1):
        line = log_line(recording, each)
        if matches_text(line.text, wanted.text):
            found.append(line)
        if len(found) == count or read == _READ_MAX:
            break
    return found[::-1]


def matches_text(text: str, filter_: str) -> bool:
    """Whether the text contains the filter, in any case; after a `!`, whether it does not."""
    if filter_.startswith("!"):
        return len(filter_) == 1 or filter_[1:].lower() not in text.lower()
    return filter_.lower() in text.lower()


def _backwards(recording: Recording, index: int, wanted: LogFilter) -> Iterator[int]:
    """The numbers of the wanted events before `index`, the last first."""
    only = KIND_NAMES.get(wanted.kind)
    if only is None:
        told = np.array([LOG_LEVELS[kind] <= wanted.level for kind in EVENT_TYPES])
    else:
        told = np.array([kind is only for kind in EVENT_TYPES])
    for low in range((max(index, 1) - 1) // _BLOCK * _BLOCK, -1, -_BLOCK):
        yield from _matching(recording, low, min(index, low + _BLOCK), told, wanted)[::-1].tolist()


def _matching(
    recording: Recording, low: int, high: int, kinds: NDArray[np.bool_], wanted: LogFilter
) -> NDArray[np.int64]:
    """The wanted events of one block.  No view of the recording's arrays outlives it."""
    mask = kinds[np.frombuffer(recording.kinds, np.uint8)[low:high]]
    if wanted.job is not None or wanted.node is not None:
        of_job = np.frombuffer(recording.jobs, np.int32)[low:high] == wanted.job
        of_node = np.frombuffer(recording.nodes, np.int32)[low:high] == wanted.node
        mask &= of_job | of_node
    return np.flatnonzero(mask) + low


def log_line(recording: Recording, index: int) -> LogLine:
    """One event as a line of the log."""
    event = recording.event(index)
    kind = EVENT_TYPES[recording.kinds[index]]
    job, node = recording.jobs[index], recording.nodes[index]
    return LogLine(
        index=index,
        at_ms=event.at_ms,
        text=sentence_at(recording, index, event),
        level=LOG_LEVELS[kind],
        mark=EVENT_MARKS.get(kind, Mark.NONE),
        job=None if job == NO_SUBJECT else job,
        node=None if node == NO_SUBJECT else node,
    )


def sentence_at(recording: Recording, index: int, event: ev.AnyEvent) -> str:
    """The event in words, as a `Narrator` of the whole run says it."""
    narrator = Narrator()
    for earlier in _needed(recording, index, event):
        narrator.learn(earlier)
    return narrator.describe(event)


def _needed(recording: Recording, index: int, event: ev.AnyEvent) -> Iterator[ev.AnyEvent]:
    """The earlier events that the sentence mentions."""
    match event:
        case ev.JobFinished() | ev.MapOutputsLost():
            row = recording.last_state.jobs.rows.get(event.job)
            if row is not None:
                yield row.submission
        case ev.AttemptLaunched():
            if event.original in recording.launched:
                yield recording.event(recording.launched[event.original])
        case _:
            launch = recording.launched.get(getattr(event, "attempt", None) or 0)
            if launch is not None:
                yield recording.event(launch)
    if isinstance(event, ev.AttemptResumed):
        suspension = _last_suspension(recording, index, event)
        if suspension is not None:
            yield suspension


def _last_suspension(
    recording: Recording, index: int, event: ev.AttemptResumed
) -> ev.AttemptSuspended | None:
    """The last suspension of the attempt that resumes."""
    suspensions = LogFilter(job=recording.jobs[index], kind="attempt-suspended")
    for each in _backwards(recording, index, suspensions):
        if recording.nodes[each] == recording.nodes[index]:
            found = recording.event(each)
            if isinstance(found, ev.AttemptSuspended) and found.attempt == event.attempt:
                return found
    return None
