"""Cases of the simulator that Omega's authors released (google/cluster-scheduler-simulator).

A file of cases has its jobs beside it, in `omega-jobs.txt`: id, submission, tasks, duration, kind,
cpus and memory of a task, all of which it plays on machines of 4 cpus and 16 GB.  Its times are
seconds with nine decimals and our clock counts whole numbers, so a millisecond here stands for a
nanosecond there; cpus and memory are taken a million times.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from callboard.actors.config import SLOTS_MAX, Cluster, Tasks
from callboard.actors.job_spec import JobSpec
from callboard.actors.omega.cell_state import Conflicts
from callboard.actors.omega.first_fit import CandidateDraws
from callboard.actors.omega.shared_cell import Monolithic, Omega, SharedCell
from callboard.actors.omega.think_params import MesosParams, MonolithicParams, OmegaParams
from callboard.actors.vocabulary.events import (
    AnyEvent,
    AttemptEnded,
    JobFinished,
    Outcome,
    SchedulingAttempted,
)
from callboard.actors.world import World
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.simulation import Simulation
from callboard.journal.figures.thoughts import SchedulerThoughts, ThoughtSums
from callboard.scenarios.listed_jobs import ListedWorkload
from callboard.scenarios.scenario_file import Scenario
from callboard.scheduler.model import JobId
from trials.oracles.comparison import Cell, UnknownFormat
from trials.oracles.java_random import JavaRandom
from trials.oracles.mesos import ReleasedMesos

JOBS = "omega-jobs.txt"
"""Stands beside the file of cases."""

SCALE = 10**9
"""Our milliseconds a second of theirs."""

PARTS = 10**6
"""Our whole amounts a cpu, or a gigabyte."""

CPUS, MEMORY = 4, 16
"""Of a machine."""

BATCH_T_JOB, BATCH_T_TASK, SERVICE_T_TASK = 0.0100071, 0.0050013, 0.0050029
"""The think times, in seconds, that make no two events of the cases happen at once; a case says
`t_job` of the Service jobs."""

GATHER, ALLOCATION = 1.0, 0.001
"""Of Mesos's allocator, in seconds."""

WITHIN = 0.001
"""How far a figure may be off, with Java's draws replayed."""

CONFLICTS: dict[str, Conflicts] = {"resource-fit": "fit", "sequence-numbers": "sequence"}
"""Ours by its names."""

KINDS_OF_JOBS = ("Batch", "Service")


class OracleJob(NamedTuple):
    """A line of the jobs."""

    submit_s: float
    tasks: int
    task_s: float
    kind: str
    cpus: float
    memory: float


def read_jobs(path: Path) -> list[OracleJob]:
    """The jobs of a file; UnknownFormat where a line has other fields."""
    jobs = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            _, submit, tasks, length, kind, cpus, memory = line.split()
            what = (float(submit), int(tasks), float(length), kind, float(cpus), float(memory))
        except ValueError:
            raise UnknownFormat(f"{path}: no job of seven fields: {line!r}") from None
        jobs.append(OracleJob(*what))
    return jobs


class ReplayedDraws(CandidateDraws):
    """Java's, one generator a scheduler, all of the same seed."""

    def __init__(self, schedulers: int) -> None:
        self._generators = [JavaRandom(0) for _ in range(schedulers + 1)]

    def below(self, scheduler: int, candidates: int, job: JobId) -> int:  # noqa: ARG002
        return self._generators[scheduler].next_int(candidates)


class ReplayedOmega(Omega):
    """Omega with Java's draws."""

    def draws(self, world: World) -> CandidateDraws:  # noqa: ARG002
        return ReplayedDraws(self.batch_schedulers + 1)


class ReplayedMonolithic(Monolithic):
    """The monolithic scheduler with Java's draws."""

    def draws(self, world: World) -> CandidateDraws:  # noqa: ARG002
        return ReplayedDraws(1)


