"""YARN's queues: its own tests, Kueue's worked example, and what hangs on each rule.

Rules and figures: TestProportionalCapacityPreemptionPolicy, TestLeafQueue,
TestPriorityUtilizationQueueOrderingPolicy, TestComputeFairShares and
TestDominantResourceFairnessPolicy of apache/hadoop.
"""

import json
from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.scheduler.queues import (
    amounts,
    dominant_order,
    ideal_allocation,
    queue_order,
    user_limit,
)
from callboard.scheduler.queues.amounts import DominantCalculator, MemoryCalculator
from callboard.scheduler.queues.ideal_allocation import BalanceParams, balance_queues
from callboard.scheduler.queues.preemption_victims import (
    AskedContainers,
    HeldContainer,
    LeafVictims,
    VictimParams,
    select_victims,
)
from callboard.scheduler.queues.queue_order import RankedQueue, in_order_of_need
from callboard.scheduler.queues.queue_tree import MonitoredQueue, QueueTreeError, queue_tree
from callboard.scheduler.queues.tree_shares import ShareNode, tree_shares
from callboard.scheduler.queues.whole_fair_shares import SharePool, whole_fair_shares
from tests.support.traces import oracle
from trials.oracles import yarn_monitor, yarn_rules, yarn_users
from trials.oracles.comparison import Cell

ALL_AT_ONCE = BalanceParams(portion_per_round=1.0, natural_termination=1.0)


def read(name: str) -> Any:
    return json.loads(oracle(name).read_text("utf-8"))


def monitor_cells() -> list[Cell]:
    return yarn_monitor.cells(read("yarn-preemption-monitor.json"))


def rule_cells() -> list[Cell]:
    return yarn_rules.cells(read("yarn-queues-users-drf.json"))


def test_the_monitor_asks_for_the_containers_that_hadoops_tests_want() -> None:
    found = monitor_cells()
    assert [each.what for each in found if not each.agrees] == []
    assert len(found) >= 13


def test_order_limits_shares_and_vectors_are_those_of_hadoops_tests() -> None:
    found = rule_cells()
    assert [each.what for each in found if not each.agrees] == []
    assert {each.what.split()[0] for each in found} == set(yarn_rules.KINDS)


PLANTED: dict[str, tuple[Any, str, Callable[..., Any], Callable[[], list[Cell]]]] = {
    "portions rounded up": (amounts, "half_up", ceil, monitor_cells),
    "portions cut": (amounts, "half_up", int, monitor_cells),
    "whoever, not the most underserved": (
        ideal_allocation,
        "need_rank",
        lambda *_: (False, 0, 0.0),
        rule_cells,
    ),
    "disabled preemption forgotten": (
        ideal_allocation,
        "_set_untouchable",
        lambda *_: None,
        monitor_cells,
    ),
    "priority before need": (
        queue_order,
        "need_rank",
        lambda used, priority: (False, -priority, used),
        rule_cells,
    ),
    "a user at the limit gets nothing": (
        yarn_users,
        "may_have_another",
        lambda held, limit, *_: held < limit,
        rule_cells,
    ),
    "limits rounded down": (user_limit, "ceil", floor, rule_cells),
    "what is used, not its share": (dominant_order, "_over", lambda used, _: used, rule_cells),
}


