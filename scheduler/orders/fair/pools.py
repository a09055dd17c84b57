"""The tree of pools: jobs and pools ranked in each pool, kept in order by facts.

A pool keeps its members, jobs and pools, sorted for each kind of slot.  A fact about a job moves
the job in its pool, then its pool in the pool above, up to the root: O(log n) a level.

The comparator of a fair pool is Hadoop's FairShareComparator (SchedulingAlgorithms, 1.2.1).  With
due = min(min share, demand) a member is needy while it runs less than that; the needy go first, by
running / due; the others by running / weight; ties by start time (0 for pools), then by name (a
job's number).  Whole numbers and fractions make it a strict total order however odd the weights.
In a fifo pool jobs go by priority, submit time, number.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Literal

from sortedcontainers import SortedList

from callboard.scheduler.entitlements import serve_in_turn
from callboard.scheduler.model import JobId, SlotKind
from callboard.scheduler.orders.fair.water_filling import compute_fair_shares
from callboard.scheduler.orders.keyed import SortKey
from callboard.scheduler.part_params import Count, ShareParams, Timeout
from callboard.scheduler.view import JobView


class PoolParams(ShareParams, frozen=True, kw_only=True):
    """What a pool is guaranteed and allowed, in slots and jobs."""

    max_maps: Count | None = None
    """The most running maps, of all pools in it together."""
    max_reduces: Count | None = None
    """The most running reduces, of all pools in it together."""
    max_jobs: Count | None = None
    """The most jobs that may launch tasks, by priority and submission, of all pools in it."""
    mode: Literal["fair", "fifo"] = "fair"
    """`fifo` is by priority, then submission; such a pool holds jobs only."""
    min_share_timeout_s: Timeout | None = None
    """How long it may stay below its min share; unset, the preemption rule's."""


class Schedulable:
    """A job or a pool in a pool.  By kind: `minimum`, the min share; `demand`, what it could run
    now (running included, within its caps); `wanting`, whether it has something to launch.
    """

    __slots__ = (
        "demand",
        "inverse_weight",
        "minimum",
        "parent",
        "places",
        "running",
        "tie",
        "wanting",
    )

    def __init__(self, parent: "PoolSchedulable | None", inverse_weight: int, tie: SortKey) -> None:
        self.parent = parent
        self.inverse_weight = inverse_weight
        self.tie = tie
        self.minimum = (0, 0)
        self.running = [0, 0]
        self.demand = [0, 0]
        self.wanting = [False, False]
        self.places: list[SortKey | None] = [None, None]

    def is_needy(self, kind: SlotKind) -> bool:
        return self.running[kind] < min(self.minimum[kind], self.demand[kind])

    def key(self, kind: SlotKind) -> SortKey:
        """Its place in a fair pool: smaller goes first."""
        running = self.running[kind]
        due = min(self.minimum[kind], self.demand[kind])
        if running < due:
            return (0, Fraction(running, due), self.tie)
        return (1, running * self.inverse_weight, self.tie)


class JobSchedulable(Schedulable):
    """A job in its pool."""

    __slots__ = ("first", "job", "runnable", "weight")

    def __init__(
        self, parent: "PoolSchedulable", view: JobView, inverse_weight: int, weight: Fraction
    ) -> None:
        super().__init__(parent, inverse_weight, (view.submitted_ms, 1, view.job))
        self.job: JobId = view.job
        self.weight = weight
        self.first: SortKey = (view.priority, view.submitted_ms, view.job)
        self.runnable = True

    def refresh(self, kind: SlotKind, view: JobView) -> None:
        """Take over the view's numbers; a job that may not run yet wants nothing, as in Hadoop."""
        self.set_running_and_pending(
            kind, view.running(kind), view.pending(kind) if self.runnable else 0
        )

    def set_running_and_pending(self, kind: SlotKind, running: int, pending: int) -> None:
        """Mend its pools' sums and queues; with 0 and 0 it is in them no longer."""
        demand = running + pending if self.runnable else 0
        more, wish = running - self.running[kind], demand - self.demand[kind]
        self.running[kind], self.demand[kind] = running, demand
        self.wanting[kind] = pending > 0
        assert self.parent is not None
        self.parent.place(self, kind)
        self.parent.add_load(kind, more, wish)


