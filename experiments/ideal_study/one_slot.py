"""Jobs of a named law on a cluster of one slot, beside the ideal machine: what heartbeats add.

The same jobs are played by both, each a map, its size in seconds.  An end is told and the next job
begun at heartbeats only; where jobs give way they are suspended, and that too takes a heartbeat.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from callboard.actors.config import Cluster, Heartbeats
from callboard.actors.job_spec import JobSpec
from callboard.experiments.ideal_study.law_systems import (
    GITTINS,
    LawSystem,
    ServedBy,
    completion_times,
    draw_jobs,
    exact_mean,
)
from callboard.experiments.many.run_tasks import RunTask
from callboard.experiments.many.statistics import Interval, interval
from callboard.experiments.run.run_spec import RunSpec
from callboard.scenarios.fields import task_ms, to_ms
from callboard.scenarios.listed_jobs import ListedWorkload
from callboard.scenarios.scenario_file import Scenario
from callboard.scheduler.ideal.mean_responses import SingleServer
from callboard.scheduler.ideal.panel_grid import GridValues

SLOT_JOBS, SLOT_RUNS = 500, 10
"""Jobs a run and runs, unless asked for others: a cluster plays some hundred jobs a second."""

LATENCY_MS = 1
TURN = 10
"""How many heartbeats a job goes on where jobs take turns."""

BY_HEARTBEATS: dict[str, Callable[[SingleServer, float], float]] = {
    "fifo": SingleServer.fcfs_by_heartbeats,
    "sjf": SingleServer.sjf_by_heartbeats,
}
"""The disciplines whose mean by heartbeats is known, none of which gives a job's slot to another.
"""

_PLAIN = {"fifo": "fifo", "sjf": 'sjf(size="oracle")'}
_PREEMPTING = {"psjf": 'psjf(size="oracle")', "srpt": 'srpt(size="oracle")'}
_IN_TURN = {"ps": "ps", "las": "las"}


class SlotRun(NamedTuple):
    """A run to be played: one discipline, on a slot that is heard of so often."""

    law: str
    load: float
    discipline: str
    heartbeat_s: float
    jobs: int
    seed: int
    run: int


class SlotMeans(NamedTuple):
    """Mean responses in seconds, of all the jobs: the ideal machine's, and the cluster's."""

    machine: float
    cluster: float


class SlotLine(NamedTuple):
    """A discipline: by formula, without heartbeats and with; and what was played."""

    law: str
    load: float
    discipline: str
    exact: float
    by_heartbeats: float | None
    machine: Interval
    cluster: Interval
    added: Interval
    """The cluster's mean less the machine's, run by run."""


def slot_policy(discipline: str, law: str, heartbeat_s: float) -> str:
    """The policy that comes to the discipline on one slot."""
    if discipline in _PLAIN:
        return _PLAIN[discipline]
    turns = discipline not in _PREEMPTING
    order = (_PREEMPTING | _IN_TURN).get(discipline) or f'{GITTINS}(law="{law}")'
    every = f"{(TURN if turns else 1) * heartbeat_s:g}"
    return f'{order}+preemptive(how="suspend",interval_s={every},limit=100000)'


def slot_beside_machine(task: SlotRun) -> SlotMeans:
    """The mean response of the same jobs on a cluster of one slot and on the ideal machine; they
    are those of `LawRun`, in whole milliseconds.
    """
    system = LawSystem(task.law, task.load)
    drawn = draw_jobs(system, task.jobs, task.seed, task.run)
    jobs = [
        JobSpec(job=job, name=f"job-{job}", submit_ms=to_ms(at), maps=1, map_ms=task_ms(size))
        for job, (at, size) in enumerate(zip(drawn.arrivals, drawn.sizes, strict=True))
    ]
    arrivals = np.array([job.submit_ms for job in jobs]) / 1000
    sizes = np.array([job.map_ms for job in jobs]) / 1000
    machine = completion_times(system, ServedBy(task.discipline), arrivals, sizes, sizes)
    return SlotMeans(
        float((machine - arrivals).mean()),
        float((_played_completion_times(task, jobs) - arrivals).mean()),
    )


def slot_line(task: SlotRun, runs: Sequence[SlotMeans]) -> SlotLine:
    """The line of a discipline, by its runs; ValueError where heartbeats leave no steady state."""
    system = LawSystem(task.law, task.load)
    exact = exact_mean(system, ServedBy(task.discipline))
    assert exact is not None, "one server has formulas"
    known = BY_HEARTBEATS.get(task.discipline)
    return SlotLine(
        task.law,
        task.load,
        task.discipline,
        exact,
        None if known is None else known(system.single_server, task.heartbeat_s),
        interval([run.machine for run in runs]),
        interval([run.cluster for run in runs]),
        interval([run.cluster - run.machine for run in runs]),
    )


def _played_completion_times(task: SlotRun, jobs: Sequence[JobSpec]) -> GridValues:
    """When the cluster's master knows of each end."""
    interval_ms = max(to_ms(task.heartbeat_s) - 2 * LATENCY_MS, 1)
    cluster = Cluster(
        nodes=1,
        racks=1,
        map_slots=1,
        reduce_slots=0,
        latency_ms=LATENCY_MS,
        heartbeat=Heartbeats(interval_ms=interval_ms),
    )
    scenario = Scenario(
        name="one-slot", cluster=cluster, seed=task.run, workload=ListedWorkload(job=())
    )
    policy = slot_policy(task.discipline, task.law, task.heartbeat_s)
    result = RunTask(RunSpec(scenario, tuple(jobs), (), policy)).run()
    return np.asarray(result.jobs.finished_ms) / 1000
