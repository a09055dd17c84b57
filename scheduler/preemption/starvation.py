"""Which claimants starve, for how long, and how many slots they lack (docs/preemption.md).

Hadoop's Fair Scheduler (1.2.1, `updatePreemptionVariables`, `tasksToPreempt`) keeps two clocks for
each pool, one for its min share and one for half of its fair share, and lets it lack the larger of
the two deficits, not their sum: half of the share decides whether it starves and the whole share
how much it gets.  A pool with exactly half of its share is never helped.

Hadoop looks every 500 ms (`update`) and preempts every 15 s.  So does `StarvationWatch`, with one
saving: when no fact came since the last look, nothing can have changed, unless the order ages.
"""

from collections.abc import Collection, Sequence
from fractions import Fraction
from math import floor
from typing import NamedTuple

from callboard.scheduler.entitlements import ClaimantKind, Entitlement, EntitlingOrder
from callboard.scheduler.model import KINDS, AttemptId, Millis, SlotKind
from callboard.scheduler.policy import MisfitError, Policy
from callboard.scheduler.ranking import Ranking
from callboard.scheduler.reasons import Claimant, ShareKind, Shortage, Starving
from callboard.scheduler.view import ClusterView

UPDATE_INTERVAL_MS: Millis = 500
"""FairScheduler.UPDATE_INTERVAL."""

MAX_SHORTAGES = 3
"""The most starving claimants that one reason names."""


class Deficit(NamedTuple):
    """A claimant that has starved for too long, how many slots it lacks, and of which share."""

    entitlement: Entitlement
    slots: int
    share: ShareKind


def below_min_share(entitlement: Entitlement) -> bool:
    """Whether it runs less than its min share, or its demand if that is less."""
    return entitlement.running < min(entitlement.min_share, entitlement.demand)


