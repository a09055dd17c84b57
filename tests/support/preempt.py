"""Preemption for tests: a rule that kills blindly, and the rules that ship, in a hurry."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from callboard.scheduler.decisions import Kill, Suspend
from callboard.scheduler.model import AttemptId, Millis, SlotKind
from callboard.scheduler.policy import MisfitError, NoPreemption, Policy, PreemptionRule
from callboard.scheduler.preemption.global_preemption import GlobalPreemption
from callboard.scheduler.preemption.kill import KillPreemption as KillRule
from callboard.scheduler.preemption.kill import SuspendPreemption as Suspending
from callboard.scheduler.preemption.rank_based import RankPreemption
from callboard.scheduler.ranking import Ranking
from callboard.scheduler.reasons import Claimant, Reason, Why
from callboard.scheduler.registry.parts import make_policy
from callboard.scheduler.view import ClusterView
from tests.support.speculate import hasty_speculation


class KillNewest(PreemptionRule):
    """Kills the newest open attempt of one kind or of any, that many times; and each time names
    its victim twice, of which the master has to refuse one.  With `suspends` it suspends the newest
    and kills only every third time.
    """

    name = "kill-newest"
    summary = "for tests"

    def __init__(
        self,
        every_ms: Millis = 10_000,
        times: int = 3,
        kind: SlotKind | None = SlotKind.MAP,
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
            for attempt in (running[-1], running[-1]):
                yield order(attempt, Why(Reason.OWN, self.name, 1))


class Scripted(PreemptionRule):
    """Gives the orders that a test has written down, each at its time, for `beneficiary`."""

    name = "scripted"
    summary = "for tests"

    def __init__(
        self,
        *orders: tuple[Millis, type[Kill | Suspend], AttemptId],
        beneficiary: Claimant | None = None,
    ) -> None:
        self.interval_ms = 500
        self._beneficiary = beneficiary
        self._orders = list(orders)

    def victims(self, view: ClusterView) -> Iterator[Kill | Suspend]:
        while self._orders and self._orders[0][0] <= view.now_ms:
            _, order, attempt = self._orders.pop(0)
            why = Why(Reason.OWN, self.name, 1, beneficiary=self._beneficiary)
            yield order(attempt, why)


def limit_kills(rule: PreemptionRule, kills: int) -> PreemptionRule:
    """The rule with its first that many orders; in too great a hurry it never lets a task end.
    It stays one of its class, for orders look at which rule they work with, and a copy of it, which
    a master that restarts makes, asks itself and not the rule it was copied from.
    """
    shipped = type(rule)

    def victims(self: Any, view: ClusterView) -> Iterator[Kill | Suspend]:
        for order in shipped.victims(self, view):
            if self.kills_left:
                self.kills_left -= 1
                yield order

    rule.__class__ = type(shipped.__name__, (shipped,), {"victims": victims, "kills_left": kills})
    return rule


class KillNewestParams(NamedTuple):
    """How `KillNewest` is to go about it."""

    every_ms: Millis
    times: int
    kind: SlotKind | None
    suspends: bool = False


HASTY_PREEMPTIONS = (
    "no_preemption",
    "kill",
    "job",
    "global",
    "suspend",
    "hold",
    "preempt",
    "resume",
    "turns",
)
"""The rules that ship, in a hurry, by the names that `preempting` gives them."""

NON_KILLING_RULES = frozenset({"no_preemption", "hold"})
"""Those of them that never kill."""


def hasty_policy(
    spec: str, rule: str | KillNewestParams, speculation: str = "no_speculation"
) -> Policy:
    """The policy of `spec` with rules so hasty that they act in short runs.  Orders that share
    are given the rules of preemption by claims in the place of those by rank; where the order and
    the rule refuse each other there is none.
    """
    parts = make_policy(spec)
    if isinstance(rule, str) and not isinstance(parts.order, Ranking):
        rule = {"preempt": "kill", "resume": "hold", "turns": "hold"}.get(rule, rule)
    try:
        return Policy(parts.order, parts.locality, _rule(rule), hasty_speculation(speculation))
    except MisfitError:
        return Policy(parts.order, parts.locality, None, hasty_speculation(speculation))


def _rule(rule: str | KillNewestParams) -> PreemptionRule:
    if isinstance(rule, KillNewestParams):
        return KillNewest(*rule[:3], suspends=rule.suspends)
    hasty: dict[str, Any] = {
        "interval_s": 1.5,
        "min_share_timeout_s": 0.5,
        "fair_share_timeout_s": 0.9,
    }
    rules: dict[str, PreemptionRule] = {
        "no_preemption": NoPreemption(),
        "kill": KillRule(KillRule.Params(**hasty)),
        "job": KillRule(KillRule.Params(victims="job", **hasty)),
        "global": GlobalPreemption(
            GlobalPreemption.Params(period_s=4.0, long_s=2.0, pi=0.9, t=0.5, p=0.5, **hasty)
        ),
        "suspend": Suspending(Suspending.Params(limit=1, kill_after_s=2.5, **hasty)),
        "hold": Suspending(Suspending.Params(limit=9, **hasty)),
        "preempt": RankPreemption(RankPreemption.Params(interval_s=0.7)),
        "resume": RankPreemption(
            RankPreemption.Params(how="suspend", interval_s=0.7, limit=2, over="kill")
        ),
        "turns": RankPreemption(RankPreemption.Params(how="suspend", interval_s=0.7)),
    }
    return limit_kills(rules[rule], kills=15)
