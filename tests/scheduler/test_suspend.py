"""The rule `suspend`: the victims of `kill`, `limit` of them a node; what becomes of the rest."""

from typing import Any

import pytest

from callboard.actors.config import Cluster
from callboard.actors.vocabulary.events import (
    AttemptEnded,
    AttemptResumed,
    AttemptSuspended,
    KillOrdered,
    Outcome,
    ResumeOrdered,
    SuspendOrdered,
)
from callboard.journal.tell.reason_words import reason_in_words
from callboard.scheduler import decisions
from callboard.scheduler.model import Priority, SlotKind
from callboard.scheduler.orders.fair.fair import Fair
from callboard.scheduler.orders.fair.pools import PoolParams
from callboard.scheduler.policy import Policy
from callboard.scheduler.preemption.kill import KillPreemption, SuspendPreemption
from callboard.scheduler.preemption.suspend_limits import SuspendLimits
from callboard.scheduler.reasons import Reason, Why
from tests.scheduler.test_pools import a_job
from tests.support.view import FakeAttempt, FakeCluster, FakeNode, heartbeats
from tests.support.world import IN_STEP, PlayedRun, job, play
from tests.whole.test_shares import in_pool

HASTY: dict[str, Any] = {
    "interval_s": 1.0,
    "min_share_timeout_s": 5.0,
    "fair_share_timeout_s": float("inf"),
}
CLUSTER = Cluster(nodes=1, racks=1, map_slots=4, reduce_slots=0, heartbeat=IN_STEP)


def two_pools(rule: SuspendPreemption | KillPreemption, ads_map_ms: int = 20_000) -> PlayedRun:
    """Pool `logs` holds all four slots of the node; `ads`, which is due all four, comes at 20 s."""
    jobs = [
        in_pool(job(0, maps=4, map_ms=60_000), "logs"),
        in_pool(job(1, maps=4, map_ms=ads_map_ms, submit_ms=20_000), "ads"),
    ]
    order = Fair(Fair.Params(pools={"ads": PoolParams(min_maps=4)}))
    return play(jobs, Policy(order, preemption=rule), cluster=CLUSTER)


def test_its_victims_are_those_of_kill() -> None:
    """The newest first, for the same deficits at the same check."""
    killed = two_pools(KillPreemption(KillPreemption.Params(**HASTY))).all(KillOrdered)
    suspended = two_pools(SuspendPreemption(SuspendPreemption.Params(limit=4, **HASTY))).all(
        SuspendOrdered
    )
    assert [(e.at_ms, e.attempt) for e in killed] == [(e.at_ms, e.attempt) for e in suspended]
    assert [e.attempt for e in suspended] == [4, 3, 2, 1]
    assert {reason_in_words(e.why) for e in suspended} == {
        "suspend, pool ads lacks 4 of its min share"
    }


def test_all_suspended_work_is_kept_and_goes_on_oldest_first() -> None:
    run = two_pools(SuspendPreemption(SuspendPreemption.Params(limit=4, **HASTY)))
    assert not run.all(KillOrdered)
    assert [e.attempt for e in run.all(ResumeOrdered)] == [1, 2, 3, 4]
    for ended in run.all(AttemptEnded):
        length = 60_000 if ended.attempt <= 4 else 20_000
        assert ended.at_ms - ended.started_ms - ended.suspended_ms == length


def test_beyond_the_limit_it_kills() -> None:
    run = two_pools(SuspendPreemption(SuspendPreemption.Params(limit=3, over="kill", **HASTY)))
    assert [e.attempt for e in run.all(SuspendOrdered)] == [4, 3, 2]
    assert [e.attempt for e in run.all(KillOrdered)] == [1]


def test_or_waits() -> None:
    """The fourth keeps its slot to its end, and `ads` runs three."""
    run = two_pools(SuspendPreemption(SuspendPreemption.Params(limit=3, **HASTY)))
    assert [e.attempt for e in run.all(SuspendOrdered)] == [4, 3, 2]
    assert not run.all(KillOrdered)
    first = next(e for e in run.all(AttemptEnded) if e.attempt == 1)
    assert first.suspended_ms == 0


def test_what_is_suspended_for_too_long_is_killed() -> None:
    """Of the four, all wait longer than 30 s for the 90 s of `ads`, and none ever goes on."""
    run = two_pools(
        SuspendPreemption(SuspendPreemption.Params(limit=4, kill_after_s=30.0, **HASTY)), 90_000
    )
    kills = run.all(KillOrdered)
    assert sorted(e.attempt for e in kills) == [1, 2, 3, 4]
    assert all(reason_in_words(e.why).startswith("suspend, suspended for 30") for e in kills)
    ended = {e.attempt: e for e in run.all(AttemptEnded)}
    assert all(ended[n].outcome is Outcome.KILLED for n in (1, 2, 3, 4))
    assert not run.all(AttemptResumed)


@pytest.mark.parametrize("launchable", [0, 1])
def test_suspended_tasks_alone_are_no_reason_to_take_slots(launchable: int) -> None:
    """`ads` lacks all of its min share of 2, and could use one slot more, or none, anywhere."""
    order = Fair(Fair.Params(pools={"ads": PoolParams(min_maps=2)}))
    policy = Policy(order, preemption=SuspendPreemption(SuspendPreemption.Params(**HASTY)))
    cluster = FakeCluster([FakeNode(0, (4, 0))], [])
    cluster.add(a_job(0, "logs", 8), policy)
    heartbeats(policy, cluster)
    ads = a_job(1, "ads", 2 + launchable)
    ads.suspended_ = 2
    cluster.add(ads, policy)
    cluster.now_ms = 500
    list(policy.preempt(cluster))
    cluster.now_ms = 30_000
    assert len(list(policy.preempt(cluster))) == launchable