@pytest.mark.parametrize("planted", PLANTED)
def test_hadoops_tests_tell_a_rule_that_is_wrong(
    planted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, name, wrong, cells = PLANTED[planted]
    monkeypatch.setattr(module, name, wrong)
    assert not all(each.agrees for each in cells())


def test_shares_are_those_of_javas_floats() -> None:
    """0.7 of 10 is 6 there, since the nearest float of 32 bits is below 0.7."""
    assert amounts.scaled_and_truncated((10,), amounts.float32(0.7)) == (6,)
    assert amounts.float32(Fraction(1, 4)) == 0.25
    assert [amounts.half_up(each) for each in (0.4, 0.5, 1.49, 2.5)] == [0, 1, 1, 3]


def test_portions_of_one_resource_are_rounded_half_up_and_of_several_up() -> None:
    """DefaultResourceCalculator and DominantResourceCalculator; 3 · ⅓ is 1 only as a `float`."""
    third = amounts.float32(Fraction(1, 3))
    assert MemoryCalculator().portion((4, 5), (third, 0.5)) == (1, 3)
    assert DominantCalculator().portion((4, 5, 3), (third, 0.5, third)) == (2, 3, 1)


def test_of_equal_dominant_shares_the_next_counts_and_what_there_is_none_of_does_not() -> None:
    compare = DominantCalculator().compare
    assert compare((10, 10, 0), (5, 1, 7), (2, 5, 9)) < 0
    assert compare((10, 10, 0), (5, 2, 7), (2, 5, 9)) == 0
    assert compare((0, 0), (1, 2), (1, 1)) > 0
    assert compare((0, 0), (0, 2), (1, 1)) == 0


def test_story_3_of_kep_1714_gives_30_30_90_and_150() -> None:
    def queue(name: str, weight: int) -> ShareNode:
        return ShareNode(name=name, weight=weight, demand=300)

    root = ShareNode(
        name="root",
        children=(
            ShareNode(name="C1", children=(queue("a", 1), queue("b", 1), queue("c", 3))),
            ShareNode(name="C2", children=(queue("d", 1),)),
        ),
    )
    assert dict(tree_shares(300, root)) == {"a": 30, "b": 30, "c": 90, "d": 150}


def test_what_a_branch_cannot_use_goes_to_its_sisters_first() -> None:
    first = ShareNode(
        name="C1", children=(ShareNode(name="a", demand=10), ShareNode(name="b", demand=300))
    )
    root = ShareNode(name="root", children=(first, ShareNode(name="c", demand=60)))
    assert dict(tree_shares(200, root)) == {"a": 10, "b": 130, "c": 60}


def test_yarns_whole_shares_may_add_up_to_more_than_there_is() -> None:
    """Each is cut to a whole number while the level is looked for: no level uses just 40."""
    assert whole_fair_shares(40, [SharePool()] * 3) == [14, 14, 14]
    assert whole_fair_shares(39, [SharePool()] * 3) == [13, 13, 13]


def test_pools_without_weight_maximum_or_work_share_nothing() -> None:
    pools = [
        SharePool(),
        SharePool(weight=Fraction(0), min_share=5),
        SharePool(max_share=0),
        SharePool(inactive=True, min_share=3),
    ]
    assert whole_fair_shares(20, pools) == [15, 5, 0, 0]
    assert whole_fair_shares(7, []) == []


def test_of_equal_queues_the_larger_goes_first_and_then_the_one_that_stood_first() -> None:
    queues = [
        RankedQueue("small", 0.5, 0.2),
        RankedQueue("large", 0.5, 0.6),
        RankedQueue("twin", 0.5, 0.2),
        RankedQueue("full", 1.0, 0.9, priority=9),
        RankedQueue("none", 0.0, 0.0, priority=9),
    ]
    names = [each.name for each in in_order_of_need(queues)]
    assert names == ["large", "small", "twin", "full", "none"]


def leaf(name: str, guaranteed: int, used: int, pending: int = 0, **more: Any) -> MonitoredQueue:
    parent = more.pop("parent", "root")
    maximum = more.pop("maximum", 100)
    return MonitoredQueue(
        name=name,
        parent=parent,
        guaranteed=(guaranteed,),
        maximum=(maximum,),
        used=(used,),
        pending=(pending,),
        reserved=(0,),
        **more,
    )


ROOT = leaf("root", 100, 100, parent=None)


def obtained(queues: list[MonitoredQueue], params: BalanceParams) -> list[int]:
    found = balance_queues(queues, MemoryCalculator(), params)
    return [found[queue.name].obtained[0] for queue in queues[1:]]


def test_a_round_takes_a_tenth_of_the_cluster_and_of_that_a_fifth() -> None:
    queues = [ROOT, leaf("a", 50, 0, 50), leaf("b", 50, 100)]
    assert obtained(queues, ALL_AT_ONCE) == [0, 50]
    assert obtained(queues, BalanceParams(natural_termination=1.0)) == [0, 10]
    assert obtained(queues, BalanceParams()) == [0, 2]


def test_a_queue_within_the_tolerance_is_left_alone() -> None:
    queues = [ROOT, leaf("a", 50, 0, 50), leaf("b", 50, 55)]
    assert obtained(queues, ALL_AT_ONCE) == [0, 0]
    queues[2] = leaf("b", 50, 56)
    assert obtained(queues, ALL_AT_ONCE) == [0, 6]


def test_satisfied_queues_balance_only_where_that_is_asked_for() -> None:
    """TestProportionalCapacityPreemptionPolicyPreemptToBalance has the same with other numbers."""
    queues = [ROOT, leaf("a", 10, 10, 90), leaf("b", 10, 90), leaf("c", 80, 0)]
    assert obtained(queues, ALL_AT_ONCE) == [0, 0, 0]
    balancing = BalanceParams(
        portion_per_round=1.0, natural_termination=1.0, beyond_guarantees=True
    )
    assert obtained(queues, balancing) == [0, 40, 0]


def test_what_a_leaf_may_keep_lessens_what_its_parent_gives_back() -> None:
    above = leaf("p", 40, 100)
    queues = [
        ROOT,
        leaf("q", 60, 0, 60),
        above,
        leaf("kept", 20, 60, parent="p", preemptable=False),
        leaf("taken", 20, 40, parent="p"),
    ]
    assert obtained(queues, ALL_AT_ONCE) == [0, 0, 0, 20]


@pytest.mark.parametrize(
    ("queues", "lack"),
    [
        ([], "0 queues have no parent"),
        ([ROOT, ROOT], "two queues have one name"),
        ([ROOT, leaf("other", 1, 1, parent=None)], "2 queues have no parent"),
        ([ROOT, leaf("a", 1, 1, parent="nobody")], "queue `a` is below `nobody`"),
        ([ROOT, leaf("a", 1, 1, parent="b"), leaf("b", 1, 1, parent="a")], "below each other"),
    ],
)
def test_queues_that_are_no_tree_are_refused(queues: list[MonitoredQueue], lack: str) -> None:
    with pytest.raises(QueueTreeError, match=lack):
        queue_tree(queues)


LEVELS = st.lists(
    st.tuples(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60), st.booleans()),
    min_size=1,
    max_size=5,
)


