"""What users are due under COSHH: weights, min shares, and the entitlements that come of them."""

from collections.abc import Mapping

from callboard.scheduler.entitlements import (
    ClaimantKind,
    Entitlement,
    demand_of,
    entitlements_by_rank,
)
from callboard.scheduler.model import SlotKind
from callboard.scheduler.orders.fair.water_filling import compute_fair_shares
from callboard.scheduler.part_params import ShareParams
from callboard.scheduler.reasons import UserClaimant
from callboard.scheduler.view import ClusterView, JobView


class UserParams(ShareParams, frozen=True):
    """What a user is due; the weight is the papers' priority."""

    def minimum(self, kind: SlotKind) -> int:
        return self.min_maps if kind is SlotKind.MAP else self.min_reduces


def user_entitlements(
    kind: SlotKind, view: ClusterView, each: ClaimantKind, users: Mapping[str, UserParams]
) -> list[Entitlement]:
    """The users' fair shares, whatever is suggested to which node; with `each = "job"` each job's
    part of its user's, in the order of submission.
    """
    jobs: dict[str, list[JobView]] = {}
    for job in view.jobs():
        if demand_of(job, kind):
            jobs.setdefault(job.user, []).append(job)
    due = [users.get(name, UserParams()) for name in jobs]
    demands = [sum(demand_of(job, kind) for job in mine) for mine in jobs.values()]
    weights = [user.weight for user in due]
    minima = [user.minimum(kind) for user in due]
    shares = compute_fair_shares(demands, view.slots(kind), weights, minima)
    claims: list[Entitlement] = []
    for place, (name, mine) in enumerate(jobs.items()):
        if each == "job":
            claims += entitlements_by_rank(mine, kind, shares[place])
            continue
        numbers = tuple(job.job for job in mine)
        running = sum(job.running(kind) for job in mine)
        what = (UserClaimant(name), numbers, running, demands[place], shares[place], minima[place])
        claims.append(Entitlement(*what))
    return claims
