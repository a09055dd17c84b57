"""A policy's four parts: each can be replaced alone, and reasons say what was skipped."""

from collections.abc import Iterator

import pytest

from callboard.scheduler.decisions import Launch, Speculate
from callboard.scheduler.model import Locality, SlotKind
from callboard.scheduler.policy import LocalityRule, Policy, PolicySpecError, SpeculationRule
from callboard.scheduler.reasons import MAX_SKIPS, Note, Reason, Skip, Why
from callboard.scheduler.registry.parts import make_policy
from callboard.scheduler.view import ClusterView, JobView, Offer
from tests.support.view import FakeCluster, FakeJob, FakeNode, FakeOffer, heartbeat, informed


class NodeOnly(LocalityRule):
    """Refuses every map that is not data-local."""

    name = "node-only"
    summary = "for tests"

    def refusal(
        self,
        job: JobView,  # noqa: ARG002
        level: Locality,
        offer: Offer,  # noqa: ARG002
        view: ClusterView,  # noqa: ARG002
    ) -> Note | None:
        return None if level is Locality.NODE else Note("not local")


class AlwaysACopy(SpeculationRule):
    """Offers one copy of job 0 wherever nothing else is to be had."""

    name = "always-a-copy"
    summary = "for tests"

    def speculate(self, kind: SlotKind, offer: Offer, view: ClusterView) -> Speculate | None:  # noqa: ARG002
        if kind is SlotKind.REDUCE:
            return None
        return Speculate(1, Why(Reason.OWN, self.name, 1))


def launches(policy: Policy, jobs: list[FakeJob]) -> Iterator[Launch]:
    node = FakeNode(0, (1, 0))
    cluster = FakeCluster([node], jobs)
    yield from heartbeat(informed(policy, cluster), cluster, node)


@pytest.mark.parametrize("order", ["fifo", "fair"])
def test_a_locality_rule_serves_any_order_and_the_reason_names_the_skipped(order: str) -> None:
    policy = Policy(make_policy(order).order, NodeOnly())
    jobs = [FakeJob(n, [1, 0]) for n in range(2)] + [FakeJob(2, [1, 0], homes=frozenset({0}))]
    (launch,) = launches(policy, jobs)
    assert (launch.job, launch.why.rank) == (2, 3)
    assert launch.why.skipped == (Skip(0, Note("not local")), Skip(1, Note("not local")))


def test_a_reason_names_only_so_many() -> None:
    far = [FakeJob(n, [1, 0]) for n in range(MAX_SKIPS + 5)]
    near = FakeJob(99, [1, 0], homes=frozenset({0}), submitted_ms=1)
    (launch,) = launches(Policy(make_policy("fifo").order, NodeOnly()), [*far, near])
    assert (launch.why.rank, len(launch.why.skipped)) == (MAX_SKIPS + 6, MAX_SKIPS)


def test_a_speculation_rule_is_asked_when_nothing_is_pending_here() -> None:
    policy = Policy(make_policy("fifo").order, NodeOnly(), speculation=AlwaysACopy())
    node = FakeNode(0, (1, 0))
    for homes, decision in ((frozenset({0}), Launch), (frozenset({1}), Speculate)):
        cluster = FakeCluster([node], [FakeJob(0, [1, 0], homes=homes)])
        assert isinstance(informed(policy, cluster).decide(FakeOffer(node), cluster), decision)


def test_nothing_is_launched_where_nothing_is_free() -> None:
    node = FakeNode(0, (2, 0), [2, 0])
    cluster = FakeCluster([node], [FakeJob(0, [5, 5], reduces=5, homes=frozenset({0}))])
    assert heartbeat(informed(make_policy("fair"), cluster), cluster, node) == []


def test_an_unknown_policy_is_named_with_the_one_that_was_meant() -> None:
    with pytest.raises(PolicySpecError, match=r"unknown policy `fiar`; did you mean `fair`\?"):
        make_policy("fiar")


def test_a_locality_rule_has_no_say_over_reduces() -> None:
    node = FakeNode(0, (0, 1))
    cluster = FakeCluster([node], [FakeJob(0, [0, 1], reduces=1)])
    policy = informed(Policy(make_policy("fifo").order, NodeOnly()), cluster)
    assert [launch.kind for launch in heartbeat(policy, cluster, node)] == [SlotKind.REDUCE]
