"""What the papers say of their policies, on random workloads: what is a verdict, and two claims."""

import pytest

from bench.claims import CLAIMS, LEAST_SEEDS, STORM, Verdict, value, verdict
from callboard.experiments.statistics import MedianInterval, median_interval

pytest.importorskip("scipy")

BY_NAME = {claim.name: claim for claim in CLAIMS}


def test_the_least_number_of_seeds_gives_an_interval() -> None:
    assert median_interval([1.0] * LEAST_SEEDS).low == 1.0
    assert median_interval([1.0] * (LEAST_SEEDS - 1)).low is None


def test_a_claim_holds_only_if_the_whole_interval_is_on_its_side() -> None:
    below, above = BY_NAME["hfsp-below-fair"], BY_NAME["delay-local-5"]
    assert verdict(below, _found(0.7, 0.8, 0.99)) is Verdict.HOLDS
    assert verdict(below, _found(0.7, 0.8, 1.0)) is Verdict.OPEN
    assert verdict(below, _found(1.01, 1.2, 1.5)) is Verdict.FAILS
    assert verdict(above, _found(0.96, 0.97, 0.98)) is Verdict.HOLDS
    assert verdict(above, _found(0.93, 0.96, 0.98)) is Verdict.OPEN
    assert verdict(above, _found(0.90, 0.92, 0.94)) is Verdict.FAILS


def test_without_an_interval_nothing_is_decided() -> None:
    assert verdict(BY_NAME["hfsp-below-fair"], MedianInterval(None, 0.5, None, 5)) is Verdict.OPEN


def _found(low: float, median: float, high: float) -> MedianInterval:
    return MedianInterval(low, median, high, runs=10)


def test_global_preemption_wastes_less_in_every_storm() -> None:
    """Cheng, Zhang, Boutaba, IV; docs/claims.md has the other claims, and where they end."""
    claim = BY_NAME["global-wastes-less-than-job"]
    found = median_interval([value(claim, STORM, seed) for seed in range(1, LEAST_SEEDS + 1)])
    assert verdict(claim, found) is Verdict.HOLDS


def test_hfsp_responds_sooner_than_fair_where_sizes_differ_by_orders_of_magnitude() -> None:
    """Pastorelli et al., Figure 6, DEV: the smallest of the three differences."""
    claim = BY_NAME["hfsp-below-fair"]
    found = median_interval(
        [value(claim, claim.worlds[0], seed) for seed in range(1, LEAST_SEEDS + 1)]
    )
    assert verdict(claim, found) is Verdict.HOLDS
