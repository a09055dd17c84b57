"""Fair shares by water-filling: what each claimant of a number of slots is due.

The share of claimant i is min(max(w_i · R, min_i), demand_i), with the one level R at which the
shares add up to min(Σ demand, slots).  Hadoop's Fair Scheduler finds R by doubling and then 25
bisections (SchedulingAlgorithms.computeFairShares, 1.2.1), so its shares are off by up to R / 2^25
a unit of weight.  Here R is exact: the sum is a broken line in R, walked corner by corner. Shares
are Fractions, so that ⌊share⌋ is never a rounding error away from the truth.

Where the min shares alone exceed the slots, R is 0 and each share is the min share (or the demand
if that is less), as in Hadoop.  Weights must be above 0: with 0 Hadoop's search never ends, and its
comparator compares 0/0.
"""

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from math import lcm

Number = int | float | Fraction


class FairShareError(ValueError):
    """Claims that no shares can be computed for; the message is meant for people."""


def exact_fraction(number: Number) -> Fraction:
    """The number as a fraction, a float as it is written (0.1 is 1/10); FairShareError for
    infinity.
    """
    try:
        return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)
    except ValueError:
        raise FairShareError(f"{number!r} is not a number that slots can be shared by") from None


def compute_fair_shares(
    demands: Sequence[int],
    slots: Number,
    weights: Sequence[Number] | None = None,
    min_shares: Sequence[int] | None = None,
) -> list[Fraction]:
    """Each claimant's fair share of `slots`, in the order given; by default weights 1, min shares
    0.

    Raises FairShareError on lists of different lengths, a weight that is not above 0, or a negative
    demand, min share or number of slots.
    """
    count = len(demands)
    exact_weights = (
        [Fraction(1)] * count if weights is None else [exact_fraction(w) for w in weights]
    )
    minima = [0] * count if min_shares is None else list(min_shares)
    _check_claims(demands, exact_fraction(slots), exact_weights, minima)
    floors = [min(least, demand) for least, demand in zip(minima, demands, strict=True)]
    # In whole numbers: weights as multiples of 1/q, and R as multiples of q/p, so that a corner
    # demand / w is a multiple too.  Fractions would take ten times as long.
    q = lcm(*(weight.denominator for weight in exact_weights))
    whole = [weight.numerator * (q // weight.denominator) for weight in exact_weights]
    p = lcm(*whole)
    level = _fair_share_level(demands, exact_fraction(slots), whole, p, floors)
    num, den = level.numerator, level.denominator * p
    return [
        Fraction(floor)
        if weight * num <= floor * den
        else Fraction(demand)
        if weight * num >= demand * den
        else Fraction(weight * num, den)
        for weight, floor, demand in zip(whole, floors, demands, strict=True)
    ]


def _fair_share_level(
    demands: Sequence[int], slots: Fraction, weights: Sequence[int], p: int, floors: Sequence[int]
) -> Fraction:
    """R: a share, times p, rises by its weight from floor / w to demand / w (in units of R)."""
    rises: defaultdict[int, int] = defaultdict(int)
    for demand, weight, floor in zip(demands, weights, floors, strict=True):
        if floor < demand:
            rises[floor * (p // weight)] += weight
            rises[demand * (p // weight)] -= weight
    total = sum(floors) * p
    wanted = min(Fraction(sum(demands)), slots) * p
    level, slope = 0, 0
    for corner in sorted(rises):
        reached = total + slope * (corner - level)
        if reached >= wanted:
            break
        total, level, slope = reached, corner, slope + rises[corner]
    return level + (wanted - total) / slope if total < wanted else Fraction(level)


def _check_claims(
    demands: Sequence[int], slots: Fraction, weights: Sequence[Fraction], minima: Sequence[int]
) -> None:
    if not len(demands) == len(weights) == len(minima):
        lengths = f"{len(demands)} demands, {len(weights)} weights, {len(minima)} min shares"
        raise FairShareError(f"every claimant needs one of each; there are {lengths}")
    if slots < 0:
        raise FairShareError(f"there cannot be {slots} slots to share")
    for place, (demand, weight, least) in enumerate(zip(demands, weights, minima, strict=True)):
        if weight <= 0:
            raise FairShareError(f"claimant {place} has weight {weight}; a weight must be above 0")
        if demand < 0 or least < 0:
            raise FairShareError(f"claimant {place} has demand {demand} and min share {least}")
