"""A run as the table of jobs that Batsim writes (`_jobs.csv`), which its tools read."""

import csv
from collections.abc import Iterable
from itertools import pairwise
from typing import TextIO

from callboard.actors.vocabulary.events import Outcome
from callboard.histories.played_history import PlayedHistory, PlayedJob
from callboard.journal.export.rows import TableCell
from callboard.journal.export.table_files import inert
from callboard.scheduler.model import NodeId

COLUMNS = (
    *("job_id", "workload_name", "profile", "submission_time", "requested_number_of_resources"),
    *("requested_time", "success", "final_state", "starting_time", "execution_time"),
    *("finish_time", "waiting_time", "turnaround_time", "stretch", "allocated_resources"),
    *("consumed_energy", "metadata"),
)
_STATES = {
    Outcome.SUCCEEDED: "COMPLETED_SUCCESSFULLY",
    Outcome.FAILED: "COMPLETED_FAILED",
    Outcome.KILLED: "COMPLETED_KILLED",
}


def write_batsim(history: PlayedHistory, file: TextIO) -> int:
    """Write the jobs that have ended, times in seconds; how many."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    done = [job for job in history.jobs.values() if job.finished is not None and job.tasks]
    writer.writerows(map(inert, _row(history.started.name, job)) for job in done)
    return len(done)


def _row(workload: str, job: PlayedJob) -> tuple[TableCell, ...]:
    told, end = job.submitted, job.finished
    assert end is not None
    started = [e.started_ms for t in job.tasks.values() for e in t.attempts if e.started_ms]
    start_ms = min(started, default=end.at_ms)
    execution_ms, turnaround_ms = end.at_ms - start_ms, end.at_ms - told.at_ms
    nodes = {each.node for task in job.every() for each in task.attempts}
    return (
        *(told.job, workload, told.name, told.at_ms / 1000, told.maps + told.reduces, -1),
        *(int(end.outcome is Outcome.SUCCEEDED), _STATES[end.outcome]),
        *(start_ms / 1000, execution_ms / 1000, end.at_ms / 1000),
        *((start_ms - told.at_ms) / 1000, turnaround_ms / 1000),
        *(turnaround_ms / max(execution_ms, 1), _interval_set(nodes), -1, ""),
    )


def _interval_set(nodes: Iterable[NodeId]) -> str:
    """Batsim's way to write many numbers: `0-3 7`."""
    ordered = sorted(nodes)
    cuts = [place for place, (one, other) in enumerate(pairwise(ordered), 1) if other != one + 1]
    parts = [ordered[a:b] for a, b in pairwise([0, *cuts, len(ordered)])]
    return " ".join(str(p[0]) if len(p) == 1 else f"{p[0]}-{p[-1]}" for p in parts if p)
