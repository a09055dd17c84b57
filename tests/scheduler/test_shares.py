"""Fair shares: Hadoop's TestComputeFairShares, and the properties F3 to F9."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.scheduler.orders.fair.water_filling import (
    FairShareError,
    compute_fair_shares,
    exact_fraction,
)

Claim = tuple[int, Fraction, int]
"""Demand, weight, min share."""

WEIGHTS = [Fraction(1, 4), Fraction(1, 3), Fraction(1, 2), *map(Fraction, (1, 2, 3, 4))]
CLAIMS = st.lists(
    st.tuples(
        st.integers(0, 50),
        st.sampled_from(WEIGHTS),
        st.one_of(st.just(0), st.integers(0, 30)),
    ),
    max_size=8,
)
SLOTS = st.integers(0, 80)
PROPERTY = settings(derandomize=True, max_examples=150)


def shares(claims: list[Claim], slots: int) -> list[Fraction]:
    demands, weights, minima = ([c[n] for c in claims] for n in range(3))
    return compute_fair_shares(demands, slots, weights, minima)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("demands", "slots", "weights", "minima", "due"),
    [
        # testEqualSharing: 3 and 11 are met; 40 − 14 = 26 for two.
        ([100, 50, 11, 3], 40, None, None, [13, 13, 11, 3]),
        # Less demand than slots: everybody's demand (testEqualSharing, 200 slots).
        ([100, 50, 11, 3], 200, None, None, [100, 50, 11, 3]),
        # testEqualSharingWithMinShares: 40 − 20 − 10 − 3 = 7 for the third, below its 10.
        ([100, 10, 10, 3], 40, None, [20, 20, 0, 2], [20, 10, 7, 3]),
        # testWeightedSharing: 10 and 11 are met; 45 − 21 = 24 over weights 1 and ½.
        ([10, 11, 30, 20], 45, [2.0, 1.0, 1.0, 0.5], None, [10, 11, 16, 8]),
        # testWeightedSharingWithMinShares: 45 − 15 = 30; 10 is met; 20 for two of weight 1.
        ([10, 11, 30, 20], 45, [2.0, 1.0, 1.0, 0.5], [0, 0, 0, 15], [10, 10, 10, 15]),
        # testZeroDemand
        ([0, 10, 10], 10, None, None, [0, 5, 5]),
        # testEmptyList
        ([], 40, None, None, []),
        # More claimants than slots.
        ([1] * 4, 1, None, None, [Fraction(1, 4)] * 4),
        # Σ min > slots: shares are the mins and exceed the slots.
        ([50, 50], 40, None, [30, 30], [30, 30]),
        ([50, 50, 9], 40, None, [30, 30, 0], [30, 30, 0]),
        # A min share above the demand is not reserved.
        ([2, 50], 40, None, [30, 0], [2, 38]),
        ([5, 5], 0, None, None, [0, 0]),
    ],
)
def test_hadoops_vectors(
    demands: list[int],
    slots: int,
    weights: list[float] | None,
    minima: list[int] | None,
    due: list[int | Fraction],
) -> None:
    assert compute_fair_shares(demands, slots, weights, minima) == due


def bisected(claims: list[Claim], slots: int) -> tuple[list[Fraction], Fraction]:
    """Hadoop's way: double R from 1, then 25 bisections, the upper end; and how far it may err."""

    def at(level: Fraction) -> list[Fraction]:
        return [min(max(w * level, Fraction(least)), Fraction(d)) for d, w, least in claims]

    wanted = min(sum(demand for demand, _, _ in claims), slots)
    high = Fraction(1)
    while sum(at(high)) < wanted:
        high *= 2
    low, first = Fraction(0), high
    for _ in range(25):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(at(middle)) < wanted else (low, middle)
    return at(high), first / 2**25


@given(claims=CLAIMS, slots=SLOTS)
@PROPERTY
def test_hadoops_bisection_agrees_within_its_own_error(claims: list[Claim], slots: int) -> None:
    found, error = bisected(claims, slots)
    for mine, theirs, (_, weight, _) in zip(shares(claims, slots), found, claims, strict=True):
        assert 0 <= theirs - mine <= weight * error


