"""Generated workloads: the table `[workload]` of kind `generated`, arrivals × sizes."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, TypeAlias

from msgspec import Meta

from callboard.actors.job_spec import JobSpec
from callboard.actors.kernel.streams import Stream
from callboard.scenarios.arrivals import Arrivals, Poisson, UniformGaps
from callboard.scenarios.categories import FacebookCategories, Yahoo
from callboard.scenarios.fields import TASKS_MAX, JobCount
from callboard.scenarios.scenario_error import ScenarioError
from callboard.scenarios.sizes import FacebookMaps, GpMix, HfspDev, HfspProd, HfspTest, JobSize
from callboard.scenarios.workload_table import WorkloadTable

Sizes: TypeAlias = HfspDev | HfspTest | HfspProd | FacebookMaps | GpMix | Yahoo | FacebookCategories
UserCount = Annotated[int, Meta(ge=1, le=1_000_000)]


class GeneratedWorkload(WorkloadTable, frozen=True, kw_only=True, tag="generated"):
    """The table `[workload]` with `kind = "generated"`.

    `jobs` defaults to the number in the paper that `sizes` comes from.  Each job belongs to one
    of `users` users (`user`, or `user0`, `user1`, ...) and one of `pools`, drawn evenly, unless the
    size model says whose it is.  The first jobs stay equal when more are asked for; arrivals stay
    equal when sizes change, and the other way round.
    """

    jobs: JobCount | None = None
    arrivals: Arrivals = Poisson()
    sizes: Sizes = FacebookMaps()
    users: UserCount = 1
    pools: tuple[str, ...] = ()

    def make_jobs(self, seed: int, base_dir: str | Path = ".") -> list[JobSpec]:  # noqa: ARG002
        self.check()
        jobs = self.sizes.JOBS if self.jobs is None else self.jobs
        times = self.arrivals.submit_times(seed, jobs)
        sizes = self.sizes.sizes(seed, jobs)
        names = [f"user{user}" for user in range(self.users)] if self.users > 1 else ["user"]
        users = _drawn(names, Stream(seed, "workload/user"), jobs)
        pools = _drawn(self.pools or ("",), Stream(seed, "workload/pool"), jobs)
        return [_spec(job, times[job], sizes[job], users[job], pools[job]) for job in range(jobs)]

    def node_types(self) -> Iterator[tuple[str, str]]:
        if isinstance(self.sizes, Yahoo | FacebookCategories):
            for name in self.sizes.resources:
                yield name, f"workload.sizes.resources.{name}"

    def check(self) -> None:
        sizes = self.sizes
        if isinstance(sizes, FacebookMaps) and sizes.map_share + sizes.shuffle_share > 1:
            _refuse("map_share and shuffle_share together must be at most 1", "sizes.map_share")
        for name, table in (("sizes", sizes), ("arrivals", self.arrivals)):
            if isinstance(table, FacebookMaps | UniformGaps) and table.longest_s < table.shortest_s:
                _refuse(f"must be at least shortest_s = {table.shortest_s:g}", f"{name}.longest_s")


def _refuse(problem: str, name: str) -> None:
    raise ScenarioError(problem, key=f"workload.{name}")


def _spec(job: int, submit_ms: int, size: JobSize, user: str, pool: str) -> JobSpec:
    if max(size.maps, size.reduces) > TASKS_MAX:
        problem = f"job {job} ({size.label}) would have over {TASKS_MAX:,} tasks of a kind"
        _refuse(f"{problem}; make larger blocks or a smaller scale", "sizes")
    return JobSpec(
        job=job,
        name=f"{size.label}-{job}",
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


def _drawn(names: Sequence[str], stream: Stream, jobs: int) -> list[str]:
    return [names[int(stream.uniform(job) * len(names))] for job in range(jobs)]
