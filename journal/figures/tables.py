"""A run's jobs as columns, and how all tables of numbers are written.

All columns of a table are int64 and of one length.  `NEVER` (-1) stands for a time or an outcome
that did not come.  Outcomes are numbered as in `OUTCOME_ORDER`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from callboard.actors.vocabulary.events import Outcome
from callboard.journal.run_records import NEVER, JobRecord

Ints: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

OUTCOME_ORDER = tuple(Outcome)
OUTCOME_NUMBERS: dict[Outcome, int] = {outcome: n for n, outcome in enumerate(OUTCOME_ORDER)}
SUCCEEDED, FAILED, KILLED = (OUTCOME_NUMBERS[outcome] for outcome in OUTCOME_ORDER)


@dataclass(frozen=True, eq=False)
class JobColumns:
    """One row for each submitted job, by job id.

    `outcome`, `finished_ms` and `response_ms` (from submission to the end) are `NEVER` while the
    job is unfinished; `first_launch_ms` and `waiting_ms` (from submission to the first launch)
    while none of its tasks was launched.  `stated_ms` is the submission time that the job
    stated when it finished.
    """

    job: Ints
    name: tuple[str, ...]
    user: tuple[str, ...]
    pool: tuple[str, ...]
    submitted_ms: Ints
    maps: Ints
    reduces: Ints
    finished_ms: Ints
    outcome: Ints
    stated_ms: Ints
    response_ms: Ints
    first_launch_ms: Ints
    waiting_ms: Ints

    @property
    def completed(self) -> Flags:
        return np.equal(self.outcome, SUCCEEDED)

    def equals(self, other: "JobColumns") -> bool:
        """Whether the jobs are the same, and what came of them."""
        return all(
            np.array_equal(getattr(self, each.name), getattr(other, each.name))
            for each in fields(self)
        )


def job_columns(jobs: Iterable[JobRecord]) -> JobColumns:
    """The table of these jobs."""
    ordered = sorted(jobs, key=lambda job: job.submission.job)
    told = [job.submission for job in ordered]
    rows = np.array([_job_row_numbers(job) for job in ordered], np.int64).reshape(-1, 8)
    job, submitted_ms, maps, reduces, finished_ms, outcome, stated_ms, first_ms = rows.T
    return JobColumns(
        job=job,
        name=tuple(each.name for each in told),
        user=tuple(each.user for each in told),
        pool=tuple(each.pool for each in told),
        submitted_ms=submitted_ms,
        maps=maps,
        reduces=reduces,
        finished_ms=finished_ms,
        outcome=outcome,
        stated_ms=stated_ms,
        response_ms=np.where(finished_ms == NEVER, NEVER, finished_ms - submitted_ms),
        first_launch_ms=first_ms,
        waiting_ms=np.where(first_ms == NEVER, NEVER, first_ms - submitted_ms),
    )


def _job_row_numbers(job: JobRecord) -> tuple[int, ...]:
    told, end, first_ms = job.submission, job.finished, job.first_launch_ms
    left = (NEVER,) * 3
    if end is not None:
        left = (end.at_ms, OUTCOME_NUMBERS[end.outcome], end.submitted_ms)
    first_ms = NEVER if first_ms is None else first_ms
    return told.job, told.at_ms, told.maps, told.reduces, *left, first_ms
