"""From a recording, a place in it and a view: the frame.  It changes neither."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np

from callboard.actors.vocabulary.events import RunStarted
from callboard.journal.replay.cluster_state import ClusterState
from callboard.journal.replay.detail_job import job_detail
from callboard.journal.replay.detail_node import node_detail
from callboard.journal.replay.detail_slot import slot_detail
from callboard.journal.replay.event_log import LogFilter, lines_before, matches_text
from callboard.journal.replay.frame import (
    Detail,
    Frame,
    JobRow,
    JobSortKey,
    LogLine,
    NodeStatus,
    RunInfo,
    Totals,
    View,
)
from callboard.journal.replay.job_rows import InsightColumns, job_state, waiting_tasks
from callboard.journal.replay.recording import Recording
from callboard.journal.run_records import JobRecord
from callboard.journal.tell.names import printable
from callboard.scheduler.model import Millis

_USUAL_AGE = 128
_AGE_MAX = 255
_DOWN, _DOWN_OR_ABSENT = int(NodeStatus.DOWN), int(NodeStatus.DOWN | NodeStatus.ABSENT)


def project(
    recording: Recording, index: int, at_ms: Millis, view: View, until_ms: Millis | None = None
) -> Frame:
    """How the run stands at `at_ms`, after its first `index` events.

    `until_ms` is where the time bar ends, if not where the run is known to.
    """
    cluster = recording.state_at(index)
    end_ms = recording.end_ms if until_ms is None else until_ms
    rows, top, found = _job_rows(recording, cluster, at_ms, view)
    log, log_top = _log(recording, index, view)
    started = recording.started
    return Frame(
        at_ms=at_ms,
        index=index,
        end_ms=end_ms,
        complete=recording.closed,
        reason=recording.ended.reason if recording.ended else None,
        digest=recording.ended.digest if recording.ended else "",
        failure=recording.failure,
        run=_run(started) if started is not None and view.with_run else None,
        totals=_totals(cluster),
        states=bytes(cluster.states),
        owners=cluster.owners.tobytes(),
        ages=_ages(cluster, at_ms),
        node_status=bytes(cluster.node_status),
        lost=bytes(cluster.lost),
        suspended_by_node=bytes(cluster.suspended_by_node),
        jobs=rows,
        jobs_top=top,
        jobs_found=found,
        selected=_selected(cluster, at_ms, view),
        log=log,
        log_top=log_top,
        charts=recording.history.charts(
            view.columns, recording.end_ms, recording.last_state, end_ms
        ),
        detail=_detail(recording, cluster, at_ms, view),
        policy=cluster.run.policy,
    )


def _run(started: RunStarted) -> RunInfo:
    named = started.scenario.get("policies")
    policies = tuple(map(str, named)) if isinstance(named, list | tuple) else ()
    return RunInfo(started.name, started.policy, started.seed, started.nodes, policies)


def _totals(cluster: ClusterState) -> Totals:
    truth = np.frombuffer(cluster.node_status, np.uint8)
    return Totals(
        slots=(cluster.slots[0], cluster.slots[1]),
        busy=(cluster.run.busy[0], cluster.run.busy[1]),
        submitted=len(cluster.run.jobs),
        in_system=len(cluster.run.live),
        down=int(((truth & _DOWN_OR_ABSENT) == _DOWN).sum()),
        lost=sum(cluster.lost),
        master_still=cluster.run.paused,
    )


def _ages(cluster: ClusterState, at_ms: Millis) -> bytes:
    """How old what each slot holds is, beside what attempts of its job and kind usually take.

    Where none has succeeded yet, that is taken from the other jobs in the system.
    """
    owners = np.frombuffer(cluster.owners, np.int32)
    if not len(owners):
        return b""
    usual = np.zeros((2, 1 + max(cluster.run.jobs, default=-1) + 1), np.float64)
    for job in cluster.run.live:
        row = cluster.run.jobs[job]
        for kind, phase in enumerate(row.phases):
            usual[kind, job + 1] = phase.held_ms / phase.succeeded if phase.succeeded else 0
    for line in usual:
        known = line[line > 0]
        line[line == 0] = known.mean() if len(known) else np.inf
    of_reduce = np.frombuffer(cluster.reduce_slots, np.uint8)
    took = usual[of_reduce, np.minimum(owners, usual.shape[1] - 1)]
    age = (at_ms - np.frombuffer(cluster.since, np.int64)) * _USUAL_AGE / took
    return np.clip(age, 0, _AGE_MAX).astype(np.uint8).tobytes()


def _log(recording: Recording, index: int, view: View) -> tuple[list[LogLine], bool]:
    """The lines in view, and whether they begin with the first there is."""
    job, node = (view.job, view.node) if view.log_of_selection else (None, None)
    wanted = LogFilter(view.log_level, job, node, view.filter, view.log_kind)
    count = view.log_rows + view.log_back
    lines = lines_before(recording, index, count, wanted)
    return lines[: max(len(lines) - view.log_back, 0)][-view.log_rows :], len(lines) < count


def _job_rows(
    recording: Recording, cluster: ClusterState, at_ms: Millis, view: View
) -> tuple[list[JobRow], int, int]:
    """The rows of the table in view, where they begin, and how many there are in all."""
    run = cluster.run
    rows = [run.jobs[job] for job in (run.jobs if view.all_jobs else run.live)]
    if view.filter:
        rows = [row for row in rows if matches_text(searchable_text(row), view.filter)]
    with_dues = view.with_fair_shares or view.jobs_key is JobSortKey.FAIR_SHARE
    columns = (
        InsightColumns(recording.insight, cluster, at_ms, with_dues)
        if recording.insight is not None
        else None
    )
    if view.jobs_key is not JobSortKey.ID or view.jobs_reverse:
        rows.sort(key=lambda row: row.submission.job)
        key = columns.sort_key(view.jobs_key, view.jobs_reverse) if columns is not None else None
        rows.sort(key=key or sort_key(view.jobs_key, at_ms), reverse=view.jobs_reverse)
    top = max(min(view.jobs_top, len(rows) - view.jobs_rows), 0)
    shown = rows[top : top + view.jobs_rows]
    told = [job_row(row, at_ms) for row in shown]
    if columns is not None:
        told = [columns.put(line, row) for line, row in zip(told, shown, strict=True)]
    return told, top, len(rows)


def _selected(cluster: ClusterState, at_ms: Millis, view: View) -> JobRow | None:
    row = cluster.run.jobs.get(view.job) if view.job is not None else None
    return None if row is None else job_row(row, at_ms)


def searchable_text(row: JobRecord) -> str:
    """What a filter finds the job by."""
    told = row.submission
    return f"job-{told.job} {told.name} {told.user} {row.pool}"


def job_row(row: JobRecord, at_ms: Millis) -> JobRow:
    """The job's line."""
    told = row.submission
    left = row.finished_ms if row.finished_ms is not None else at_ms
    begun = row.first_launch_ms if row.first_launch_ms is not None else left
    return JobRow(
        job=told.job,
        name=printable(told.name),
        user=printable(told.user),
        pool=printable(row.pool),
        state=job_state(row),
        tasks=(told.maps, told.reduces),
        done=(row.phases[0].done, row.phases[1].done),
        running=(row.phases[0].running, row.phases[1].running),
        suspended=row.suspended,
        waited_ms=begun - told.at_ms,
        time_ms=left - told.at_ms,
        priority=row.priority,
    )


