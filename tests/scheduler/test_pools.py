"""Pools of any depth: Hadoop's comparator, caps, min shares and what they make of the slots."""

from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.journal.tell.reason_words import claimant_name, reason_in_words
from callboard.scheduler.model import KINDS, PRIORITY_WEIGHTS, Priority, SlotKind
from callboard.scheduler.orders.fair.fair import Fair
from callboard.scheduler.orders.fair.pools import (
    JobSchedulable,
    PoolParams,
    PoolSchedulable,
    Schedulable,
)
from callboard.scheduler.orders.fair.water_filling import compute_fair_shares
from callboard.scheduler.orders.keyed import SortKey
from callboard.scheduler.policy import Policy
from tests.support.view import (
    MOVES,
    FakeCluster,
    FakeJob,
    FakeNode,
    close,
    heartbeat,
    heartbeats,
    informed,
    make_move,
    queued,
)

MAP, REDUCE = KINDS
HERE = frozenset(range(9))


def a_job(number: int, pool: str = "", maps: int = 10, **more: Any) -> FakeJob:
    reduces = more.pop("reduces", 0)
    return FakeJob(
        number, [maps, reduces], homes=HERE, pool=pool, submitted_ms=number, reduces=reduces, **more
    )


def served(fair: Fair, jobs: list[FakeJob], slots: tuple[int, int] = (12, 0)) -> list[int]:
    """Which jobs one heartbeat of an empty node of that many slots serves, in turn."""
    node = FakeNode(0, slots)
    cluster = FakeCluster([node], jobs)
    return [launch.job for launch in heartbeat(informed(Policy(fair), cluster), cluster, node)]


def fair(pools: dict[str, PoolParams], **more: Any) -> Fair:
    return Fair(Fair.Params(pools=pools, **more))


def test_needy_pools_go_first_by_how_much_of_their_min_share_runs() -> None:
    """TestFairScheduler.testLargeJobsWithPools.  Min shares 4 and 2, and a pool without: running /
    min is 0:0 a, ¼:0 b, ¼:½ a, ½:½ a by name, ¾:½ b, ¾:1 a, and only then c, then the least.
    """
    pools = {"a": PoolParams(min_maps=4), "b": PoolParams(min_maps=2), "c": PoolParams()}
    jobs = [a_job(0, "c"), a_job(1, "b"), a_job(2, "a")]
    assert served(fair(pools), jobs, (9, 0)) == [2, 1, 2, 2, 1, 2, 0, 0, 1]


def test_a_min_share_above_the_demand_is_not_reserved() -> None:
    """TestFairScheduler.testSmallJobInLargePool."""
    jobs = [a_job(0, "large", maps=1), a_job(1, "other")]
    assert served(fair({"large": PoolParams(min_maps=10)}), jobs, (6, 0)) == [0, 1, 1, 1, 1, 1]


def test_min_shares_above_the_clusters_capacity_are_met_by_ratio() -> None:
    pools = {"a": PoolParams(min_maps=30), "b": PoolParams(min_maps=15)}
    taken = Counter(served(fair(pools), [a_job(0, "a", 50), a_job(1, "b", 50)], (6, 0)))
    assert taken == {0: 4, 1: 2}


def test_weights_divide_reduces_alone_when_there_are_no_maps() -> None:
    """TestFairScheduler.testPoolWeightsWhenNoMaps: 6 reduces as 4 : 2; the map shares are 0."""
    order = fair({"a": PoolParams(weight=2.0), "b": PoolParams(weight=1.0)})
    jobs = [a_job(0, "a", 0, reduces=10), a_job(1, "b", 0, reduces=10)]
    node = FakeNode(0, (6, 6))
    cluster = FakeCluster([node], jobs)
    policy = informed(Policy(order), cluster)
    assert [c.share for c in order.entitlements(REDUCE, cluster, "pool")] == [4, 2]
    assert order.entitlements(MAP, cluster, "pool") == []
    assert Counter(launch.job for launch in heartbeat(policy, cluster, node)) == {0: 4, 1: 2}


def test_a_cap_on_maps_binds_though_the_pool_would_be_next() -> None:
    """TestFairScheduler.testPoolMaxMapsReduces."""
    jobs = [a_job(0, "capped", reduces=3), a_job(1, "free", reduces=3)]
    order = fair({"capped": PoolParams(max_maps=2, max_reduces=1)})
    node = FakeNode(0, (8, 4))
    cluster = FakeCluster([node], jobs)
    launches = heartbeat(informed(Policy(order), cluster), cluster, node)
    taken = Counter((launch.job, launch.kind) for launch in launches)
    assert taken == {(0, MAP): 2, (1, MAP): 6, (0, REDUCE): 1, (1, REDUCE): 3}


