"""What scheduling costs: wall time, measured from outside, so that no actor reads a clock."""

from collections.abc import Sequence
from time import perf_counter_ns
from typing import Any

import msgspec

from callboard.actors.architecture import Architecture
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.kernel.probes import Probe
from callboard.actors.onlooker import Onlooker
from callboard.actors.vocabulary.events import AnyEvent, AttemptLaunched
from callboard.scheduler.decisions import Launch, Resume, Speculate
from callboard.scheduler.facts import Fact
from callboard.scheduler.model import JobId
from callboard.scheduler.policy import Policy
from callboard.scheduler.view import ClusterView, Offer


class SchedulingCost(msgspec.Struct, frozen=True):
    """Wall seconds, and how often the policy was asked (`Policy.decide`).  `seconds` includes
    learning from facts (COSHH solves its programs then), `us_per_decision` is of the answers alone.
    Of schedulers without a policy each message that they answer counts as a decision.
    """

    seconds: float
    decisions: int
    launches: int
    us_per_decision: float | None


class Stopwatch(Onlooker):
    """Times what a run's policy decides and learns; where there is none, its schedulers."""

    def __init__(self) -> None:
        self._spent_ns = 0
        self._learning_ns = 0
        self._decisions = 0
        self._launches = 0

    def begin(self, kernel: Kernel[AnyEvent], architecture: Architecture) -> None:
        if architecture.policy is not None:
            self._time_policy(architecture.policy)
            return
        for address in architecture.schedulers():
            kernel.probe(address, _SchedulerClock(self))

    def _time_policy(self, policy: Policy) -> None:
        """Put the watch on this very policy's `decide` and `observe`."""
        decide, observe, clock_ns = policy.decide, policy.observe, perf_counter_ns

        def timed_decide(
            offer: Offer, view: ClusterView, passed: list[JobId] | None = None
        ) -> Launch | Resume | Speculate | None:
            began_ns = clock_ns()
            launch = decide(offer, view, passed)
            self._spent_ns += clock_ns() - began_ns
            self._decisions += 1
            self._launches += launch is not None
            return launch

        def timed_observe(fact: Fact, view: ClusterView) -> None:
            began_ns = clock_ns()
            observe(fact, view)
            self._learning_ns += clock_ns() - began_ns

        policy.decide, policy.observe = timed_decide, timed_observe  # type: ignore[method-assign]

    def add_answer(self, ns: int, noted: Sequence[AnyEvent]) -> None:
        """A scheduler without a policy has answered a message."""
        self._spent_ns += ns
        self._decisions += 1
        self._launches += sum(isinstance(event, AttemptLaunched) for event in noted)

    @property
    def scheduling(self) -> SchedulingCost:
        each = self._spent_ns / 1000 / self._decisions if self._decisions else None
        seconds = (self._spent_ns + self._learning_ns) / 1e9
        return SchedulingCost(seconds, self._decisions, self._launches, each)


class _SchedulerClock(Probe):
    """Times one scheduler's answers to messages."""

    def __init__(self, watch: Stopwatch) -> None:
        self._watch = watch
        self._began_ns = 0

    def before_message(self, actor: Any, message: Any) -> None:  # noqa: ARG002
        self._began_ns = perf_counter_ns()

    def after_message(self, actor: Any, message: Any, noted: Sequence[AnyEvent]) -> None:  # noqa: ARG002
        self._watch.add_answer(perf_counter_ns() - self._began_ns, noted)