def test_who_can_use_nothing_is_no_reason() -> None:
    """`ads` lacks 2 and waits for its own two suspended ones; `web` lacks 2 and could use them."""
    pools = {"ads": PoolParams(min_maps=2), "web": PoolParams(min_maps=2)}
    policy = Policy(
        Fair(Fair.Params(pools=pools)),
        preemption=SuspendPreemption(SuspendPreemption.Params(**HASTY)),
    )
    cluster = FakeCluster([FakeNode(0, (4, 0))], [])
    cluster.add(a_job(0, "logs", 8), policy)
    heartbeats(policy, cluster)
    ads = a_job(1, "ads", 2)
    ads.suspended_ = 2
    cluster.add(ads, policy)
    cluster.add(a_job(2, "web", 2), policy)
    cluster.now_ms = 500
    list(policy.preempt(cluster))
    cluster.now_ms = 30_000
    rules = [reason_in_words(victim.why) for victim in policy.preempt(cluster)]
    assert rules == ["suspend, pool web lacks 2 of its min share"] * 2


def test_victims_can_be_taken_from_each_job_in_turn() -> None:
    """As under `kill`: pool `logs` runs 4 of each of two jobs, and each is due 2."""
    rule = SuspendPreemption.Params(victims="job", limit=4, **HASTY | {"fair_share_timeout_s": 5.0})
    policy = Policy(Fair(Fair.Params(pool_by="pool")), preemption=SuspendPreemption(rule))
    cluster = FakeCluster([FakeNode(0, (8, 0))], [])
    for number, pool, maps in ((0, "logs", 4), (1, "logs", 4), (2, "ads", 9)):
        cluster.add(a_job(number, pool, maps), policy)
        heartbeats(policy, cluster)
    cluster.now_ms = 500
    list(policy.preempt(cluster))
    cluster.now_ms = 30_000
    victims = [victim.attempt for victim in policy.preempt(cluster)]
    assert [cluster.attempts_[victim].job for victim in victims] == [0, 1, 0, 1]


def test_an_attempt_is_killed_once_it_was_suspended_for_longer_than_it_may() -> None:
    keeping = SuspendLimits(2, "wait", 30.0)
    cluster = FakeCluster([], [])
    for attempt in (
        FakeAttempt(1, 0, SlotKind.MAP, 0),
        FakeAttempt(2, 0, SlotKind.MAP, 0, suspended_ms=1000, killing=True),
        FakeAttempt(3, 0, SlotKind.MAP, 0, suspended_ms=1000),
    ):
        cluster.attempts_[attempt.attempt] = attempt
    cluster.now_ms = 31_000
    assert list(keeping.overdue_kills("suspend", cluster)) == []
    cluster.now_ms = 31_001
    why = Why(Reason.SUSPENDED_TOO_LONG, "suspend", 1, 30.001)
    assert list(keeping.overdue_kills("suspend", cluster)) == [decisions.Kill(3, why)]
    cluster.attempts_[4] = FakeAttempt(4, 0, SlotKind.MAP, 0, suspended_ms=900)
    victims = [(kill.attempt, kill.why.rank) for kill in keeping.overdue_kills("suspend", cluster)]
    assert victims == [(3, 1), (4, 2)], "a rank is the place among the check's victims"


def test_one_of_a_tasks_two_attempts_is_no_victim_or_is_killed() -> None:
    """The master refuses to suspend it, and the slot would never be freed."""
    copied = FakeAttempt(1, 0, SlotKind.MAP, 0, alone=False)
    why = Why(Reason.STARVATION, "suspend", 1)
    assert not SuspendLimits(2, "wait", 30.0).allows_victim(copied)
    killing = SuspendLimits(2, "kill", 30.0)
    assert killing.allows_victim(copied)
    assert killing.kill_or_suspend(copied, why) == decisions.Kill(1, why)


@pytest.mark.parametrize("order", ["fifo", "hfsp", "psbs"])
def test_it_takes_every_order_that_says_what_is_due(order: str) -> None:
    jobs = [
        job(0, maps=8, map_ms=50_000),
        job(1, maps=2, map_ms=5000, submit_ms=9000, priority=Priority.VERY_HIGH),
    ]
    run = play(jobs, f"{order}+suspend(interval_s=1,fair_share_timeout_s=2)", cluster=CLUSTER)
    assert len(run.all(AttemptSuspended)) == len(run.all(AttemptResumed))
    assert not any(e.outcome is Outcome.KILLED for e in run.all(AttemptEnded))


def test_one_attempt_a_node_and_half_a_second_are_enough() -> None:
    assert SuspendPreemption.Params(limit=1, kill_after_s=0.5).limit == 1


@pytest.mark.parametrize("bad", [{"limit": 0}, {"kill_after_s": 0.0}, {"interval_s": 0.0}])
def test_bad_parameters_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected a"):
        SuspendPreemption.Params(**bad)
