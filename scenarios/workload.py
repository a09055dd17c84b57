"""Any workload, whatever its kind, as the jobs that are to be run."""

from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from callboard.actors.jobs import JobSpec
from callboard.scenarios import generators, joblist, traces
from callboard.scenarios.generators import GeneratedWorkload
from callboard.scenarios.joblist import JobsWorkload
from callboard.scenarios.traces import SwimWorkload

Workload: TypeAlias = SwimWorkload | GeneratedWorkload | JobsWorkload
"""The table `[workload]`, told apart by its field `kind`."""


def jobs_of(workload: Workload, seed: int, base_dir: str | Path = ".") -> tuple[JobSpec, ...]:
    """The jobs by submit time, with ids 0, 1, 2, ... in that order.

    ScenarioError where the workload contradicts itself or its trace cannot be read.
    """
    if isinstance(workload, SwimWorkload):
        return tuple(traces.jobs(workload, base_dir))
    if isinstance(workload, GeneratedWorkload):
        return tuple(generators.generate(workload, seed))
    return tuple(joblist.listed(workload))


def kinds_named(workload: Workload) -> Iterator[tuple[str, str]]:
    """(kind of node, key) of every factor that the workload states for a kind."""
    if isinstance(workload, JobsWorkload):
        yield from joblist.kinds_named(workload)


def check(workload: Workload) -> None:
    """ScenarioError where fields of the workload contradict each other; reads no file."""
    if isinstance(workload, GeneratedWorkload):
        generators.check(workload)
    elif isinstance(workload, JobsWorkload):
        joblist.check(workload)
