"""Global preemption, §V and Algorithm 1 of the paper: whom it takes, and when long jobs are cut."""

from typing import Any

import pytest

from callboard.journal.tell.reason_words import reason_in_words
from callboard.scheduler.decisions import Kill
from callboard.scheduler.facts import JobUpdated, TasksPending
from callboard.scheduler.model import KINDS, MAPS, Millis
from callboard.scheduler.orders.fair.fair import Fair
from callboard.scheduler.policy import Policy
from callboard.scheduler.preemption.global_preemption import GlobalPreemption, UtilisationWindow
from callboard.scheduler.preemption.kill import KillPreemption as KillRule
from callboard.scheduler.reasons import Reason
from tests.scheduler.test_pools import a_job
from tests.support.view import FakeCluster, FakeNode, close, heartbeats, informed, preempted_until

MAP, _ = KINDS
S: Millis = 1000


def stage(slots: int, **params: Any) -> tuple[Policy, FakeCluster]:
    rule = GlobalPreemption(GlobalPreemption.Params(**params))
    policy = Policy(Fair(Fair.Params(pool_by="pool")), preemption=rule)
    cluster = FakeCluster([FakeNode(0, (slots, 0))], [])
    return informed(policy, cluster), cluster


def come(policy: Policy, cluster: FakeCluster, number: int, pool: str, maps: int) -> None:
    cluster.add(a_job(number, pool, maps), policy)
    heartbeats(policy, cluster)


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
        taken[name] = victims(cluster, preempted_until(policy, cluster, 100 * S))
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
    heartbeats(policy, cluster)
    cluster.job(1).pending_[MAP] = 20
    running = [attempt.job for attempt in cluster.attempts_.values()]
    assert sorted(running) == [0] * 5 + [1] + [2] * 2
    kills = preempted_until(policy, cluster, 100 * S)
    assert kills == []  # late has ⌊half⌋ = ⌊(8 − 2)/2 / 2⌋ = 1 of its share
    close(
        policy, cluster, next(n for n, a in cluster.attempts_.items() if a.job == 1), succeeded=True
    )
    kills = preempted_until(policy, cluster, 200 * S)
    assert set(victims(cluster, kills)) == {0}
    assert len(kills) == 3
    assert reason_in_words(kills[0].why) == "global, pool late lacks 3 of its fair share"


def test_a_starving_pool_keeps_its_own_newest_task() -> None:
    """8 slots, two pools: one of four runs, and it is the newest of all.  a gives the other 3."""
    policy, cluster = stage(8)
    come(policy, cluster, 0, "a", 20)
    close(policy, cluster, 3, succeeded=True)
    come(policy, cluster, 1, "late", 20)
    kills = preempted_until(policy, cluster, 100 * S)
    assert [kill.attempt for kill in kills] == [8, 7, 6]
    assert [(kill.why.rank, kill.why.score) for kill in kills] == [(1, 1.0), (2, 2.0), (3, 3.0)]


def test_what_is_cut_from_a_long_job_counts_for_the_starving() -> None:
    """Algorithm 1, lines 5 to 9: both lack 3 at the check at which half of 6 is cut: 3 + 3."""
    policy, cluster = stage(9, fair_share_timeout_s=175.0, long_s=100.0)
    come(policy, cluster, 0, "long", 50)
    for number in (1, 2):
        come(policy, cluster, number, f"p{number}", 20)
    kills = preempted_until(policy, cluster, 180 * S)
    assert [kill.attempt for kill in kills] == [9, 8, 7, 6, 5, 4]
    assert [kill.why.reason is Reason.LONG_JOB for kill in kills] == [True] * 3 + [False] * 3


NEVER = {"min_share_timeout_s": float("inf"), "fair_share_timeout_s": float("inf")}


def long_job(slots: int = 8, others: tuple[int, ...] = (20, 20), **params: Any) -> list[Kill]:
    """A long job holds every slot; others wait.  The kills of ten minutes; nothing else happens."""
    policy, cluster = stage(slots, **NEVER, **params)
    come(policy, cluster, 0, "long", 50)
    for number, maps in enumerate(others, start=1):
        come(policy, cluster, number, f"p{number}", maps)
    kills: list[Kill] = []
    for minute in range(1, 11):
        new = preempted_until(policy, cluster, minute * 60 * S)
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
    assert [(k.why.rank, k.why.score) for k in kills[1:4]] == [(1, 6.0), (2, 5.0), (3, 4.0)]
    assert (
        reason_in_words(kills[1].why)
        == "global, a long job with more than its share of a full cluster"
    )
    assert minutes(long_job(9)) == [(6, 6)]
    assert minutes(long_job(9, long_s=5.0)) == [(3, 3), (6, 3)]  # no period has ended before


