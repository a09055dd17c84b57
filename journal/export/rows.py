"""A run as two tables: a row an attempt, a row a job.  Times are virtual milliseconds.

What did not come (the end of an attempt that still runs) is None.
"""

from collections.abc import Iterable
from typing import Literal, get_args

import numpy as np

from callboard.journal.export.recording import Recording
from callboard.journal.names import kind_name
from callboard.journal.sentences import LEVELS
from callboard.journal.tables import FAILED, KILLED, NEVER, OUTCOMES, SUCCEEDED, AttemptTable, Ints
from callboard.scheduler.model import Locality, TaskKind

Cell = int | str | None
Columns = dict[str, list[Cell]]
"""The columns by name, all of one length."""

TEXT = frozenset(
    {"job_name", "kind", "locality", "ended", "booked", "preempted", "name", "user", "pool"}
    | {"priority", "outcome"}
)
"""The columns of text; all others hold whole numbers."""

Rows = Literal["attempts", "jobs"]
ROWS: tuple[Rows, ...] = get_args(Rows)


def columns_of(recording: Recording, rows: Rows) -> Columns:
    """The table that was asked for."""
    attempts = recording.metrics.attempts()
    return (
        attempt_columns(recording, attempts) if rows == "attempts" else _jobs(recording, attempts)
    )


def attempt_columns(recording: Recording, attempts: AttemptTable) -> Columns:
    """A row for each attempt that the master launched, by its number.

    `slot` is the first that it had, of all the node's, map slots first.  `ended` is what the slot
    knows, `booked` what the master has written down last; `held_ms` is how long it held slots,
    `preempted` the reason for which it had to give way for another job, if it had.
    """
    names = {told.job: told.name for told in recording.submitted}
    racks = {facts.node: facts.rack for facts in recording.started.nodes}
    stints = attempts.stints
    lasted = attempts.left_ms(recording.metrics.horizon_ms) - stints.began_ms
    held = np.zeros(len(attempts.attempt), np.int64)
    np.add.at(held, stints.place, lasted)
    jobs, nodes = attempts.job.tolist(), attempts.node.tolist()
    kinds = [TaskKind(kind) for kind in attempts.kind.tolist()]
    levels = [LEVELS[Locality(level)] for level in attempts.level.tolist()]
    return {
        "attempt": attempts.attempt.tolist(),
        "job": jobs,
        "job_name": [names[job] for job in jobs],
        "kind": [kind_name(kind) for kind in kinds],
        "task": attempts.task.tolist(),
        "number": attempts.number.tolist(),
        "copy_of": [of or None for of in attempts.copy_of.tolist()],
        "node": nodes,
        "rack": [racks[node] for node in nodes],
        "slot": _known(attempts.slot),
        "locality": [
            level if kind is TaskKind.MAP else None
            for level, kind in zip(levels, kinds, strict=True)
        ],
        "launched_ms": attempts.launched_ms.tolist(),
        "started_ms": _known(attempts.started_ms),
        "shuffled_ms": _known(attempts.shuffled_ms),
        "ended_ms": _known(attempts.ended_ms),
        "booked_ms": _known(attempts.closed_ms),
        "held_ms": held.tolist(),
        "suspended_ms": attempts.suspended_ms.tolist(),
        "ended": _outcomes(attempts.ended),
        "booked": _outcomes(attempts.closed),
        "preempted": [recording.preempted.get(each) for each in attempts.attempt.tolist()],
    }


def _jobs(recording: Recording, attempts: AttemptTable) -> Columns:
    """A row for each job that was submitted, by its number.  Attempts are counted as the master
    has booked them.
    """
    jobs = recording.metrics.jobs(attempts)
    told = {each.job: each for each in recording.submitted}
    at = np.searchsorted(jobs.job, attempts.job)

    def counted(mine: Iterable[bool]) -> list[Cell]:
        counts: list[Cell] = np.bincount(at[np.asarray(mine)], minlength=len(jobs.job)).tolist()
        return counts

    every = np.ones(len(at), np.bool_)
    of_map = attempts.kind == TaskKind.MAP
    given_way = np.isin(attempts.attempt, np.array(sorted(recording.preempted), np.int64))
    return {
        "job": jobs.job.tolist(),
        "name": list(jobs.name),
        "user": list(jobs.user),
        "pool": list(jobs.pool),
        "priority": [told[job].priority.name.lower() for job in jobs.job.tolist()],
        "maps": jobs.maps.tolist(),
        "reduces": jobs.reduces.tolist(),
        "submitted_ms": jobs.submitted_ms.tolist(),
        "first_launch_ms": _known(jobs.first_launch_ms),
        "finished_ms": _known(jobs.finished_ms),
        "waiting_ms": _known(jobs.waiting_ms),
        "response_ms": _known(jobs.response_ms),
        "outcome": _outcomes(jobs.outcome),
        "attempts": counted(every),
        "succeeded": counted(attempts.closed == SUCCEEDED),
        "failed": counted(attempts.closed == FAILED),
        "killed": counted(attempts.closed == KILLED),
        "copies": counted(attempts.copy_of != 0),
        "given_way": counted(given_way),
        "node_local_maps": counted(of_map & (attempts.level == Locality.NODE)),
        "rack_local_maps": counted(of_map & (attempts.level == Locality.RACK)),
        "off_rack_maps": counted(of_map & (attempts.level == Locality.OFF_RACK)),
    }


def _known(column: Ints) -> list[Cell]:
    return [None if value == NEVER else value for value in column.tolist()]


def _outcomes(column: Ints) -> list[Cell]:
    return [None if value == NEVER else str(OUTCOMES[value]) for value in column.tolist()]
