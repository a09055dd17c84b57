"""Jobs listed one by one: the table `[workload]` of kind `jobs`, with `[[workload.job]]`."""

from collections.abc import Iterator
from typing import Literal, NoReturn

import msgspec

from callboard.actors.job_spec import JobSpec
from callboard.actors.vocabulary.job_names import job_name
from callboard.scenarios import fields
from callboard.scenarios.scenario_error import ScenarioError
from callboard.scheduler.model import JobId, Priority
from callboard.scheduler.registry.key_path import dotted

PriorityName = Literal["very_high", "high", "normal", "low", "very_low"]


class ListedJob(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One `[[workload.job]]`: a job, or `count` equal ones submitted every `every_s`.

    Times are nominal seconds of one task (see `JobSpec`); `on` says by what factor they are longer
    on nodes of a kind.  The `poisoned` tasks, by number from 0, fail wherever they run, `hanging`
    ones stand still, both at the progress `fails_at`, or at a drawn one; `skewed` ones take `skew`
    times as long.  Equal jobs get `-1`, `-2`, ... after the `name`; a job without one is
    called `job-12` by its number (`job_name`).
    """

    maps: fields.MapCount
    map_s: fields.PositiveSeconds
    at_s: fields.Seconds = 0.0
    reduces: fields.ReduceCount = 0
    shuffle_s: fields.Seconds = 0.0
    reduce_s: fields.Seconds = 0.0
    name: str = ""
    user: str = "user"
    pool: str = ""
    priority: PriorityName = "normal"
    on: dict[str, fields.Factor] = msgspec.field(default_factory=dict)
    count: fields.JobCount = 1
    every_s: fields.Seconds = 0.0
    poisoned_maps: tuple[fields.TaskNumber, ...] = ()
    poisoned_reduces: tuple[fields.TaskNumber, ...] = ()
    hanging_maps: tuple[fields.TaskNumber, ...] = ()
    hanging_reduces: tuple[fields.TaskNumber, ...] = ()
    fails_at: fields.Share | None = None
    skewed_maps: tuple[fields.TaskNumber, ...] = ()
    skewed_reduces: tuple[fields.TaskNumber, ...] = ()
    skew: fields.Factor = 1.0


class ListedWorkload(fields.TableOfKind, frozen=True, kw_only=True, tag="jobs"):
    """The table `[workload]` with `kind = "jobs"`; `jobs` takes only the first so many."""

    job: tuple[ListedJob, ...]
    jobs: fields.JobCount | None = None


def numbered_jobs(workload: ListedWorkload) -> list[JobSpec]:
    """The jobs in submit order, those of one instant in the order of the file.

    ScenarioError where there are none, too many, or two of one name.
    """
    check_listed(workload)
    first: dict[str, int] = {}
    placed = placed_jobs(workload)
    for place, spec in placed:
        if first.setdefault(spec.name, place) != place:
            _refuse_name(spec.name, max(place, first[spec.name]))
    return [spec for _, spec in placed]


def placed_jobs(workload: ListedWorkload) -> list[tuple[int, JobSpec]]:
    """The same, each with its entry's place in the file."""
    specs = [
        (place, spec) for place, entry in enumerate(workload.job) for spec in unnumbered_jobs(entry)
    ]
    specs.sort(key=lambda placed: placed[1].submit_ms)
    return [
        (place, numbered(spec, job)) for job, (place, spec) in enumerate(specs[: workload.jobs])
    ]


def numbered(spec: JobSpec, job: JobId) -> JobSpec:
    """The job with its number, which is its name too if it has none of its own."""
    return msgspec.structs.replace(spec, job=job, name=spec.name or job_name(job))


def check_listed(workload: ListedWorkload) -> None:
    """ScenarioError where there is no job, too many, or two of one name."""
    if not workload.job:
        raise ScenarioError("there must be at least one [[workload.job]]", key="workload.job")
    total = sum(entry.count for entry in workload.job)
    if total > fields.JOBS_MAX:
        raise ScenarioError(f"{total:,} jobs; the limit is {fields.JOBS_MAX:,}", key="workload.job")
    first: dict[str, int] = {}
    for place, entry in enumerate(workload.job):
        for copy in range(entry.count):
            name = _own_name(entry, copy)
            if name and first.setdefault(name, place) != place:
                _refuse_name(name, place)
        check_anomalies(entry, f"workload.job[{place}]")


def _refuse_name(name: str, place: int) -> NoReturn:
    problem = f'a second job is called "{name}"; names must differ'
    raise ScenarioError(problem, key=f"workload.job[{place}].name")


def check_anomalies(entry: ListedJob, key: str) -> None:
    """ScenarioError where a task is named that the job, which stands at `key`, has not, or what is
    said of its tasks makes no sense together.
    """
    for what, tasks in (("maps", entry.maps), ("reduces", entry.reduces)):
        for sort in ("poisoned", "hanging", "skewed"):
            for task in getattr(entry, f"{sort}_{what}"):
                if task >= tasks:
                    there = f"its {what} are 0 to {tasks - 1:,}" if tasks else f"it has no {what}"
                    problem = f"the job has no number {task:,}: {there}"
                    raise ScenarioError(problem, key=f"{key}.{sort}_{what}")
        both = set(getattr(entry, f"poisoned_{what}")).intersection(
            getattr(entry, f"hanging_{what}")
        )
        if both:
            problem = f"number {min(both):,} is poisoned, so it cannot hang too; take it out of one"
            raise ScenarioError(problem, key=f"{key}.hanging_{what}")
    odd = ("poisoned_maps", "poisoned_reduces", "hanging_maps", "hanging_reduces")
    if entry.fails_at is not None and not any(getattr(entry, name) for name in odd):
        problem = "no task is poisoned or hangs, so nothing fails there; name some"
        raise ScenarioError(problem, key=f"{key}.fails_at")


def job_node_types(workload: ListedWorkload) -> Iterator[tuple[str, str]]:
    """(kind of node, key) of every factor."""
    for place, entry in enumerate(workload.job):
        for kind in entry.on:
            yield kind, dotted(("workload", "job", place, "on", kind))


def unnumbered_jobs(entry: ListedJob) -> list[JobSpec]:
    """The jobs of one entry, not yet numbered; without a name if it says none."""
    return [_spec(entry, copy) for copy in range(entry.count)]


def _spec(entry: ListedJob, copy: int) -> JobSpec:
    return JobSpec(
        job=0,
        name=_own_name(entry, copy),
        submit_ms=fields.to_ms(entry.at_s) + copy * fields.to_ms(entry.every_s),
        maps=entry.maps,
        map_ms=fields.task_ms(entry.map_s),
        reduces=entry.reduces,
        shuffle_ms=fields.to_ms(entry.shuffle_s),
        reduce_ms=fields.to_ms(entry.reduce_s),
        user=entry.user,
        pool=entry.pool,
        priority=Priority[entry.priority.upper()],
        poisoned=(entry.poisoned_maps, entry.poisoned_reduces),
        hanging=(entry.hanging_maps, entry.hanging_reduces),
        fails_at=entry.fails_at,
        skewed=(entry.skewed_maps, entry.skewed_reduces),
        skew=entry.skew,
        factors=tuple(sorted(entry.on.items())),
    )


def _own_name(entry: ListedJob, copy: int) -> str:
    return f"{entry.name}-{copy + 1}" if entry.name and entry.count > 1 else entry.name