def test_with_cuts_for_the_starving_a_long_job_is_cut_only_when_somebody_lacks_slots() -> None:
    """Nobody starves where timeouts never run out.  Where they run out after 175 s, the first cut
    is at the end of the first busy period; where they do after 200 s, within the second.
    """
    assert minutes(long_job(9, long_s=100.0, cuts="starving")) == []
    for timeout_s, cut_by_s in ((175.0, 180), (200.0, 215)):
        policy, cluster = stage(9, fair_share_timeout_s=timeout_s, long_s=100.0, cuts="starving")
        come(policy, cluster, 0, "long", 50)
        for number in (1, 2):
            come(policy, cluster, number, f"p{number}", 20)
        kills = preempted_until(policy, cluster, cut_by_s * S)
        assert [kill.why.reason is Reason.LONG_JOB for kill in kills] == [True] * 3 + [False] * 3


def test_a_cut_that_nobody_needed_in_time_is_not_made_later() -> None:
    """After a busy period an idle one: who starves then gets the newest tasks as ever."""
    policy, cluster = stage(9, fair_share_timeout_s=400.0, long_s=100.0, cuts="starving")
    come(policy, cluster, 0, "long", 50)
    for number in (1, 2):
        come(policy, cluster, number, f"p{number}", 20)
    assert preempted_until(policy, cluster, 181 * S) == []
    for number in (1, 2):
        cluster.job(number).pending_[MAP] = 1
    cluster.job(0).pending_[MAP] = 0
    policy.observe(TasksPending(1, MAPS), cluster)
    kills = preempted_until(policy, cluster, 410 * S)
    assert kills
    assert all(kill.why.reason is Reason.STARVATION for kill in kills)


@pytest.mark.parametrize(("launched_ms", "when"), [(79_450, [(3, 3), (6, 3)]), (79_500, [(6, 6)])])
def test_a_long_jobs_task_is_older_than_long_s(
    launched_ms: Millis, when: list[tuple[int, int]]
) -> None:
    """100.55 s old at the check after 3 minutes, or 100.5 s and no more."""
    found: list[tuple[int, int]] = []
    policy, cluster = stage(9, **NEVER, long_s=100.5, t=0.5)
    cluster.now_ms = launched_ms
    come(policy, cluster, 0, "long", 50)
    for number in (1, 2):
        come(policy, cluster, number, f"p{number}", 20)
    cluster.now_ms = 79_500  # so that checks are at 80 s, 90 s, …
    for minute in (3, 6, 9):
        kills = preempted_until(policy, cluster, minute * 60 * S)
        found += [(minute, len(kills))] if kills else []
    assert found == when


def test_one_job_with_just_so_much_of_the_queue_does_not_spare_a_long_one() -> None:
    """41 of 82 waiting tasks are not more than half.  Two shares of 4½: of 9, 5 are too many."""
    assert minutes(long_job(9, (41,), dominance=0.5, long_s=100.0)) == [(3, 3), (6, 2)]


def test_between_the_periods_long_jobs_are_as_any_other() -> None:
    """Who starves after 20 s is given the newest, and that the job is long is no matter."""
    policy, cluster = stage(9, fair_share_timeout_s=20.0, long_s=5.0)
    come(policy, cluster, 0, "long", 50)
    for number in (1, 2):
        come(policy, cluster, number, f"p{number}", 20)
    kills = preempted_until(policy, cluster, 40 * S)
    rule = "global, pool p1 lacks 3 of its fair share, pool p2 lacks 3 of its fair share"
    assert [reason_in_words(kill.why) for kill in kills] == [rule] * 6


@pytest.mark.parametrize(("waiting", "cut"), [(6, False), (7, True)])
def test_n_task_counts_the_slots_that_production_leaves(waiting: int, cut: bool) -> None:
    """Condition (3): of 9 slots production held 4 and holds 3; 6 are left, and n_task is 6."""
    policy, cluster = stage(9, **NEVER, long_s=100.0)
    come(policy, cluster, 0, "production", 4)
    come(policy, cluster, 1, "long", 6)
    close(policy, cluster, 1, succeeded=True)
    heartbeats(policy, cluster)
    assert [job.running(MAP) for job in map(cluster.job, (0, 1))] == [3, 6]
    for number, maps in ((2, 3), (3, waiting - 3)):
        come(policy, cluster, number, f"p{number}", maps)
    assert bool(preempted_until(policy, cluster, 180 * S)) is cut


