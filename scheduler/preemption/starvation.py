"""Which claimants starve, for how long, and how many slots they lack.

Hadoop's Fair Scheduler (1.2.1, `updatePreemptionVariables`, `tasksToPreempt`) keeps two clocks
for each pool: since when it runs less than min(min share, demand), and since when it runs less
than ⌊min(fair share / 2, demand)⌋.  Past the first timeout it lacks min(min share, demand) −
running slots; past the second ⌊min(fair share, demand)⌋ − running, so half of the share decides
whether it starves and the whole share how much it gets.  It lacks the larger of the two, not
their sum.  A pool with exactly half of its share is never helped.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import floor
from typing import NamedTuple

from callboard.scheduler.entitlements import Entitlement
from callboard.scheduler.model import KINDS, Millis, TaskKind
from callboard.scheduler.reasons import Claimant, ShareKind


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
    return entitlement.running < floor(min(entitlement.share / 2, Fraction(entitlement.demand)))


class StarvationClocks:
    """Since when each claimant starves: the last look at which it did not, or was not there."""

    def __init__(self, min_share_timeout_s: float, fair_share_timeout_s: float) -> None:
        self._min_timeout_s = min_share_timeout_s
        self._fair_timeout_s = fair_share_timeout_s
        self._below_min: list[dict[Claimant, Millis]] = [{}, {}]
        self._below_half: list[dict[Claimant, Millis]] = [{}, {}]
        self._known: list[set[Claimant]] = [set(), set()]
        self._looked_ms: list[Millis] = [0 for _ in KINDS]

    def look(self, kind: TaskKind, entitlements: Sequence[Entitlement], now_ms: Millis) -> None:
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
        self._looked_ms[kind] = now_ms

    def unchanged(self, now_ms: Millis) -> None:
        """The same as a look that finds everything as at the last one."""
        self._looked_ms = [now_ms for _ in KINDS]

    def deficits(
        self, kind: TaskKind, entitlements: Sequence[Entitlement], now_ms: Millis
    ) -> list[Deficit]:
        """The claimants that have starved for longer than their timeouts, with what they lack."""
        found = (self._deficit(kind, claim, now_ms) for claim in entitlements)
        return [deficit for deficit in found if deficit.slots > 0]

    def _deficit(self, kind: TaskKind, entitlement: Entitlement, now_ms: Millis) -> Deficit:
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
