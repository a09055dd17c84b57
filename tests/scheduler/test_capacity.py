"""The Capacity Scheduler against Hadoop 1's own tests, heartbeat by heartbeat."""

import json
import re
from collections import Counter
from math import ceil
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.journal.tell.reason_words import reason_in_words
from callboard.scheduler.facts import JobUpdated
from callboard.scheduler.model import KINDS, Priority, SlotKind
from callboard.scheduler.orders.capacity.capacity import Capacity
from callboard.scheduler.orders.capacity.queues import QueueParams
from callboard.scheduler.policy import Policy
from tests.support.traces import oracle
from tests.support.view import (
    MOVES,
    FakeCluster,
    FakeJob,
    FakeNode,
    close,
    heartbeat,
    informed,
    make_move,
    queued,
)
from trials.oracles.capacity import Case, Replay, cells
from trials.oracles.comparison import NotPlayed, case_as

MAP, REDUCE = KINDS
TESTS = (
    "testMaxCapacities",
    "testSubmitToQueues (tail)",
    "testCapacityBasedAllocation",
    "testUserLimitsWithMaxCapacities",
    "testUserLimits",
    "testUserLimit (later 1.x)",
)


def case(name: str) -> Case:
    cases: list[dict[str, Any]] = json.loads(oracle("hadoop1-capacity.json").read_text("utf-8"))
    return case_as(next(each for each in cases if each["test"] == name), Case)


@pytest.mark.parametrize("name", TESTS)
def test_hadoops_own_test_gives_the_same_attempts_heartbeat_by_heartbeat(name: str) -> None:
    checks = list(Replay(case(name)).checks())
    assert [each.theirs for each in checks] == [each.ours for each in checks]
    assert len(checks) >= 2


def test_tasks_of_several_slots_are_not_played() -> None:
    with pytest.raises(NotPlayed, match="several slots"):
        list(Replay(case("testUserLimitsForHighMemoryJobs")).checks())


A_CASE: dict[str, Any] = {
    "test": "one",
    "trackers": 1,
    "map_slots": 2,
    "reduce_slots": 1,
    "queues": [["default", 100, None, 100, 1]],
    "steps": [
        ["submit", 1, "default", "ann", 1, 1],
        ["beat", "tt1", ["j1m1", "j1r1"]],
        ["capacity", "default", 2],
    ],
}


def test_a_case_is_told_step_by_step_where_it_differs() -> None:
    other = A_CASE | {"steps": [A_CASE["steps"][0], ["beat", "tt1", ["j1m1"]]]}
    same, differs = cells([A_CASE, other])
    assert (same.what, same.theirs, same.ours) == ("one", 2, 2)
    assert differs.what == "one: step 2 (beat tt1), j1m1, here j1m1 j1r1"
    assert not differs.agrees


@pytest.mark.parametrize(
    ("change", "lack"),
    [
        ({"steps": [["fail", "tt1", "j1m1"]]}, "Invalid value 'fail'"),
        ({"steps": [["beat", "tt9", []]]}, "no tracker `tt9`"),
        ({"queues": [["default", 50, 40, 100, 1]]}, "queue `default` has a maximum_capacity"),
        ({"queues": [["default", 50]]}, r"\$.queues"),
        ({"steps": [["submit", 1, "default", "ann", 1, 1, {"speed": 2}]]}, "a job's speed"),
    ],
)
def test_what_a_case_needs_and_is_not_here_is_said(change: dict[str, Any], lack: str) -> None:
    (cell,) = cells([A_CASE | change])
    assert cell.ours is None
    assert not cell.agrees
    assert re.search(lack, cell.what)


def order_of(**queues: dict[str, Any]) -> Capacity:
    return Capacity(
        Capacity.Params(queues={name: QueueParams(**each) for name, each in queues.items()})
    )


def a_job(number: int, pool: str = "", maps: int = 99, **more: Any) -> FakeJob:
    reduces = more.pop("reduces", 0)
    return FakeJob(
        number,
        [maps, reduces],
        pool=pool,
        submitted_ms=number,
        homes=frozenset({0}),
        reduces=reduces,
        **more,
    )


def served(order: Capacity, jobs: list[FakeJob], slots: tuple[int, int] = (20, 0)) -> list[int]:
    """Which jobs one heartbeat of an empty node of that many slots serves, in turn."""
    node = FakeNode(0, slots)
    cluster = FakeCluster([node], jobs)
    return [each.job for each in heartbeat(informed(Policy(order), cluster), cluster, node)]


