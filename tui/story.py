"""The log: which events of a tape to tell, and the sentence for each, wherever one looks.

A `Narrator` goes through a run from its beginning.  Here one event is told alone: what its sentence
needs to know of earlier ones (the attempt's launch, the job's name) is looked up on the tape.
"""

from collections.abc import Iterator

import msgspec
import numpy as np
from numpy.typing import NDArray

from callboard.actors.vocabulary.events import (
    AnyEvent,
    AttemptLaunched,
    AttemptResumed,
    AttemptSuspended,
    JobFinished,
    MapsUndone,
)
from callboard.journal.sentences import Narrator
from callboard.journal.show import KINDS as KIND_NAMES
from callboard.scheduler.model import JobId, NodeId
from callboard.tui.frame import Line, LogLevel, Mark
from callboard.tui.tape import KINDS, LEVELS, MARKS, NOBODY, NUMBERS, Tape

_BLOCK = 65_536
"""How many events are looked through at once."""

_READ_MAX = 4_000
"""How many sentences are read for a text before the search is given up."""


class Wanted(msgspec.Struct, frozen=True):
    """Which lines: down to which level, or all of one kind; about which job or node (either will
    do); saying what.
    """

    level: LogLevel = LogLevel.ALL
    job: JobId | None = None
    node: NodeId | None = None
    text: str = ""
    kind: str = ""


def lines_before(tape: Tape, index: int, count: int, wanted: Wanted) -> list[Line]:
    """The last `count` lines among the first `index` events, the oldest first."""
    found: list[Line] = []
    for read, each in enumerate(_backwards(tape, index, wanted), 1):
        line = line_of(tape, each)
        if contains(line.text, wanted.text):
            found.append(line)
        if len(found) == count or read == _READ_MAX:
            break
    return found[::-1]


def contains(text: str, filter_: str) -> bool:
    """Whether the text contains that, in any case; after a `!`, whether it does not."""
    if filter_.startswith("!"):
        return len(filter_) == 1 or filter_[1:].lower() not in text.lower()
    return filter_.lower() in text.lower()


def _backwards(tape: Tape, index: int, wanted: Wanted) -> Iterator[int]:
    """The numbers of the wanted events before `index`, the last first."""
    only = KIND_NAMES.get(wanted.kind)
    if only is None:
        told = np.array([LEVELS[kind] <= wanted.level for kind in KINDS])
    else:
        told = np.array([kind is only for kind in KINDS])
    for low in range((max(index, 1) - 1) // _BLOCK * _BLOCK, -1, -_BLOCK):
        yield from _matching(tape, low, min(index, low + _BLOCK), told, wanted)[::-1].tolist()


def _matching(
    tape: Tape, low: int, high: int, told: NDArray[np.bool_], wanted: Wanted
) -> NDArray[np.int64]:
    """The wanted events of one block.  What it reads of the tape is let go before it returns."""
    mask = told[np.frombuffer(tape.kinds, np.uint8)[low:high]]
    if wanted.job is not None or wanted.node is not None:
        of_job = np.frombuffer(tape.jobs, np.int32)[low:high] == wanted.job
        of_node = np.frombuffer(tape.nodes, np.int32)[low:high] == wanted.node
        mask &= of_job | of_node
    return np.flatnonzero(mask) + low


def line_of(tape: Tape, index: int) -> Line:
    """One event of the tape as a line."""
    event = tape.event(index)
    kind, job, node = KINDS[tape.kinds[index]], tape.jobs[index], tape.nodes[index]
    return Line(
        index=index,
        at_ms=event.at_ms,
        text=sentence(tape, index, event),
        level=LEVELS[kind],
        mark=MARKS.get(kind, Mark.NONE),
        job=None if job == NOBODY else job,
        node=None if node == NOBODY else node,
    )


def sentence(tape: Tape, index: int, event: AnyEvent) -> str:
    """What the event says, as `Narrator` would tell it."""
    narrator = Narrator()
    for earlier in _needed(tape, index, event):
        narrator.learn(earlier)
    return narrator.describe(event)


def _needed(tape: Tape, index: int, event: AnyEvent) -> Iterator[AnyEvent]:
    """The earlier events that the sentence speaks of."""
    match event:
        case JobFinished() | MapsUndone():
            row = tape.tip.jobs.rows.get(event.job)
            if row is not None:
                yield row.told
        case AttemptLaunched():
            if event.copy_of in tape.launched:
                yield tape.event(tape.launched[event.copy_of])
        case _:
            launch = tape.launched.get(getattr(event, "attempt", None) or 0)
            if launch is not None:
                yield tape.event(launch)
    if isinstance(event, AttemptResumed):
        suspension = _last_suspension(tape, index, event)
        if suspension is not None:
            yield suspension


def _last_suspension(tape: Tape, index: int, event: AttemptResumed) -> AttemptSuspended | None:
    """When the attempt was suspended that now goes on."""
    number, job, node = NUMBERS[AttemptSuspended], tape.jobs[index], tape.nodes[index]
    for low in range((max(index, 1) - 1) // _BLOCK * _BLOCK, -1, -_BLOCK):
        high = min(index, low + _BLOCK)
        mask = np.frombuffer(tape.kinds, np.uint8)[low:high] == number
        mask &= np.frombuffer(tape.jobs, np.int32)[low:high] == job
        mask &= np.frombuffer(tape.nodes, np.int32)[low:high] == node
        places = (np.flatnonzero(mask) + low)[::-1].tolist()
        del mask
        for each in places:
            found = tape.event(each)
            if isinstance(found, AttemptSuspended) and found.attempt == event.attempt:
                return found
    return None
