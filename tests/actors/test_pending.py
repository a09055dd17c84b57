"""The index of pending maps against a plain search, and the order in which maps run again."""

from collections.abc import Iterator

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.actors.books.pending_tasks import PendingMaps, PendingReduces, Retries
from callboard.scheduler.model import Locality

NODES, RACKS = 6, 3

REPLICAS = st.lists(
    st.lists(st.integers(0, NODES - 1), min_size=2, max_size=2, unique=True), min_size=1, max_size=9
)


def searched(held: list[list[int]], left: set[int], node: int) -> tuple[int, Locality]:
    """The nearest pending map, then the lowest index, by looking at every one."""
    near = [task for task in sorted(left) if node in held[task]]
    if near:
        return near[0], Locality.NODE
    racks = [{holder % RACKS for holder in holders} for holders in held]
    near = [task for task in sorted(left) if node % RACKS in racks[task]]
    if near:
        return near[0], Locality.RACK
    return min(left), Locality.OFF_RACK


def everywhere() -> range:
    return range(NODES)


@given(held=REPLICAS, visits=st.lists(st.integers(0, NODES - 1), min_size=9, max_size=9))
@settings(derandomize=True, max_examples=200)
def test_the_nearest_map_and_the_lowest_is_taken(held: list[list[int]], visits: list[int]) -> None:
    pending = PendingMaps(len(held), np.array(held, dtype="<i4"), RACKS, everywhere)
    left = set(range(len(held)))
    for node in visits:
        if not left:
            assert pending.nearest(node) is None
            break
        task, level = searched(held, left, node)
        assert pending.nearest(node) is level
        assert pending.take_for_node(node) == (task, level)
        left.remove(task)
        assert pending.left == len(left)


def test_maps_that_must_run_again_go_first_most_failures_first_and_anywhere() -> None:
    """JobInProgress.findNewMapTask; the level told is the real one."""
    held = np.array([[0, 1], [2, 3], [4, 5]], dtype="<i4")
    pending = PendingMaps(3, held, 6, everywhere)
    assert [pending.take_for_node(node)[0] for node in (0, 2)] == [0, 1]
    pending.give_back(0)
    pending.give_back(1)
    assert pending.nearest(0) is Locality.NODE  # though only map 2, far away, never ran
    assert pending.take_for_node(4) == (0, Locality.OFF_RACK)
    pending.give_back(0)
    assert pending.nearest(4) is Locality.NODE
    assert [pending.take_for_node(4)[0] for _ in range(3)] == [0, 1, 2]


def test_missing_replicas_are_nowhere() -> None:
    pending = PendingMaps(1, np.array([[0, -1, -1]], dtype="<i4"), 2, everywhere)
    assert pending.nearest(1) is Locality.OFF_RACK
    assert pending.nearest(2) is Locality.RACK


def test_a_job_of_a_hundred_thousand_maps_costs_nothing_until_they_run() -> None:
    """No object a task before then: the books hold a byte a map and a view of the message."""
    replicas = np.zeros((100_000, 3), dtype="<i4")
    pending = PendingMaps(100_000, replicas, 4, everywhere)
    assert pending._by_place is None
    assert len(pending._taken) == 100_000
    assert not pending.again


def test_reduces_open_once_and_come_back_first() -> None:
    reduces = PendingReduces(3, everywhere)
    assert reduces.nearest(0) is None
    reduces.open()
    assert [reduces.take_for_node(0)[0] for _ in range(2)] == [0, 1]
    reduces.give_back(0)
    assert [reduces.take_for_node(0)[0] for _ in range(2)] == [0, 2]
    assert reduces.left == 0


def test_a_task_does_not_run_where_it_failed_unless_it_failed_everywhere() -> None:
    """JobInProgress.findTaskFromList, for maps and for reduces."""
    maps = PendingMaps(2, np.array([[0], [0]], dtype="<i4"), 1, lambda: range(3))
    reduces = PendingReduces(2, lambda: range(3))
    reduces.open()
    for pending in (maps, reduces):
        assert [pending.take_for_node(0)[0] for _ in range(2)] == [0, 1]
        for failed, node in enumerate((0, 1, 2)):
            pending.give_back(1)
            pending.again.avoid(1, node)
            everywhere_failed = failed == 2
            allowed = [host for host in range(3) if pending.nearest(host) is not None]
            assert allowed == ([0, 1, 2] if everywhere_failed else list(range(node + 1, 3)))
            assert pending.take_for_node(allowed[0])[0] == 1


def test_what_never_ran_goes_on_where_what_failed_may_not() -> None:
    maps = PendingMaps(2, np.array([[0], [0]], dtype="<i4"), 1, lambda: range(3))
    assert maps.take_for_node(0) == (0, Locality.NODE)
    maps.give_back(0)
    maps.again.avoid(0, 0)
    assert maps.nearest(0) is Locality.NODE
    assert maps.take_for_node(0) == (1, Locality.NODE)
    assert maps.nearest(0) is None
    assert maps.take_for_node(1) == (0, Locality.RACK)


def test_whether_a_task_failed_on_every_host_is_found_without_looking_at_all_hosts() -> None:
    """JobInProgress.findTaskFromList, at a cost that does not grow with the cluster."""
    looked_at: list[int] = []

    def hosts() -> Iterator[int]:
        for host in range(10_000):
            looked_at.append(host)
            yield host

    retries = Retries(hosts)
    retries.add(5)
    for node in (0, 1, 2):
        retries.avoid(5, node)
    assert not retries.suits(5, 1)
    assert looked_at == [0, 1, 2, 3]