@pytest.mark.parametrize(
    ("was", "becomes", "waiting", "cut"),
    [
        ("ads", "production", 6, False),
        ("ads", "production", 7, True),
        ("production", "ads", 9, False),
        ("production", "ads", 10, True),
    ],
)
def test_a_job_that_changes_its_pool_takes_its_slots_along(
    was: str, becomes: str, waiting: int, cut: bool
) -> None:
    """Condition (3): of 9 slots 3 become production's or are no longer, so n_task is 6 or 9."""
    policy, cluster = stage(9, **NEVER, long_s=100.0)
    come(policy, cluster, 0, was, 4)
    cluster.job(0).pool = becomes
    policy.observe(JobUpdated(0), cluster)
    close(policy, cluster, 1, succeeded=True)
    come(policy, cluster, 1, "long", 6)
    for number, maps in ((2, 3), (3, waiting - 3)):
        come(policy, cluster, number, f"p{number}", maps)
    assert bool(preempted_until(policy, cluster, 180 * S)) is cut


def test_a_busy_period_after_which_nobody_is_left() -> None:
    policy, cluster = stage(9, **NEVER, long_s=100.0)
    come(policy, cluster, 0, "long", 9)
    come(policy, cluster, 1, "p", 20)
    assert preempted_until(policy, cluster, 175 * S) == []
    cluster.now_ms = 180 * S
    cluster.job(1).pending_[MAP] = 0
    for number in list(cluster.attempts_):
        close(policy, cluster, number, succeeded=True)
    for number in (0, 1):
        cluster.leave(number, policy)
    assert preempted_until(policy, cluster, 200 * S) == []


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
        assert (
            preempted_until(policy, cluster, 600 * S) == []
        )  # 1 + 4 + 4 wait, and 9 are not more than 9
    else:
        assert long_job(9, others, **{"long_s": 100.0} | params) == []


def test_a_busy_period_counts_exact_times() -> None:
    """t = 0.8 of 10 s: 8,001 ms of both at once or apart; a quiet period ends the streak."""
    busy = UtilisationWindow(10_000, 0.8)
    assert not busy.note_load(0, full=True, queued=True)
    assert not busy.note_load(8001, full=False, queued=False)
    assert busy.note_load(10_000, full=True, queued=True)
    assert busy.streak == 1
    assert not busy.note_load(18_000, full=False, queued=True)
    assert not busy.note_load(20_000, full=True, queued=True)
    assert busy.streak == 0
    assert busy.note_load(45_000, full=True, queued=True)
    assert busy.streak == 2


def test_periods_of_a_millisecond_cost_no_more_than_long_ones() -> None:
    """A world with `period_s = 0.001` took minutes: every period between two heartbeats was gone
    through, and with 0.0001 it took for ever.
    """
    busy = UtilisationWindow(1, 0.8)
    assert not busy.note_load(10**15, full=True, queued=True)
    assert busy.note_load(10**18, full=True, queued=False)
    assert busy.streak == 10**18 - 10**15
    assert not busy.note_load(10**18 + 5, full=True, queued=True)
    assert busy.streak == 0
    tiny = GlobalPreemption(GlobalPreemption.Params(period_s=0.0001))
    assert not tiny._windows[0].note_load(10**15, full=True, queued=True)


@pytest.mark.parametrize(("full_ms", "queued_ms"), [(8000, 9000), (9000, 8000)])
def test_a_busy_period_needs_more_than_t_of_both(full_ms: Millis, queued_ms: Millis) -> None:
    busy = UtilisationWindow(10_000, 0.8)
    busy.note_load(0, full=True, queued=True)
    busy.note_load(8000, full=full_ms > 8000, queued=queued_ms > 8000)
    busy.note_load(9000, full=False, queued=False)
    assert not busy.note_load(10_000, full=False, queued=False)


@pytest.mark.parametrize(
    "bad", [{"pi": 0.0}, {"pi": 1.1}, {"t": -0.1}, {"p": 2.0}, {"interval_s": 0.0},
            {"period_s": float("inf")}, {"long_s": -1.0}, {"dominance": 1.5}, {"first_cut": 2.0}]
)  # fmt: skip
def test_bad_parameters_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected a number of"):
        GlobalPreemption.Params(**bad)
