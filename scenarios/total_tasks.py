"""The limit of all jobs' tasks together, and which keys multiply to what exceeds it."""

from collections.abc import Iterator, Sequence

from callboard.actors.job_spec import JobSpec
from callboard.scenarios.generators import GeneratedWorkload
from callboard.scenarios.listed_jobs import ListedJob, ListedWorkload
from callboard.scenarios.recorded_workload import RecordedWorkload
from callboard.scenarios.swim_trace import SwimWorkload
from callboard.scenarios.timeline import BurstEntry, Timeline
from callboard.scheduler.text.scenario_error import ScenarioError

TOTAL_TASKS_MAX = 20_000_000
"""Maps and reduces of all jobs: if all are there at once, two gigabytes in the master.  Facebook's
day of 2010 has 8.9 million.
"""

_Workload = SwimWorkload | GeneratedWorkload | ListedWorkload | RecordedWorkload


def check_total_tasks(workload: _Workload, timeline: Timeline, jobs: Sequence[JobSpec]) -> None:
    """ScenarioError, by the key of the largest part, where jobs have too many tasks together."""
    total = sum(job.maps + job.reduces for job in jobs)
    if total <= TOTAL_TASKS_MAX:
        return
    tasks, key, product = max(
        _task_counts_by_key(workload, timeline, total), key=lambda part: part[0]
    )
    problem = f"{total:,} tasks in all; the limit is {TOTAL_TASKS_MAX:,}"
    raise ScenarioError(f"{problem}; {tasks:,} of them are {product}", key=key)


def _task_counts_by_key(
    workload: _Workload, timeline: Timeline, total: int
) -> Iterator[tuple[int, str, str]]:
    """(tasks, key, what is multiplied) of each part of the workload."""
    bursts = 0
    for place, entry in enumerate(timeline):
        if isinstance(entry, BurstEntry):
            tasks = entry.times * _tasks_of_job(entry.job)
            bursts += tasks
            yield tasks, f"timeline[{place}].job", "`times` x `count` x (`maps` + `reduces`)"
    match workload:
        case ListedWorkload():
            for place, job in enumerate(workload.job):
                yield _tasks_of_job(job), f"workload.job[{place}]", "`count` x (`maps` + `reduces`)"
        case GeneratedWorkload():
            yield total - bursts, "workload.sizes", "what its `jobs` draw from `sizes`"
        case SwimWorkload():
            told = "what its `jobs` read in blocks of `block_mb` and `reduce_mb`"
            yield total - bursts, "workload.block_mb", told
        case RecordedWorkload():
            yield total - bursts, "workload.jobs", "what was recorded; take only the first `jobs`"


def _tasks_of_job(job: ListedJob) -> int:
    return job.count * (job.maps + job.reduces)