@settings(derandomize=True, max_examples=150)
@given(LEVELS, st.booleans())
def test_ideals_share_out_no_more_than_there_is_and_nobody_is_pushed_below_a_guarantee(
    level: list[tuple[int, int, int, bool]], beyond: bool
) -> None:
    """Even where guarantees add up to more than there is, as far as what is used fits."""
    total = max(sum(used for _, used, _, _ in level), 1)
    root = leaf("root", total, total, parent=None)
    queues = [
        leaf(f"q{n}", guaranteed, used, pending, maximum=total, preemptable=preemptable)
        for n, (guaranteed, used, pending, preemptable) in enumerate(level)
    ]
    params = BalanceParams(
        portion_per_round=1.0, natural_termination=1.0, tolerance=0.0, beyond_guarantees=beyond
    )
    found = balance_queues([root, *queues], MemoryCalculator(), params)
    assert sum(found[queue.name].ideal[0] for queue in queues) <= total
    for queue in queues:
        taken = found[queue.name].obtained[0]
        assert queue.used[0] - taken >= min(queue.used[0], queue.guaranteed[0])
        assert not taken or queue.preemptable


def held(number: int, **more: Any) -> HeldContainer:
    return HeldContainer(number=number, size=more.pop("size", (1,)), **more)


def chosen(
    applications: list[list[HeldContainer]], to_obtain: int, portion: float = 1.0
) -> list[int]:
    victims = LeafVictims(to_obtain=(to_obtain,), guaranteed=(20,), applications=applications)
    params = VictimParams(portion_per_round=portion)
    found = select_victims([victims], MemoryCalculator(), (100,), params)
    return [each.number for each in found]


def test_the_newest_application_loses_its_least_important_and_newest_container_first() -> None:
    old = [held(1), held(2)]
    new = [held(3), held(4, priority=5), held(5), held(6, is_reservation=True)]
    assert chosen([old, new], 6) == [6, 4, 5, 3, 2, 1]
    assert chosen([old, new], 2) == [6, 4]


def test_masters_go_last_and_a_tenth_of_the_queue_is_kept_for_them() -> None:
    apps = [[held(10 * n, is_master=True), held(10 * n + 1)] for n in range(4)]
    assert chosen(apps, 4) == [31, 21, 11, 1]
    assert chosen(apps, 8) == [31, 21, 11, 1, 30, 20]


def test_no_round_takes_a_container_that_is_more_than_it_may() -> None:
    apps = [[held(1), held(2, size=(3,)), held(3)]]
    assert chosen(apps, 5, portion=0.025) == [3, 1]


def test_a_container_that_brings_nothing_that_is_lacking_stays() -> None:
    """<30, 10, 0> to obtain is not brought nearer by a container of the third resource alone."""
    leaves = [
        LeafVictims(
            to_obtain=(30, 10, 0),
            guaranteed=(9, 9, 9),
            applications=[[held(1, size=(10, 0, 10)), held(2, size=(0, 0, 15))]],
        )
    ]
    at_once = VictimParams(portion_per_round=1)
    found = select_victims(leaves, DominantCalculator(), (100, 100, 100), at_once)
    assert [each.number for each in found] == [1]
    sparing = VictimParams(portion_per_round=1, conservative=True)
    assert select_victims(leaves, DominantCalculator(), (100, 100, 100), sparing) == []


def test_an_application_is_asked_first_and_killed_when_it_has_had_its_time() -> None:
    asked = AskedContainers(wait_before_kill_ms=15_000)
    rounds = [list(asked.ask_or_kill([1], now_ms)) for now_ms in (0, 3_000, 15_000, 18_000)]
    assert rounds == [[(1, False)], [], [(1, True)], [(1, False)]]


def test_who_is_no_longer_chosen_is_forgotten_after_twice_the_time() -> None:
    asked = AskedContainers(wait_before_kill_ms=10)
    assert list(asked.ask_or_kill([1], 0)) == [(1, False)]
    assert list(asked.ask_or_kill([], 21)) == []
    assert list(asked.ask_or_kill([1], 22)) == [(1, False)]


@pytest.mark.parametrize(
    ("change", "lack"),
    [
        ({"queues": [{"name": "a"}]}, "missing required field `abs`"),
        ({"conf": {"lazy": True}}, "unknown field `lazy`"),
        ({"expect": {}}, "asks for nothing"),
        ({"queues": []}, "0 queues have no parent"),
    ],
)
def test_a_case_that_cannot_be_played_says_why(change: dict[str, Any], lack: str) -> None:
    queue = {"name": "root", "abs": 1, "max": 1, "used": 0}
    case = {"test": "one", "queues": [queue], "disabled": [], "expect": {"A": 0}}
    (fine,) = yarn_monitor.cells([case])
    assert fine.agrees
    (cell,) = yarn_monitor.cells([case | change])
    assert (cell.ours, lack in cell.what) == (None, True)