class CellFigures:
    """The figures of a run, from its events."""

    def __init__(self) -> None:
        self.gave_up: Counter[int] = Counter()
        """Jobs, by scheduler."""
        self.first_wait: dict[JobId, float] = {}
        self.whole_wait: dict[JobId, float] = {}
        """Seconds in queues, until the first thought about a job and in all."""
        self.end_s = 0.0
        self._sums = ThoughtSums()
        self._scheduler: dict[JobId, int] = {}

    @property
    def schedulers(self) -> dict[int, SchedulerThoughts]:
        """What each has thought, by number."""
        return {each.scheduler: each for each in self._sums.schedulers()}

    def __call__(self, event: AnyEvent) -> None:
        if type(event) is SchedulingAttempted:
            self._sums.add(event)
            self._scheduler[event.job] = event.scheduler
            seconds = event.queued_ms / SCALE
            self.first_wait.setdefault(event.job, seconds)
            self.whole_wait[event.job] = self.whole_wait.get(event.job, 0.0) + seconds
        if isinstance(event, SchedulingAttempted | AttemptEnded | JobFinished):
            self.end_s = event.at_ms / SCALE
        if type(event) is JobFinished and event.outcome is Outcome.FAILED:
            self.gave_up[self._scheduler[event.job]] += 1

    def wait(self, jobs: Iterable[JobId]) -> list[float]:
        """The mean waits of those of these jobs that were ever thought about."""
        thought_about = [job for job in jobs if job in self.first_wait]
        waits = (self.first_wait, self.whole_wait)
        return [sum(each[job] for job in thought_about) / len(thought_about) for each in waits]


def play(
    architecture: SharedCell,
    jobs: Sequence[OracleJob],
    machines: int,
    *,
    cpus: float = CPUS,
    memory: float = MEMORY,
) -> CellFigures:
    """The figures of these jobs on machines of that many cpus and gigabytes."""
    cluster = Cluster(
        nodes=machines,
        racks=1,
        map_slots=SLOTS_MAX,
        reduce_slots=0,
        latency_ms=0,
        capacity={"cpu": round(PARTS * cpus), "memory": round(PARTS * memory)},
    )
    scenario = Scenario(
        name="oracle",
        cluster=cluster,
        tasks=Tasks(rack_factor=1, off_rack_factor=1),
        workload=ListedWorkload(job=()),
    )
    specs = tuple(_spec(number, each) for number, each in enumerate(jobs))
    figures = CellFigures()
    spec = RunSpec(scenario, specs, (), architecture.name)
    Simulation(spec, [figures], architecture=architecture).run()
    return figures


def _spec(number: JobId, job: OracleJob) -> JobSpec:
    demand = (("cpu", round(PARTS * job.cpus)), ("memory", round(PARTS * job.memory)))
    return JobSpec(
        job=number,
        name=f"job-{number}",
        submit_ms=round(SCALE * job.submit_s),
        maps=job.tasks,
        map_ms=round(SCALE * job.task_s),
        pool=job.kind,
        demands=(demand, ()),
    )


def architecture_of(case: dict[str, Any]) -> SharedCell | None:
    """What plays a case; None where nothing here does."""
    think = {
        "t_job": BATCH_T_JOB,
        "t_task": BATCH_T_TASK,
        "service_t_job": case["t_job"],
        "service_t_task": SERVICE_T_TASK,
        "retry": 1.0,
    }
    scaled = {name: seconds * SCALE / 1000 for name, seconds in think.items()}
    if case["arch"] == "monolithic":
        return ReplayedMonolithic(MonolithicParams(service="Service", **scaled))
    if case["arch"] == "omega" and case["conflict"] in CONFLICTS:
        return ReplayedOmega(
            OmegaParams(
                service="Service",
                schedulers=len(_names(case)) - 1,
                conflicts=CONFLICTS[case["conflict"]],
                commit=case["transaction"],
                **scaled,
            )
        )
    if case["arch"] == "mesos":
        more = {"gather": GATHER, "allocation": ALLOCATION}
        scaled |= {name: seconds * SCALE / 1000 for name, seconds in more.items()}
        batch = len(_names(case)) - 1
        params = MesosParams(service="Service", schedulers=batch, parallel=True, **scaled)
        return ReleasedMesos(params, ReplayedDraws(batch + 1), PARTS)
    return None


