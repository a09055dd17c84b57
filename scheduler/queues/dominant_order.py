"""Which of two comes first by dominant shares: DominantResourceFairnessPolicy of YARN.

Who is below the min share of the resource that they have most of goes first.  Of two such the one
goes first who has less of the min share, else the one who has less for the weight; of equal ones
the resource counts that they have second most of, and so on.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import inf
from typing import NamedTuple

import msgspec

from callboard.scheduler.resources import Vector


class DominantClaim(msgspec.Struct, frozen=True, kw_only=True):
    """What a queue or an application has, and what it is due."""

    used: Vector
    min_share: Vector
    weights: Sequence[Fraction]
    """By resource."""


class _Ratios(NamedTuple):
    """How much a claimant has, the resource first of which it is most."""

    needy: bool
    of_weight: list[Fraction | float]
    of_min_share: list[Fraction | float]


def compare_dominant(first: DominantClaim, second: DominantClaim, total: Vector) -> int:
    """Below 0 if the first goes before the second, 0 if neither, above 0 if after."""
    one, other = _share_ratios(first, total), _share_ratios(second, total)
    if one.needy != other.needy:
        return -1 if one.needy else 1
    if one.needy:
        return (one.of_min_share > other.of_min_share) - (one.of_min_share < other.of_min_share)
    return (one.of_weight > other.of_weight) - (one.of_weight < other.of_weight)


def _share_ratios(claimant: DominantClaim, total: Vector) -> _Ratios:
    of_weight = [
        _over(used, weight * whole)
        for used, weight, whole in zip(claimant.used, claimant.weights, total, strict=True)
    ]
    most_first = sorted(range(len(total)), key=lambda n: -of_weight[n])
    dominant = most_first[0]
    return _Ratios(
        claimant.used[dominant] < claimant.min_share[dominant],
        [of_weight[n] for n in most_first],
        [_over(claimant.used[n], claimant.min_share[n]) for n in most_first],
    )


def _over(used: int, due: Fraction | int) -> Fraction | float:
    """Used over due; infinite for a queue that is due nothing."""
    return Fraction(used) / due if due else inf
