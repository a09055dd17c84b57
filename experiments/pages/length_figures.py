"""How long the tasks of a run's jobs are, known without playing it (HFSP, Figures 11 and 12)."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from callboard.actors.workload_oracle import WorkloadOracle
from callboard.experiments.run.run_spec import RunSpec
from callboard.journal.figures.tables import Ints
from callboard.scheduler.model import JobId, Stage

LengthsOfJobs = Mapping[JobId, Ints]
"""The lengths in ms of each job's tasks of one stage, of jobs that have any."""


def task_lengths(spec: RunSpec, stage: Stage) -> LengthsOfJobs:
    """What the tasks take with local input on a node of speed 1, noise included and a reduce's
    shuffle not.
    """
    scenario = spec.scenario
    oracle = WorkloadOracle(spec.jobs, scenario.tasks, scenario.seed)
    lengths = {job.job: np.array(oracle.lengths_ms(job.job, stage), np.int64) for job in spec.jobs}
    return {job: each for job, each in lengths.items() if len(each)}


def pooled_seconds(lengths: LengthsOfJobs) -> NDArray[np.float64]:
    """All tasks' lengths in seconds, in order of size (Figure 11)."""
    return np.sort(np.concatenate([each / 1000 for each in lengths.values()] or [np.empty(0)]))


def relative_to_job(lengths: LengthsOfJobs) -> NDArray[np.float64]:
    """Each task's length over the mean of its job's, in order of size (Figure 12)."""
    each_job = [each / each.mean() for each in lengths.values()]
    return np.sort(np.concatenate(each_job or [np.empty(0)]))
