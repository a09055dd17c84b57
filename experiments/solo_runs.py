"""How long jobs take alone: the denominator of slowdown.

Jobs of equal shape (numbers and nominal lengths of tasks) share one solo run, that of the first
of them, with its own draws.  All solo runs are one run in which each job is submitted when the
one before has ended.
"""

from collections.abc import Sequence
from typing import TypeAlias

from callboard.actors.client import SoloClient
from callboard.actors.job_spec import JobSpec
from callboard.actors.kernel.drivers import run_direct
from callboard.actors.kernel.kernel import Kernel
from callboard.experiments.simulation import RunWatcher, Sink, fan_out
from callboard.journal.figures.metrics import Metrics
from callboard.journal.figures.slowdown import SlowdownStatistics, slowdowns
from callboard.scenarios.build import assemble
from callboard.scenarios.scenario_file import Scenario
from callboard.scheduler.model import JobId, Millis
from callboard.scheduler.registry.parts import make_policy

JobShape: TypeAlias = tuple[object, ...]


def first_of_shape(jobs: Sequence[JobSpec]) -> dict[JobShape, JobSpec]:
    """The job that stands for all of its shape: the first one."""
    first: dict[JobShape, JobSpec] = {}
    for spec in jobs:
        first.setdefault(spec.shape, spec)
    return first


def solo_times(
    scenario: Scenario, jobs: Sequence[JobSpec], watcher: RunWatcher | None = None
) -> dict[JobId, Millis]:
    """The response time in ms of each job alone on the scenario's empty cluster, under FIFO."""
    first_of = first_of_shape(jobs)
    metrics = Metrics()
    sinks: list[Sink] = [metrics.observe]
    if watcher is not None:
        sinks.append(watcher.observe)
    kernel = Kernel(sink=fan_out(sinks))
    if watcher is not None:
        kernel.watch = lambda: watcher.on_progress(kernel)
    assemble(
        kernel,
        cluster=scenario.cluster,
        tasks=scenario.tasks,
        jobs=list(first_of.values()),
        policy=make_policy("fifo"),
        seed=scenario.seed,
        client=SoloClient,
    )
    run_direct(kernel)
    table = metrics.jobs()
    alone = dict(zip(table.job.tolist(), table.response_ms.tolist(), strict=True))
    return {spec.job: max(alone[first_of[spec.shape].job], 1) for spec in jobs}


def slowdown_statistics(metrics: Metrics, solo_ms: dict[JobId, Millis]) -> SlowdownStatistics:
    """How the completed jobs' slowdowns lie."""
    return slowdowns(metrics.jobs(), solo_ms).statistics
