"""Generated workloads: the table `[workload]` of kind `generated`, arrivals × sizes."""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, Self, TypeAlias

from msgspec import Meta
from msgspec.structs import replace

from callboard.actors.config import TASKS_MAX
from callboard.actors.job_spec import JobSpec
from callboard.actors.kernel.streams import Stream
from callboard.scenarios.arrivals import Arrivals, Poisson, Tailed, UniformGaps
from callboard.scenarios.categories import FacebookCategories, Yahoo
from callboard.scenarios.decks import FacebookBins, GpMix
from callboard.scenarios.distributions import check_distribution
from callboard.scenarios.fields import JobCount, kind_of
from callboard.scenarios.one_task import OneTask
from callboard.scenarios.sizes import (
    ExponentialJobs,
    FacebookMaps,
    HfspDev,
    HfspProd,
    HfspTest,
    JobSize,
)
from callboard.scenarios.workload_table import WorkloadTable
from callboard.scheduler.text.scenario_error import ScenarioError

_Decks: TypeAlias = GpMix | FacebookBins
_Categories: TypeAlias = Yahoo | FacebookCategories
_Lawful: TypeAlias = FacebookMaps | ExponentialJobs | OneTask
_WITH_MEAN = OneTask, ExponentialJobs
Sizes: TypeAlias = HfspDev | HfspTest | HfspProd | _Lawful | _Decks | _Categories

TAIL = "tail-"
"""The name of a job that only keeps the cluster busy while the others end begins so."""

UserCount = Annotated[int, Meta(ge=1, le=1_000_000)]


class GeneratedWorkload(WorkloadTable, frozen=True, kw_only=True, tag="generated"):
    """The table `[workload]` with `kind = "generated"`: arrivals × sizes.

    The first jobs stay equal when more are asked for; arrivals stay equal when sizes change, and
    the other way round.  Where jobs have several stages, which are jobs of their own, all are
    numbered by time.
    """

    jobs: JobCount | None = None
    """How many; unset, as many as in the paper that `sizes` comes from."""
    arrivals: Arrivals = Poisson()
    """When jobs come."""
    sizes: Sizes = FacebookMaps()
    """How large they are."""
    users: UserCount = 1
    """Jobs belong to `user0`, `user1`, … evenly, unless the sizes say whose they are; one is called
    `user`.
    """
    pools: tuple[str, ...] = ()
    """Names of pools, drawn evenly."""

    def make_jobs(self, seed: int, base_dir: str | Path = ".") -> list[JobSpec]:  # noqa: ARG002
        self.check()
        jobs = self.sizes.JOBS if self.jobs is None else self.jobs
        times = self.arrivals.submit_times(seed, jobs)
        sizes = self.sizes.sizes(seed, jobs)
        names = [f"user{user}" for user in range(self.users)] if self.users > 1 else ["user"]
        users = _names_drawn_for_jobs(names, Stream(seed, "workload/user"), jobs)
        pools = _names_drawn_for_jobs(self.pools or ("",), Stream(seed, "workload/pool"), jobs)
        tail = self.arrivals.busy_jobs if isinstance(self.arrivals, Tailed) else jobs
        made = [
            _job_spec(
                job, times[job], sizes[job], users[job], pools[job], TAIL if job >= tail else ""
            )
            for job in range(jobs)
        ]
        staged = list(chain.from_iterable(map(_jobs_of_stages, made, sizes)))
        return made if len(staged) == jobs else _numbered_by_time(staged)

    def with_load_as_gap(self, speed: float) -> Self:
        """With the mean gap that a load comes to."""
        if not isinstance(self.arrivals, Poisson) or not isinstance(self.sizes, _WITH_MEAN):
            return self
        return replace(self, arrivals=self.arrivals.at_rate(self.sizes.mean_work_s(), speed))

    def node_types(self) -> Iterator[tuple[str, str]]:
        if isinstance(self.sizes, Yahoo | FacebookCategories):
            for name in self.sizes.resources:
                yield name, f"workload.sizes.resources.{name}"

    def check(self) -> None:
        sizes = self.sizes
        if isinstance(sizes, FacebookMaps) and sizes.map_share + sizes.shuffle_share > 1:
            _refuse_field(
                "map_share and shuffle_share together must be at most 1", "sizes.map_share"
            )
        if isinstance(sizes, OneTask):
            check_distribution(sizes.map_s, "workload.sizes.map_s")
        if isinstance(self.arrivals, Poisson):
            self._check_load(self.arrivals)
        for name, table in (("sizes", sizes), ("arrivals", self.arrivals)):
            if isinstance(table, FacebookMaps | UniformGaps) and table.longest_s < table.shortest_s:
                _refuse_field(
                    f"must be at least shortest_s = {table.shortest_s:g}", f"{name}.longest_s"
                )

    def _check_load(self, arrivals: Poisson) -> None:
        if arrivals.states_load_and_gap():
            _refuse_field(
                "`mean_s` says how often jobs come already; leave one out", "arrivals.load"
            )
        if arrivals.load is not None and not isinstance(self.sizes, _WITH_MEAN):
            known = " and ".join(f"`{kind_of(each)}`" for each in _WITH_MEAN)
            here = kind_of(type(self.sizes))
            problem = f"the mean work of a job is known for `sizes` of kind {known}, not `{here}`"
            _refuse_field(f"{problem}; state `mean_s`", "arrivals.load")


def _refuse_field(problem: str, name: str) -> None:
    raise ScenarioError(problem, key=f"workload.{name}")


def _jobs_of_stages(first: JobSpec, size: JobSize) -> Iterator[JobSpec]:
    """The job, and those that follow it: each comes when the one before would be done on an empty
    cluster.
    """
    yield first
    for stage in range(1, size.stages):
        at_ms = first.submit_ms + stage * size.wave_ms
        yield replace(first, name=f"{first.name}.{stage + 1}", submit_ms=at_ms)


def _numbered_by_time(jobs: list[JobSpec]) -> list[JobSpec]:
    ordered = sorted(jobs, key=lambda job: job.submit_ms)
    return [replace(job, job=number) for number, job in enumerate(ordered)]


def _job_spec(
    job: int, submit_ms: int, size: JobSize, user: str, pool: str, prefix: str
) -> JobSpec:
    if max(size.maps, size.reduces) > TASKS_MAX:
        problem = f"job {job} ({size.label}) would have over {TASKS_MAX:,} tasks of a kind"
        _refuse_field(f"{problem}; make larger blocks or a smaller scale", "sizes")
    return JobSpec(
        job=job,
        name=f"{prefix}{size.label}-{job}",
        submit_ms=submit_ms,
        maps=size.maps,
        map_ms=size.map_ms,
        reduces=size.reduces,
        shuffle_ms=size.shuffle_ms,
        reduce_ms=size.reduce_ms,
        user=size.user or user,
        pool=size.pool or pool,
        factors=size.factors,
    )


def _names_drawn_for_jobs(names: Sequence[str], stream: Stream, jobs: int) -> list[str]:
    return [names[int(stream.uniform(job) * len(names))] for job in range(jobs)]
