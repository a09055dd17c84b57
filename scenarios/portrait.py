"""A scenario in a few numbers, from its content alone: nothing of it is played."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from callboard.actors.config import node_facts
from callboard.actors.job_spec import JobSpec, factor_on
from callboard.actors.vocabulary.events import NodeFacts
from callboard.scenarios import timeline as tl
from callboard.scenarios.scenario_file import load_scenario, make_jobs
from callboard.scheduler.model import Millis
from callboard.scheduler.text.quantities import count


class FaultOutline(msgspec.Struct, frozen=True):
    """An entry of a timeline: what happens, to what, when for the first time, and how often."""

    what: str
    target: str
    at_ms: Millis
    times: int


class ScenarioPortrait(msgspec.Struct, frozen=True):
    """What a scenario is like.  `arrivals` is the slot time of each job's tasks by the time of its
    submission.  `least_ms` is about what a run takes at least: with all slots busy while there is
    work, without noise, remote reads or faults.
    """

    nodes: int
    racks: int
    map_slots: int
    reduce_slots: int
    jobs: int
    tasks: int
    least_ms: Millis
    arrivals: tuple[tuple[Millis, Millis], ...]
    faults: tuple[FaultOutline, ...]

    def work_by_column(self, columns: int) -> list[float]:
        """The work that arrives in each column, an equal part of the least time; 1 is the most."""
        work = [0.0] * columns
        for submit_ms, work_ms in self.arrivals:
            work[self.column_at(submit_ms, columns)] += work_ms
        most = max(work, default=0.0) or 1.0
        return [each / most for each in work]

    def column_at(self, at_ms: Millis, columns: int) -> int:
        """The column into which a moment falls; the last one for what comes later."""
        return min(at_ms * columns // max(self.least_ms, 1), columns - 1)


@lru_cache(maxsize=64)
def portrait_of(path: Path) -> ScenarioPortrait:
    """The portrait of the scenario in a file; ScenarioError where it makes no sense."""
    scenario = load_scenario(path)
    nodes, jobs = node_facts(scenario.cluster), make_jobs(scenario, path.parent)
    return ScenarioPortrait(
        nodes=len(nodes),
        racks=len({each.rack for each in nodes}),
        map_slots=sum(each.map_slots for each in nodes),
        reduce_slots=sum(each.reduce_slots for each in nodes),
        jobs=len(jobs),
        tasks=sum(job.maps + job.reduces for job in jobs),
        least_ms=_least_run_ms(jobs, nodes),
        arrivals=tuple((job.submit_ms, sum(_work_ms(job))) for job in jobs),
        faults=tuple(_fault_outlines(scenario.timeline, scenario.seed)),
    )


def _work_ms(job: JobSpec) -> tuple[Millis, Millis]:
    """The slot time of a job's maps, and of its reduces."""
    return job.maps * job.map_ms, job.reduces * (job.shuffle_ms + job.reduce_ms)


def _least_run_ms(jobs: Iterable[JobSpec], nodes: Sequence[NodeFacts]) -> Millis:
    """When the last slot falls idle if work can be cut to any size, and no job ends sooner than one
    map and one reduce after each other take.
    """
    free_ms, ended_ms = [0.0, 0.0], 0.0
    for job in jobs:
        machines = _machine_rates(nodes, job.factors)
        for kind, work_ms in enumerate(_work_ms(job)):
            if work_ms:
                free_ms[kind] = max(free_ms[kind], job.submit_ms) + work_ms / machines.rates[kind]
        alone_ms = job.longest_map_ms() + bool(job.reduces) * job.longest_reduce_ms()
        ended_ms = max(ended_ms, job.submit_ms + alone_ms / machines.fastest)
    return round(max(*free_ms, ended_ms))


class _Machines(NamedTuple):
    """For jobs with certain factors: the work that all nodes together do in a millisecond, of maps
    and of reduces, and the speed of the fastest one.
    """

    rates: tuple[float, float]
    fastest: float


@lru_cache(maxsize=64)
def _machine_rates(nodes: Sequence[NodeFacts], factors: tuple[tuple[str, float], ...]) -> _Machines:
    speeds = [each.speed / factor_on(each.node_type, factors) for each in nodes]
    maps = sum(each.map_slots * speed for each, speed in zip(nodes, speeds, strict=True))
    reduces = sum(each.reduce_slots * speed for each, speed in zip(nodes, speeds, strict=True))
    return _Machines((maps, reduces), max(speeds))


def _fault_outlines(timeline: tl.Timeline, seed: int) -> Iterator[FaultOutline]:
    for _, entry, at_ms in tl.entries_with_starts(timeline, seed):
        yield FaultOutline(
            str(entry.__struct_config__.tag), _target_text(entry), at_ms, entry.times
        )


def _target_text(entry: tl.AnyEntry) -> str:
    match entry:
        case tl.NodesEntry() | tl.FailuresEntry():
            return ", ".join(tl.names_as_tuple(entry.nodes))
        case tl.JobFaultEntry():
            return entry.job
        case tl.PolicyEntry():
            return entry.policy
        case tl.BurstEntry():
            return entry.job.name or count(entry.job.count, "job")
        case _:
            return ""
