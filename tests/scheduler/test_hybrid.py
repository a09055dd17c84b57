"""The hybrid scheduler: who serves at which load, the guard against flapping, seamless changes."""

from itertools import pairwise
from typing import Literal

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.actors.config import Cluster, Heartbeats
from callboard.actors.vocabulary.events import OrderSwitched
from callboard.journal.run_state import RunState
from callboard.journal.tell.sentences import Narrator
from callboard.scheduler.decisions import Switch
from callboard.scheduler.facts import Progressed
from callboard.scheduler.model import KINDS, MAPS, JobId, SlotKind
from callboard.scheduler.orders.coshh.coshh import Coshh
from callboard.scheduler.orders.coshh.hybrid import Hybrid
from callboard.scheduler.orders.coshh.user_entitlements import UserParams
from callboard.scheduler.orders.fair.fair import Fair
from callboard.scheduler.orders.fifo import Fifo
from callboard.scheduler.policy import Order, Policy
from callboard.scheduler.registry.parts import make_policy
from tests.support.view import FakeCluster, FakeJob, FakeNode, close, heartbeat, informed, queued
from tests.support.world import PlayedRun, job, play

MAP, REDUCE = SlotKind.MAP, SlotKind.REDUCE


class Lab:
    """One node of ten map and four reduce slots, and a hybrid scheduler that hears of it."""

    def __init__(self, params: Hybrid.Params | None = None) -> None:
        self.order = Hybrid(params)
        self.policy = Policy(self.order)
        self.node = FakeNode(0, (10, 4))
        self.cluster = FakeCluster([self.node], [])
        informed(self.policy, self.cluster)
        self.jobs = 0

    def add(self, maps: int, reduces: int = 0) -> Switch | None:
        """A job comes; what its last fact brought about."""
        self.jobs += 1
        self.cluster.add(FakeJob(self.jobs, [maps, reduces], user=f"u{self.jobs % 3}"), self.policy)
        return self.order.switch

    def end(self, count: int) -> None:
        """That many of the running tasks end."""
        for attempt in list(self.cluster.attempts_)[:count]:
            close(self.policy, self.cluster, attempt, succeeded=True)

    @property
    def name(self) -> str:
        return self.order.order.name


def test_the_papers_three_loads() -> None:
    """V: more free slots than waiting tasks, FIFO; fewer, Fair; as many waiting as slots, COSHH."""
    lab = Lab()
    assert (lab.name, lab.add(9)) == ("fifo", None)
    assert lab.add(1) == Switch("fifo", "fair", SlotKind.MAP, 10, 10, 10)
    assert len(heartbeat(lab.policy, lab.cluster, lab.node)) == 10
    assert lab.name == "fair"
    assert lab.add(9) is None
    assert lab.add(1) == Switch("fair", "coshh", SlotKind.MAP, 10, 0, 10)
    assert lab.add(500) is None


def test_reduces_count_by_their_own_slots() -> None:
    lab = Lab()
    lab.add(1, reduces=3)
    assert lab.name == "fifo"
    lab.add(1, reduces=5)
    assert lab.name == "coshh"


def test_a_switch_is_told_with_the_fact_that_brought_it_and_once() -> None:
    lab = Lab()
    assert lab.add(25) == Switch("fifo", "coshh", SlotKind.MAP, 25, 10, 10)
    assert heartbeat(lab.policy, lab.cluster, lab.node)
    assert lab.order.switch is None


def test_thresholds_and_margin_are_parameters() -> None:
    """Fair from 2 waiting a slot, COSHH from 3, back when half a slot's worth below."""
    lab = Lab(Hybrid.Params(balanced_from=2.0, overloaded_from=3.0, margin=0.5))
    served = []
    for maps in (29, 1, 9, 1):
        lab.add(maps)
        served.append(lab.name)
    assert served == ["fifo", "fair", "fair", "coshh"]
    heartbeat(lab.policy, lab.cluster, lab.node)
    lab.end(5)
    assert lab.name == "coshh"  # 35 maps on 10 slots: 2.5, no more than the margin below
    lab.end(1)
    assert lab.name == "fair"


def test_how_far_tasks_are_is_nothing_to_an_order_none_of_whose_orders_hears_it() -> None:
    """Under a speculation rule these are nearly all facts, and each would be a look at the load."""
    assert not make_policy("hybrid+late").tells_order(Progressed(0, MAPS, 1, 0.5, 1000))


def test_a_launch_changes_no_load() -> None:
    lab = Lab(Hybrid.Params(margin=0.0))
    lab.add(10)
    names = []
    while lab.cluster.job(1).pending(MAP):
        assert heartbeat(lab.policy, lab.cluster, lab.node)
        names.append(lab.name)
    assert set(names) == {"fair"}


