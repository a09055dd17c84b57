"""Task lengths without a run: HFSP's Figures 11 and 12."""

import numpy as np
import pytest

from callboard.actors.config import Tasks
from callboard.actors.workload_oracle import WorkloadOracle
from callboard.experiments.pages.length_figures import pooled_seconds, relative_to_job, task_lengths
from callboard.experiments.run.run_loading import load_run
from callboard.scheduler.model import MAPS, REDUCES, STAGES
from tests.support.world import job, spec_of

JOBS = [
    job(0, maps=2, map_ms=8000, reduces=1, shuffle_ms=900, reduce_ms=3000),
    job(1, maps=3, map_ms=1000),
]


def test_without_noise_all_tasks_of_a_job_are_alike() -> None:
    """The worked example of Figure 12 the other way round: equal tasks are all 1."""
    spec = spec_of(JOBS)
    assert pooled_seconds(task_lengths(spec, MAPS)).tolist() == [1, 1, 1, 8, 8]
    assert pooled_seconds(task_lengths(spec, REDUCES)).tolist() == [3]
    assert relative_to_job(task_lengths(spec, MAPS)).tolist() == [1] * 5


def test_of_jobs_without_tasks_there_is_nothing() -> None:
    lengths = task_lengths(spec_of(JOBS[1:]), REDUCES)
    assert len(pooled_seconds(lengths)) == len(relative_to_job(lengths)) == 0


def test_noise_spreads_a_jobs_tasks_around_their_mean() -> None:
    spec = spec_of(JOBS, tasks=Tasks(sigma=0.5), seed=3)
    lengths = task_lengths(spec, MAPS)
    for number, own in lengths.items():
        assert own.sum() == WorkloadOracle(JOBS, Tasks(sigma=0.5), 3).size_ms(number, MAPS)
    relative = relative_to_job(lengths)
    assert relative.mean() == pytest.approx(1)
    assert relative.min() < 1 < relative.max()


def test_hfsps_lengths_are_as_its_paper_has_them() -> None:
    """Most maps end within 60 s; reduces differ by two orders of magnitude; within a job 90 % of
    the tasks are within a factor of 1.5 of the mean.
    """
    spec = load_run("hfsp-calibrated")
    maps, reduces = (task_lengths(spec, stage) for stage in STAGES)
    assert (pooled_seconds(maps) < 60).mean() > 0.9
    low, high = np.percentile(pooled_seconds(reduces), [1, 99])
    assert high / low > 100
    for lengths in (maps, reduces):
        relative = relative_to_job(lengths)
        assert ((relative > 1 / 1.5) & (relative < 1.5)).mean() > 0.9
