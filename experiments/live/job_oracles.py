"""The true sizes of a run's jobs, from its spec or from its journal's first event."""

from collections.abc import Callable

from callboard.actors.job_spec import JobSpec
from callboard.actors.vocabulary.events import RunStarted
from callboard.actors.workload_oracle import WorkloadOracle
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.trust import Trust
from callboard.journal.replay.job_oracle import JobOracle
from callboard.scenarios.scenario_file import from_dict, make_jobs
from callboard.scheduler.model import Millis
from callboard.scheduler.text.scenario_error import ScenarioError


def oracle_of_run(spec: RunSpec) -> JobOracle:
    """The oracle of a run that is played; interventions are in its spec already."""
    sizes = WorkloadOracle(spec.jobs, spec.scenario.tasks, spec.scenario.seed)
    return JobOracle(spec.jobs, sizes, _TimesAlone(spec))


def oracle_of_journal(started: RunStarted) -> JobOracle | None:
    """The oracle of a recorded run, unless its trace is gone or its scenario too old."""
    try:
        scenario = from_dict(started.scenario, check_timeline=False)
        jobs = make_jobs(scenario)
    except (ScenarioError, OSError):
        return None
    return oracle_of_run(RunSpec(scenario, jobs, (), started.policy))


class _TimesAlone:
    """How long jobs take alone, each found when it is asked for."""

    def __init__(self, spec: RunSpec) -> None:
        self._spec = spec
        self._alone: Callable[[JobSpec], Millis] | None = None

    def __call__(self, job: JobSpec) -> Millis:
        if self._alone is None:
            from callboard.experiments.run.solo_runs import LoneJobs, any_without_heartbeats

            runs = [self._spec] if Trust().allows(self._spec.policy) else []
            self._alone = LoneJobs.of_scenario(
                self._spec.scenario, at_once=any_without_heartbeats(runs)
            ).least_ms
        return self._alone(job)
