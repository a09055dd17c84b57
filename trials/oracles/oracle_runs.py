"""One run of jobs that are given, on a plain cluster, as the released simulators count it."""

from collections.abc import Callable, Sequence

from callboard.actors.architecture import Architecture
from callboard.actors.config import Cluster, Tasks
from callboard.actors.job_spec import JobSpec
from callboard.actors.vocabulary.events import AnyEvent, AttemptEnded, AttemptLaunched
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.simulation import Simulation
from callboard.scenarios.listed_jobs import ListedWorkload
from callboard.scenarios.scenario_file import Scenario
from callboard.scheduler.model import JobId, Millis

SCALE = 10
"""Times are taken tenfold: their delay is half a millisecond, and our clock counts whole ones."""

LATENCY_MS = SCALE // 2

Observe = Callable[[AnyEvent], None]


class _Ends:
    """When the last task of each job has ended."""

    def __init__(self) -> None:
        self._jobs: dict[int, JobId] = {}
        self.at_ms: dict[JobId, Millis] = {}

    def __call__(self, event: AnyEvent) -> None:
        if type(event) is AttemptLaunched:
            self._jobs[event.attempt] = event.job
        elif type(event) is AttemptEnded:
            self.at_ms[self._jobs.pop(event.attempt)] = event.at_ms


def simulation(
    architecture: Architecture,
    jobs: Sequence[JobSpec],
    sinks: Sequence[Observe],
    *,
    workers: int,
    slots: int,
    latency_ms: Millis,
    seed: int,
) -> Simulation:
    """The run, not begun."""
    cluster = Cluster(
        nodes=workers, racks=1, map_slots=slots, reduce_slots=0, latency_ms=latency_ms
    )
    scenario = Scenario(
        name="oracle",
        cluster=cluster,
        tasks=Tasks(rack_factor=1, off_rack_factor=1),
        seed=seed,
        workload=ListedWorkload(job=()),
    )
    spec = RunSpec(scenario, tuple(jobs), (), architecture.name)
    return Simulation(spec, sinks, architecture=architecture)


def responses_ms(
    architecture: Architecture, jobs: Sequence[JobSpec], *, workers: int, slots: int, seed: int
) -> list[Millis]:
    """From each job's arrival to its last task's end, which it learns of later."""
    ends, size = _Ends(), {"workers": workers, "slots": slots}
    simulation(architecture, jobs, [ends], **size, latency_ms=LATENCY_MS, seed=seed).run()
    return [ends.at_ms[job.job] - job.submit_ms for job in jobs]
