"""Global preemption, §V and Algorithm 1 of the paper: whom it takes, and when long jobs are cut."""

from typing import Any

import pytest

from scheduler.decisions import Kill
from scheduler.model import KINDS, Millis
from scheduler.orders.fair import Fair
from scheduler.policy import Policy
from scheduler.preemption.busy import Busy
from scheduler.preemption.kill import Kill as KillRule
from scheduler.preemption.whole import GlobalPreemption
from tests.scheduler.test_pools import a_job
from tests.support.view import FakeCluster, FakeNode, beats, close, look, told

MAP, _ = KINDS
S: Millis = 1000


def stage(slots: int, **params: Any) -> tuple[Policy, FakeCluster]:
    rule = GlobalPreemption(GlobalPreemption.Params(**params))
    policy = Policy(Fair(Fair.Params(pool_by="pool")), preemption=rule)
    cluster = FakeCluster([FakeNode(0, (slots, 0))], [])
    return told(policy, cluster), cluster


def come(policy: Policy, cluster: FakeCluster, number: int, pool: str, maps: int) -> None:
    cluster.add(a_job(number, pool, maps), policy)
    beats(policy, cluster)


def victims(cluster: FakeCluster, kills: list[Kill]) -> list[int]:
    return [cluster.attempts_[kill.attempt].job for kill in kills]


def test_the_newest_of_all_give_way_over_their_share_or_not() -> None:
    """9 slots: an old job runs 6, a new one of its own pool 3, which is its share.  A third pool
    is due 3: GP takes the newest three, all of the new job; Hadoop's rule spares it.
    """
    taken = {}
    for name in ("global", "kill"):
        policy, cluster = stage(9)
        if name == "kill":
            policy = Policy(policy.order, preemption=KillRule())
        come(policy, cluster, 0, "a", 6)
        cluster.job(0).pending_[MAP] = 9
        cluster.now_ms = S
        come(policy, cluster, 1, "b", 3)
        come(policy, cluster, 2, "c", 9)
        taken[name] = victims(cluster, look(policy, cluster, 100 * S))
    assert taken == {"global": [1, 1, 1], "kill": [0, 0, 0]}


def test_production_jobs_and_the_starving_are_spared() -> None:
    """8 slots: production's are the newest, and the starving pool's own one is newer than a's."""
    policy, cluster = stage(8)
    come(policy, cluster, 0, "a", 20)
    for number in (8, 7, 6):
        close(policy, cluster, number, succeeded=True)
    cluster.add(a_job(1, "late", 20), policy)
    cluster.job(1).pending_[MAP] = 1
    cluster.add(a_job(2, "production/x", 2), policy)
    beats(policy, cluster)
    cluster.job(1).pending_[MAP] = 20
    running = [attempt.job for attempt in cluster.attempts_.values()]
    assert sorted(running) == [0] * 5 + [1] + [2] * 2
    kills = look(policy, cluster, 100 * S)
    assert kills == []  # late has ⌊half⌋ = ⌊(8 − 2)/2 / 2⌋ = 1 of its share
    close(
        policy, cluster, next(n for n, a in cluster.attempts_.items() if a.job == 1), succeeded=True
    )
    kills = look(policy, cluster, 200 * S)
    assert set(victims(cluster, kills)) == {0}
    assert len(kills) == 3
    assert kills[0].why.rule == "global, pool late lacks 3 of its fair share"


def test_a_starving_pool_keeps_its_own_newest_task() -> None:
    """8 slots, two pools: one of four runs, and it is the newest of all.  a gives the other 3."""
    policy, cluster = stage(8)
    come(policy, cluster, 0, "a", 20)
    close(policy, cluster, 3, succeeded=True)
    come(policy, cluster, 1, "late", 20)
    kills = look(policy, cluster, 100 * S)
    assert [kill.attempt for kill in kills] == [8, 7, 6]


def test_what_is_cut_from_a_long_job_counts_for_the_starving() -> None:
    """Algorithm 1, lines 5 to 9: both lack 3 at the check at which half of 6 is cut: 3 + 3."""
    policy, cluster = stage(9, fair_share_timeout_s=175.0, long_s=100.0)
    come(policy, cluster, 0, "long", 50)
    for number in (1, 2):
        come(policy, cluster, number, f"p{number}", 20)
    kills = look(policy, cluster, 180 * S)
    assert [kill.attempt for kill in kills] == [9, 8, 7, 6, 5, 4]
    assert ["long job" in kill.why.rule for kill in kills] == [True] * 3 + [False] * 3


