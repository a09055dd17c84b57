"""Figures of played worlds that several artefacts are held to."""

from collections.abc import Callable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from callboard.experiments.reproduction.evidence import Runs
from callboard.experiments.reproduction.metered_run import MeteredRun
from callboard.journal.figures.job_groups import jobs_of_size, response_statistics, share_within
from callboard.journal.figures.run_account import jobs_over_time
from callboard.journal.figures.steps import Steps
from callboard.scheduler.model import JobId

Values = NDArray[np.float64]
RunFigure = Callable[[MeteredRun], float | None]
"""A figure of one run; None where it has none."""


class SizeBin(msgspec.Struct, frozen=True):
    """Jobs of at least `least` and at most `most` maps."""

    least: int
    most: int = 1_000_000_000
    name: str = ""

    def jobs(self, run: MeteredRun) -> tuple[JobId, ...]:
        """Its jobs in a run."""
        return jobs_of_size(run.result.jobs, self.least, self.most)

    def responses_s(self, run: MeteredRun) -> Values:
        """The response times of its completed jobs, in seconds."""
        jobs = run.result.jobs
        mine = jobs.completed & np.isin(jobs.job, self.jobs(run))
        return jobs.response_ms[mine] / 1000

    def slowdowns(self, run: MeteredRun) -> Values:
        """The slowdowns of its completed jobs."""
        found = run.result.slowdown_of(self.jobs(run))
        assert found is not None
        return found.slowdown


EVERY_SIZE = SizeBin(0)


def mean_of_responses_s(run: MeteredRun, of_bin: SizeBin = EVERY_SIZE) -> float | None:
    """The mean response time of a bin's completed jobs, in seconds."""
    return response_statistics(run.result.jobs, of_bin.jobs(run)).mean


def median_response_s(run: MeteredRun, of_bin: SizeBin = EVERY_SIZE) -> float | None:
    """The median response time of a bin's jobs."""
    return response_statistics(run.result.jobs, of_bin.jobs(run)).median


def done_within(run: MeteredRun, limit_s: float, of_bin: SizeBin = EVERY_SIZE) -> float | None:
    """The share of a bin's jobs that are done within this time of their submission."""
    return share_within(run.result.jobs, of_bin.jobs(run), limit_s)


def median_slowdown(run: MeteredRun) -> float | None:
    """The median slowdown of all jobs."""
    found = run.result.slowdown_of(EVERY_SIZE.jobs(run))
    return None if found is None else found.statistics.median


def greatest_slowdown(run: MeteredRun) -> float | None:
    """The greatest slowdown of all jobs."""
    values = EVERY_SIZE.slowdowns(run)
    return float(values.max()) if len(values) else None


def meter_value(run: MeteredRun, meter: str, column: str) -> float | None:
    """The one value of a meter's column."""
    values = run.metered[meter].get(column) or []
    return values[0] if len(values) == 1 else None


def pooled_values(
    samples: Sequence[Runs], cell: str, values: Callable[[MeteredRun], Values]
) -> Values:
    """The values of all runs of a cell together."""
    return np.concatenate([values(runs[cell]) for runs in samples])


def in_system(run: MeteredRun) -> Steps:
    """How many jobs were in the system over time."""
    return jobs_over_time(run.result.jobs, round(1000 * run.result.summary.virtual_seconds))


def most_in_system(run: MeteredRun) -> float:
    """The greatest number of jobs that were in the system at once."""
    return float(in_system(run).peak())


def mean_in_system(run: MeteredRun) -> float | None:
    """The mean number of jobs that were in the system."""
    return run.result.summary.mean_jobs_in_system


def node_local_of(run: MeteredRun, of_bin: SizeBin) -> float | None:
    """The share of a bin's map attempts that were launched on a node with their data."""
    table = run.result.map_locality
    assert table is not None
    return table.shares(of_bin.jobs(run)).node


def local_share(run: MeteredRun, level: str, maps: int | None = None) -> float | None:
    """The share of map attempts that were launched at this level or nearer, of jobs of that many
    maps.
    """
    jobs, table = run.result.jobs, run.result.map_locality
    assert table is not None
    found = table.shares(None if maps is None else jobs_of_size(jobs, maps, maps))
    if found.node is None or found.rack is None:
        return None
    return found.node + (found.rack if level == "rack" else 0)


def wasted_slot_s(run: MeteredRun) -> float | None:
    """The slot time of work that was thrown away, in seconds."""
    return run.result.summary.slot_seconds.wasted