def test_of_five_users_of_at_least_a_quarter_the_fifth_gets_none() -> None:
    jobs = [a_job(n, user=f"user{n}") for n in range(5)]
    order = order_of(default={"capacity": 100, "minimum_user_limit_percent": 25})
    assert Counter(served(order, jobs)) == {0: 5, 1: 5, 2: 5, 3: 5}


def test_user_limits_are_rounded_up() -> None:
    """45 % of ten slots, 5; a third of them, 4, where the minimum is less."""
    for percent, held in ((45, {0: 5, 1: 5}), (10, {0: 4, 1: 4, 2: 2})):
        jobs = [a_job(n, user=f"user{n}") for n in range(3)]
        order = order_of(default={"minimum_user_limit_percent": percent})
        assert Counter(served(order, jobs, (10, 0))) == held


def test_a_user_of_whom_nothing_waits_counts_as_long_as_the_job_is_there() -> None:
    """Half of eight slots are left to ann, who has no use for more than two of them."""
    jobs = [a_job(0, user="ann", maps=2), a_job(1, user="bob")]
    order = order_of(default={"minimum_user_limit_percent": 25})
    assert served(order, jobs, (8, 0)) == [0, 0, 1, 1, 1, 1]


def test_with_a_limit_of_100_percent_users_are_served_one_after_the_other() -> None:
    jobs = [a_job(n, user=f"user{n}", maps=8) for n in range(3)]
    assert served(Capacity(), jobs) == [0] * 8 + [1] * 8 + [2] * 4


def test_what_a_queue_leaves_is_lent_as_far_as_factor_and_maximum_allow() -> None:
    lent = {"capacity": 75, "user_limit_factor": 2}
    for most, holds in ((None, 10), (40, 8), (25, 5)):
        busy = {"capacity": 25, "user_limit_factor": 2, "maximum_capacity": most}
        assert served(order_of(busy=busy, idle=lent), [a_job(0, "busy")]) == [0] * holds


def test_several_users_may_hold_more_than_their_queues_capacity_together() -> None:
    """Each one no more than the capacity: 5 of 20 slots, as the factor is 1."""
    jobs = [a_job(n, "busy", user=f"user{n}") for n in range(3)]
    busy = {"capacity": 25, "minimum_user_limit_percent": 1}
    assert Counter(served(order_of(busy=busy, idle={"capacity": 75}), jobs)) == {0: 5, 1: 5, 2: 5}


def test_jobs_go_by_priority_only_where_the_queue_has_priorities() -> None:
    for supports, first in ((False, [0, 0, 1]), (True, [1, 0, 0])):
        jobs = [a_job(0, maps=2), a_job(1, maps=1, priority=Priority.HIGH)]
        order = order_of(default={"supports_priority": supports})
        assert served(order, jobs, (3, 0)) == first


def test_a_heartbeat_brings_maps_until_the_node_is_full_and_one_reduce() -> None:
    node = FakeNode(0, (3, 3))
    cluster = FakeCluster([node], [a_job(0, maps=9, reduces=9)])
    policy = informed(Policy(Capacity()), cluster)
    brought = [[each.kind for each in heartbeat(policy, cluster, node)] for _ in range(4)]
    assert brought == [[MAP, MAP, MAP, REDUCE], [REDUCE], [REDUCE], []]


def test_of_equal_queues_the_one_goes_first_that_stood_first_before() -> None:
    """Both hold nothing; `b` held less when the list was last sorted, so it stands first."""
    order = order_of(a={"capacity": 50, "user_limit_factor": 2}, b={"capacity": 50})
    node = FakeNode(0, (2, 0))
    cluster = FakeCluster([node], [a_job(0, "a"), a_job(1, "b", maps=1), a_job(2, "b", maps=1)])
    policy = informed(Policy(order), cluster)
    assert [each.job for each in heartbeat(policy, cluster, node)] == [0, 1]
    close(policy, cluster, 1, succeeded=True)
    close(policy, cluster, 2, succeeded=True)
    assert [each.job for each in heartbeat(policy, cluster, node)] == [2, 0]