class PoolSchedulable(Schedulable):
    """A pool and what it ranks."""

    __slots__ = ("_sorted", "caps", "jobs", "params", "path", "pools", "uncapped_demand", "weight")

    def __init__(
        self, path: str, parent: "PoolSchedulable | None", params: PoolParams, inverse_weight: int
    ) -> None:
        super().__init__(parent, inverse_weight, (0, 0, path))
        self.path = path
        self.params = params
        self.weight = Fraction(repr(params.weight))
        self.minimum = (params.min_maps, params.min_reduces)
        self.caps = (params.max_maps, params.max_reduces)
        self.uncapped_demand = [0, 0]  # the members' demand together, before the cap
        self.pools: dict[str, PoolSchedulable] = {}
        self.jobs: dict[JobId, JobSchedulable] = {}
        self._sorted: tuple[SortedList[tuple[SortKey, Schedulable]], ...] = (
            SortedList(),
            SortedList(),
        )

    def place(self, member: Schedulable, kind: SlotKind) -> None:
        queue, old = self._sorted[kind], member.places[kind]
        new = self._member_key(member, kind) if member.wanting[kind] else None
        if new == old:
            return
        if old is not None:
            queue.remove((old, member))
        if new is not None:
            queue.add((new, member))
        member.places[kind] = new

    def _member_key(self, member: Schedulable, kind: SlotKind) -> SortKey:
        if self.params.mode == "fifo" and isinstance(member, JobSchedulable):
            return member.first
        return member.key(kind)

    def add_load(self, kind: SlotKind, running: int, uncapped_demand: int) -> None:
        """Members run `running` more and wish for `uncapped_demand` more; tell the pools above."""
        pool: PoolSchedulable | None = self
        while pool is not None:
            before = pool.demand[kind]
            pool.running[kind] += running
            pool.uncapped_demand[kind] += uncapped_demand
            cap = pool.caps[kind]
            open_ = cap is None or pool.running[kind] < cap
            pool.demand[kind] = (
                pool.uncapped_demand[kind] if cap is None else min(pool.uncapped_demand[kind], cap)
            )
            pool.wanting[kind] = open_ and bool(pool._sorted[kind])
            if pool.parent is not None:
                pool.parent.place(pool, kind)
            uncapped_demand = pool.demand[kind] - before
            pool = pool.parent

    def jobs_to_launch(self, kind: SlotKind) -> Iterator[JobSchedulable]:
        """The jobs with something to launch, first one first, lazily."""
        for _, member in self._sorted[kind]:
            if isinstance(member, PoolSchedulable):
                yield from member.jobs_to_launch(kind)
            else:
                assert isinstance(member, JobSchedulable)
                yield member

    def member_shares(
        self, kind: SlotKind, slots: Fraction
    ) -> list[tuple["JobSchedulable | PoolSchedulable", Fraction]]:
        """The share of `slots` of each member with demand or something running."""
        everybody: list[JobSchedulable | PoolSchedulable] = [
            *self.pools.values(),
            *self.jobs.values(),
        ]
        members = [m for m in everybody if m.demand[kind] or m.running[kind]]
        if self.params.mode == "fifo":
            jobs = [m for m in members if isinstance(m, JobSchedulable)]
            jobs.sort(key=lambda job: job.first)
            return list(
                zip(jobs, serve_in_turn((j.demand[kind] for j in jobs), slots), strict=True)
            )
        due = compute_fair_shares(
            [m.demand[kind] for m in members],
            slots,
            [m.weight for m in members],
            [m.minimum[kind] for m in members],
        )
        return list(zip(members, due, strict=True))