def test_a_cap_on_jobs_lets_the_next_in_when_one_has_left() -> None:
    """TestFairScheduler.testPoolMaxJobs: by priority, then submission; demand without a place
    counts for nothing.
    """
    jobs = [a_job(n, "one", maps=2) for n in range(3)]
    jobs.append(a_job(3, "one", maps=1, priority=Priority.HIGH))
    node = FakeNode(0, (9, 0))
    cluster = FakeCluster([node], jobs)
    order = fair({"one": PoolParams(max_jobs=2)})
    policy = informed(Policy(order), cluster)
    assert order.root.demand[MAP] == 3
    assert Counter(heartbeats(policy, cluster)) == {3: 1, 0: 2}
    for number in list(cluster.attempts_):
        close(policy, cluster, number, succeeded=True)
    cluster.leave(3, policy)
    assert Counter(heartbeats(policy, cluster)) == {1: 2}


def test_caps_of_pools_and_of_users_hold_together() -> None:
    """TestFairScheduler.testComplexJobLimits: each job needs a place in its pool and its user's."""
    who = [("a", "ann"), ("a", "ann"), ("a", "bob"), ("b", "bob"), ("b", "bob"), ("b", "cyd")]
    jobs = [a_job(n, pool, maps=1, user=user) for n, (pool, user) in enumerate(who)]
    order = fair(
        {"a": PoolParams(max_jobs=2)},
        max_jobs_per_pool=3,
        max_jobs_per_user=1,
        max_jobs_of={"bob": 2},
    )
    # a: 0 (ann), not 1 (ann has one), 2 (bob); b: 3 (bob's second), not 4 (bob has two), 5 (cyd).
    assert sorted(served(order, jobs)) == [0, 2, 3, 5]


def test_a_cap_above_counts_the_jobs_of_all_pools_below() -> None:
    jobs = [a_job(n, f"ads/{n % 2}", maps=1) for n in range(4)]
    assert served(fair({"ads": PoolParams(max_jobs=3)}), jobs) == [0, 1, 2]


def test_a_fifo_pool_serves_by_priority_then_submission() -> None:
    jobs = [a_job(0, "line", 2), a_job(1, "line", 2), a_job(2, "other", 9)]
    jobs.append(a_job(3, "line/below", 1, priority=Priority.HIGH))
    order = fair({"line": PoolParams(mode="fifo")})
    assert served(order, jobs, (9, 0)) == [3, 2, 0, 2, 0, 2, 1, 2, 1]


def test_pools_in_pools_share_their_pools_share() -> None:
    """The hierarchical policy: 12 slots, ads 2 : web 1; in ads live 3 : batch 1 of 8."""
    pools = {
        "ads": PoolParams(weight=2.0),
        "ads/live": PoolParams(weight=3.0),
        "ads/batch": PoolParams(),
        "web": PoolParams(),
    }
    jobs = [a_job(0, "ads/live"), a_job(1, "ads/batch"), a_job(2, "web", 20)]
    assert Counter(served(fair(pools), jobs)) == {0: 6, 1: 2, 2: 4}


def test_jobs_beside_pools_compete_with_them() -> None:
    jobs = [a_job(0, "ads"), a_job(1, "ads/batch"), a_job(2, "ads/batch")]
    assert Counter(served(fair({"ads": PoolParams()}), jobs, (8, 0))) == {0: 4, 1: 2, 2: 2}


def test_pools_by_user_and_the_default_pool() -> None:
    jobs = [a_job(0, user="ann"), a_job(1, user="ann"), a_job(2, user="bob")]
    assert Counter(served(Fair(Fair.Params(pool_by="user")), jobs, (8, 0))) == {0: 2, 1: 2, 2: 4}
    jobs = [a_job(0), a_job(1), a_job(2, "default"), a_job(3, "own")]
    by_pool = Fair(Fair.Params(pool_by="pool"))
    assert Counter(served(by_pool, jobs, (6, 0))) == {0: 1, 1: 1, 2: 1, 3: 3}


