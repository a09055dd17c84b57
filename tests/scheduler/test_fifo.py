"""FIFO against Hadoop's JobQueueTaskScheduler."""

import pytest

from callboard.scheduler.decisions import Launch
from callboard.scheduler.model import Priority, SlotKind
from callboard.scheduler.registry.parts import make_policy
from tests.support.view import FakeCluster, FakeJob, FakeNode, heartbeat, informed

HERE = frozenset({0})


def served(launches: list[Launch], kind: SlotKind = SlotKind.MAP) -> list[int]:
    return [launch.job for launch in launches if launch.kind is kind]


def busy(node: int, slots: int = 2) -> FakeNode:
    """A node whose map slots are all taken."""
    return FakeNode(node, (slots, 0), [slots, 0])


def test_jobs_go_by_priority_then_submit_time_then_number() -> None:
    jobs = [
        FakeJob(0, [1, 0], submitted_ms=5, homes=HERE),
        FakeJob(1, [1, 0], submitted_ms=3, homes=HERE),
        FakeJob(2, [1, 0], submitted_ms=3, homes=HERE),
        FakeJob(3, [1, 0], submitted_ms=9, priority=Priority.HIGH, homes=HERE),
    ]
    node = FakeNode(0, (4, 0))
    cluster = FakeCluster([node], jobs)
    launches = heartbeat(informed(make_policy("fifo"), cluster), cluster, node)
    assert served(launches) == [3, 1, 2, 0]
    assert [launch.why.rank for launch in launches] == [1, 1, 1, 1]
    assert [launch.why.score for launch in launches] == [0.009, 0.003, 0.003, 0.005]


def test_a_later_jobs_local_map_waits_for_an_earlier_jobs_off_rack_one() -> None:
    """FIFO is not blind to order for locality's sake; and the off-rack map ends the maps."""
    jobs = [FakeJob(0, [5, 0]), FakeJob(1, [5, 0], homes=HERE)]
    node = FakeNode(0, (4, 0))
    cluster = FakeCluster([node], jobs)
    assert served(heartbeat(informed(make_policy("fifo"), cluster), cluster, node)) == [0]


def test_a_heartbeat_brings_one_reduce() -> None:
    node = FakeNode(0, (2, 4))
    cluster = FakeCluster([node], [FakeJob(0, [0, 9], reduces=9)])
    launches = heartbeat(informed(make_policy("fifo"), cluster), cluster, node)
    assert served(launches, SlotKind.REDUCE) == [0]


def test_a_node_is_filled_to_its_share_of_the_load() -> None:
    """Three maps over 4 nodes of 2 slots: ceil(3/8 · 2) = 1 map a node."""
    nodes = [FakeNode(n, (2, 0)) for n in range(4)]
    cluster = FakeCluster(nodes, [FakeJob(0, [3, 0], homes=frozenset(range(4)))])
    policy = informed(make_policy("fifo"), cluster)
    assert [len(heartbeat(policy, cluster, node)) for node in nodes] == [1, 1, 1, 0]


def test_with_little_left_a_heartbeat_brings_one_task() -> None:
    """Padding: five nodes, eight of ten slots taken, 200 maps wanted by a job with reduces:
    8 + min(2, 1 % of 200) reaches 10, so one task only.  With three nodes there is no padding.
    """
    job = FakeJob(0, [192, 0], running_=[8, 0], homes=HERE, reduces=1)
    node = FakeNode(0, (2, 0))
    cluster = FakeCluster([node, *(busy(n) for n in range(1, 5))], [job])
    assert len(heartbeat(informed(make_policy("fifo"), cluster), cluster, node)) == 1
    few = FakeNode(0, (2, 0))
    small = FakeCluster([few, busy(1), busy(2)], [FakeJob(0, [196, 0], homes=HERE, reduces=1)])
    assert len(heartbeat(informed(make_policy("fifo"), small), small, few)) == 2


def test_jobs_without_reduces_ask_for_no_padding() -> None:
    """exceededPadding passes over map-only jobs."""
    node = FakeNode(0, (2, 0))
    job = FakeJob(0, [192, 0], running_=[8, 0], homes=HERE)
    cluster = FakeCluster([node, *(busy(n) for n in range(1, 5))], [job])
    assert len(heartbeat(informed(make_policy("fifo"), cluster), cluster, node)) == 2


@pytest.mark.parametrize(("nodes", "brought"), [(3, 2), (4, 1)])
def test_padding_starts_with_the_fourth_node(nodes: int, brought: int) -> None:
    """1 % of 200 wanted maps is 2 of padding, and the others' slots are all taken."""
    free = FakeNode(0, (2, 0))
    job = FakeJob(0, [200 - 2 * (nodes - 1), 0], [2 * (nodes - 1), 0], homes=HERE, reduces=1)
    cluster = FakeCluster([free, *(busy(n) for n in range(1, nodes))], [job])
    assert len(heartbeat(informed(make_policy("fifo"), cluster), cluster, free)) == brought


def test_padding_is_reckoned_as_the_heartbeat_found_the_cluster() -> None:
    """Sixteen slots, twelve of them taken, one of padding: room for all four of this node's,
    though after the third the cluster would look full.
    """
    free = FakeNode(0, (4, 0))
    job = FakeJob(0, [88, 0], [12, 0], homes=HERE, reduces=1)
    cluster = FakeCluster([free, *(busy(n, slots=4) for n in range(1, 4))], [job])
    assert len(heartbeat(informed(make_policy("fifo"), cluster), cluster, free)) == 4