def below_half_share(entitlement: Entitlement) -> bool:
    """Whether it runs less than half of its fair share, or its demand if that is less."""
    share = entitlement.share  # in whole numbers: it is asked of every claimant at every look
    return entitlement.running < min(share.numerator // (2 * share.denominator), entitlement.demand)


class StarvationClocks:
    """Since when each claimant starves: the last look at which it did not, or was not there."""

    def __init__(self, min_share_timeout_s: float, fair_share_timeout_s: float) -> None:
        self._min_timeout_s = min_share_timeout_s
        self._fair_timeout_s = fair_share_timeout_s
        self._below_min: list[dict[Claimant, Millis]] = [{}, {}]
        self._below_half: list[dict[Claimant, Millis]] = [{}, {}]
        self._known: list[set[Claimant]] = [set(), set()]
        self._seen: list[tuple[Entitlement, ...]] = [(), ()]
        self._looked_ms: list[Millis] = [0 for _ in KINDS]

    def look(self, kind: SlotKind, entitlements: Sequence[Entitlement], now_ms: Millis) -> None:
        seen = tuple(entitlements)
        if seen != self._seen[kind]:
            self._seen[kind] = seen
            self._update_clocks(kind, seen, now_ms)
        self._looked_ms[kind] = now_ms

    def _update_clocks(
        self, kind: SlotKind, entitlements: Sequence[Entitlement], now_ms: Millis
    ) -> None:
        """Start the clocks of those that starve since now, stop those of the others."""
        known, looked_ms = self._known[kind], self._looked_ms[kind]
        for clocks, starves in (
            (self._below_min, below_min_share),
            (self._below_half, below_half_share),
        ):
            starving = [each.claimant for each in entitlements if starves(each)]
            clocks[kind] = {
                each: clocks[kind].get(each, looked_ms if each in known else now_ms)
                for each in starving
            }
        self._known[kind] = {each.claimant for each in entitlements}

    def note_no_change(self, now_ms: Millis) -> None:
        self._looked_ms = [now_ms for _ in KINDS]

    def any_run(self, kind: SlotKind) -> bool:
        """Whether any claimant starves, for however short a time."""
        return bool(self._below_min[kind] or self._below_half[kind])

    def deficits(
        self, kind: SlotKind, entitlements: Sequence[Entitlement], now_ms: Millis
    ) -> list[Deficit]:
        found = (self._starved_deficit(kind, claim, now_ms) for claim in entitlements)
        return [deficit for deficit in found if deficit.slots > 0]

    def _starved_deficit(self, kind: SlotKind, entitlement: Entitlement, now_ms: Millis) -> Deficit:
        own_s = entitlement.min_share_timeout_s
        min_s = self._min_timeout_s if own_s is None else own_s
        claimant, demand = entitlement.claimant, entitlement.demand
        lacks, share = 0, ShareKind.MIN
        if now_ms - self._below_min[kind].get(claimant, now_ms) > 1000 * min_s:
            lacks = min(entitlement.min_share, demand) - entitlement.running
        if now_ms - self._below_half[kind].get(claimant, now_ms) > 1000 * self._fair_timeout_s:
            fair = floor(min(entitlement.share, Fraction(demand))) - entitlement.running
            if fair > lacks:
                lacks, share = fair, ShareKind.FAIR
        return Deficit(entitlement, lacks, share)


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
        self._ages = True
        self._checked_ms: Millis = 0

    def bind(self, rule: str, policy: Policy) -> None:
        """Ask this policy's order; MisfitError if it says nothing about entitlements."""
        if not isinstance(policy.order, EntitlingOrder):
            raise MisfitError(
                f"`{rule}` takes slots from jobs above their share, and the order"
                f" `{policy.order.name}` does not say what a share is: it has no `entitlements`;"
                " take `fair`, or `preemptive` with an order that ranks jobs, such as `hfsp`"
            )
        self._order = policy.order
        self._ages = policy.order.ages

    def look(self, view: ClusterView) -> bool:
        """Move the clocks.  Whether a check is due, which then counts as done."""
        if self.news or self._ages:
            self.news = False
            for kind in KINDS:  # with nothing pending nobody starves: demand is what runs
                claims = self.entitlements(kind, view) if view.pending(kind) else ()
                self._clocks.look(kind, claims, view.now_ms)
        else:
            self._clocks.note_no_change(view.now_ms)
        if view.now_ms - self._checked_ms < self._check_ms:
            return False
        self._checked_ms = view.now_ms
        return True

    def entitlements(
        self, kind: SlotKind, view: ClusterView, each: ClaimantKind = "pool"
    ) -> Sequence[Entitlement]:
        assert self._order is not None, "the rule is not part of a policy"
        return self._order.entitlements(kind, view, each)

    def spared_attempts(self, kind: SlotKind) -> Collection[AttemptId]:
        """Running attempts that are not to be killed: HFSP's training tasks (III-E), which would
        begin anew before the claimants that starve get their slots.
        """
        order: object = self._order
        return order.spared_attempts(kind) if isinstance(order, Ranking) else ()

    def deficits(self, kind: SlotKind, view: ClusterView) -> list[Deficit]:
        """The claimants that have starved for too long; none lacks more slots than it could use."""
        if not view.pending(kind) or not self._clocks.any_run(kind):
            return []
        found: list[Deficit] = []
        for deficit in self._clocks.deficits(kind, self.entitlements(kind, view), view.now_ms):
            jobs = [view.job(job) for job in deficit.entitlement.jobs]
            usable = sum(job.pending(kind) - job.suspended(kind) for job in jobs)
            if usable > 0:
                found.append(deficit._replace(slots=min(deficit.slots, usable)))
        return found


def starvation_grounds(deficits: Sequence[Deficit]) -> tuple[Claimant, Starving]:
    """For a victim's reason: the first claimant that starves, and what the first few lack."""
    told = tuple(Shortage(d.entitlement.claimant, d.slots, d.share) for d in deficits)
    more = max(len(told) - MAX_SHORTAGES, 0)
    return told[0].claimant, Starving(told[:MAX_SHORTAGES], more)