def test_a_heartbeat_that_finds_nothing_sorts_the_queues_too() -> None:
    """`a` holds nothing and `b` one slot when it comes; so `a` stands first when both are equal."""
    order = order_of(a={"capacity": 50}, b={"capacity": 50})
    node = FakeNode(0, (2, 0))
    cluster = FakeCluster([node], [a_job(0, "a", maps=1), a_job(1, "b", maps=1)])
    policy = informed(Policy(order), cluster)
    assert [each.job for each in heartbeat(policy, cluster, node)] == [0, 1]
    close(policy, cluster, 1, succeeded=True)
    assert heartbeat(policy, cluster, node) == []
    close(policy, cluster, 2, succeeded=True)
    for number, pool in ((2, "b"), (3, "a")):
        cluster.add(a_job(number, pool, maps=1), policy)
    assert [each.job for each in heartbeat(policy, cluster, node)] == [3, 2]


def test_queues_are_sorted_once_for_the_one_reduce_of_a_heartbeat() -> None:
    """Before it, when both were equal; so `a` goes first again when both are."""
    order = order_of(a={"capacity": 50}, b={"capacity": 50})
    node = FakeNode(0, (0, 4))
    jobs = [a_job(0, "a", maps=0, reduces=2), a_job(1, "b", maps=0, reduces=1)]
    cluster = FakeCluster([node], jobs)
    policy = informed(Policy(order), cluster)
    assert [each.job for each in heartbeat(policy, cluster, node)] == [0]
    close(policy, cluster, 1, succeeded=True)
    assert [each.job for each in heartbeat(policy, cluster, node)] == [0]


def test_a_tracker_that_comes_changes_every_capacity() -> None:
    """testClusterSizeChange's figures: `int(percent × slots / 100)`."""
    queue = order_of(q={"capacity": 35}).queues["q"]
    assert [queue.capacity(slots) for slots in (2, 3, 5, 6, 20)] == [0, 1, 1, 2, 7]


def test_a_job_that_moves_takes_what_it_holds_along() -> None:
    order = order_of(a={"capacity": 50}, b={"capacity": 50})
    node = FakeNode(0, (4, 1))
    cluster = FakeCluster([node], [a_job(0, "a", reduces=1), a_job(1, "b")])
    policy = informed(Policy(order), cluster)
    heartbeat(policy, cluster, node)
    moved = cluster.job(0)
    moved.pool = "b"
    policy.observe(JobUpdated(0), cluster)
    a, b = (order.queues[name].books for name in "ab")
    assert (a[MAP].occupied, a[REDUCE].occupied, a[MAP].jobs, a[REDUCE].jobs) == (0, 0, {}, {})
    assert (b[MAP].occupied, b[REDUCE].occupied) == (4, 1)
    assert (b[MAP].jobs, b[REDUCE].jobs) == ({"user": 2}, {"user": 1})


def test_when_all_have_left_nothing_is_kept() -> None:
    order = order_of(a={"capacity": 100})
    node = FakeNode(0, (4, 1))
    cluster = FakeCluster([node], [a_job(0, "a", maps=2, reduces=1)])
    policy = informed(Policy(order), cluster)
    heartbeat(policy, cluster, node)
    for number in list(cluster.attempts_):
        close(policy, cluster, number, succeeded=True)
    cluster.leave(0, policy)
    for books in order.queues["a"].books:
        assert (books.occupied, books.held, books.jobs, books.waiting) == (0, {}, {}, {})


def test_jobs_of_other_pools_are_in_the_default_queue_which_has_what_is_left() -> None:
    order = order_of(a={"capacity": 60})
    node = FakeNode(0, (10, 0))
    cluster = FakeCluster([node], [a_job(0, "a"), a_job(1, "elsewhere")])
    policy = informed(Policy(order), cluster)
    launches = heartbeat(policy, cluster, node)
    assert Counter(each.job for each in launches) == {0: 6, 1: 4}
    assert reason_in_words(launches[1].why) == "capacity in pool default"
    assert queued(order, MAP, cluster) == []


def test_less_than_a_slot_is_no_limit() -> None:
    """As in Hadoop, where the limit is a whole number and 0 is none: nothing could ever run."""
    order = order_of(a={"capacity": 2, "maximum_capacity": 2}, b={"capacity": 98})
    node = FakeNode(0, (4, 0))
    cluster = FakeCluster([node], [a_job(0, "a", maps=3)])
    policy = informed(Policy(order), cluster)
    assert [each.job for each in heartbeat(policy, cluster, node)] == [0]


