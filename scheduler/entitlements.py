"""What each claimant of the slots is due: the hook by which a preemption rule asks an order.

Fair gives the fair shares of its pools and jobs; an order that serves strictly by rank gives the
first job its demand, the next its demand of what is left, and so on (`entitlements_by_rank`).  A
rule that needs entitlements refuses an order without them: slots taken from a job would only come
back to it.
"""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Literal, Protocol, TypeAlias, runtime_checkable

import msgspec

from callboard.scheduler.model import JobId, SlotKind
from callboard.scheduler.reasons import Claimant, JobClaimant
from callboard.scheduler.view import ClusterView, JobView

ClaimantKind = Literal["pool", "job"]
"""Whose entitlements: those of pools with all their jobs, or of every single job."""


class Entitlement(msgspec.Struct, frozen=True, gc=False):
    """What a claimant is due of one kind of slot: `share` slots, `min_share` of them guaranteed.

    `jobs` are its jobs in the order of their submission, `running` and `demand` (running and
    pending, within the caps) theirs together; `min_share_timeout_s` overrides the rule's own.
    """

    claimant: Claimant
    jobs: tuple[JobId, ...]
    running: int
    demand: int
    share: Fraction
    min_share: int = 0
    min_share_timeout_s: float | None = None


Entitlements: TypeAlias = Sequence[Entitlement]


@runtime_checkable
class EntitlingOrder(Protocol):
    """An order that can say what every claimant is due."""

    def entitlements(self, kind: SlotKind, view: ClusterView, each: ClaimantKind) -> Entitlements:
        """The claimants with demand or something running, in one order; asked once a check."""


def demand_of(job: JobView, kind: SlotKind) -> int:
    """How many tasks of the kind the job could run now, those that run included."""
    return job.running(kind) + job.pending(kind)


def job_entitlement(job: JobView, kind: SlotKind, share: Fraction) -> Entitlement:
    """The entitlement of a single job."""
    running, demand = job.running(kind), demand_of(job, kind)
    return Entitlement(JobClaimant(job.job), (job.job,), running, demand, share)


def serve_in_turn(demands: Iterable[int], slots: int | Fraction) -> Iterator[Fraction]:
    """The shares where each claimant gets its demand before the next gets anything."""
    for demand in demands:
        share = min(demand, slots)
        slots -= share
        yield Fraction(share)


def entitlements_by_rank(
    jobs: Iterable[JobView], kind: SlotKind, slots: int | Fraction
) -> list[Entitlement]:
    """The entitlements of `jobs` with demand, served strictly one after the other."""
    wanting = [job for job in jobs if demand_of(job, kind)]
    shares = serve_in_turn((demand_of(job, kind) for job in wanting), slots)
    return [job_entitlement(job, kind, share) for job, share in zip(wanting, shares, strict=True)]
