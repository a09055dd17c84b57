"""A run as the table of jobs that Batsim writes (`_jobs.csv`), which its tools read."""

import csv
from collections.abc import Iterable
from itertools import pairwise
from typing import TextIO

from callboard.histories.model.cluster_history import Ending, HistoryJob
from callboard.histories.played_history import PlayedHistory
from callboard.journal.export.rows import TableCell
from callboard.journal.export.table_files import inert
from callboard.scheduler.model import JobId, Millis, NodeId

COLUMNS = (
    *("job_id", "workload_name", "profile", "submission_time", "requested_number_of_resources"),
    *("requested_time", "success", "final_state", "starting_time", "execution_time"),
    *("finish_time", "waiting_time", "turnaround_time", "stretch", "allocated_resources"),
    *("consumed_energy", "metadata"),
)
_STATES: dict[Ending, str] = {
    "succeeded": "COMPLETED_SUCCESSFULLY",
    "failed": "COMPLETED_FAILED",
    "killed": "COMPLETED_KILLED",
}


def write_batsim(history: PlayedHistory, file: TextIO) -> int:
    """Write the jobs that have ended, times in seconds; how many."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    workload = history.started.name
    rows = [
        _job_row(workload, number, job, job.finish_ms)
        for number, job in history.jobs.items()
        if job.finish_ms is not None and any(job.own_tasks())
    ]
    writer.writerows(map(inert, row) for row in rows)
    return len(rows)


def _job_row(
    workload: str, number: JobId, job: HistoryJob, end_ms: Millis
) -> tuple[TableCell, ...]:
    submit_ms = job.submit_ms or 0
    start_ms = min(job.starts_ms(), default=end_ms)
    execution_ms, turnaround_ms = end_ms - start_ms, end_ms - submit_ms
    nodes = {each.node for task in job.all_tasks() for each in task.launches}
    return (
        *(number, workload, job.title, submit_ms / 1000, sum(job.task_counts), -1),
        *(int(job.ending == "succeeded"), _STATES[job.ending]),
        *(start_ms / 1000, execution_ms / 1000, end_ms / 1000),
        *((start_ms - submit_ms) / 1000, turnaround_ms / 1000),
        *(turnaround_ms / max(execution_ms, 1), _interval_set(nodes), -1, ""),
    )


def _interval_set(nodes: Iterable[NodeId]) -> str:
    """Batsim's way to write many numbers: `0-3 7`."""
    ordered = sorted(nodes)
    cuts = [place for place, (one, other) in enumerate(pairwise(ordered), 1) if other != one + 1]
    parts = [ordered[a:b] for a, b in pairwise([0, *cuts, len(ordered)])]
    return " ".join(str(p[0]) if len(p) == 1 else f"{p[0]}-{p[-1]}" for p in parts if p)
