"""Preemption for tests: a rule that kills blindly, and the rules that ship, in a hurry."""

from collections.abc import Iterator
from typing import Any

from scheduler.decisions import Kill, Why
from scheduler.facts import Fact
from scheduler.model import TaskKind
from scheduler.policy import Order, Policy, PreemptionRule, Wait
from scheduler.preemption.kill import Kill as KillRule
from scheduler.preemption.whole import GlobalPreemption
from scheduler.registry import make_policy
from scheduler.view import ClusterView


class EveryTenSeconds(PreemptionRule):
    """Kills the newest running map, up to three times, and once an attempt that is no more."""

    name = "every-ten-seconds"
    story = "for tests"
    interval_ms = 10_000

    def __init__(self, times: int = 3) -> None:
        self.times = times

    def victims(self, view: ClusterView) -> Iterator[Kill]:
        maps = [a for a in view.attempts() if a.kind is TaskKind.MAP]
        if maps and self.times:
            self.times -= 1
            yield Kill(maps[-1].attempt, Why(self.name))
            yield Kill(10**9, Why(self.name))


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


RULES = ["wait", "blind", "kill", "job", "global"]
"""What `preempting` knows; all but the first kill."""


def preempting(order: str, rule: str) -> Policy:
    """A policy of this order and a preemption rule so hasty that it strikes in short runs."""
    hasty: dict[str, Any] = {
        "interval_s": 1.5,
        "min_share_timeout_s": 0.5,
        "fair_share_timeout_s": 0.9,
    }
    rules: dict[str, PreemptionRule] = {
        "wait": Wait(),
        "blind": EveryTenSeconds(),
        "kill": KillRule(KillRule.Params(**hasty)),
        "job": KillRule(KillRule.Params(victims="job", **hasty)),
        "global": GlobalPreemption(
            GlobalPreemption.Params(period_s=4.0, long_s=2.0, pi=0.9, t=0.5, p=0.5, **hasty)
        ),
    }
    return Policy(make_policy(order).order, preemption=AtMost(rules[rule], kills=15))