def test_a_copy_counts_within_the_limits() -> None:
    order = order_of(a={"capacity": 50, "maximum_capacity": 50}, b={"capacity": 50})
    node = FakeNode(0, (4, 0))
    cluster = FakeCluster([node], [a_job(0, "a", maps=1)])
    policy = informed(Policy(order), cluster)
    assert order.may_speculate(0, MAP)
    heartbeat(policy, cluster, node)
    assert order.may_speculate(0, MAP)
    cluster.add(a_job(1, "a", maps=1), policy)
    heartbeat(policy, cluster, node)
    assert not order.may_speculate(0, MAP)


@pytest.mark.parametrize(
    ("queues", "message"),
    [
        (
            {"a": {"capacity": 50, "maximum_capacity": 40}},
            "^queue `a` has a maximum_capacity of 40 %, less than its capacity, 50 %",
        ),
        (
            {"a": {"capacity": 30}, "default": {"maximum_capacity": 60}},
            "^queue `default` has a maximum_capacity of 60 %, less than its capacity, 70 %",
        ),
        ({"a": {"capacity": 50.5}, "b": {"capacity": 50}}, "add up to 100.5 %"),
        ({"a": {"capacity": -1}}, "^capacity: expected a number of at least 0, got -1"),
        (
            {"a": {"minimum_user_limit_percent": 0}},
            "^minimum_user_limit_percent: expected a whole number of at least 1, got 0",
        ),
    ],
)
def test_bad_queues_are_refused_in_words(queues: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        order_of(**queues)


COMING = st.lists(
    st.tuples(
        st.sampled_from("abx"),
        st.sampled_from("uvw"),
        st.integers(0, 4),
        st.integers(0, 3),
        st.sampled_from(Priority),
    ),
    min_size=1,
    max_size=8,
)
QUEUES: dict[str, Any] = {
    "a": {"capacity": 40, "maximum_capacity": 60, "minimum_user_limit_percent": 45},
    "b": {"capacity": 35, "user_limit_factor": 2.5, "supports_priority": True},
}


def recounted(order: Capacity, name: str, cluster: FakeCluster, kind: SlotKind) -> list[int]:
    """The jobs of a queue that may have a slot, in turn, worked out afresh by the rules."""
    jobs = [
        job
        for job in cluster._jobs.values()
        if (job.pool if job.pool in QUEUES else "default") == name
    ]
    params, slots = order.queues[name].params, cluster.slots(kind)
    least = params.minimum_user_limit_percent
    percent = {"a": 40, "b": 35, "default": 25}[name]
    occupied = sum(job.running(kind) for job in jobs)
    held = Counter[str]()
    for job in jobs:
        held[job.user] += job.running(kind)
    users = {job.user for job in jobs if kind is MAP or job.reduces}
    due = max(percent * slots // 100, 1)
    shared = due if occupied < due else occupied + 1
    share = max(ceil(shared / max(len(users), 1)), ceil(least * shared / 100))
    limit = min(share, int(due * params.user_limit_factor))
    most = int((params.maximum_capacity or 0) * slots / 100)
    if most and occupied >= most:
        return []
    fits = [job for job in jobs if job.pending(kind) and held[job.user] < limit]
    priority = params.supports_priority
    return [j.job for j in sorted(fits, key=lambda j: (j.priority if priority else 0, j.job))]


@given(jobs=COMING, moves=MOVES)
@settings(derandomize=True, max_examples=150, deadline=None)
def test_every_queue_is_what_a_recount_gives(
    jobs: list[tuple[str, str, int, int, Priority]], moves: list[tuple[int, int]]
) -> None:
    """After any history of heartbeats, ends, losses, arrivals and departures."""
    order = order_of(**QUEUES)
    nodes = [FakeNode(n, (3, 2)) for n in range(4)]
    cluster = FakeCluster(nodes, [])
    policy = informed(Policy(order), cluster)
    coming = [
        a_job(n, pool, maps, user=user, reduces=reduces, priority=priority)
        for n, (pool, user, maps, reduces, priority) in enumerate(jobs)
    ]
    for move in [(5, 0), (5, 0), *moves]:
        make_move(move, policy, cluster, coming)
        for kind in KINDS:
            told = queued(order, kind, cluster)
            assert [score for _, score in told] == sorted(score for _, score in told)
            for name in order.queues:
                mine = [job for job, _ in told if order._jobs[job].queue.name == name]
                assert mine == recounted(order, name, cluster, kind)