def sort_key(key: JobSortKey, at_ms: Millis) -> Callable[[JobRecord], Any]:
    """What the rows are sorted by."""

    keys: dict[JobSortKey, Callable[[JobRecord], Any]] = {
        JobSortKey.ID: attrgetter("submission.job"),
        JobSortKey.NAME: lambda row: row.submission.name,
        JobSortKey.POOL: lambda row: (row.pool, row.submission.user),
        JobSortKey.STATE: job_state,
        JobSortKey.DONE: lambda row: (
            (row.phases[0].done + row.phases[1].done)
            / max(row.submission.maps + row.submission.reduces, 1)
        ),
        JobSortKey.RUNNING: lambda row: row.open - row.suspended,
        JobSortKey.WAITING: waiting_tasks,
        JobSortKey.WAITED: lambda row: job_row(row, at_ms).waited_ms,
        JobSortKey.TIME: lambda row: job_row(row, at_ms).time_ms,
    }
    return keys[key]


def _detail(
    recording: Recording, cluster: ClusterState, at_ms: Millis, view: View
) -> Detail | None:
    if view.node is not None and view.node < len(cluster.node_status):
        detail = node_detail if view.slot is None else slot_detail
        return detail(recording, cluster, at_ms, view)
    if view.job is not None and view.job in cluster.run.jobs:
        return job_detail(recording, cluster, at_ms, view)
    return None
