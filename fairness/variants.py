"""The same scenario or policy with one thing changed."""

from typing import Any

import msgspec

from callboard.actors.architecture import Architecture
from callboard.actors.config import node_facts
from callboard.scenarios.listed_jobs import ListedJob, ListedWorkload
from callboard.scenarios.scenario_file import Scenario, make_jobs
from callboard.scenarios.script import fault_script
from callboard.scenarios.timeline import AnyEntry
from callboard.scheduler.policy import Policy


def entries_of(scenario: Scenario) -> tuple[ListedJob, ...]:
    """The listed jobs of a scenario that has such."""
    assert isinstance(scenario.workload, ListedWorkload)
    return scenario.workload.job


def with_entries(scenario: Scenario, entries: tuple[ListedJob, ...]) -> Scenario:
    """The scenario with other listed jobs."""
    workload = msgspec.structs.replace(scenario.workload, job=entries)
    return msgspec.structs.replace(scenario, workload=workload)


def with_entry(scenario: Scenario, place: int, *entries: ListedJob) -> Scenario:
    """The scenario with these listed jobs for the one at that place."""
    old = entries_of(scenario)
    return with_entries(scenario, (*old[:place], *entries, *old[place + 1 :]))


def repeat_changes(count: int) -> dict[str, Any]:
    """The fields of a job that comes so often; one that comes once has no gap to the next."""
    return {"count": count, **({"every_s": 0.0} if count == 1 else {})}


def with_cluster(scenario: Scenario, **changes: object) -> Scenario:
    """The scenario with other settings of the cluster."""
    cluster = msgspec.structs.replace(scenario.cluster, **changes)
    return msgspec.structs.replace(scenario, cluster=cluster)


def without_unsupported_faults(scenario: Scenario, architecture: Architecture) -> Scenario:
    """The scenario without the entries of its timeline that the architecture has no answer to."""
    jobs = {job.job: job.name for job in make_jobs(scenario)}
    nodes = node_facts(scenario.cluster)

    def is_answered(entry: AnyEntry) -> bool:
        script = fault_script((entry,), nodes, scenario.seed, jobs)
        return all(isinstance(each.fault, architecture.knows) for each in script)

    return msgspec.structs.replace(
        scenario, timeline=tuple(entry for entry in scenario.timeline if is_answered(entry))
    )


def policy_with_parts(policy: Policy, **parts: Any) -> Policy:
    """A policy of the same parts, but for those that are given."""
    names = ("order", "locality", "preemption", "speculation")
    return Policy(**{name: parts.get(name, getattr(policy, name)) for name in names})
