"""Jobs listed one by one: the table `[workload]` of kind `jobs`, with `[[workload.job]]`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NoReturn

import msgspec

from callboard.actors.config import JOBS_MAX
from callboard.actors.job_spec import Amounts, JobSpec
from callboard.actors.vocabulary.job_names import job_name
from callboard.scenarios import fields
from callboard.scenarios.workload_table import WorkloadTable
from callboard.scheduler.model import JobId, Priority
from callboard.scheduler.text.key_path import dotted
from callboard.scheduler.text.scenario_error import ScenarioError

PriorityName = Literal["very_high", "high", "normal", "low", "very_low"]


class ListedJob(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One `[[workload.job]]`: a job, or `count` equal ones.

    A job without a name is called `job-12` by its number, which counts the jobs by time of
    submission (`job_name`).  Times are nominal seconds of one task.
    """

    maps: fields.MapCount
    """How many."""
    map_s: fields.PositiveSeconds
    """Of a map that reads local data, on a node of speed 1."""
    at_s: fields.Seconds = 0.0
    """When it is submitted."""
    reduces: fields.ReduceCount = 0
    """How many."""
    shuffle_s: fields.Seconds = 0.0
    """Of one reduce: fetching its whole share. It begins while maps run: what one wrote is fetched
    as it ends, so that of n maps' 1/n is left after the last."""
    reduce_s: fields.Seconds = 0.0
    """Of one reduce: all that follows its shuffle."""
    name: str = ""
    """Names must differ; unset, `job-0`, `job-1`, … by its number."""
    user: str = "user"
    """Whose it is."""
    pool: str = ""
    """In which pool its user puts it."""
    priority: PriorityName = "normal"
    """Hadoop's five."""
    on: dict[str, fields.Factor] = msgspec.field(default_factory=dict)
    """By what factor its maps, and its reduces after their shuffle, are longer on nodes of a type:
    `{io = 0.5, cpu = 4.0}`.  1 on others; a type that no node has is an error.
    """
    only_on: tuple[str, ...] = ()
    """Node types on which alone its tasks may run: `["gpu"]`; none: on all.  Only `sparrow` keeps
    to it, all others refuse such a job."""
    map_demand: dict[str, fields.Amount] | None = None
    """What each of its maps takes besides a slot of a node's `capacity`: `{cpu = 1000}`."""
    reduce_demand: dict[str, fields.Amount] | None = None
    """What each of its reduces takes besides a slot."""
    count: fields.JobCount = 1
    """That many equal jobs; after a `name` they get `-1`, `-2`, …"""
    every_s: fields.Seconds = 0.0
    """How long after each other they come."""
    poisoned_maps: tuple[fields.TaskNumber, ...] = ()
    """Maps, numbered from 0, whose every attempt fails."""
    poisoned_reduces: tuple[fields.TaskNumber, ...] = ()
    """Reduces, numbered from 0, whose every attempt fails."""
    hanging_maps: tuple[fields.TaskNumber, ...] = ()
    """Maps, numbered from 0, whose every attempt hangs until its timeout."""
    hanging_reduces: tuple[fields.TaskNumber, ...] = ()
    """Reduces, numbered from 0, whose every attempt hangs until its timeout."""
    fails_at: fields.Share | None = None
    """How far attempts of those tasks come, as a share of their own work; unset, drawn."""
    skewed_maps: tuple[fields.TaskNumber, ...] = ()
    """Maps, by number from 0, that take `skew` times as long."""
    skewed_reduces: tuple[fields.TaskNumber, ...] = ()
    """Reduces, by number from 0, that take `skew` times as long."""
    skew: fields.Factor = 1.0
    """How many times as long the skewed tasks take."""

    def check(self, key: str) -> None:
        """ScenarioError where what is said of its tasks cannot be; the job stands at `key`."""
        for what, tasks in (("maps", self.maps), ("reduces", self.reduces)):
            for ailment in ("poisoned", "hanging", "skewed"):
                for task in getattr(self, f"{ailment}_{what}"):
                    if task >= tasks:
                        has = f"its {what} are 0 to {tasks - 1:,}" if tasks else f"it has no {what}"
                        problem = f"the job has no number {task:,}: {has}"
                        raise ScenarioError(problem, key=f"{key}.{ailment}_{what}")
            both = {*getattr(self, f"poisoned_{what}")} & {*getattr(self, f"hanging_{what}")}
            if both:
                problem = f"number {min(both):,} is poisoned, so it cannot hang too"
                raise ScenarioError(f"{problem}; take it out of one", key=f"{key}.hanging_{what}")
        failing = (self.poisoned_maps, self.poisoned_reduces, self.hanging_maps)
        if self.fails_at is not None and not any((*failing, self.hanging_reduces)):
            problem = "no task is poisoned or hangs, so nothing fails there; name some"
            raise ScenarioError(problem, key=f"{key}.fails_at")

    def node_types(self, *path: str | int) -> Iterator[tuple[str, str]]:
        """(node type, key) of all that the job, which stands at `path`, says of any."""
        for node_type in self.on:
            yield node_type, dotted((*path, "on", node_type))
        for place, node_type in enumerate(self.only_on):
            yield node_type, dotted((*path, "only_on", place))

    def name_of_copy(self, nth: int) -> str:
        return f"{self.name}-{nth + 1}" if self.name and self.count > 1 else self.name

    def unnumbered_jobs(self) -> list[JobSpec]:
        """Its jobs, not yet numbered; without a name if it says none."""
        return [self._job_spec(nth) for nth in range(self.count)]

    def _job_spec(self, nth: int) -> JobSpec:
        return JobSpec(
            job=0,
            name=self.name_of_copy(nth),
            submit_ms=fields.to_ms(self.at_s) + nth * fields.to_ms(self.every_s),
            maps=self.maps,
            map_ms=fields.task_ms(self.map_s),
            reduces=self.reduces,
            shuffle_ms=fields.to_ms(self.shuffle_s),
            reduce_ms=fields.to_ms(self.reduce_s),
            user=self.user,
            pool=self.pool,
            priority=Priority[self.priority.upper()],
            poisoned=(self.poisoned_maps, self.poisoned_reduces),
            hanging=(self.hanging_maps, self.hanging_reduces),
            fails_at=self.fails_at,
            skewed=(self.skewed_maps, self.skewed_reduces),
            skew=self.skew,
            factors=tuple(sorted(self.on.items())),
            only_on=self.only_on,
            demands=(_sorted_amounts(self.map_demand), _sorted_amounts(self.reduce_demand)),
        )


