"""Fair sharing among pools and jobs: Hadoop's Fair Scheduler (1.2.1), with pools of any depth.

Without parameters all jobs share as equals, by their priorities' weights.  With `pool_by = "pool"`
a job is in the pool that it states (`default` if it states none), with `"user"` in its user's.  A
pool's name is a path: `ads/batch` is in the pool `ads`.  What Hadoop 1 does among its one level of
pools is done here in every pool.

The comparator alone says which job is next (`scheduler.orders.fair.pools`): fair shares, as in
Hadoop, serve preemption only.  A heartbeat fills first the kind of slot of which the node runs
less, and no node beyond its share of the cluster's demand.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import lcm
from typing import Literal

import msgspec

from callboard.scheduler.entitlements import (
    ClaimantKind,
    Entitlement,
    Entitlements,
    job_entitlement,
)
from callboard.scheduler.facts import Fact, JobArrived, JobLeft, JobUpdated, StageFact
from callboard.scheduler.guarantees import EFFICIENT, EQUAL_SHARES, MONOTONE_SHARES
from callboard.scheduler.model import KINDS, MAP, PRIORITY_WEIGHTS, REDUCE, JobId, SlotKind
from callboard.scheduler.orders.fair.admission import Admission, RunningJobsCap
from callboard.scheduler.orders.fair.pools import JobSchedulable, PoolParams, PoolSchedulable
from callboard.scheduler.part_params import Count, PartParams
from callboard.scheduler.policy import Order, QueuedJob
from callboard.scheduler.reasons import BY_KEY, Grounds, PoolClaimant, PoolPlace, Reason
from callboard.scheduler.view import ClusterView, JobView, Offer

_POOL = Reason.POOL
_POOL_MIN_SHARE = Reason.POOL_MIN_SHARE

DEFAULT_POOL = "default"
"""The pool of a job that states none (Hadoop's Pool.DEFAULT_POOL_NAME)."""

_AS_EQUALS = (*EFFICIENT, *MONOTONE_SHARES, *EQUAL_SHARES, "weighted-max-min")
"""What is promised where there are no pools and no caps."""


class Fair(Order):
    """Least running for its weight, among pools and then in them."""

    name = "fair"
    summary = "equal shares: the pool, and in it the job, that runs least for its weight is next"
    score_format = "{:g} running / weight"
    hears_progress = False
    ages = False

    class Params(PartParams, frozen=True, kw_only=True):
        """How jobs fall into pools, and what pools and users are allowed."""

        pool_by: Literal["none", "pool", "user"] | None = None
        """What a job's pool is named after; unset, `pool` where `pools` are named, else `none`."""
        pools: dict[str, PoolParams] = msgspec.field(default_factory=dict)
        """What each pool is due, by its path."""
        max_jobs_per_pool: Count | None = None
        """The most running jobs of a pool that has no cap of its own."""
        max_jobs_per_user: Count | None = None
        """The most running jobs of a user who has no cap of its own."""
        max_jobs_of: dict[str, Count] = msgspec.field(default_factory=dict)
        """The most running jobs of users, by name."""

        def __post_init__(self) -> None:
            super().__post_init__()
            if self.pools and self.pool_by == "none":
                raise ValueError('pools are named, but `pool_by = "none"` puts no job into any')
            for path in self.pools:
                _check_path(path, self.pools)

    def __init__(self, params: Params | None = None) -> None:
        self.params = params or Fair.Params()
        self.guarantees = _AS_EQUALS if self.params == Fair.Params() else ()
        stated = [Fraction(repr(pool.weight)) for pool in self.params.pools.values()]
        weights = [*PRIORITY_WEIGHTS.values(), *stated]
        # Whole numbers compare faster than fractions: running / weight is compared as
        # running · (scale / weight), with a scale that every weight divides.
        self._scale = lcm(*(weight.numerator for weight in weights))
        self._scale *= lcm(*(weight.denominator for weight in weights))
        self.root = PoolSchedulable("", None, PoolParams(), self._inverse_weight(Fraction(1)))
        self._jobs: dict[JobId, JobSchedulable] = {}
        self._admission = Admission()
        for path in self.params.pools:
            self._pool_at_path(path)

    def observe(self, fact: Fact, view: ClusterView) -> None:
        if isinstance(fact, StageFact):  # nearly all
            self._jobs[fact.job].refresh(fact.kind, view.job(fact.job))
            return
        match fact:
            case JobArrived(job):
                self._add_job(view.job(job), view)
            case JobUpdated(job):
                self._remove_job(job, view)
                self._add_job(view.job(job), view)
            case JobLeft(job):
                self._remove_job(job, view)

    def _add_job(self, seen: JobView, view: ClusterView) -> None:
        pool = self._pool_at_path(self.pool_of(seen))
        weight = PRIORITY_WEIGHTS[seen.priority]
        job = JobSchedulable(pool, seen, self._inverse_weight(weight), weight)
        self._jobs[seen.job] = pool.jobs[seen.job] = job
        caps = self._caps_of_job(seen, pool)
        if caps:
            job.runnable = False
            self._toggle_runnable(self._admission.enter(seen.job, job.first, caps), view)
        for kind in KINDS:
            job.refresh(kind, seen)

    def _remove_job(self, number: JobId, view: ClusterView) -> None:
        job = self._jobs.pop(number)
        for kind in KINDS:
            job.set_running_and_pending(kind, 0, 0)
        assert job.parent is not None
        del job.parent.jobs[number]
        if number in self._admission:
            self._toggle_runnable(self._admission.leave(number), view)

    def _toggle_runnable(self, jobs: list[JobId], view: ClusterView) -> None:
        """These may run now, or may not any more: when a job with a cap comes or goes, never for a
        slot (Hadoop looks at all jobs twice a second).
        """
        for number in jobs:
            job = self._jobs[number]
            job.runnable = not job.runnable
            for kind in KINDS:
                job.refresh(kind, view.job(number))

    def pool_of(self, job: JobView) -> str:
        """The pool of a job.  What a fifo pool is asked to hold below itself joins it."""
        by = self.params.pool_by or ("pool" if self.params.pools else "none")
        if by == "none":
            return ""
        stated = job.pool if by == "pool" else job.user
        parts = [part for part in stated.split("/") if part] or [DEFAULT_POOL]
        for depth in range(1, len(parts)):
            path = "/".join(parts[:depth])
            named = self.params.pools.get(path)
            if named is not None and named.mode == "fifo":
                return path
        return "/".join(parts)

    def _pool_at_path(self, path: str) -> PoolSchedulable:
        pool = self.root
        parts = path.split("/") if path else []
        for depth, part in enumerate(parts, start=1):
            if part not in pool.pools:
                here = "/".join(parts[:depth])
                params = self.params.pools.get(here, PoolParams())
                pace = self._inverse_weight(Fraction(repr(params.weight)))
                pool.pools[part] = PoolSchedulable(here, pool, params, pace)
            pool = pool.pools[part]
        return pool

    def _inverse_weight(self, weight: Fraction) -> int:
        pace = self._scale / weight
        assert pace.denominator == 1
        return pace.numerator

    def _caps_of_job(self, job: JobView, pool: PoolSchedulable) -> list[RunningJobsCap]:
        caps: list[RunningJobsCap] = []
        user = self.params.max_jobs_of.get(job.user, self.params.max_jobs_per_user)
        if user is not None:
            caps.append((("user", job.user), user))
        above: PoolSchedulable | None = pool
        while above is not None and above is not self.root:
            stated = above.params.max_jobs
            cap = self.params.max_jobs_per_pool if stated is None else stated
            if cap is not None:
                caps.append((("pool", above.path), cap))
            above = above.parent
        return caps

    def queue(self, kind: SlotKind, offer: Offer, view: ClusterView) -> Iterator[QueuedJob]:  # noqa: ARG002
        for job in self.root.jobs_to_launch(kind):
            yield QueuedJob(view.job(job.job), self.score(job, kind), self.grounds(job, kind))

    def score(self, job: JobSchedulable, kind: SlotKind) -> float:
        """Of the topmost pool (or the job): running / weight, or running / due if it is needy."""
        top: JobSchedulable | PoolSchedulable = job
        while top.parent is not self.root:
            assert isinstance(top.parent, PoolSchedulable)
            top = top.parent
        if top.is_needy(kind):
            return top.running[kind] / min(top.minimum[kind], top.demand[kind])
        return top.running[kind] * top.weight.denominator / top.weight.numerator

    def grounds(self, job: JobSchedulable, kind: SlotKind) -> Grounds:
        pool, needy = job.parent, ""
        if pool is self.root or pool is None:
            return BY_KEY
        above: PoolSchedulable | None = pool
        while above is not None:
            if above.is_needy(kind):
                needy = above.path
            above = above.parent
        reason = _POOL_MIN_SHARE if needy else _POOL
        return Grounds(reason, PoolPlace(pool.path, needy))

    def kinds(self, offer: Offer) -> Iterable[SlotKind]:
        """First the kind of slot of which the node runs less; maps on a tie."""
        if offer.node.running(REDUCE) < offer.node.running(MAP):
            return (REDUCE, MAP)
        return (MAP, REDUCE)

    def quota(self, kind: SlotKind, offer: Offer, view: ClusterView) -> int:
        """No node beyond ceil(its slots · demand / all slots) (CapBasedLoadManager, maxDiff 0)."""
        slots = offer.node.slots(kind)
        cap = min(-(-self.root.demand[kind] * slots // view.slots(kind)), slots)
        return min(cap - offer.node.running(kind), offer.free(kind))

    def may_speculate(self, job: JobId, kind: SlotKind) -> bool:
        pool = self._jobs[job].parent
        while pool is not None:
            cap = pool.caps[kind]
            if cap is not None and pool.running[kind] >= cap:
                return False
            pool = pool.parent
        return True

    def entitlements(self, kind: SlotKind, view: ClusterView, each: ClaimantKind) -> Entitlements:
        """The fair shares, level by level: a pool's share is what its members share.  A claimant is
        a pool that holds jobs only, or a job beside pools; with `each = "job"` every job.
        """
        return list(
            self._entitlements_below(self.root, kind, Fraction(view.slots(kind)), view, each)
        )

    def _entitlements_below(
        self,
        pool: PoolSchedulable,
        kind: SlotKind,
        slots: Fraction,
        view: ClusterView,
        each: ClaimantKind,
    ) -> Iterator[Entitlement]:
        for member, share in pool.member_shares(kind, slots):
            if isinstance(member, JobSchedulable):
                claim = job_entitlement(view.job(member.job), kind, share)
                yield msgspec.structs.replace(claim, demand=member.demand[kind])
            elif member.pools or each == "job":
                yield from self._entitlements_below(member, kind, share, view, each)
            else:
                yield _pool_entitlement(member, kind, share)


def _pool_entitlement(pool: PoolSchedulable, kind: SlotKind, share: Fraction) -> Entitlement:
    return Entitlement(
        claimant=PoolClaimant(pool.path),
        jobs=tuple(pool.jobs),
        running=pool.running[kind],
        demand=pool.demand[kind],
        share=share,
        min_share=pool.minimum[kind],
        min_share_timeout_s=pool.params.min_share_timeout_s,
    )


def _check_path(path: str, pools: dict[str, PoolParams]) -> None:
    parts = path.split("/")
    if not all(parts):
        raise ValueError(f"`{path}` is no pool's name; a pool in a pool is written `ads/batch`")
    for depth in range(1, len(parts)):
        above = pools.get("/".join(parts[:depth]))
        if above is not None and above.mode == "fifo":
            inside = "/".join(parts[:depth])
            raise ValueError(f"pool `{path}` is inside `{inside}`, whose mode fifo holds jobs only")