@given(moves=st.lists(st.integers(-6, 6), max_size=60), margin=st.sampled_from([0.1, 0.3, 1.0]))
@settings(derandomize=True, max_examples=100, deadline=None)
def test_no_flapping_around_a_threshold(moves: list[int], margin: float) -> None:
    """To go back the load must have changed by the margin at least: from one change of the order
    to the opposite one by that many tasks a slot.
    """
    lab = Lab(Hybrid.Params(margin=margin))
    changes: list[tuple[str, str, int]] = []
    for move in moves:
        before = lab.name
        if move > 0:
            lab.add(move)
            heartbeat(lab.policy, lab.cluster, lab.node)
        else:
            lab.end(-move)
            heartbeat(lab.policy, lab.cluster, lab.node)
        if lab.name != before:
            tasks = sum(j.running(MAP) + j.pending(MAP) for j in lab.cluster.jobs())
            changes.append((before, lab.name, tasks))
    for (was, now, tasks), (again_was, again_now, later) in pairwise(changes):
        if (was, now) == (again_now, again_was):
            assert abs(later - tasks) >= margin * 10


def test_a_load_that_hovers_at_a_threshold_changes_nothing() -> None:
    """A task ends and a job of one comes, again and again, just at the threshold."""
    lab = Lab()
    lab.add(20)
    heartbeat(lab.policy, lab.cluster, lab.node)
    names = []
    for _ in range(20):
        lab.end(1)
        names.append(lab.name)
        lab.add(1)
        names.append(lab.name)
        heartbeat(lab.policy, lab.cluster, lab.node)
    assert set(names) == {"coshh"}
    bold = Lab(Hybrid.Params(margin=0.0))
    bold.add(20)
    heartbeat(bold.policy, bold.cluster, bold.node)
    bold.end(1)
    assert bold.name == "fair"


@pytest.mark.parametrize("load", [3, 14, 60])
def test_whoever_serves_has_heard_everything(load: int) -> None:
    """The queue is that of an order which served alone from the start on the same facts."""
    users = {"u1": UserParams(weight=2.0, min_maps=1)}
    hybrid = Hybrid(Hybrid.Params(users=users))
    alone: dict[str, Order] = {
        "fifo": Fifo(),
        "fair": Fair(Hybrid.Params(users=users).fair_params()),
        "coshh": Coshh(Coshh.Params(users=users)),
    }
    listeners = [Policy(hybrid), *(Policy(order) for order in alone.values())]
    nodes = [FakeNode(0, (8, 2)), FakeNode(1, (2, 2), node_type="io")]
    cluster = FakeCluster(nodes, [])
    everyone = _Everyone(listeners)
    informed(everyone, cluster)
    for number in range(1, 7):
        cluster.add(FakeJob(number, [load // 6 + 1, load // 20], user=f"u{number % 3}"), everyone)
        heartbeat(everyone, cluster, nodes[number % 2])
    assert hybrid.order.name == {3: "fifo", 14: "fair", 60: "coshh"}[load]
    for kind in KINDS:
        for node in (0, 1):
            mine = queued(hybrid, kind, cluster, node)
            assert mine == queued(alone[hybrid.order.name], kind, cluster, node)


class _Everyone(Policy):
    """The first one decides, all hear of it."""

    def __init__(self, policies: list[Policy]) -> None:
        super().__init__(policies[0].order)
        self._all = policies

    def observe(self, fact: object, view: object) -> None:
        for policy in self._all:
            policy.observe(fact, view)  # type: ignore[arg-type]


def busy_hour(send: Literal["all", "needed"]) -> PlayedRun:
    """Little to do, then much, then nothing more."""
    jobs = [job(0, 2, 8000, submit_ms=5000), job(1, 2, 8000, submit_ms=20_000)]
    jobs += [job(n, 12, 9000, submit_ms=40_000 + 500 * n, reduces=1) for n in range(2, 6)]
    heartbeats = Heartbeats(send=send)
    return play(jobs, "hybrid", cluster=Cluster(nodes=4, racks=2, heartbeat=heartbeats))


def test_each_change_is_an_event_and_the_same_with_elided_heartbeats() -> None:
    run = busy_hour("needed")
    told = run.all(OrderSwitched)
    names = [told[0].was, *(each.now for each in told)]
    assert names == ["fifo", "fair", "coshh", "fair", "fifo"]
    assert (
        Narrator(RunState()).describe(told[1]).startswith("the order changes from fair to coshh: ")
    )
    assert msgspec.msgpack.encode(run.events) == msgspec.msgpack.encode(busy_hour("all").events)


def test_the_reason_of_a_launch_names_the_order_that_served() -> None:
    served: dict[JobId, set[str]] = {}
    for launch in busy_hour("needed").launches():
        served.setdefault(launch.job, set()).add(launch.why.serving)
        assert launch.why.part == "hybrid"
    assert served[0] == {"fifo"}
    assert "coshh" in served[5]


def test_other_orders_never_speak() -> None:
    assert not make_policy("fair").order.switches
    assert make_policy("fair").order.switch is None
    assert make_policy("hybrid+kill").order.switches
