"""Looks regularly which claimants starve, and says when the next check is due.

Hadoop's Fair Scheduler looks every 500 ms (`update`) and preempts every 15 s.  So does this, with
one saving: when no fact came since the last look, nothing can have changed.
"""

from collections.abc import Sequence

from callboard.scheduler.entitlements import ClaimantKind, Entitlement, EntitlingOrder
from callboard.scheduler.model import KINDS, Millis, TaskKind
from callboard.scheduler.policy import MisfitError, Policy
from callboard.scheduler.preemption.starvation import Deficit, StarvationClocks
from callboard.scheduler.reasons import Claimant, Shortage, Starving
from callboard.scheduler.view import ClusterView

UPDATE_INTERVAL_MS: Millis = 500
"""FairScheduler.UPDATE_INTERVAL."""

MAX_SHORTAGES = 3
"""The most starving claimants that one reason names."""


class StarvationWatch:
    """The clocks of all claimants, for a preemption rule that goes by entitlements."""

    def __init__(
        self, check_s: float, min_share_timeout_s: float, fair_share_timeout_s: float
    ) -> None:
        self._check_ms: Millis = max(1, round(check_s * 1000))
        self.interval_ms = min(UPDATE_INTERVAL_MS, self._check_ms)
        """How often to look."""
        self.news = False
        """Whether a fact came since the last look."""
        self._clocks = StarvationClocks(min_share_timeout_s, fair_share_timeout_s)
        self._order: EntitlingOrder | None = None
        self._checked_ms: Millis = 0

    def bind(self, rule: str, policy: Policy) -> None:
        """Ask this policy's order; MisfitError if it says nothing about entitlements."""
        if not isinstance(policy.order, EntitlingOrder):
            raise MisfitError(
                f"`{rule}` takes slots from jobs above their share, and the order"
                f" `{policy.order.name}` does not say what a share is (it has no `entitlements`)"
            )
        self._order = policy.order

    def look(self, view: ClusterView) -> bool:
        """Move the clocks.  Whether a check is due, which then counts as done."""
        if self.news:
            self.news = False
            for kind in KINDS:  # with nothing pending nobody starves: demand is what runs
                claims = self.entitlements(kind, view) if view.pending(kind) else ()
                self._clocks.look(kind, claims, view.now_ms)
        else:
            self._clocks.unchanged(view.now_ms)
        if view.now_ms - self._checked_ms < self._check_ms:
            return False
        self._checked_ms = view.now_ms
        return True

    def entitlements(
        self, kind: TaskKind, view: ClusterView, each: ClaimantKind = "pool"
    ) -> Sequence[Entitlement]:
        """What the order says its claimants are due."""
        assert self._order is not None, "the rule is not part of a policy"
        return self._order.entitlements(kind, view, each)

    def deficits(self, kind: TaskKind, view: ClusterView) -> list[Deficit]:
        """The claimants that have starved for too long, as of now.

        None lacks more slots than it could use anywhere: a suspended attempt waits for one of its
        own node's.
        """
        if not view.pending(kind):
            return []
        found: list[Deficit] = []
        for deficit in self._clocks.deficits(kind, self.entitlements(kind, view), view.now_ms):
            jobs = [view.job(job) for job in deficit.entitlement.jobs]
            usable = sum(job.pending(kind) - job.suspended(kind) for job in jobs)
            if usable > 0:
                found.append(deficit._replace(slots=min(deficit.slots, usable)))
        return found


def starving(deficits: Sequence[Deficit]) -> tuple[Claimant, Starving]:
    """For a victim's reason: the first claimant that starves, and what the first few lack."""
    told = tuple(Shortage(d.entitlement.claimant, d.slots, d.share) for d in deficits)
    more = max(len(told) - MAX_SHORTAGES, 0)
    return told[0].claimant, Starving(told[:MAX_SHORTAGES], more)
