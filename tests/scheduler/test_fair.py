"""Equal shares against the Fair Scheduler's comparator and Hadoop's own tests."""

from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.scheduler.facts import Closed
from callboard.scheduler.model import MAPS, PRIORITY_WEIGHTS, Priority, SlotKind
from callboard.scheduler.registry.parts import make_policy
from tests.support.view import FakeCluster, FakeJob, FakeNode, heartbeat, informed

HERE = frozenset({0, 1})


def test_two_large_jobs_alternate_slots() -> None:
    """TestFairScheduler.testLargeJobs."""
    nodes = [FakeNode(0, (2, 0)), FakeNode(1, (2, 0))]
    cluster = FakeCluster(nodes, [FakeJob(n, [10, 0], homes=HERE) for n in range(2)])
    policy = informed(make_policy("fair"), cluster)
    order = [launch.job for node in nodes for launch in heartbeat(policy, cluster, node)]
    assert order == [0, 1, 0, 1]


def test_a_high_priority_job_gets_four_of_six() -> None:
    """TestFairScheduler.testJobsWithPriorities: weight 2 beside 1."""
    node = FakeNode(0, (6, 0))
    jobs = [
        FakeJob(0, [10, 0], homes=HERE),
        FakeJob(1, [10, 0], homes=HERE, priority=Priority.HIGH),
    ]
    cluster = FakeCluster([node], jobs)
    order = [x.job for x in heartbeat(informed(make_policy("fair"), cluster), cluster, node)]
    assert (order.count(0), order.count(1)) == (2, 4)


def test_the_kind_of_which_the_node_runs_less_is_filled_first() -> None:
    node = FakeNode(0, (2, 2), [1, 0])
    job = FakeJob(0, [5, 5], homes=HERE, reduces=5, running_=[1, 0])
    cluster = FakeCluster([node], [job])
    launches = heartbeat(informed(make_policy("fair"), cluster), cluster, node)
    assert [x.kind for x in launches] == [SlotKind.REDUCE, SlotKind.MAP, SlotKind.REDUCE]


def test_few_tasks_are_spread_one_a_node() -> None:
    """TestFairScheduler.testAssignMultipleWithUnderloadedCluster: ceil(2 slots · 4/8) = 1."""
    nodes = [FakeNode(n, (2, 0)) for n in range(4)]
    cluster = FakeCluster(nodes, [FakeJob(0, [4, 0], homes=frozenset(range(4)))])
    policy = informed(make_policy("fair"), cluster)
    assert [len(heartbeat(policy, cluster, node)) for node in nodes] == [1, 1, 1, 1]


@given(
    demands=st.lists(st.integers(0, 12), min_size=1, max_size=6),
    priorities=st.lists(st.sampled_from(Priority), min_size=6, max_size=6),
    slots=st.integers(1, 20),
)
@settings(derandomize=True, max_examples=200)
def test_f3_max_min_shares_of_one_filling(
    demands: list[int], priorities: list[Priority], slots: int
) -> None:
    """F3: work is conserved, and of two jobs i, j with i unmet, (a_j − 1)/w_j ≤ a_i/w_i."""
    node = FakeNode(0, (slots, 0))
    jobs = [
        FakeJob(n, [demand, 0], homes=HERE, priority=priorities[n])
        for n, demand in enumerate(demands)
    ]
    cluster = FakeCluster([node], jobs)
    launches = heartbeat(informed(make_policy("fair"), cluster), cluster, node)
    assert len(launches) == min(sum(demands), slots)
    for unmet in jobs:
        if not unmet.pending(SlotKind.MAP):
            continue
        mine = unmet.running(SlotKind.MAP) / PRIORITY_WEIGHTS[unmet.priority]
        for other in jobs:
            if other is not unmet:
                before_last = other.running(SlotKind.MAP) - 1
                assert before_last / PRIORITY_WEIGHTS[other.priority] <= mine


def test_a_job_whose_attempt_has_ended_moves_forward_again() -> None:
    """Both run two; the second job's attempt ends, and the freed slot is its again."""
    node = FakeNode(0, (4, 0))
    cluster = FakeCluster([node], [FakeJob(n, [9, 0], homes=HERE) for n in range(2)])
    policy = informed(make_policy("fair"), cluster)
    assert len(heartbeat(policy, cluster, node)) == 4
    cluster.job(1).running_[SlotKind.MAP] -= 1
    node.running_[SlotKind.MAP] -= 1
    policy.observe(Closed(1, MAPS, 4, 0, succeeded=True), cluster)
    assert [launch.job for launch in heartbeat(policy, cluster, node)] == [1]
