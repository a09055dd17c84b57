"""A policy that remembers whom the last offer refused a map answers as if it had asked anew."""

from typing import Any

import pytest
from hypothesis import given, settings

from callboard.actors.config import Cluster, Heartbeats
from callboard.actors.kernel.kernel import Kernel
from callboard.scheduler.model import JobId, SlotKind
from callboard.scheduler.policy import Policy
from callboard.scheduler.registry.shipped import ORDERS
from callboard.scheduler.view import ClusterView, Offer
from tests.support.preempt import hasty_policy
from tests.support.strategies import WORLDS, DrawnWorld
from tests.support.world import PlayedRun, job, play


class Forgetful(Policy):
    """Goes through the whole queue for each offer; counts the offers that need not have."""

    spared = 0

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy.order, policy.locality, policy.preemption, policy.speculation)

    def _refuses_all_again(
        self,
        kind: SlotKind,
        offer: Offer,
        view: ClusterView,
        passed: list[JobId] | None,  # noqa: ARG002
    ) -> bool:
        self.spared += super()._refuses_all_again(kind, offer, view, None)
        return False


@given(world=WORLDS)
@settings(derandomize=True, max_examples=30, deadline=None)
def test_a_refusal_that_is_known_need_not_be_found_again(world: DrawnWorld) -> None:
    check_memory(world)


@pytest.mark.soak
@given(world=WORLDS)
@settings(derandomize=True, max_examples=300, deadline=None)
def test_in_more_worlds_neither(world: DrawnWorld) -> None:
    check_memory(world)


def check_memory(world: DrawnWorld) -> None:
    """With what was refused kept and without, the same happens."""
    remembering = hasty_policy(world.policy, world.rule)
    forgetful = Forgetful(hasty_policy(world.policy, world.rule))
    assert world.play(remembering).events == world.play(forgetful).events


def test_under_every_order_known_refusals_are_most_refusals() -> None:
    """Three jobs of two maps each, on forty nodes: they wait for the few that hold their data."""
    cluster = Cluster(nodes=40, racks=4, replication=1, heartbeat=Heartbeats(phase_grid_ms=100))
    jobs = [job(n, maps=2, map_ms=20_000, submit_ms=10_000 + 100 * n) for n in range(3)]
    for order in ORDERS:
        spec = f"{order}+delay(node=20,rack=20)"
        forgetful = Forgetful(hasty_policy(spec, "no_preemption"))
        remembering = hasty_policy(spec, "no_preemption")
        events = play(jobs, forgetful, cluster=cluster).events
        assert events == play(jobs, remembering, cluster=cluster).events, order
        assert forgetful.spared > 20 or not ORDERS[order].same_for_every_node, order


@pytest.mark.parametrize("order", ["fifo", "fair", "hfsp", 'srpt(size="oracle")'])
def test_most_offers_refused_again_need_no_superstep_and_nothing_else_changes(
    order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = Cluster(nodes=40, racks=4, replication=1, heartbeat=Heartbeats(phase_grid_ms=1))
    jobs = [job(n, maps=2, map_ms=20_000, submit_ms=10_000 + 100 * n) for n in range(3)]
    ran_on: list[int] = []
    run_on = Kernel.run_on

    def counted(self: Kernel, *timer: Any) -> bool:
        ran_on.append(run_on(self, *timer))
        return bool(ran_on[-1])

    def played() -> PlayedRun:
        return play(
            jobs, hasty_policy(f"{order}+delay(node=20,rack=20)", "no_preemption"), cluster=cluster
        )

    monkeypatch.setattr(Kernel, "run_on", counted)
    quick = played()
    monkeypatch.setattr(Kernel, "run_on", lambda *_: False)
    plain = played()
    assert sum(ran_on) > 20
    assert 2 * sum(ran_on) > len(ran_on)
    assert quick.events == plain.events
    assert quick.kernel.digest() == plain.kernel.digest()
