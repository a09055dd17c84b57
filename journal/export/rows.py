"""A run as two tables: a row an attempt, a row a job.  Times are virtual milliseconds.

What did not come (the end of an attempt that still runs) is None.
"""

from typing import Literal, get_args

import numpy as np

from callboard.journal.export.attempt_table import AttemptColumns
from callboard.journal.export.export_data import ExportData
from callboard.journal.figures import tables
from callboard.journal.figures.tables import Flags, Ints
from callboard.journal.run_records import NEVER
from callboard.journal.tell.names import LOCALITY_NAMES, slot_kind_name
from callboard.journal.tell.reason_words import reason_in_words
from callboard.scheduler.model import MAPS, AttemptId, Locality, SlotKind

TableCell = int | float | str | None
Columns = dict[str, list[TableCell]]
"""The columns by name, all of one length."""

TEXT_COLUMNS = frozenset(
    {"job_name", "kind", "locality", "ended", "booked", "preempted", "name", "user", "pool"}
    | {"priority", "outcome"}
)
"""The columns of text; all others hold whole numbers."""

RowKind = Literal["attempts", "jobs"]
ROW_KINDS: tuple[RowKind, ...] = get_args(RowKind)


def attempts_or_jobs_table(data: ExportData, rows: RowKind) -> Columns:
    """The table that was asked for."""
    attempts = data.attempts()
    return attempt_columns(data, attempts) if rows == "attempts" else _job_table(data, attempts)


def attempt_columns(data: ExportData, attempts: AttemptColumns) -> Columns:
    """A row for each attempt that the master launched, by its number.

    `slot` is the first that it had, of all the node's, map slots first.  `ended` is what the slot
    knows, `booked` what the master has booked last; `held_ms` is how long it held slots,
    `preempted` the reason for which it had to give way for another job, if it had.
    """
    names = {told.job: told.name for told in data.submitted}
    racks = {facts.node: facts.rack for facts in data.started.nodes}
    jobs, nodes = attempts.job.tolist(), attempts.node.tolist()
    kinds = [SlotKind(kind) for kind in attempts.kind.tolist()]
    levels = [LOCALITY_NAMES[Locality(level)] for level in attempts.level.tolist()]
    return {
        "attempt": attempts.attempt.tolist(),
        "job": jobs,
        "job_name": [names[job] for job in jobs],
        "kind": [slot_kind_name(kind) for kind in kinds],
        "task": attempts.task.tolist(),
        "number": attempts.number.tolist(),
        "original": [of or None for of in attempts.original.tolist()],
        "node": nodes,
        "rack": [racks[node] for node in nodes],
        "slot": _known_or_none(attempts.slot),
        "locality": [
            level if stage == MAPS else None
            for level, stage in zip(levels, attempts.stage.tolist(), strict=True)
        ],
        "launched_ms": attempts.launched_ms.tolist(),
        "started_ms": _known_or_none(attempts.started_ms),
        "shuffled_ms": _known_or_none(attempts.shuffled_ms),
        "ended_ms": _known_or_none(attempts.ended_ms),
        "booked_ms": _known_or_none(attempts.closed_ms),
        "held_ms": attempts.occupied_ms(data.metrics.horizon_ms).tolist(),
        "suspended_ms": attempts.suspended_ms.tolist(),
        "ended": _outcome_names(attempts.ended),
        "booked": _outcome_names(attempts.closed),
        "preempted": [_preemption_reason(data, attempt) for attempt in attempts.attempt.tolist()],
    }


def _preemption_reason(data: ExportData, attempt: AttemptId) -> str | None:
    why = data.preempted.get(attempt)
    return None if why is None else reason_in_words(why)


def _job_table(data: ExportData, attempts: AttemptColumns) -> Columns:
    """A row for each job that was submitted, by its number.  Attempts are counted as the master
    has booked them.
    """
    jobs = data.metrics.jobs()
    told = {each.job: each for each in data.submitted}
    at = np.searchsorted(jobs.job, attempts.job)

    def attempts_by_job(mine: Flags) -> list[TableCell]:
        return list(np.bincount(at[mine], minlength=len(jobs.job)).tolist())

    of_map = attempts.stage == MAPS
    preempted = np.isin(attempts.attempt, np.array(sorted(data.preempted), np.int64))
    columns = list(job_result_columns(jobs).items())
    priorities: list[TableCell] = [told[job].priority.name.lower() for job in jobs.job.tolist()]
    return {
        **dict(columns[:4]),
        "priority": priorities,
        **dict(columns[4:]),
        "attempts": attempts_by_job(attempts.attempt > 0),
        "succeeded": attempts_by_job(attempts.closed == tables.SUCCEEDED),
        "failed": attempts_by_job(attempts.closed == tables.FAILED),
        "killed": attempts_by_job(attempts.closed == tables.KILLED),
        "speculative_attempts": attempts_by_job(attempts.original != 0),
        "preemptions": attempts_by_job(preempted),
        "node_local_maps": attempts_by_job(of_map & (attempts.level == Locality.NODE)),
        "rack_local_maps": attempts_by_job(of_map & (attempts.level == Locality.RACK)),
        "off_rack_maps": attempts_by_job(of_map & (attempts.level == Locality.OFF_RACK)),
    }


TOLD_OF_JOBS = (
    *("job", "name", "user", "pool", "maps", "reduces", "submitted_ms", "first_launch_ms"),
    *("finished_ms", "waiting_ms", "response_ms", "outcome"),
)


def job_result_columns(jobs: tables.JobColumns) -> Columns:
    """A row for each job: whose it is, its tasks, and its times in virtual ms; None where there is
    none.
    """
    whose = jobs.job.tolist(), list(jobs.name), list(jobs.user), list(jobs.pool)
    counts = jobs.maps.tolist(), jobs.reduces.tolist(), jobs.submitted_ms.tolist()
    times = jobs.first_launch_ms, jobs.finished_ms, jobs.waiting_ms, jobs.response_ms
    columns = (*whose, *counts, *map(_known_or_none, times), _outcome_names(jobs.outcome))
    return dict(zip(TOLD_OF_JOBS, columns, strict=True))


def _known_or_none(column: Ints) -> list[TableCell]:
    return [None if value == NEVER else value for value in column.tolist()]


def _outcome_names(column: Ints) -> list[TableCell]:
    return [
        None if value == NEVER else str(tables.OUTCOME_ORDER[value]) for value in column.tolist()
    ]
