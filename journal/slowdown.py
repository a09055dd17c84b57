"""Slowdown: how much longer a job took than alone on the empty cluster."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from journal.summary import Spread, spread
from journal.tables import Ints, JobTable
from scheduler.model import JobId, Millis


@dataclass(frozen=True, eq=False)
class Slowdowns:
    """The slowdown of each completed job, by job id, and how they lie."""

    job: Ints
    slowdown: NDArray[np.float64]
    spread: Spread


def slowdowns(jobs: JobTable, solo_ms: Mapping[JobId, Millis]) -> Slowdowns:
    """Response time over `solo_ms`, the job's response time when it runs alone.

    Raises ValueError if a completed job has no solo time, or one that is not positive.
    """
    done = jobs.job[jobs.completed]
    solo = np.array([solo_ms.get(int(job), 0) for job in done], np.int64)
    if (solo <= 0).any():
        raise ValueError(f"no solo time for job {done[solo <= 0][0]}")
    values = jobs.response_ms[jobs.completed] / solo
    return Slowdowns(done, values, spread(values))
