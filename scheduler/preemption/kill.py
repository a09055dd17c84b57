"""Kill and suspend: claimants that starve get the newest attempts' slots of those above their
shares.

Every `interval_s` the deficits of all starving claimants of a kind are added up (see
`scheduler.preemption.starvation`), less the attempts that are being killed already, and as many
attempts give way.  `victims` says which:

- `global`: the newest of all attempts of claimants above their share, as Hadoop's Fair Scheduler
  1.2.1 does (`preemptTasks`); jobs in one pool are not held against each other;
- `job`: the newest of each job beyond its own share, one job after the other, those most above it
  first, as the global-preemption paper says that Hadoop does (§V).

A victim's reason names the claimants that starve; its rank is its place among this check's victims,
its score how many attempts its claimant had beyond its share rounded down, below which it never
falls.  `suspend` keeps the victims' work (`scheduler.preemption.suspend_limits`); why it ends in no
livelock is in docs/preemption.md.
"""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Annotated, Literal

from msgspec import Meta

from callboard.scheduler import decisions
from callboard.scheduler.entitlements import Entitlement
from callboard.scheduler.facts import Fact
from callboard.scheduler.guarantees import NO_PING_PONG
from callboard.scheduler.model import KINDS, JobId, SlotKind
from callboard.scheduler.part_params import PartParams, Positive, Timeout
from callboard.scheduler.policy import Policy, PreemptionRule
from callboard.scheduler.preemption import suspend_limits as limits
from callboard.scheduler.preemption.starvation import StarvationWatch, starvation_grounds
from callboard.scheduler.preemption.victims import Excess, possible_victims
from callboard.scheduler.reasons import Reason, Why
from callboard.scheduler.view import AttemptView, ClusterView

VictimCount = Annotated[int, Meta(ge=1)]


class KillParams(PartParams, frozen=True, kw_only=True):
    """When to check, which claimants starve, and who gives way."""

    victims: Literal["global", "job"] = "global"
    """Which attempts above their shares go: the newest of all, or the newest of each job in turn.
    """
    interval_s: Positive = 15.0
    """Seconds between checks."""
    min_share_timeout_s: Timeout = 30.0
    """How long a claimant is left below its min share; `inf` turns it off.  Hadoop's own default is
    infinite.
    """
    fair_share_timeout_s: Timeout = 60.0
    """How long a claimant is left below half of its fair share; `inf` turns it off.  Hadoop's own
    default is infinite.
    """
    most_per_check: VictimCount | None = None
    """The most attempts of a kind that a check takes; unset, as many as starving claimants lack.
    What is lost grows slower so, and shares come about later.
    """


class NewestAboveShare(PreemptionRule):
    """The newest attempts above the shares give way, as many as slots are lacking."""

    def __init__(self, params: KillParams, suspend_limits: limits.SuspendLimits) -> None:
        times_s = (params.interval_s, params.min_share_timeout_s, params.fair_share_timeout_s)
        self.watch = StarvationWatch(*times_s)
        self.interval_ms = self.watch.interval_ms
        self._by_job = params.victims == "job"
        self._most = params.most_per_check
        self._limits = suspend_limits

    def bind(self, policy: Policy) -> None:
        self.watch.bind(self.name, policy)
        lasting = NO_PING_PONG if policy.order.steady else ()
        promised = (*type(self).guarantees, *lasting)
        limited = () if self._most is None else _IN_TIME
        self.guarantees = tuple(each for each in promised if each not in limited)

    def observe(self, fact: Fact, view: ClusterView) -> None:  # noqa: ARG002
        self.watch.news = True

    def victims(self, view: ClusterView) -> Iterator[decisions.Kill | decisions.Suspend]:
        if self.watch.look(view):
            yield from self._limits.overdue_kills(self.name, view)
            for kind in KINDS:
                for attempt, why in self.selected(kind, view):
                    yield self._limits.kill_or_suspend(attempt, why)

    def selected(self, kind: SlotKind, view: ClusterView) -> Iterator[tuple[AttemptView, Why]]:
        deficits = self.watch.deficits(kind, view)
        if not deficits:
            return
        alive, leaving = possible_victims(kind, view)
        wanted = sum(deficit.slots for deficit in deficits) - leaving
        if self._most is not None:
            wanted = min(wanted, self._most)
        excess = Excess(self.watch.entitlements(kind, view), alive)
        if self._by_job:
            alive = _dealt_in_turn(alive, self.watch.entitlements(kind, view, "job"))
        rank, given_for, spared = 0, starvation_grounds(deficits), self.watch.spared_attempts(kind)
        for attempt in alive:
            if rank >= wanted:
                return
            above = excess.attempts_to_lose(attempt.job)
            kept = attempt.attempt not in spared or self._limits.can_suspend(attempt)
            if above > 0 and kept and self._limits.allows_victim(attempt):
                rank += 1
                excess.lose_attempt(attempt.job)
                yield attempt, Why(Reason.STARVATION, self.name, rank, float(above), *given_for)


_IN_TIME = ("fair-share-timeout", "min-share-timeout")
"""What a rule that takes only that many at once does not promise."""


class KillPreemption(NewestAboveShare):
    """Kill them."""

    name = "kill"
    summary = "kill the newest attempts of jobs above their share when others starve"
    guarantees = ("newest-first", "patient", "fair-share-timeout", "min-share-timeout")
    Params = KillParams

    def __init__(self, params: KillParams | None = None) -> None:
        self.params = params or KillParams()
        super().__init__(self.params, limits.SuspendLimits(0, "kill", float("inf")))


class SuspendPreemption(NewestAboveShare):
    """Suspend the newest attempts above the shares, and keep their work."""

    name = "suspend"
    summary = "suspend the newest attempts of jobs above their share when others starve"
    guarantees = ("newest-first",)

    class Params(KillParams, frozen=True, kw_only=True):
        """What `kill` has, and what becomes of suspended attempts."""

        limit: limits.AttemptLimit = 2
        """How many suspended attempts a node holds at most."""
        over: limits.WhenFull = "wait"
        """What becomes of a victim on a full node: it is spared (`wait`), or killed."""
        kill_after_s: limits.KillAfter = float("inf")
        """An attempt suspended for longer is killed."""

    def __init__(self, params: Params | None = None) -> None:
        self.params = params = params or SuspendPreemption.Params()
        kept = limits.SuspendLimits(params.limit, params.over, params.kill_after_s)
        super().__init__(params, kept)


def _dealt_in_turn(
    alive: Sequence[AttemptView], entitlements: Sequence[Entitlement]
) -> list[AttemptView]:
    """Each job's attempts beyond its share, newest first, dealt out one a job in turn."""
    excess = Excess(entitlements, alive)
    above = {attempt.job: excess.attempts_to_lose(attempt.job) for attempt in alive}
    most_first = sorted(above, key=lambda job: (-above[job], job))
    beyond: dict[JobId, list[AttemptView]] = {job: [] for job in most_first}
    for attempt in alive:
        if excess.attempts_to_lose(attempt.job) > 0:
            excess.lose_attempt(attempt.job)
            beyond[attempt.job].append(attempt)
    return [each for turn in zip_longest(*beyond.values()) for each in turn if each is not None]
