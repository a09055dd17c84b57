"""Weighted fair shares in whole units: ComputeFairShares of YARN's Fair Scheduler.

As `scheduler.orders.fair.water_filling`, with a maximum a pool instead of its demand, and every
share cut to a whole number before they are added up.  So the level at which the shares use the
total may not be there; then they add up to more: 40 over three pools are 14 each.
"""

from collections.abc import Sequence
from fractions import Fraction

import msgspec

STEPS = 25
"""How often the range in which the level lies is halved."""


class SharePool(msgspec.Struct, frozen=True, kw_only=True):
    """What a pool states; what holds nothing and wants nothing is `inactive`, and gets nothing."""

    weight: Fraction = Fraction(1)
    min_share: int = 0
    max_share: int | None = None
    """None for as much as there is."""
    inactive: bool = False

    def share(self, level: Fraction) -> int:
        """Its share where a unit of weight gets `level`."""
        share = int(max(self.weight * level, Fraction(self.min_share)))
        return share if self.max_share is None else min(share, self.max_share)

    def fixed_share(self) -> int | None:
        """Its share where no level changes it: without a maximum or weight above 0, or inactive."""
        if self.inactive or (self.max_share is not None and self.max_share <= 0):
            return 0
        return max(self.min_share, 0) if self.weight <= 0 else None


def whole_fair_shares(total: int, pools: Sequence[SharePool]) -> list[int]:
    """Each pool's share of that many units, in the order given."""
    fixed = [pool.fixed_share() for pool in pools]
    sharing = [pool for pool, share in zip(pools, fixed, strict=True) if share is None]
    left = max(total - sum(share for share in fixed if share is not None), 0)
    level = _fair_share_level(left, sharing)
    return [
        pool.share(level) if share is None else share
        for pool, share in zip(pools, fixed, strict=True)
    ]


def _fair_share_level(total: int, pools: Sequence[SharePool]) -> Fraction:
    """The least level found that uses the total, or what the pools may have."""
    if all(pool.max_share is not None for pool in pools):
        total = min(total, sum(pool.max_share or 0 for pool in pools))
    low, high = Fraction(0), Fraction(1)
    while _total_at_level(pools, high) < total:
        high *= 2
    for _ in range(STEPS):
        middle = (low + high) / 2
        used = _total_at_level(pools, middle)
        if used < total:
            low = middle
        else:
            high = middle
        if used == total:
            break
    return high


def _total_at_level(pools: Sequence[SharePool], level: Fraction) -> int:
    return sum(pool.share(level) for pool in pools)
