"""What each claimant of the slots is due: the hook by which a preemption rule asks an order.

A preemption rule must know who has too little and who has too much, and only the order knows what
it would give to whom.  An order says so by offering `claims` (the protocol `EntitlingOrder`).  Fair
offers its pools and jobs with their fair shares; an order that serves strictly by rank offers what
its ranking gives (`by_rank`): the first job gets its demand, the next its demand of what is left,
and so on.  A rule that needs claims refuses an order that offers none, since slots taken from one
job would only come back to it.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Literal, Protocol, runtime_checkable

import msgspec

from callboard.scheduler.model import JobId, TaskKind
from callboard.scheduler.reasons import Claimant, JobClaimant
from callboard.scheduler.view import ClusterView, JobView

ClaimantKind = Literal["pool", "job"]
"""Whose claims: the pools' with all their jobs in one, or every single job's."""


class Entitlement(msgspec.Struct, frozen=True, gc=False):
    """What a claimant is due of one kind of slot.

    A claimant has one entitlement a kind.  `jobs` are the jobs
    behind it, in the order of their submission; `running` and `demand` (running and pending) are
    theirs together, the demand within the caps.  `share` is what the claimant is due, in slots;
    `min_share` what it is guaranteed.  `min_share_timeout_s` overrides the rule's own.
    """

    claimant: Claimant
    jobs: tuple[JobId, ...]
    running: int
    demand: int
    share: Fraction
    min_share: int = 0
    min_share_timeout_s: float | None = None


@runtime_checkable
class EntitlingOrder(Protocol):
    """An order that can say what everybody is due."""

    def entitlements(
        self, kind: TaskKind, view: ClusterView, each: ClaimantKind
    ) -> Sequence[Entitlement]:
        """The claimants with demand or something running, in an order that is always the same.

        Asked once a check of the preemption rule, not for each slot: it may scan all jobs.  With
        `each = "job"` every claim is one job's.
        """


def job_entitlement(job: JobView, kind: TaskKind, share: Fraction) -> Entitlement:
    """The claim of a single job."""
    running = job.running(kind)
    demand = running + job.pending(kind)
    return Entitlement(JobClaimant(job.job), (job.job,), running, demand, share)


def entitlements_by_rank(jobs: Iterable[JobView], kind: TaskKind, slots: int) -> list[Entitlement]:
    """The claims under an order that serves `jobs` strictly one after the other."""
    left, found = slots, []
    for job in jobs:
        demand = job.running(kind) + job.pending(kind)
        if demand:
            share = min(demand, left)
            left -= share
            found.append(job_entitlement(job, kind, Fraction(share)))
    return found
