"""Since when claimants starve: the clocks of Hadoop's Fair Scheduler, to the millisecond."""

from collections.abc import Sequence
from fractions import Fraction

import pytest

from callboard.actors.config import Cluster
from callboard.actors.vocabulary.events import JobFinished
from callboard.scheduler.entitlements import Entitlement
from callboard.scheduler.model import SlotKind
from callboard.scheduler.orders.fair.water_filling import compute_fair_shares
from callboard.scheduler.orders.size_based import virtual_time
from callboard.scheduler.preemption.starvation import UPDATE_INTERVAL_MS, StarvationClocks
from callboard.scheduler.reasons import PoolClaimant
from tests.support.world import IN_STEP, job, play


def claim(running: int) -> Entitlement:
    """A pool that is due 4 slots, is guaranteed 2 and could use 9."""
    return Entitlement(PoolClaimant("ads"), (0,), running, 9, Fraction(4), min_share=2)


def lacks(clocks: StarvationClocks, running: int, now_ms: int) -> int:
    return sum(d.slots for d in clocks.deficits(SlotKind.MAP, [claim(running)], now_ms))


@pytest.mark.parametrize(("min_s", "fair_s", "slots"), [(6.0, 99.0, 1), (99.0, 6.0, 3)])
def test_f13_f14_a_timeout_must_be_exceeded(min_s: float, fair_s: float, slots: int) -> None:
    clocks = StarvationClocks(min_s, fair_s)
    clocks.look(SlotKind.MAP, [claim(1)], 1000)
    assert lacks(clocks, 1, 7000) == 0
    assert lacks(clocks, 1, 7001) == slots


def test_f13_who_runs_its_min_share_does_not_starve() -> None:
    """The clock runs from the last look at which it still had all of it."""
    clocks = StarvationClocks(6.0, 99.0)
    for now_ms, running in ((0, 2), (5000, 2), (10_000, 1)):
        clocks.look(SlotKind.MAP, [claim(running)], now_ms)
    assert lacks(clocks, 1, 11_000) == 0
    assert lacks(clocks, 1, 11_001) == 1


def test_f14_who_runs_half_of_its_share_does_not_starve() -> None:
    clocks = StarvationClocks(99.0, 6.0)
    for now_ms, running in ((0, 2), (5000, 2), (10_000, 1)):
        clocks.look(SlotKind.MAP, [claim(running)], now_ms)
    assert lacks(clocks, 1, 11_000) == 0
    assert lacks(clocks, 1, 11_001) == 3


def test_shares_are_worked_out_where_something_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    """An order by virtual time is asked every half second, for days where one map is slow: two
    thirds of such a run were spent on the same shares.
    """
    asked = 0

    def counted(demands: Sequence[int], slots: Fraction, weights: Sequence[int]) -> list[Fraction]:
        nonlocal asked
        asked += 1
        return compute_fair_shares(demands, slots, weights)

    monkeypatch.setattr(virtual_time, "compute_fair_shares", counted)
    jobs = [job(number, maps=2, map_ms=2_000_000) for number in range(3)]
    cluster = Cluster(nodes=1, racks=1, map_slots=2, heartbeat=IN_STEP)
    run = play(jobs, "psbs+kill", cluster=cluster)
    assert len(run.all(JobFinished)) == 3
    looks = run.events[-1].at_ms // UPDATE_INTERVAL_MS
    assert looks > 10_000
    assert 0 < asked < looks // 100
