"""Whether a seed decides anything in a run: of a recorded history often nothing is left to draw."""

from collections.abc import Iterable

from callboard.actors.architecture import Architecture
from callboard.actors.central.central import Central
from callboard.actors.config import Cluster, Tasks
from callboard.actors.job_spec import JobSpec
from callboard.experiments.run.plugins import load_architecture
from callboard.experiments.run.run_spec import RunSpec
from callboard.scenarios.recorded_workload import RecordedWorkload


def draws_nothing(spec: RunSpec, policies: Iterable[str]) -> bool:
    """Whether under each of the policies all seeds surely give one run.  Where that is not
    known, as of an oracle, whose estimates may have errors, the answer is no.
    """
    scenario = spec.scenario
    return (
        isinstance(scenario.workload, RecordedWorkload)
        and not spec.script
        and not spec.interventions
        and _has_plain_lengths(scenario.tasks)
        and all(_keeps_input_placement(job, scenario.cluster) for job in spec.jobs)
        and _states_heartbeat_phases(scenario.cluster)
        and all(_is_central(load_architecture(each, scenario.parts)) for each in policies)
    )


def _has_plain_lengths(tasks: Tasks) -> bool:
    """Neither noise nor stragglers are drawn."""
    return not tasks.sigma and not tasks.straggler_share


def _keeps_input_placement(job: JobSpec, cluster: Cluster) -> bool:
    """No block of the job's input is placed anew."""
    recorded = job.recorded
    if recorded is None:
        return False
    return recorded.nodes == cluster.node_count() or bool(recorded.maps_without_input().all())


def _states_heartbeat_phases(cluster: Cluster) -> bool:
    """No node's first heartbeat is drawn."""
    rules, nodes, round_ms = cluster.heartbeat, cluster.node_count(), cluster.heartbeat_cycle_ms()
    if rules.period_ms(nodes) // rules.phase_grid_ms <= 1:
        return True  # of one place on the grid there is no choice
    return all(rules.stated_phase_ms(node, round_ms) is not None for node in range(nodes))


def _is_central(architecture: Architecture) -> bool:
    """Whether one master decides, by a policy that asks for nothing that may be drawn."""
    policy = architecture.policy
    return isinstance(architecture, Central) and policy is not None and not policy.wants_oracle
