"""What the rules that go by claims have in common: they look often and act now and then.

Hadoop's Fair Scheduler looks every 500 ms who starves (`update`) and preempts every 15 s.  So do
these, with one saving: when no fact came since the last look, nothing can have changed.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence

from callboard.scheduler.decisions import Kill, Suspend
from callboard.scheduler.entitlements import Entitlement, EntitlingOrder
from callboard.scheduler.facts import Fact
from callboard.scheduler.model import KINDS, Millis, TaskKind
from callboard.scheduler.policy import MisfitError, Order, PreemptionRule
from callboard.scheduler.preemption.starvation import Deficit, StarvationClocks
from callboard.scheduler.reasons import Claimant, Shortage, Starving
from callboard.scheduler.view import ClusterView

UPDATE_INTERVAL_MS: Millis = 500
"""FairScheduler.UPDATE_INTERVAL."""


class ShareBasedRule(PreemptionRule):
    """A rule with a clock for each claimant and a check every so often."""

    def __init__(
        self, check_s: float, min_share_timeout_s: float, fair_share_timeout_s: float
    ) -> None:
        self.check_ms: Millis = max(1, round(check_s * 1000))
        self.interval_ms = min(UPDATE_INTERVAL_MS, self.check_ms)
        self._clocks = StarvationClocks(min_share_timeout_s, fair_share_timeout_s)
        self._order: EntitlingOrder | None = None
        self._news = False
        self._checked_ms: Millis = 0

    def bind(self, order: Order) -> None:
        if not isinstance(order, EntitlingOrder):
            raise MisfitError(
                f"`{self.name}` takes slots from who has more than its due, and the order"
                f" `{order.name}` does not say what anybody is due (it offers no `claims`)"
            )
        self._order = order

    def observe(self, fact: Fact, view: ClusterView) -> None:  # noqa: ARG002
        self._news = True

    def victims(self, view: ClusterView) -> Iterator[Kill | Suspend]:
        self._update_clocks(view)
        if view.now_ms - self._checked_ms < self.check_ms:
            return
        self._checked_ms = view.now_ms
        yield from self.checked(view)

    def checked(self, view: ClusterView) -> Iterator[Kill | Suspend]:
        """What comes of a check."""
        for kind in KINDS:
            yield from self.chosen(kind, view)

    @abstractmethod
    def chosen(self, kind: TaskKind, view: ClusterView) -> Iterable[Kill | Suspend]:
        """The attempts of one kind that give way at this check."""

    def entitlements(self, kind: TaskKind, view: ClusterView) -> Sequence[Entitlement]:
        """What the order says its claimants are due."""
        assert self._order is not None, f"`{self.name}` has not met its order"
        return self._order.entitlements(kind, view, "pool")

    def job_entitlements(self, kind: TaskKind, view: ClusterView) -> Sequence[Entitlement]:
        """What the order says every single job is due."""
        assert self._order is not None, f"`{self.name}` has not met its order"
        return self._order.entitlements(kind, view, "job")

    def deficits(self, kind: TaskKind, view: ClusterView) -> list[Deficit]:
        """Who has starved for too long, as of now.

        Nobody lacks more slots than it could use anywhere: a suspended attempt waits for one of
        its node's own.
        """
        if not view.pending(kind):
            return []
        found: list[Deficit] = []
        for deficit in self._clocks.deficits(kind, self.entitlements(kind, view), view.now_ms):
            jobs = [view.job(job) for job in deficit.entitlement.jobs]
            usable = sum(job.pending(kind) - job.suspended(kind) for job in jobs)
            if usable > 0:
                found.append(deficit._replace(slots=min(deficit.slots, usable)))
        return found

    def _update_clocks(self, view: ClusterView) -> None:
        """Move the clocks.  With nothing pending nobody starves: demand is what runs."""
        if not self._news:
            self._clocks.unchanged(view.now_ms)
            return
        self._news = False
        for kind in KINDS:
            claims = self.entitlements(kind, view) if view.pending(kind) else ()
            self._clocks.look(kind, claims, view.now_ms)


MAX_SHORTAGES = 3
"""The most starving claimants that one reason names."""


def starving(deficits: Sequence[Deficit]) -> tuple[Claimant, Starving]:
    """Who starves, for a victim's reason: the first claimant, and what the first few lack."""
    told = tuple(Shortage(d.entitlement.claimant, d.slots, d.share) for d in deficits)
    more = max(len(told) - MAX_SHORTAGES, 0)
    return told[0].claimant, Starving(told[:MAX_SHORTAGES], more)
