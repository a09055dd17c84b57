"""The rule `kill` against the Fair Scheduler's tests of preemption, S13, and the paper's variant.

A check every second here, where Hadoop's tests call the check by hand.  Times count from the look
(every half second) that first finds a pool starving.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import floor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.journal.tell.reason_words import reason_in_words
from callboard.scheduler.decisions import Kill as KillDecision
from callboard.scheduler.entitlements import Entitlement
from callboard.scheduler.facts import TasksPending
from callboard.scheduler.model import KINDS, MAPS, Millis, Priority
from callboard.scheduler.orders.fair.fair import Fair
from callboard.scheduler.orders.fair.pools import PoolParams
from callboard.scheduler.orders.fifo import Fifo
from callboard.scheduler.policy import MisfitError, NoPreemption, Order, Policy, QueuedJob
from callboard.scheduler.preemption.kill import KillPreemption
from callboard.scheduler.preemption.starvation import Deficit, starvation_grounds
from callboard.scheduler.preemption.victims import Excess, possible_victims
from callboard.scheduler.reasons import PoolClaimant, Reason, ShareKind, Why
from callboard.scheduler.registry.parts import make_policy
from tests.scheduler.test_pools import a_job
from tests.support.view import (
    FakeAttempt,
    FakeCluster,
    FakeJob,
    FakeNode,
    close,
    heartbeats,
    informed,
    preempted_until,
)

MAP, REDUCE = KINDS
S: Millis = 1000


class Stage:
    """A cluster of that many slots under Fair and `kill`, its clock and its pools at hand."""

    def __init__(
        self, slots: int, pools: dict[str, PoolParams] | None = None, **params: Any
    ) -> None:
        rule = KillPreemption.Params(**{"interval_s": 1.0} | params)
        self.policy = Policy(
            Fair(Fair.Params(pool_by="pool", pools=pools or {})), preemption=KillPreemption(rule)
        )
        self.cluster = FakeCluster([FakeNode(0, (slots, slots))], [])

    def come(self, number: int, pool: str, maps: int = 20, **more: Any) -> FakeJob:
        """A job comes, and every free slot is filled."""
        job = a_job(number, pool, maps, **more)
        self.cluster.add(job, self.policy)
        heartbeats(self.policy, self.cluster)
        return job

    def until(self, at_ms: Millis) -> list[KillDecision]:
        """Who is killed up to then."""
        return preempted_until(self.policy, self.cluster, at_ms)

    def bury(self) -> list[int]:
        """The killed are gone; who gets their slots at the next heartbeat."""
        for number, attempt in list(self.cluster.attempts_.items()):
            if attempt.killing:
                close(self.policy, self.cluster, number, succeeded=False)
        return heartbeats(self.policy, self.cluster)

    def jobs(self, kills: list[KillDecision]) -> list[int]:
        return [self.cluster.attempts_[kill.attempt].job for kill in kills]


MIN: dict[str, Any] = {"min_share_timeout_s": 60.0, "fair_share_timeout_s": float("inf")}
FAIR: dict[str, Any] = {"min_share_timeout_s": float("inf"), "fair_share_timeout_s": 60.0}


def test_min_share_preemption() -> None:
    """testMinSharePreemption: none at 59 s, two at 61 s, the newest, and the starved get them."""
    stage = Stage(4, {"a": PoolParams(min_maps=2)}, **MIN)
    stage.come(0, "b")
    stage.until(9 * S)
    stage.come(1, "a")
    assert stage.until(69 * S) == []  # found starving at 9.5 s
    kills = stage.until(71 * S)
    assert [kill.attempt for kill in kills] == [4, 3]
    assert [reason_in_words(kill.why) for kill in kills] == [
        "kill, pool a lacks 2 of its min share"
    ] * 2
    assert [(kill.why.rank, kill.why.score) for kill in kills] == [(1, 2.0), (2, 1.0)]
    assert stage.bury() == [1, 1]
    assert stage.until(300 * S) == []


def test_a_check_takes_no_more_than_it_may_and_the_next_one_goes_on() -> None:
    """A rate limit: four are lacking, three go at the first check and one at the next."""
    stage = Stage(6, {"a": PoolParams(min_maps=4)}, interval_s=5.0, most_per_check=3, **MIN)
    stage.come(0, "b")
    stage.come(1, "a")
    assert len(stage.until(70 * S)) == 4
    stage = Stage(6, {"a": PoolParams(min_maps=4)}, interval_s=5.0, most_per_check=3, **MIN)
    stage.come(0, "b")
    stage.come(1, "a")
    kills = [len(stage.until(at_s * S)) for at_s in range(55, 85, 5)]
    assert [count for count in kills if count] == [3, 1]


def test_a_rule_with_a_limit_promises_no_share_in_time() -> None:
    limited, free = (Stage(2, most_per_check=most).policy for most in (1, None))
    lost = set(free.preemption.guarantees) - set(limited.preemption.guarantees)
    assert lost == {"fair-share-timeout", "min-share-timeout"}


def test_the_timeout_must_be_exceeded() -> None:
    """`>`, not `≥`: found starving at 0.5 s, not killed for at 60.5 s, but at the next look."""
    stage = Stage(4, {"a": PoolParams(min_maps=1)}, interval_s=0.5, **MIN)
    stage.come(0, "b")
    stage.come(1, "a")
    assert stage.until(60_500) == []
    assert len(stage.until(61_000)) == 1


def test_a_pools_own_timeout_goes_before_the_rules() -> None:
    stage = Stage(4, {"a": PoolParams(min_maps=1, min_share_timeout_s=5.0)}, **MIN)
    stage.come(0, "b")
    stage.come(1, "a")
    assert len(stage.until(7 * S)) == 1


def test_quiet_time_does_not_count_as_starving() -> None:
    """Pool a has its min share for 100 s in which nothing happens, then loses it: the time counts
    from there, though the rule had nothing to look at before.
    """
    stage = Stage(4, {"a": PoolParams(min_maps=2)}, **MIN)
    stage.come(0, "a", maps=3)
    stage.come(1, "b")
    assert stage.until(100 * S) == []
    for number, attempt in list(stage.cluster.attempts_.items()):
        if attempt.job == 0:
            close(stage.policy, stage.cluster, number, succeeded=True)
    heartbeats(stage.policy, stage.cluster)
    more = stage.cluster.job(0)
    more.pending_[MAP] = 9
    stage.policy.observe(TasksPending(0, MAPS), stage.cluster)
    assert stage.until(160 * S) == []
    assert len(stage.until(162 * S)) == 2


def test_only_the_demand_is_preempted_for() -> None:
    """testMinSharePreemptionWithSmallJob: a min share of 2 and one map."""
    stage = Stage(4, {"a": PoolParams(min_maps=2)}, **MIN)
    stage.come(0, "b")
    stage.come(1, "a", maps=1)
    assert len(stage.until(100 * S)) == 1


@pytest.mark.parametrize(("runs", "killed"), [(1, 0), (0, 2)])
def test_fair_share_preemption(runs: int, killed: int) -> None:
    """testFairSharePreemption: 8 slots for three pools, shares 8/3.  A pool that runs one is not
    below ⌊half⌋ = ⌊1⅓⌋ and gets nothing; one that runs none is, and gets ⌊2⅔⌋ = 2.
    """
    stage = Stage(8, **FAIR)
    stage.cluster.add(a_job(0, "a"), stage.policy)
    stage.come(1, "b")
    if runs:
        close(stage.policy, stage.cluster, 1, succeeded=True)
    stage.come(2, "c")
    assert sum(attempt.job == 2 for attempt in stage.cluster.attempts_.values()) == runs
    kills = stage.until(100 * S)
    assert len(kills) == killed
    assert stage.bury() == [2] * killed


def test_fair_share_preemption_from_multiple_pools() -> None:
    """testFairSharePreemptionFromMultiplePools: 6 slots as 3 : 3, a third pool is due 2: one
    from each, the newest, and nobody below its share.
    """
    stage = Stage(6, **FAIR)
    stage.cluster.add(a_job(0, "a"), stage.policy)
    stage.come(1, "b")
    stage.come(2, "c")
    kills = stage.until(100 * S)
    assert [kill.attempt for kill in kills] == [6, 5]
    assert stage.jobs(kills) == [1, 0]
    assert stage.bury() == [2, 2]
    assert stage.until(300 * S) == []


def test_min_and_fair_share_preemption_take_the_larger_lack_not_the_sum() -> None:
    """testMinAndFairSharePreemption.  12 slots, b and c run 6 each; a (min share 3) comes, and d
    half a minute later.  All are due 3, so b and c could lose 6, and a lacks 3 of either share.
    """
    stage = Stage(
        12, {"a": PoolParams(min_maps=3)}, min_share_timeout_s=60.0, fair_share_timeout_s=60.0
    )
    stage.cluster.add(a_job(0, "b"), stage.policy)
    stage.come(1, "c")
    stage.come(2, "a")
    stage.until(30 * S)
    stage.come(3, "d")
    kills = stage.until(62 * S)
    assert [reason_in_words(kill.why) for kill in kills] == [
        "kill, pool a lacks 3 of its min share"
    ] * 3


def test_the_min_share_comes_early_and_the_rest_of_the_fair_share_later() -> None:
    """12 slots, min share 2, fair share 6: two after 30 s; 2 is below half, so 4 after 60 s."""
    stage = Stage(12, {"a": PoolParams(min_maps=2)})
    stage.come(0, "b")
    stage.come(1, "a")
    assert len(stage.until(32 * S)) == 2
    assert stage.bury() == [1, 1]
    assert stage.until(60 * S) == []
    assert len(stage.until(62 * S)) == 4


@pytest.mark.parametrize("off", ["wait", "inf"])
def test_no_preemption_if_disabled(off: str) -> None:
    """testNoPreemptionIfDisabled."""
    infinite = float("inf")
    stage = Stage(4, min_share_timeout_s=infinite, fair_share_timeout_s=infinite)
    if off == "wait":
        stage.policy.preemption = NoPreemption()
    stage.come(0, "b")
    stage.come(1, "a")
    if off == "wait":
        assert list(stage.policy.preempt(stage.cluster)) == []
        assert stage.policy.interval_ms is None
    else:
        assert stage.until(10_000 * S) == []


def test_victims_still_dying_use_up_the_budget() -> None:
    """testFairSharePreemptionWithShortTimeout, S13: check after check finds the same deficit while
    the killed are not yet known to be gone, and kills nobody more; nor does the pool that has
    lost them count as if it still had them.
    """
    stage = Stage(10, min_share_timeout_s=1.0, fair_share_timeout_s=1.0)
    stage.come(0, "b")
    stage.come(1, "a")
    assert len(stage.until(20 * S)) == 5
    stage.come(2, "c")
    more = stage.until(40 * S)  # all are due 3⅓: b's five could lose two, a and c lack 3 + 3
    assert len(more) == 1
    assert stage.bury() == [1, 2, 1, 2, 1, 2]


def test_reduces_are_preempted_apart_from_maps() -> None:
    stage = Stage(6, **FAIR)
    stage.come(0, "b", maps=2, reduces=20)
    stage.come(1, "a", maps=2, reduces=20)
    stage.come(2, "c", maps=0, reduces=20)
    running = Counter((a.job, a.kind) for a in stage.cluster.attempts_.values())
    assert running == {(0, MAP): 2, (1, MAP): 2, (0, REDUCE): 6}
    kills = stage.until(62 * S)
    assert {stage.cluster.attempts_[kill.attempt].kind for kill in kills} == {REDUCE}
    assert sorted(stage.bury()) == [1, 1, 2, 2]


def test_a_starved_pool_under_a_satisfied_one_is_served() -> None:
    """TestFairSchedulerPreemption.testPreemptionBetweenSiblingQueuesWithParentAtFairShare."""
    stage = Stage(8, **FAIR)
    stage.cluster.add(a_job(0, "ads/batch"), stage.policy)
    stage.come(1, "web")
    stage.come(2, "ads/live")
    kills = stage.until(62 * S)
    assert stage.jobs(kills) == [0, 0]
    assert stage.bury() == [2, 2]


def test_the_papers_variant_takes_from_each_job_in_turn() -> None:
    """The global-preemption paper, §V: the newest tasks of each job beyond its share.  9 slots;
    two jobs in pool b run 4 and 5, shares 9/4; the newer job's tasks are all newer, so Hadoop
    would take only those; here the turns are 1, 0, 1, 0.
    """
    attempts = {}
    for victims in ("global", "job"):
        stage = Stage(9, victims=victims, **FAIR)
        stage.come(0, "b", maps=4)
        stage.come(1, "b", maps=20)
        stage.come(2, "a")
        kills = stage.until(62 * S)
        attempts[victims] = [kill.attempt for kill in kills]
    assert attempts == {"global": [9, 8, 7, 6], "job": [9, 4, 8, 3]}


@pytest.mark.parametrize(
    ("maps", "newest"),
    [
        # Both have two too many: the job with the lower number first.
        ((4, 4), [4, 8, 3, 7]),
        # Of three one is too many, of six four: one of the first job's, and no more (S13).
        ((3, 6), [9, 3, 8, 7]),
    ],
)
def test_s13_in_turns_no_job_falls_below_its_own_share(
    maps: tuple[int, int], newest: list[int]
) -> None:
    stage = Stage(sum(maps), victims="job", **FAIR)
    for number in (0, 1):
        stage.come(number, "b", maps=maps[number])
    stage.cluster.job(0).pending_[MAP] = stage.cluster.job(1).pending_[MAP] = 20
    for number in (0, 1):
        stage.policy.observe(TasksPending(number, MAPS), stage.cluster)
    stage.come(2, "a")
    assert [kill.attempt for kill in stage.until(62 * S)] == newest


def test_only_attempts_with_a_slot_of_the_kind_can_be_victims() -> None:
    """A suspended one has no slot, and those that give theirs up are only counted."""
    cluster = FakeCluster([], [])
    for attempt in (
        FakeAttempt(1, 0, MAP, 0),
        FakeAttempt(2, 0, MAP, 0, suspended_ms=0),
        FakeAttempt(3, 0, MAP, 0),
        FakeAttempt(4, 0, MAP, 0, suspending=True),
        FakeAttempt(5, 0, REDUCE, 0),
    ):
        cluster.attempts_[attempt.attempt] = attempt
    alive, leaving = possible_victims(MAP, cluster)
    assert ([a.attempt for a in alive], leaving) == ([3, 1], 1)


def test_s13_a_job_without_a_claim_has_nothing_to_lose() -> None:
    assert Excess([], [FakeAttempt(1, 7, MAP, 0)]).attempts_to_lose(7) == 0


@pytest.mark.parametrize(("more", "end"), [(0, ""), (1, ", 1 more"), (2, ", 2 more")])
def test_a_reason_names_three_who_starve_and_counts_the_rest(more: int, end: str) -> None:
    pools = [PoolClaimant(str(n)) for n in range(4 + more)]
    deficits = [
        Deficit(Entitlement(pools[n], (n,), 0, 9, Fraction(4)), n, ShareKind.FAIR)
        for n in range(1, 4 + more)
    ]
    three = ", ".join(f"pool {n} lacks {n} of its fair share" for n in (1, 2, 3))
    why = Why(Reason.STARVATION, "kill", 1, 0.0, *starvation_grounds(deficits))
    assert why.beneficiary == pools[1]
    assert reason_in_words(why) == f"kill, {three}{end}"


def test_fifo_preempts_by_rank() -> None:
    """A job of a higher priority takes the slots of the last in the line."""
    policy = Policy(Fifo(), preemption=KillPreemption(KillPreemption.Params(interval_s=1.0)))
    node = FakeNode(0, (4, 0))
    jobs = [a_job(0, maps=2), a_job(1, maps=9)]
    cluster = FakeCluster([node], jobs)
    informed(policy, cluster)
    heartbeats(policy, cluster)
    cluster.add(a_job(2, maps=9, priority=Priority.HIGH), policy)
    kills = preempted_until(policy, cluster, 62 * S)
    assert [kill.attempt for kill in kills] == [4, 3, 2, 1]
    assert reason_in_words(kills[0].why) == "kill, job-2 lacks 4 of its fair share"


@pytest.mark.parametrize(
    ("order", "slots"), [("fsp+fifo", 4), ("fsp+ps", 4), ("psbs", 4), ("hfsp", 8)]
)
def test_orders_by_virtual_time_preempt_for_who_has_least_left(order: str, slots: int) -> None:
    """HFSP III-E: a job of three tasks comes behind one of forty that holds all slots; what it
    lacks is three, and the newest three of the large job give way.  HFSP trains on the first five.
    """
    policy = Policy(
        make_policy(order).order, preemption=KillPreemption(KillPreemption.Params(interval_s=1.0))
    )
    node = FakeNode(0, (slots, 0))
    cluster = FakeCluster([node], [a_job(0, maps=40)])
    informed(policy, cluster)
    heartbeats(policy, cluster)
    cluster.add(a_job(1, maps=3), policy)
    kills = preempted_until(policy, cluster, 62 * S)
    assert [kill.attempt for kill in kills] == [slots, slots - 1, slots - 2]
    assert reason_in_words(kills[0].why) == "kill, job-1 lacks 3 of its fair share"


def test_nobody_is_killed_for_who_has_more_left() -> None:
    policy = Policy(
        make_policy("psbs").order, preemption=KillPreemption(KillPreemption.Params(interval_s=1.0))
    )
    cluster = FakeCluster([FakeNode(0, (4, 0))], [a_job(0, maps=5)])
    informed(policy, cluster)
    heartbeats(policy, cluster)
    cluster.add(a_job(1, maps=40), policy)
    assert preempted_until(policy, cluster, 62 * S) == []


class Mute(Order):
    """An order that does not say what anybody is due."""

    name = "mute"
    summary = "for tests"

    def queue(self, kind: Any, offer: Any, view: Any) -> Iterator[QueuedJob]:  # noqa: ARG002
        return iter(())


def test_an_order_without_claims_is_refused() -> None:
    with pytest.raises(MisfitError, match=r"`kill` takes slots .* the order `mute` does not say"):
        Policy(Mute(), preemption=KillPreemption())


@pytest.mark.parametrize("time", ["interval_s", "min_share_timeout_s", "fair_share_timeout_s"])
def test_bad_times_are_refused(time: str) -> None:
    with pytest.raises(ValueError, match=rf"^{time}: expected a number of .*, got -1\.0$"):
        KillPreemption.Params(**{time: -1.0})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^interval_s: expected a number of at most .*, got inf$"):
        KillPreemption.Params(interval_s=float("inf"))


@pytest.mark.parametrize("timeout_s", [0.0, 0.5])
def test_a_timeout_can_be_short_or_nothing(timeout_s: float) -> None:
    rule = KillPreemption.Params(min_share_timeout_s=timeout_s, fair_share_timeout_s=timeout_s)
    assert rule.fair_share_timeout_s == timeout_s


@pytest.mark.parametrize(
    ("interval_s", "tick_ms"), [(0.0001, 1), (0.25, 250), (0.5, 500), (15.0, 500)]
)
def test_f13_claims_are_looked_at_every_half_second_or_at_each_check(
    interval_s: float, tick_ms: Millis
) -> None:
    """Checks that lie nearer than that are looks too; a millisecond is the shortest time."""
    assert KillPreemption(KillPreemption.Params(interval_s=interval_s)).interval_ms == tick_ms


COMING = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c/d", "c/e"]), st.integers(1, 9), st.integers(0, 2)),
    min_size=2,
    max_size=7,
)
POOLS = {"a": PoolParams(min_maps=3), "b": PoolParams(weight=2.0, min_maps=2)}


@given(
    coming=COMING,
    slots=st.integers(1, 12),
    deaths=st.lists(st.integers(0, 99), max_size=8),
    victims=st.sampled_from(["global", "job"]),
)
@settings(derandomize=True, max_examples=200, deadline=None)
def test_s13_victims_are_within_the_deficits_and_nobody_falls_below_its_share(
    coming: list[tuple[str, int, int]], slots: int, deaths: list[int], victims: str
) -> None:
    """Every check of a random history; deficits and shares are worked out here once more."""
    stage = Stage(slots, POOLS, victims=victims, min_share_timeout_s=1.0, fair_share_timeout_s=1.0)
    for number, (pool, maps, gap_s) in enumerate(coming):
        stage.come(number, pool, maps)
        for _ in range(2 * (gap_s + 1)):
            _check_one_tick(stage, victims)
        if deaths and stage.cluster.attempts_:
            open_ = list(stage.cluster.attempts_)
            dead = open_[deaths.pop() % len(open_)]
            close(stage.policy, stage.cluster, dead, succeeded=True)
            stage.bury()


def _check_one_tick(stage: Stage, victims: str) -> None:
    order = stage.policy.order
    assert isinstance(order, Fair)
    claims = order.entitlements(MAP, stage.cluster, "pool")
    alive = [a for a in stage.cluster.attempts_.values() if not a.killing]
    dying = len(stage.cluster.attempts_) - len(alive)
    lacking = sum(
        max(0, min(c.min_share, c.demand) - c.running, min(floor(c.share), c.demand) - c.running)
        for c in claims
    )
    kills = stage.until(stage.cluster.now_ms + 500)
    assert len(kills) <= max(0, lacking - dying)
    left = Counter(a.job for a in alive if not a.killing)
    killed = set(stage.jobs(kills))
    for claim in claims:
        if killed & set(claim.jobs):
            assert sum(left[job] for job in claim.jobs) >= floor(claim.share)
    if victims == "job":
        for each in order.entitlements(MAP, stage.cluster, "job"):
            assert each.jobs[0] not in killed or left[each.jobs[0]] >= floor(each.share)
    else:
        _check_newest_first(stage, claims, kills, left)


def _check_newest_first(
    stage: Stage, entitlements: Sequence[Entitlement], kills: list[KillDecision], left: Counter[int]
) -> None:
    """Who is newer than a victim and lives is of a pool that has nothing to spare."""
    spare = {
        job: sum(left[j] for j in claim.jobs) - claim.share
        for claim in entitlements
        for job in claim.jobs
    }
    for kill in kills:
        for attempt in stage.cluster.attempts_.values():
            if attempt.attempt > kill.attempt and not attempt.killing:
                assert spare[attempt.job] <= 0
