"""The rows of the table of jobs: which, in what order, and what is in their columns."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import msgspec

from callboard.journal.replay.cluster_state import ClusterState
from callboard.journal.replay.event_log import matches_text
from callboard.journal.replay.frame import JobRow, JobSortKey, JobStatus, View
from callboard.journal.replay.insight import Insight
from callboard.journal.replay.recording import Recording
from callboard.journal.run_records import JobRecord
from callboard.journal.tell.reason_words import claimant_name
from callboard.scheduler.model import MAPS, REDUCES, Millis
from callboard.scheduler.text.quantities import printable


def job_status(row: JobRecord) -> JobStatus:
    """Where the job stands."""
    if row.outcome is not None:
        return JobStatus[row.outcome.name]
    if row.first_launch_ms is None:
        return JobStatus.WAITING
    return JobStatus.RUNNING if row.open_attempts > row.suspended else JobStatus.STARVED


def waiting_tasks(row: JobRecord) -> int:
    """How many of the job's tasks neither are done nor run."""
    begun = sum(phase.done + phase.running for phase in row.phases.values())
    return row.submission.maps + row.submission.reduces - begun


class InsightColumns:
    """Insight into the jobs at one moment; `with_fair_shares` costs a look at all jobs."""

    def __init__(
        self, insight: Insight, cluster: ClusterState, at_ms: Millis, with_fair_shares: bool
    ) -> None:
        self._insight = insight
        self._cluster = cluster
        self._at_ms = at_ms
        self._fair_shares = insight.fair_shares(cluster) if with_fair_shares else {}

    def with_insight(self, line: JobRow, row: JobRecord) -> JobRow:
        """The row with these columns."""
        why = row.last_launch.why if row.last_launch is not None else None
        taker = row.last_preemption.why.beneficiary if row.last_preemption else None
        return msgspec.structs.replace(
            line,
            fair_share=self._fair_shares.get(line.job),
            rank=why.rank if why is not None else 0,
            score=why.score if why is not None else 0.0,
            expected_ms=self._insight.expected_size_ms(self._cluster, row),
            size_ms=self._insight.size_ms(row),
            slowdown=self._insight.slowdown(row, self._at_ms),
            preempted=row.preempted,
            by="" if taker is None else claimant_name(taker),
        )

    def sort_key(self, key: JobSortKey, reverse: bool) -> Callable[[JobRecord], Any]:
        """The function to sort rows by; unknown values come last."""
        insight, unknown = self._insight, float("-inf" if reverse else "inf")
        keys: dict[JobSortKey, Callable[[JobRecord], Any]] = {
            JobSortKey.FAIR_SHARE: lambda row: self._fair_shares.get(row.submission.job),
            JobSortKey.EXPECTED: lambda row: insight.expected_size_ms(self._cluster, row),
            JobSortKey.SIZE: insight.size_ms,
            JobSortKey.SLOWDOWN: lambda row: insight.slowdown(row, self._at_ms),
            JobSortKey.SCORE: lambda row: row.last_launch.why.score if row.last_launch else None,
            JobSortKey.PREEMPTIONS: lambda row: row.preempted,
        }
        found = keys.get(key) or sort_key(key, self._at_ms)

        def known_value(row: JobRecord) -> Any:
            value = found(row)
            return unknown if value is None else value

        return known_value


def job_rows(
    recording: Recording, cluster: ClusterState, at_ms: Millis, view: View
) -> tuple[list[JobRow], int, int]:
    """The rows of the table in view, where they begin, and how many there are in all."""
    if recording.insight is None:  # the run has not started
        return [], 0, 0
    run = cluster.run
    rows = rows_passing_filter(
        [run.jobs[job] for job in (run.jobs if view.all_jobs else run.live)], view
    )
    shares = view.with_fair_shares or view.jobs_key is JobSortKey.FAIR_SHARE
    columns = InsightColumns(recording.insight, cluster, at_ms, shares)
    rows.sort(key=lambda row: row.submission.job)
    if view.jobs_key is not JobSortKey.ID or view.jobs_reverse:
        key = columns.sort_key(view.jobs_key, view.jobs_reverse)
        rows.sort(key=key, reverse=view.jobs_reverse)
    shown, top = rows_in_view(rows, view)
    return [columns.with_insight(job_row(row, at_ms), row) for row in shown], top, len(rows)


def rows_passing_filter(rows: list[JobRecord], view: View) -> list[JobRecord]:
    """The jobs whose number, name, user or pool the view's filter lets pass."""
    if not view.filter:
        return rows
    return [row for row in rows if matches_text(_searchable(row), view.filter)]


def _searchable(row: JobRecord) -> str:
    told = row.submission
    return f"job-{told.job} {told.name} {told.user} {row.pool}"


def rows_in_view(rows: list[JobRecord], view: View) -> tuple[list[JobRecord], int]:
    """The rows that the table has room for, and the number of the first."""
    top = max(min(view.jobs_top, len(rows) - view.jobs_rows), 0)
    return rows[top : top + view.jobs_rows], top


def job_row(row: JobRecord, at_ms: Millis) -> JobRow:
    """The job's own counts as a row."""
    submission = row.submission
    left = row.end_or(at_ms)
    begun = row.first_launch_ms if row.first_launch_ms is not None else left
    return JobRow(
        job=submission.job,
        name=printable(submission.name),
        user=printable(submission.user),
        pool=printable(row.pool),
        state=job_status(row),
        tasks=(submission.maps, submission.reduces),
        done=(row.phases[MAPS].done, row.phases[REDUCES].done),
        running=(row.phases[MAPS].running, row.phases[REDUCES].running),
        suspended=row.suspended,
        waited_ms=begun - submission.at_ms,
        time_ms=left - submission.at_ms,
        priority=row.priority,
    )


def _done_share(row: JobRecord) -> float:
    tasks = row.submission.maps + row.submission.reduces
    return sum(phase.done for phase in row.phases.values()) / max(tasks, 1)


def sort_key(key: JobSortKey, at_ms: Millis) -> Callable[[JobRecord], Any]:
    """The function to sort rows by."""

    keys: dict[JobSortKey, Callable[[JobRecord], Any]] = {
        JobSortKey.ID: attrgetter("submission.job"),
        JobSortKey.NAME: lambda row: row.submission.name,
        JobSortKey.POOL: lambda row: (row.pool, row.submission.user),
        JobSortKey.STATE: job_status,
        JobSortKey.DONE: _done_share,
        JobSortKey.RUNNING: lambda row: row.open_attempts - row.suspended,
        JobSortKey.WAITING: waiting_tasks,
        JobSortKey.WAITED: lambda row: job_row(row, at_ms).waited_ms,
        JobSortKey.TIME: lambda row: job_row(row, at_ms).time_ms,
    }
    return keys[key]