def test_the_reason_tells_the_pool_and_its_score() -> None:
    pools = {"a": PoolParams(min_maps=2), "b": PoolParams(weight=0.5)}
    node = FakeNode(0, (4, 0))
    cluster = FakeCluster([node], [a_job(0, "a"), a_job(1, "b"), a_job(2, "c")])
    launches = heartbeat(informed(Policy(fair(pools)), cluster), cluster, node)
    assert [(reason_in_words(x.why), x.why.score) for x in launches] == [
        ("fair in pool a, below its min share", 0.0),
        ("fair in pool a, below its min share", 0.5),
        ("fair in pool b", 0.0),
        ("fair in pool c", 0.0),
    ]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (lambda: PoolParams(weight=0.0), "^weight: expected a number of more than 0, got 0"),
        (
            lambda: PoolParams(weight=float("inf")),
            "^weight: expected a number of at most .*, got inf",
        ),
        (
            lambda: PoolParams(min_maps=-1),
            "^min_maps: expected a whole number of at least 0, got -1",
        ),
        (
            lambda: PoolParams(min_share_timeout_s=-1.0),
            "^min_share_timeout_s: expected a number of at least 0, got -1",
        ),
        (lambda: Fair.Params(pools={"a//b": PoolParams()}), "`a//b` is no pool's name"),
        (lambda: Fair.Params(pools={"": PoolParams()}), "`` is no pool's name"),
        (lambda: Fair.Params(pool_by="none", pools={"a": PoolParams()}), "puts no job into any"),
        (
            lambda: Fair.Params(max_jobs_of={"bob": 1, "ann": -1}),
            r"^max_jobs_of\.ann: expected a whole number of at least 0, got -1",
        ),
        (
            lambda: Fair.Params(pools={"a": PoolParams(mode="fifo"), "a/b": PoolParams()}),
            "pool `a/b` is inside `a`, whose mode fifo holds jobs only",
        ),
        (
            lambda: Fair.Params(pools={"a/b": PoolParams(mode="fifo"), "a/b/c": PoolParams()}),
            "pool `a/b/c` is inside `a/b`, whose mode fifo holds jobs only",
        ),
    ],
)
def test_bad_pools_are_refused_in_words(params: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        params()


# S15: the comparator.


def member(running: int, demand: int, minimum: int, weight: Fraction, tie: int) -> Schedulable:
    scale = 12
    made = Schedulable(None, (scale / weight).numerator, (0, 0, tie))
    made.running[MAP], made.demand[MAP], made.minimum = running, demand, (minimum, 0)
    return made


def hadoops(a: Schedulable, b: Schedulable, weights: dict[int, Fraction]) -> bool:
    """Whether a goes before b: Hadoop's FairShareComparator, in fractions."""
    due = [min(m.minimum[MAP], m.demand[MAP]) for m in (a, b)]
    needy = [m.running[MAP] < d for m, d in zip((a, b), due, strict=True)]
    if needy[0] != needy[1]:
        return needy[0]
    by = [
        Fraction(m.running[MAP], max(d, 1)) if needy[0] else m.running[MAP] / weights[m.tie[2]]
        for m, d in zip((a, b), due, strict=True)
    ]
    return (by[0], a.tie) < (by[1], b.tie)


def test_s15_the_comparator_is_a_strict_total_order() -> None:
    """Every pair and triple of small members; each weight above 0."""
    drawn = list(
        product((0, 1, 3), (0, 2, 3), (0, 1, 4), (Fraction(1, 3), Fraction(1), Fraction(2)))
    )
    weights = {tie: weight for tie, (_, _, _, weight) in enumerate(drawn)}
    members = [member(*numbers, tie) for tie, numbers in enumerate(drawn)]
    keys: list[SortKey] = [each.key(MAP) for each in members]
    before = [[x < y for y in keys] for x in keys]
    for (i, a), (j, b) in product(enumerate(members), repeat=2):
        assert before[i][j] == hadoops(a, b, weights)
        assert before[i][j] + before[j][i] == (i != j)
    everyone = range(len(members))
    for i, j in product(everyone, repeat=2):
        if before[i][j]:
            assert all(before[i][k] for k in everyone if before[j][k])


# The tree against a recount.

PATHS = ["", "a", "a/x", "a/y", "b", "line", "c/d/e"]
POOLS = {
    "a": PoolParams(weight=0.3, min_maps=3, max_maps=7),
    "a/x": PoolParams(weight=1.5, min_maps=2, min_reduces=1),
    "b": PoolParams(min_maps=1, max_jobs=2, max_reduces=2),
    "line": PoolParams(mode="fifo", weight=2.0),
}
JOBS = st.lists(
    st.tuples(
        st.sampled_from(PATHS), st.integers(0, 4), st.integers(0, 3), st.sampled_from(Priority)
    ),
    min_size=1,
    max_size=7,
)


def jobs_in(pool: PoolSchedulable) -> list[JobSchedulable]:
    below = [job for inner in pool.pools.values() for job in jobs_in(inner)]
    return [*pool.jobs.values(), *below]


def expected(order: Fair, cluster: FakeCluster, kind: SlotKind) -> list[int]:
    """The queue worked out afresh: sums from the jobs, and every pool sorted by the text's rule."""
    seen = {job.job: cluster.job(job.job) for job in jobs_in(order.root)}

    def sums(pool: Any) -> tuple[int, int]:
        below = [sums(each) for each in pool.pools.values()]
        for job in pool.jobs.values():
            fake = seen[job.job]
            wish = fake.running(kind) + fake.pending(kind) if job.runnable else 0
            below.append((fake.running(kind), wish))
        running, wish = sum(r for r, _ in below), sum(w for _, w in below)
        cap = pool.caps[kind]
        return running, wish if cap is None else min(wish, cap)

    def queue(pool: Any) -> list[int]:
        running, demand = sums(pool)
        assert (pool.running[kind], pool.demand[kind]) == (running, demand)
        if pool.caps[kind] is not None and running >= pool.caps[kind]:
            return []
        ranked: list[tuple[Any, list[int]]] = []
        for below in pool.pools.values():
            inside = queue(below)
            ran, wants = sums(below)
            due = min(below.minimum[kind], wants)
            ratio = Fraction(ran, due) if ran < due else ran / below.weight
            if inside:
                ranked.append(((ran >= due, ratio, 0, 0, below.path), inside))
        for job in pool.jobs.values():
            fake = seen[job.job]
            if not (job.runnable and fake.pending(kind)):
                continue
            if pool.params.mode == "fifo":
                key: Any = (fake.priority, fake.submitted_ms, job.job)
            else:
                ratio = fake.running(kind) / PRIORITY_WEIGHTS[fake.priority]
                key = (True, ratio, fake.submitted_ms, 1, job.job)
            ranked.append((key, [job.job]))
        return [number for _, inside in sorted(ranked) for number in inside]

    return queue(order.root)


@given(jobs=JOBS, moves=MOVES)
@settings(derandomize=True, max_examples=150, deadline=None)
def test_the_tree_stays_what_a_recount_gives(
    jobs: list[tuple[str, int, int, Priority]], moves: list[tuple[int, int]]
) -> None:
    """After any history of heartbeats, ends, losses, arrivals and departures."""
    order = fair(POOLS, pool_by="pool", max_jobs_per_user=4)
    nodes = [FakeNode(n, (2, 2)) for n in range(4)]
    cluster = FakeCluster(nodes, [])
    policy = Policy(order)
    coming = [
        a_job(n, pool, maps, reduces=reduces, priority=priority)
        for n, (pool, maps, reduces, priority) in enumerate(jobs)
    ]
    for move in [(5, 0), *moves]:
        make_move(move, policy, cluster, coming)
        for kind in KINDS:
            queue = [number for number, _ in queued(order, kind, cluster)]
            assert queue == expected(order, cluster, kind)


def test_claims_are_the_shares_level_by_level() -> None:
    """12 slots: ads 8 and web 4 by weight 2 : 1; in ads the job beside the pool and the pool share
    equally; of a pool of jobs the pool is the claimant, each job with `each = "job"`.
    """
    order = fair({"ads": PoolParams(weight=2.0), "ads/batch": PoolParams(min_share_timeout_s=7.0)})
    jobs = [a_job(0, "ads", 20), a_job(1, "ads/batch", 20), a_job(2, "ads/batch", 1)]
    jobs += [a_job(3, "web", 20), a_job(4, "web", 20, priority=Priority.HIGH)]
    cluster = FakeCluster([FakeNode(0, (12, 0))], jobs)
    informed(Policy(order), cluster)
    pools = order.entitlements(MAP, cluster, "pool")
    assert {claimant_name(c.claimant): (c.share, c.jobs) for c in pools} == {
        "job-0": (Fraction(4), (0,)),
        "pool ads/batch": (Fraction(4), (1, 2)),
        "pool web": (Fraction(4), (3, 4)),
    }
    assert [c.min_share_timeout_s for c in pools] == [7.0, None, None]
    each = {c.jobs[0]: c.share for c in order.entitlements(MAP, cluster, "job")}
    inside = dict(zip((3, 4), compute_fair_shares([20, 20], 4, [1, 2]), strict=True))
    assert each == {0: 4, 1: 3, 2: 1, **inside}


def test_a_job_that_may_launch_nothing_claims_nothing() -> None:
    """One job may run in the pool, and job 1 goes before: job 0 runs on, and can use no slot."""
    order = fair({"a": PoolParams(max_jobs=1)})
    cluster = FakeCluster([FakeNode(0, (4, 0))], [a_job(0, "a", 20)])
    policy = informed(Policy(order), cluster)
    heartbeats(policy, cluster)
    cluster.add(a_job(1, "a", 20, priority=Priority.HIGH), policy)
    claims = {c.jobs[0]: (c.running, c.demand) for c in order.entitlements(MAP, cluster, "job")}
    assert claims == {0: (4, 0), 1: (0, 20)}


def test_a_fifo_pools_jobs_are_due_in_turn() -> None:
    order = fair({"line": PoolParams(mode="fifo")})
    jobs = [a_job(0, "line", 3), a_job(1, "line", 9), a_job(2, "line", 9)]
    cluster = FakeCluster([FakeNode(0, (5, 0))], jobs)
    informed(Policy(order), cluster)
    assert [c.share for c in order.entitlements(MAP, cluster, "job")] == [3, 2, 0]
