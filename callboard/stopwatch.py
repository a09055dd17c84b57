"""What scheduling costs: the wall time that a policy spends deciding.

Measured around the policy and outside the world, so that no actor ever reads a clock.
"""

import time

import msgspec

from scheduler.decisions import Copy, Launch
from scheduler.model import JobId
from scheduler.policy import Policy
from scheduler.view import ClusterView, Offer


class Scheduling(msgspec.Struct, frozen=True):
    """The cost of scheduling in one run: wall seconds, and how often the policy was asked."""

    seconds: float
    decisions: int
    launches: int
    us_per_decision: float | None


class TimedPolicy(Policy):
    """A policy with a stopwatch on `decide`."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy.order, policy.locality, policy.preemption, policy.speculation)
        self._spent_ns = 0
        self._decisions = 0
        self._launches = 0

    def decide(
        self, offer: Offer, view: ClusterView, passed: list[JobId] | None = None
    ) -> Launch | Copy | None:
        """Ask the policy and count the time."""
        began = time.perf_counter_ns()
        launch = super().decide(offer, view, passed)
        self._spent_ns += time.perf_counter_ns() - began
        self._decisions += 1
        self._launches += launch is not None
        return launch

    @property
    def scheduling(self) -> Scheduling:
        """The cost so far."""
        each = self._spent_ns / 1000 / self._decisions if self._decisions else None
        return Scheduling(self._spent_ns / 1e9, self._decisions, self._launches, each)
