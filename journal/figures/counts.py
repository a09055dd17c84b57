"""How many: jobs and attempts by how they ended, map attempts by locality."""

import numpy as np

from callboard.journal.figures.summary import (
    AttemptCounts,
    JobCounts,
    LocalityShares,
    SpeculationCounts,
)
from callboard.journal.figures.tables import FAILED, KILLED, SUCCEEDED, AttemptColumns, JobColumns
from callboard.journal.run_records import NEVER
from callboard.scheduler.model import Locality, TaskKind


def ratio(part: int, whole: int) -> float | None:
    """The part of the whole; None of nothing."""
    return part / whole if whole else None


def job_counts(jobs: JobColumns) -> JobCounts:
    """The submitted jobs."""
    ended = np.bincount(jobs.outcome - NEVER, minlength=4)
    return JobCounts(
        submitted=len(jobs.job),
        completed=int(ended[SUCCEEDED - NEVER]),
        failed=int(ended[FAILED - NEVER]),
        killed=int(ended[KILLED - NEVER]),
        unfinished=int(ended[0]),
    )


def attempt_counts(attempts: AttemptColumns) -> AttemptCounts:
    """The launched attempts, by the master's book."""
    closed = np.bincount(attempts.closed - NEVER, minlength=4)
    return AttemptCounts(
        launched=len(attempts.attempt),
        succeeded=int(closed[SUCCEEDED - NEVER]),
        failed=int(closed[FAILED - NEVER]),
        killed=int(closed[KILLED - NEVER]),
        running=int(closed[0]),
    )


def speculation_counts(attempts: AttemptColumns) -> SpeculationCounts:
    """The speculative ones among the launched attempts."""
    speculative = attempts.original > 0
    won = speculative & (attempts.closed == SUCCEEDED)
    return SpeculationCounts(speculative_attempts=int(speculative.sum()), won=int(won.sum()))


def locality_shares(attempts: AttemptColumns) -> LocalityShares:
    """The launched map attempts."""
    levels = np.bincount(attempts.level[attempts.kind == TaskKind.MAP], minlength=3)
    launched = int(levels.sum())
    return LocalityShares(*(ratio(int(levels[level]), launched) for level in Locality))
