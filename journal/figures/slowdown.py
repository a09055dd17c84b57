"""Slowdown: how much longer a job took than alone on the empty cluster."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from callboard.journal.figures.summary import SampleStatistics, sample_statistics
from callboard.journal.figures.tables import Ints, JobColumns
from callboard.scheduler.model import JobId, Millis


class SlowdownStatistics(SampleStatistics, frozen=True):
    """How slowdowns σ lie, and the measures of Table IV of Cheng, Zhang, Boutaba (CNSM 2011).

    `mean` is their norm l1.  `l2` = sqrt(mean σ²).  A job's normalised performance is 1/σ: `snp`
    is the geometric mean of all, `unfairness` their coefficient of variation.  1 is ideal, 0 for
    unfairness; more is better for `snp` alone.
    """

    l2: float | None = None
    snp: float | None = None
    unfairness: float | None = None


@dataclass(frozen=True, eq=False)
class Slowdowns:
    """The slowdown of each completed job, by job id, and how they lie."""

    job: Ints
    slowdown: NDArray[np.float64]
    statistics: SlowdownStatistics


def slowdowns(
    jobs: JobColumns,
    solo_ms: Mapping[JobId, Millis],
    eligible: Collection[JobId] | None = None,
) -> Slowdowns:
    """Response time over `solo_ms`, the job's response time when it runs alone; of the `eligible`
    jobs alone if these are named, as where the last ones only keep the cluster busy.

    Raises ValueError if a completed job has no solo time, or one that is not positive.
    """
    counted = jobs.completed
    if eligible is not None:
        counted = counted & np.isin(jobs.job, list(eligible))
    done = jobs.job[counted]
    solo = np.array([solo_ms.get(int(job), 0) for job in done], np.int64)
    if (solo <= 0).any():
        raise ValueError(f"no solo time for job {done[solo <= 0][0]}")
    values = jobs.response_ms[counted] / solo
    return Slowdowns(done, values, _slowdown_statistics(values))


def _slowdown_statistics(values: NDArray[np.float64]) -> SlowdownStatistics:
    lie = msgspec.structs.asdict(sample_statistics(values))
    if not len(values):
        return SlowdownStatistics(**lie)
    performance = 1 / values
    return SlowdownStatistics(
        **lie,
        l2=float(np.sqrt((values**2).mean())),
        snp=float(np.exp(np.log(performance).mean())),
        unfairness=float(performance.std() / performance.mean()),
    )
