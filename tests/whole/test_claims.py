"""What the papers say of their policies, on random workloads: the interval, and two claims."""

import math

import pytest

from bench.claims import CLAIMS, LEAST_SEEDS, STORM, Estimate, Verdict, estimate, value

BY_NAME = {claim.name: claim for claim in CLAIMS}


@pytest.mark.parametrize(("n", "rank"), [(6, 1), (8, 1), (9, 2), (10, 2), (12, 3), (20, 6)])
def test_the_interval_is_that_of_the_sign_test(n: int, rank: int) -> None:
    """Ranks from any table of the sign test at 5 %, and from the binomial distribution."""
    found = estimate([float(value) for value in range(n, 0, -1)])
    assert found == Estimate(rank, (n + 1) / 2, n + 1 - rank)
    misses = [2 * sum(math.comb(n, heads) for heads in range(k)) / 2**n for k in (rank, rank + 1)]
    assert misses[0] <= 0.05 < misses[1]


def test_too_few_seeds_give_no_interval() -> None:
    with pytest.raises(ValueError, match="5 values give no interval of 95%; 6 do"):
        estimate([1.0] * (LEAST_SEEDS - 1))


def test_a_claim_holds_only_if_the_whole_interval_is_on_its_side() -> None:
    below, above = BY_NAME["hfsp-below-fair"], BY_NAME["delay-local-5"]
    assert Estimate(0.7, 0.8, 0.99).verdict(below) is Verdict.HOLDS
    assert Estimate(0.7, 0.8, 1.0).verdict(below) is Verdict.OPEN
    assert Estimate(1.01, 1.2, 1.5).verdict(below) is Verdict.FAILS
    assert Estimate(0.96, 0.97, 0.98).verdict(above) is Verdict.HOLDS
    assert Estimate(0.93, 0.96, 0.98).verdict(above) is Verdict.OPEN
    assert Estimate(0.90, 0.92, 0.94).verdict(above) is Verdict.FAILS


def test_global_preemption_wastes_less_in_every_storm() -> None:
    """Cheng, Zhang, Boutaba, IV; docs/claims.md has the other claims, and where they end."""
    claim = BY_NAME["global-wastes-less-than-job"]
    found = estimate([value(claim, STORM, seed) for seed in range(1, LEAST_SEEDS + 1)])
    assert found.verdict(claim) is Verdict.HOLDS


def test_hfsp_responds_sooner_than_fair_where_sizes_differ_by_orders_of_magnitude() -> None:
    """Pastorelli et al., Figure 6, DEV: the smallest of the three differences."""
    claim = BY_NAME["hfsp-below-fair"]
    found = estimate([value(claim, claim.worlds[0], seed) for seed in range(1, LEAST_SEEDS + 1)])
    assert found.verdict(claim) is Verdict.HOLDS