NEVER = {"min_share_timeout_s": float("inf"), "fair_share_timeout_s": float("inf")}


def long_job(slots: int = 8, others: tuple[int, ...] = (20, 20), **params: Any) -> list[Kill]:
    """A long job holds every slot; others wait.  The kills of ten minutes; nothing else happens."""
    policy, cluster = stage(slots, **NEVER, **params)
    come(policy, cluster, 0, "long", 50)
    for number, maps in enumerate(others, start=1):
        come(policy, cluster, number, f"p{number}", maps)
    kills: list[Kill] = []
    for minute in range(1, 11):
        new = look(policy, cluster, minute * 60 * S)
        kills += [Kill(-minute, new[0].why)] if new else []
        kills += new
    return kills


def minutes(kills: list[Kill]) -> list[tuple[int, int]]:
    """When kills were ordered, and how many then."""
    found: list[tuple[int, int]] = []
    for kill in kills:
        if kill.attempt < 0:
            found.append((-kill.attempt, 0))
        else:
            found[-1] = (found[-1][0], found[-1][1] + 1)
    return found


def test_a_long_job_is_cut_by_half_of_its_overflow_and_then_wholly() -> None:
    """9 slots, three pools with a share of 3 each: an overflow of 6.  Period 1 (3 min) finds no
    long job yet, since its tasks are 180 s old; with `long_s` below that half of the overflow goes
    after 3 minutes and the rest after 6; with the default (200 s) all goes after 6.
    """
    kills = long_job(9, long_s=100.0)
    assert minutes(kills) == [(3, 3), (6, 3)]
    assert kills[1].attempt == 9
    assert kills[1].why.score == 6.0
    assert kills[1].why.rule == "global, a long job with more than its share of a full cluster"
    assert minutes(long_job(9)) == [(6, 6)]


@pytest.mark.parametrize(
    ("why_not", "params", "others"),
    [
        ("(3) the queue is not longer than n_task = 9 slots", {}, (4, 4)),
        ("(3) n_task = 9 · 0.9 / 0.1 = 81 with π = 0.1", {"pi": 0.1}, (15, 15)),
        ("one job is more than 90 % of the queue", {}, (1000, 1)),
        ("the job is not long", {"long_s": 601.0}, (20, 20)),
        ("(2) more than all of the time is impossible", {"t": 1.0}, (20, 20)),
        ("(2) more than all of the slots is impossible", {"p": 1.0}, (20, 20)),
        ("the long job is in production", {"production": "long"}, (20, 20)),
    ],
)
def test_each_condition_can_spare_a_long_job(
    why_not: str, params: dict[str, Any], others: tuple[int, ...]
) -> None:
    if why_not.startswith("(3) the queue"):
        policy, cluster = stage(9, **NEVER, long_s=100.0)
        come(policy, cluster, 0, "long", 10)
        for number, maps in enumerate(others, start=1):
            come(policy, cluster, number, f"p{number}", maps)
        assert look(policy, cluster, 600 * S) == []  # 1 + 4 + 4 wait, and 9 are not more than 9
    else:
        assert long_job(9, others, **{"long_s": 100.0} | params) == []


def test_a_busy_period_counts_exact_times() -> None:
    """t = 0.8 of 10 s: 8,001 ms of both at once or apart; a quiet period ends the streak."""
    busy = Busy(10_000, 0.8)
    assert not busy.set(0, full=True, queued=True)
    assert not busy.set(8001, full=False, queued=False)
    assert busy.set(10_000, full=True, queued=True)
    assert busy.streak == 1
    assert not busy.set(18_000, full=False, queued=True)
    assert not busy.set(20_000, full=True, queued=True)
    assert busy.streak == 0
    assert busy.set(45_000, full=True, queued=True)
    assert busy.streak == 2


@pytest.mark.parametrize(
    "bad", [{"pi": 0.0}, {"pi": 1.1}, {"t": -0.1}, {"p": 2.0}, {"interval_s": 0.0},
            {"period_s": float("inf")}, {"long_s": -1.0}, {"dominance": 1.5}, {"first_cut": 2.0}]
)  # fmt: skip
def test_bad_parameters_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must"):
        GlobalPreemption.Params(**bad)