class ListedWorkload(WorkloadTable, frozen=True, kw_only=True, tag="jobs"):
    """The table `[workload]` with `kind = "jobs"`: each job as it is listed."""

    job: tuple[ListedJob, ...]
    """The `[[workload.job]]` tables."""
    jobs: fields.JobCount | None = None
    """How many jobs to take, by time of submission."""

    def make_jobs(self, seed: int, base_dir: str | Path = ".") -> list[JobSpec]:  # noqa: ARG002
        self.check()
        first: dict[str, int] = {}
        placed = self.placed_jobs()
        for place, spec in placed:
            if first.setdefault(spec.name, place) != place:
                _refuse_name(spec.name, max(place, first[spec.name]))
        return [spec for _, spec in placed]

    def placed_jobs(self) -> list[tuple[int, JobSpec]]:
        """The jobs by submit time, then in the file's order, each with its entry's place there."""
        jobs = [
            (place, job) for place, entry in enumerate(self.job) for job in entry.unnumbered_jobs()
        ]
        jobs.sort(key=lambda placed: placed[1].submit_ms)
        return [
            (place, with_number(job, nth)) for nth, (place, job) in enumerate(jobs[: self.jobs])
        ]

    def check(self) -> None:
        """ScenarioError where there is no job, too many, or two of one name."""
        if not self.job:
            raise ScenarioError("there must be at least one [[workload.job]]", key="workload.job")
        total, most = sum(entry.count for entry in self.job), JOBS_MAX
        if total > most:
            raise ScenarioError(f"{total:,} jobs; the limit is {most:,}", key="workload.job")
        first: dict[str, int] = {}
        for place, entry in enumerate(self.job):
            for nth in range(entry.count):
                name = entry.name_of_copy(nth)
                if name and first.setdefault(name, place) != place:
                    _refuse_name(name, place)
            entry.check(f"workload.job[{place}]")

    def node_types(self) -> Iterator[tuple[str, str]]:
        for place, entry in enumerate(self.job):
            yield from entry.node_types("workload", "job", place)


def _sorted_amounts(demand: dict[str, int] | None) -> Amounts:
    return tuple(sorted((demand or {}).items()))


def with_number(spec: JobSpec, job: JobId) -> JobSpec:
    """The job with its number, which is its name too if it has none of its own."""
    return msgspec.structs.replace(spec, job=job, name=spec.name or job_name(job))


def _refuse_name(name: str, place: int) -> NoReturn:
    problem = f'a second job is called "{name}"; names must differ'
    raise ScenarioError(problem, key=f"workload.job[{place}].name")
