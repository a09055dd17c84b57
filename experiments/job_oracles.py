"""The true sizes of a run's jobs, from its spec or from its journal's first event."""

from callboard.actors.config import node_facts
from callboard.actors.vocabulary.events import RunStarted
from callboard.actors.workload_oracle import WorkloadOracle
from callboard.experiments.run_spec import RunSpec
from callboard.journal.replay.job_oracle import JobOracle
from callboard.scenarios.scenario_error import ScenarioError
from callboard.scenarios.scenario_file import from_dict, make_jobs


def oracle_of_run(spec: RunSpec) -> JobOracle:
    """The oracle of a run that is played; interventions are in its spec already."""
    scenario = spec.scenario
    sizes = WorkloadOracle(spec.jobs, scenario.tasks, scenario.seed)
    return JobOracle(spec.jobs, sizes, node_facts(scenario.cluster))


def oracle_of_journal(started: RunStarted) -> JobOracle | None:
    """The oracle of a recorded run, unless its trace is gone or its scenario too old."""
    try:
        scenario = from_dict(started.scenario, check_timeline=False)
        jobs = make_jobs(scenario)
    except (ScenarioError, OSError):
        return None
    return JobOracle(jobs, WorkloadOracle(jobs, scenario.tasks, started.seed), started.nodes)