@given(claims=CLAIMS, slots=SLOTS)
@PROPERTY
def test_f3_f5_f6_max_min_envy_and_pareto(claims: list[Claim], slots: int) -> None:
    """F3, F5 for those above their min share; F6: the shares use up min(Σ demand, slots)."""
    due = shares(claims, slots)
    floors = [min(least, demand) for demand, _, least in claims]
    wanted = min(sum(demand for demand, _, _ in claims), slots)
    assert sum(due) == max(wanted, sum(floors))
    for (i, (demand, weight, _)), (j, (_, other, _)) in product(enumerate(claims), repeat=2):
        assert floors[i] <= due[i] <= demand
        if due[j] > floors[j]:
            if due[i] < demand:
                assert due[i] / weight >= due[j] / other  # F3
            assert due[i] >= min(Fraction(demand), weight / other * due[j])  # F5


@given(demands=st.lists(st.integers(0, 50), min_size=1, max_size=8), slots=SLOTS)
@PROPERTY
def test_f4_sharing_incentive(demands: list[int], slots: int) -> None:
    """Each of n equal claimants gets what n separate clusters would give it."""
    for demand, due in zip(demands, compute_fair_shares(demands, slots), strict=True):
        assert due >= min(Fraction(demand), Fraction(slots, len(demands)))


@given(claims=CLAIMS.filter(bool), slots=SLOTS, who=st.integers(0, 7), lie=st.integers(0, 99))
@PROPERTY
def test_f7_lying_about_demand_does_not_pay(
    claims: list[Claim], slots: int, who: int, lie: int
) -> None:
    """One resource, one shot, no min shares."""
    claims = [(demand, weight, 0) for demand, weight, _ in claims]
    who %= len(claims)
    demand, weight, _ = claims[who]
    told = [*claims[:who], (lie, weight, 0), *claims[who + 1 :]]
    assert min(shares(told, slots)[who], Fraction(demand)) <= shares(claims, slots)[who]


@given(claims=CLAIMS.filter(bool), slots=SLOTS, who=st.integers(0, 7))
@PROPERTY
def test_f8_a_leaver_lowers_nobodys_share(claims: list[Claim], slots: int, who: int) -> None:
    who %= len(claims)
    before, after = shares(claims, slots), shares(claims[:who] + claims[who + 1 :], slots)
    del before[who]
    assert all(new >= old for new, old in zip(after, before, strict=True))


@given(claims=CLAIMS, slots=SLOTS, more=st.integers(0, 20))
@PROPERTY
def test_f9_more_slots_lower_nobodys_share(claims: list[Claim], slots: int, more: int) -> None:
    pairs = zip(shares(claims, slots + more), shares(claims, slots), strict=True)
    assert all(new >= old for new, old in pairs)


@given(claims=CLAIMS, slots=SLOTS)
@PROPERTY
def test_a_claimant_without_demand_changes_nothing(claims: list[Claim], slots: int) -> None:
    """Metamorphic (§3.5): add a zero-demand pool."""
    idle: Claim = (0, Fraction(2), 20)
    assert shares([*claims, idle], slots)[:-1] == shares(claims, slots)


def test_a_float_means_the_decimal_that_was_written() -> None:
    assert exact_fraction(0.1) == Fraction(1, 10)
    assert exact_fraction(1e-3) == Fraction(1, 1000)


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        (([1], 1, [0], None), "weight must be above 0"),
        (([1], 1, [-1.0], None), "weight must be above 0"),
        (([1], 1, [float("inf")], None), "not a number that slots can be shared by"),
        (([1], 1, [float("nan")], None), "not a number that slots can be shared by"),
        (([-1], 1, None, None), "demand -1"),
        (([1], 1, None, [-2]), "min share -2"),
        (([1], -1, None, None), "-1 slots"),
        (([1], 1, [1, 1], None), "1 demands, 2 weights, 1 min shares"),
    ],
)
def test_bad_claims_are_refused_in_words(
    claims: tuple[list[int], int, list[float] | None, list[int] | None], message: str
) -> None:
    with pytest.raises(FairShareError, match=message):
        compute_fair_shares(*claims)
