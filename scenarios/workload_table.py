"""Any workload, whatever its kind, as the jobs that are to be run."""

from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from callboard.actors.job_spec import JobSpec
from callboard.scenarios import generators, listed_jobs, swim_trace
from callboard.scenarios.generators import GeneratedWorkload
from callboard.scenarios.listed_jobs import ListedWorkload
from callboard.scenarios.swim_trace import SwimWorkload

Workload: TypeAlias = SwimWorkload | GeneratedWorkload | ListedWorkload
"""The table `[workload]`, told apart by its field `kind`."""


def workload_jobs(workload: Workload, seed: int, base_dir: str | Path = ".") -> tuple[JobSpec, ...]:
    """The jobs by submit time, with ids 0, 1, 2, ... in that order.

    ScenarioError where the workload contradicts itself or its trace cannot be read.
    """
    if isinstance(workload, SwimWorkload):
        return tuple(swim_trace.swim_jobs(workload, base_dir))
    if isinstance(workload, GeneratedWorkload):
        return tuple(generators.generate(workload, seed))
    return tuple(listed_jobs.numbered_jobs(workload))


def stated_node_types(workload: Workload) -> Iterator[tuple[str, str]]:
    """(kind of node, key) of every factor that the workload states for a kind."""
    if isinstance(workload, ListedWorkload):
        yield from listed_jobs.job_node_types(workload)


def check_workload(workload: Workload) -> None:
    """ScenarioError where fields of the workload contradict each other; reads no file."""
    if isinstance(workload, GeneratedWorkload):
        generators.check_generated(workload)
    elif isinstance(workload, ListedWorkload):
        listed_jobs.check_listed(workload)
