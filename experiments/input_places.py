"""Where the inputs of a recorded run's maps lay: no event tells, but its scenario and seed do."""

from pathlib import Path

from callboard.actors.placement import Placement
from callboard.actors.vocabulary.events import RunStarted
from callboard.histories.writers.write_hadoop1 import Replicas
from callboard.scenarios.recorded_workload import RecordedWorkload
from callboard.scenarios.scenario_file import Scenario, from_dict
from callboard.scheduler.model import JobId, NodeId


def input_replicas(started: RunStarted, journal: Path) -> Replicas:
    """The nodes that hold the input of each of a job's maps.  ScenarioError where the run played
    recorded tasks whose file is gone.
    """
    scenario = from_dict(started.scenario, journal, check_timeline=False)
    cluster, placement = scenario.cluster, _input_placement(scenario, started, journal.parent)

    def replicas(job: JobId, maps: int) -> list[list[NodeId]]:
        rows = placement.place_job_blocks(job, maps)[:, : cluster.replication].tolist()
        return [[node for node in row if node >= 0] for row in rows]

    return replicas


def _input_placement(scenario: Scenario, started: RunStarted, base_dir: Path) -> Placement:
    workload, recorded = scenario.workload, {}
    if isinstance(workload, RecordedWorkload):
        jobs = workload.make_jobs(scenario.seed, base_dir)
        recorded = {job.job: job.recorded for job in jobs if job.recorded is not None}
    cluster = scenario.cluster
    return Placement(
        scenario.seed,
        nodes=len(started.nodes),
        topology=cluster.topology(),
        replication=cluster.replication,
        recorded=recorded,
    )
