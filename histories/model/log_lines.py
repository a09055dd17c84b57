"""The attempts of a history in the file of its tasks: a line for all, then a line a job, so that an
imported history tells what the raw one did.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from callboard.histories.model.attempt_log import (
    COLUMNS_OF_ATTEMPTS,
    COLUMNS_OF_JOBS,
    UNTOLD,
    AttemptLog,
)
from callboard.scheduler.model import Millis

_KEPT = COLUMNS_OF_ATTEMPTS[1:]
_Column = list[int | None]


class LogHead(msgspec.Struct, frozen=True):
    """What stands before the attempts: the first submission by the history's own clock, how many
    hosts, jobs, tasks and attempts it had, and what had to be guessed of it, with how often.
    """

    begin_ms: Millis
    hosts: int
    jobs: int
    tasks: int
    attempts: int
    guessed: tuple[tuple[str, int], ...] = ()


class _Job(msgspec.Struct, omit_defaults=True):
    """A job and its attempts, column by column; times are by the history's clock."""

    name: str
    of_job: list[int | None]
    columns: dict[str, _Column]


class KeptLog(NamedTuple):
    """The attempts that a file of tasks keeps, and what stands before them."""

    head: LogHead
    log: AttemptLog


def log_lines(head: LogHead, log: AttemptLog) -> Iterator[bytes]:
    """The lines that follow those of the jobs."""
    yield msgspec.json.encode(head)
    edges = np.searchsorted(log.job, np.arange(len(log.names) + 1)).tolist()
    for number, name in enumerate(log.names):
        rows = slice(edges[number], edges[number + 1])
        columns = {each: _json_column(getattr(log, each)[rows]) for each in _KEPT}
        of_job = [
            _json_column(getattr(log, each)[number : number + 1])[0] for each in COLUMNS_OF_JOBS
        ]
        kept = {each: values for each, values in columns.items() if set(values) - {None}}
        yield msgspec.json.encode(_Job(name, of_job, kept))


def read_log(lines: Sequence[bytes]) -> KeptLog:
    """The attempts in such lines; msgspec's errors, or ValueError, where they are damaged."""
    head = msgspec.json.decode(lines[0], type=LogHead)
    jobs = [msgspec.json.decode(line, type=_Job) for line in lines[1:]]
    parts = [_columns_of_job(number, job) for number, job in enumerate(jobs)]
    columns = {each: np.concatenate([part[each] for part in parts]) for each in COLUMNS_OF_ATTEMPTS}
    told = [_number_column(column) for column in zip(*(job.of_job for job in jobs), strict=True)]
    of_jobs = dict(zip(COLUMNS_OF_JOBS, told, strict=True))
    names = tuple(job.name for job in jobs)
    return KeptLog(head, AttemptLog(**columns, **of_jobs, hosts=head.hosts, names=names))


def _columns_of_job(number: int, job: _Job) -> Mapping[str, NDArray[np.int64]]:
    rows = len(job.columns.get("kind", ()))
    found: dict[str, Any] = {
        each: _number_column(job.columns.get(each, [None] * rows)) for each in COLUMNS_OF_ATTEMPTS
    }
    if {len(column) for column in found.values()} != {rows}:
        raise ValueError(f"the attempts of {job.name} are not equally many in all columns")
    return found | {"job": np.full(rows, number)}


def _json_column(values: NDArray[np.int64]) -> _Column:
    return [None if each == UNTOLD else each for each in values.tolist()]


def _number_column(column: Sequence[int | None]) -> NDArray[np.int64]:
    return np.array([UNTOLD if each is None else each for each in column], np.int64)
