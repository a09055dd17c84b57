"""How long jobs take alone: the denominator of slowdown.

Jobs of equal shape (numbers and nominal lengths of tasks) share one solo run, that of the first
of them, with its own draws.  All solo runs are one run in which each job is submitted when the
one before has ended.
"""

from collections.abc import Sequence

from callboard.actors.client import SoloClient
from callboard.actors.job_spec import JobSpec
from callboard.experiments.run_spec import RunSpec
from callboard.experiments.simulation import RunWatcher, Simulation
from callboard.journal.figures.metrics import Metrics
from callboard.scheduler.model import JobId, Millis


def first_of_shape(jobs: Sequence[JobSpec]) -> dict[tuple[object, ...], JobSpec]:
    """The job that stands for all of its shape: the first one."""
    first: dict[tuple[object, ...], JobSpec] = {}
    for spec in jobs:
        first.setdefault(spec.shape, spec)
    return first


def solo_times(spec: RunSpec, watcher: RunWatcher | None = None) -> dict[JobId, Millis]:
    """The response time in ms of each of the run's jobs alone on the empty cluster, under FIFO."""
    first_of, metrics = first_of_shape(spec.jobs), Metrics()
    alone = RunSpec(spec.scenario, jobs=tuple(first_of.values()), script=(), policy="fifo")
    Simulation(alone, [metrics.observe], watcher=watcher, client=SoloClient).run()
    table = metrics.jobs()
    took_ms = dict(zip(table.job.tolist(), table.response_ms.tolist(), strict=True))
    return {job.job: max(took_ms[first_of[job.shape].job], 1) for job in spec.jobs}
