"""Preemption for tests: a rule that kills blindly, and the rules that ship, in a hurry."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from scheduler.decisions import Kill, Why
from scheduler.facts import Fact
from scheduler.model import Millis, TaskKind
from scheduler.policy import MisfitError, Order, Policy, PreemptionRule, Wait
from scheduler.preemption.kill import Kill as KillRule
from scheduler.preemption.whole import GlobalPreemption
from scheduler.registry import make_policy
from scheduler.view import ClusterView


class KillNewest(PreemptionRule):
    """Kills the newest running attempt of one kind or of any, so many times; and each time names
    its victim twice and one that never was, which the master has to refuse.
    """

    name = "kill-newest"
    story = "for tests"

    def __init__(
        self, every_ms: Millis = 10_000, times: int = 3, kind: TaskKind | None = TaskKind.MAP
    ) -> None:
        self.interval_ms = every_ms
        self._times = times
        self._kind = kind

    def victims(self, view: ClusterView) -> Iterator[Kill]:
        running = [a.attempt for a in view.attempts() if self._kind in (None, a.kind)]
        if running and self._times:
            self._times -= 1
            for attempt in (running[-1], running[-1], 10**9):
                yield Kill(attempt, Why(self.name))


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

    def victims(self, view: ClusterView) -> Iterator[Kill]:
        for kill in self.rule.victims(view):
            if self.left:
                self.left -= 1
                yield kill


class Killing(NamedTuple):
    """How `KillNewest` is to go about it."""

    every_ms: Millis
    times: int
    kind: TaskKind | None


RULES = ("wait", "kill", "job", "global")
"""The shipped rules that `preempting` knows by name; all but the first kill."""


def preempting(spec: str, rule: str | Killing) -> Policy:
    """The policy of `spec` with a preemption rule so hasty that it strikes in short runs; without
    one where the order and the rule refuse each other.
    """
    parts = make_policy(spec)
    try:
        return Policy(parts.order, parts.locality, _rule(rule), parts.speculation)
    except MisfitError:
        return Policy(parts.order, parts.locality, None, parts.speculation)


def _rule(rule: str | Killing) -> PreemptionRule:
    if isinstance(rule, Killing):
        return KillNewest(*rule)
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
    }
    return AtMost(rules[rule], kills=15)
