"""Figures of some of a run's jobs, such as those of one size."""

from collections.abc import Collection

import numpy as np

from callboard.journal.figures.summary import SampleStatistics, statistics_in_seconds
from callboard.journal.figures.tables import Flags, Ints, JobColumns
from callboard.scheduler.model import JobId


def jobs_of_size(jobs: JobColumns, least: int, most: int) -> tuple[JobId, ...]:
    """The jobs of `least` to `most` maps."""
    chosen = (jobs.maps >= least) & (jobs.maps <= most)
    return tuple(jobs.job[chosen].tolist())


def response_statistics(jobs: JobColumns, chosen: Collection[JobId] | Ints) -> SampleStatistics:
    """Response times in seconds of those of the chosen jobs that have completed."""
    return statistics_in_seconds(jobs.response_ms[completed_among(jobs, chosen)])


def share_within(
    jobs: JobColumns, chosen: Collection[JobId] | Ints, seconds: float
) -> float | None:
    """The share of the chosen jobs that have completed within that many seconds of submission;
    None where none was chosen.
    """
    if not len(chosen):
        return None
    response_ms = jobs.response_ms[completed_among(jobs, chosen)]
    return float((response_ms <= seconds * 1000).sum()) / len(chosen)


def completed_among(jobs: JobColumns, chosen: Collection[JobId] | Ints) -> Flags:
    """Which of a run's jobs are chosen and have completed."""
    numbers = chosen if isinstance(chosen, np.ndarray) else list(chosen)
    return jobs.completed & np.isin(jobs.job, numbers)


def share_of_largest(amounts: Ints, count: int) -> float:
    """What share of all the `count` largest have, as of the maps of all jobs; 0 of nothing."""
    total = int(amounts.sum())
    return int(np.sort(amounts)[-count:].sum()) / total if total and count > 0 else 0.0
