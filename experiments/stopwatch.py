"""What scheduling costs: wall time, measured around the policy, so that no actor reads a clock."""

from time import perf_counter_ns

import msgspec

from callboard.scheduler.decisions import Launch, Resume, Speculate
from callboard.scheduler.facts import Fact
from callboard.scheduler.model import JobId
from callboard.scheduler.policy import Policy
from callboard.scheduler.view import ClusterView, Offer


class SchedulingCost(msgspec.Struct, frozen=True):
    """Wall seconds, and how often the policy was asked (`Policy.decide`).  `seconds` includes
    learning from facts (COSHH solves its programs then), `us_per_decision` is of the answers alone.
    """

    seconds: float
    decisions: int
    launches: int
    us_per_decision: float | None


class TimedPolicy(Policy):
    """A policy with a stopwatch on `decide` and on `observe`."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy.order, policy.locality, policy.preemption, policy.speculation)
        self._spent_ns = 0
        self._learning_ns = 0
        self._decisions = 0
        self._launches = 0

    def decide(
        self, offer: Offer, view: ClusterView, passed: list[JobId] | None = None
    ) -> Launch | Resume | Speculate | None:
        began = perf_counter_ns()
        launch = Policy.decide(self, offer, view, passed)
        self._spent_ns += perf_counter_ns() - began
        self._decisions += 1
        self._launches += launch is not None
        return launch

    def observe(self, fact: Fact, view: ClusterView) -> None:
        began = perf_counter_ns()
        Policy.observe(self, fact, view)
        self._learning_ns += perf_counter_ns() - began

    @property
    def scheduling(self) -> SchedulingCost:
        each = self._spent_ns / 1000 / self._decisions if self._decisions else None
        seconds = (self._spent_ns + self._learning_ns) / 1e9
        return SchedulingCost(seconds, self._decisions, self._launches, each)