def _names(case: dict[str, Any]) -> list[str]:
    """The case's schedulers in the order of our numbers: those of Batch jobs, then the other."""
    names = [name for name, figures in case.items() if isinstance(figures, dict)]
    return sorted(names, key=lambda name: (len(name), name) if name[0] == "B" else (99, name))


def cells(cases: Sequence[dict[str, Any]], jobs_path: Path) -> list[Cell]:
    """Every figure of every case that its program counts."""
    jobs = read_jobs(jobs_path)
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        played = list(pool.map(_figures_of, cases, [jobs] * len(cases)))
    return [each for pair in zip(cases, played, strict=True) for each in _compared(*pair)]


def cells_of_case(case: dict[str, Any], jobs: Sequence[OracleJob]) -> list[Cell]:
    """Those of one."""
    return _compared(case, _figures_of(case, jobs))


def _compared(case: dict[str, Any], ours: dict[str, float] | None) -> list[Cell]:
    return [
        Cell(f"{_title(case)}: {what}", theirs, None if ours is None else ours[what], WITHIN)
        for what, theirs in _their_figures(case).items()
    ]


def _title(case: dict[str, Any]) -> str:
    mode = f" {case['conflict']}/{case['transaction']}" if case["arch"] == "omega" else ""
    return f"{case['arch']}{mode}, {case['machines']} machines, t_job {case['t_job']:g}"


def _counted(case: dict[str, Any]) -> Sequence[str]:
    """What the program counts of a scheduler: claims of tasks, and thoughts without room, only
    where there are commits.
    """
    by_task = ("tasks_ok", "tasks_failed", "no_room") if case["arch"] == "omega" else ()
    return ("useful", "wasted", "ok", "failed", *by_task, "gave_up")


def _their_figures(case: dict[str, Any]) -> dict[str, float]:
    found = {"end": case["end"]}
    for kind in KINDS_OF_JOBS:
        found[f"{kind}, first wait"], found[f"{kind}, whole wait"] = case[f"wait_{kind}"]
    for name in _names(case):
        found |= {f"{name}, {what}": case[name][what] for what in _counted(case)}
    return found


def _by_their_names(thoughts: SchedulerThoughts) -> dict[str, float]:
    return {
        "useful": thoughts.useful_ms / SCALE,
        "wasted": thoughts.wasted_ms / SCALE,
        "ok": thoughts.useful,
        "failed": thoughts.wasted,
        "tasks_ok": thoughts.claims_committed,
        "tasks_failed": thoughts.claims_in_conflict,
        "no_room": thoughts.in_vain,
    }


def _figures_of(case: dict[str, Any], jobs: Sequence[OracleJob]) -> dict[str, float] | None:
    """Ours by the same names."""
    architecture = architecture_of(case)
    if architecture is None:
        return None
    figures = play(architecture, jobs, case["machines"])
    if isinstance(architecture, ReleasedMesos):
        waits_ms = architecture.first_waits_ms()
        figures.first_wait = {job: ms / SCALE for job, ms in waits_ms.items()}
        last_look_s = architecture.agenda.last_ms / SCALE
        figures.end_s = max(figures.end_s, last_look_s)
    found = {"end": figures.end_s}
    for kind in KINDS_OF_JOBS:
        numbers = [number for number, job in enumerate(jobs) if job.kind == kind]
        found[f"{kind}, first wait"], found[f"{kind}, whole wait"] = figures.wait(numbers)
    for number, name in enumerate(_names(case), start=1):
        thoughts = figures.schedulers.get(number) or SchedulerThoughts(scheduler=number)
        ours = _by_their_names(thoughts) | {"gave_up": figures.gave_up[number]}
        found |= {f"{name}, {what}": ours[what] for what in _counted(case)}
    return found
