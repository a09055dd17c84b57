"""Preemption for tests: a rule that kills blindly, and the rules that ship, in a hurry."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from callboard.scheduler.decisions import Kill, Suspend, Why
from callboard.scheduler.facts import Fact
from callboard.scheduler.model import AttemptId, Millis, TaskKind
from callboard.scheduler.policy import MisfitError, Order, Policy, PreemptionRule, Wait
from callboard.scheduler.preemption.kill import Kill as KillRule
from callboard.scheduler.preemption.preemptive import Preemptive
from callboard.scheduler.preemption.suspend import Suspend as Suspending
from callboard.scheduler.preemption.whole import GlobalPreemption
from callboard.scheduler.ranking import Ranking
from callboard.scheduler.registry import make_policy
from callboard.scheduler.view import ClusterView
from tests.support.speculate import speculating


class KillNewest(PreemptionRule):
    """Kills the newest open attempt of one kind or of any, so many times; and each time names
    its victim twice and one that never was, which the master has to refuse.  With `suspends` it
    suspends the newest and kills only every third time.
    """

    name = "kill-newest"
    story = "for tests"

    def __init__(
        self,
        every_ms: Millis = 10_000,
        times: int = 3,
        kind: TaskKind | None = TaskKind.MAP,
        *,
        suspends: bool = False,
    ) -> None:
        self.interval_ms = every_ms
        self._times = times
        self._kind = kind
        self._suspends = suspends

    def victims(self, view: ClusterView) -> Iterator[Kill | Suspend]:
        running = [a.attempt for a in view.attempts() if self._kind in (None, a.kind)]
        if running and self._times:
            self._times -= 1
            order = Suspend if self._suspends and self._times % 3 else Kill
            for attempt in (running[-1], running[-1], 10**9):
                yield order(attempt, Why(self.name))


class Scripted(PreemptionRule):
    """Gives the orders that a test has written down, each at its time."""

    name = "scripted"
    story = "for tests"

    def __init__(self, *orders: tuple[Millis, type[Kill | Suspend], AttemptId]) -> None:
        self.interval_ms = 500
        self._orders = list(orders)

    def victims(self, view: ClusterView) -> Iterator[Kill | Suspend]:
        while self._orders and self._orders[0][0] <= view.now_ms:
            _, order, attempt = self._orders.pop(0)
            yield order(attempt, Why(self.name))


class AtMost(PreemptionRule):
    """Another rule's first so many kills.  A rule in too great a hurry never lets a task end."""

    name = "at-most"
    story = "for tests"

    def __init__(self, rule: PreemptionRule, kills: int) -> None:
        self.rule = rule
        self.left = kills
        self.interval_ms = rule.interval_ms

    def meet(self, order: Order) -> None:
        self.rule.meet(order)

    def observe(self, fact: Fact, view: ClusterView) -> None:
        self.rule.observe(fact, view)

    def victims(self, view: ClusterView) -> Iterator[Kill | Suspend]:
        for kill in self.rule.victims(view):
            if self.left:
                self.left -= 1
                yield kill


class Killing(NamedTuple):
    """How `KillNewest` is to go about it."""

    every_ms: Millis
    times: int
    kind: TaskKind | None
    suspends: bool = False


RULES = ("wait", "kill", "job", "global", "suspend", "hold", "preempt", "resume")
"""The rules that ship, in a hurry, by the names that `preempting` gives them."""

KEEPING = frozenset({"wait", "hold"})
"""Those of them that never kill."""


def preempting(spec: str, rule: str | Killing, speculation: str = "no-copies") -> Policy:
    """The policy of `spec` with rules so hasty that they strike in short runs.  Orders that share
    are given the rules of preemption by claims in the place of those by rank; where the order and
    the rule refuse each other there is none.
    """
    parts = make_policy(spec)
    if isinstance(rule, str) and not isinstance(parts.order, Ranking):
        rule = {"preempt": "kill", "resume": "hold"}.get(rule, rule)
    try:
        return Policy(parts.order, parts.locality, _rule(rule), speculating(speculation))
    except MisfitError:
        return Policy(parts.order, parts.locality, None, speculating(speculation))


def _rule(rule: str | Killing) -> PreemptionRule:
    if isinstance(rule, Killing):
        return KillNewest(*rule[:3], suspends=rule.suspends)
    hasty: dict[str, Any] = {
        "interval_s": 1.5,
        "min_share_timeout_s": 0.5,
        "fair_share_timeout_s": 0.9,
    }
    rules: dict[str, PreemptionRule] = {
        "wait": Wait(),
        "kill": KillRule(KillRule.Params(**hasty)),
        "job": KillRule(KillRule.Params(victims="job", **hasty)),
        "global": GlobalPreemption(
            GlobalPreemption.Params(period_s=4.0, long_s=2.0, pi=0.9, t=0.5, p=0.5, **hasty)
        ),
        "suspend": Suspending(Suspending.Params(limit=1, kill_after_s=2.5, **hasty)),
        "hold": Suspending(Suspending.Params(limit=9, **hasty)),
        "preempt": Preemptive(Preemptive.Params(interval_s=0.7)),
        "resume": Preemptive(
            Preemptive.Params(how="suspend", interval_s=0.7, limit=2, over="kill")
        ),
    }
    return AtMost(rules[rule], kills=15)
