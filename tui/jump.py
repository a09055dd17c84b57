"""Reading where to jump to: a job, a node, or a time."""

import re
from collections.abc import Mapping

import msgspec

from callboard.journal.replay.frame import Frame, RunInfo
from callboard.journal.tell.time_format import TooLateError, parse_time
from callboard.scheduler.model import JobId, Millis, NodeId

_NUMBERED = re.compile(r"(job|node)-?\s*(\d{1,9})", re.IGNORECASE)


class Jump(msgspec.Struct, frozen=True):
    """One of the three is set."""

    job: JobId | None = None
    node: NodeId | None = None
    at_ms: Millis | None = None


def read_jump(text: str, frame: Frame, run: RunInfo, names: Mapping[JobId, str]) -> Jump:
    """`job-12`, a job's name, `node-4`, or a time; ValueError for what is none.  Of several jobs
    with the name it is one that the table shows, if it shows one.
    """
    text = text.strip()
    named = [row.job for row in frame.jobs if row.name == text]
    named += [job for job, name in names.items() if name == text]
    if named:
        return Jump(job=named[0])
    numbered = _NUMBERED.fullmatch(text)
    if numbered is None:
        return Jump(at_ms=_parsed_time(text))
    number = int(numbered[2])
    if numbered[1].lower() == "node":
        return Jump(node=_checked_number(number, len(run.nodes), "node"))
    return Jump(job=_checked_number(number, len(frame.hues), "job"))


def _checked_number(number: int, many: int, noun: str) -> int:
    if number >= many:
        last = f"the last is {noun}-{many - 1}" if many else f"there is no {noun} yet"
        raise ValueError(f"{noun}-{number} is not there; {last}")
    return number


def _parsed_time(text: str) -> Millis:
    try:
        return parse_time(text)
    except TooLateError:
        raise
    except ValueError:
        raise ValueError(f"{text!r} is none; try job-3, node-4, 7:30, or a job's name") from None
