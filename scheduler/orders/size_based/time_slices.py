"""Orders under which a job falls behind while it is served, so that jobs take turns.

By killing nothing comes of that: who loses its work is first again, and that goes round for ever.
By suspending it does: each check of `preemptive(how="suspend")` gives the slots to those who are
first then, and so the jobs share a slot in slices as long as the time between two checks.
"""

from abc import abstractmethod

from callboard.scheduler.entitlements import demand_of
from callboard.scheduler.facts import Fact
from callboard.scheduler.model import JobId, Millis, SlotKind
from callboard.scheduler.orders.keyed import KeyedOrder, SortKey
from callboard.scheduler.orders.size_based.attained_service import AttainedService
from callboard.scheduler.policy import MisfitError, Policy
from callboard.scheduler.preemption.rank_based import RankPreemption
from callboard.scheduler.ranking import Ranking
from callboard.scheduler.view import ClusterView, JobView


class SlicedOrder(KeyedOrder, Ranking):
    """An order by what jobs have had, which ranks them anew at every check."""

    keys_lag = True

    def __init__(self) -> None:
        super().__init__()
        self.service = AttainedService()
        self.slices = False
        """Whether jobs take turns, so that what they have had is followed."""
        self._told_ms: Millis = 0

    def bind(self, policy: Policy) -> None:
        rule = policy.preemption
        if not isinstance(rule, RankPreemption):
            return
        if rule.may_kill:
            raise MisfitError(
                f"under `{self.name}` a job whose task is killed would be first again and take the"
                f' slot back; use `{rule.name}(how="suspend")`, under which jobs take turns,'
                " without `over` and `kill_after_s`"
            )
        self.slices = True

    def observe(self, fact: Fact, view: ClusterView) -> None:
        if self.slices:
            self._told_ms = view.now_ms
            self.service.observe(fact, view.now_ms)
        super().observe(fact, view)

    @abstractmethod
    def rank_now(self, job: JobId, kind: SlotKind, now_ms: Millis) -> float:
        """By what the job is compared at this moment, in milliseconds; the least is first."""

    def turn_key(self, job: JobView, kind: SlotKind) -> SortKey:
        """Its key where jobs take turns: that does not change while none of it runs."""
        return (self.rank_now(job.job, kind, self._told_ms), job.submitted_ms)

    def tiers(self, kind: SlotKind, view: ClusterView) -> list[list[JobId]]:
        """A tier a job, as they stand at this moment."""
        jobs = (job for job in view.jobs() if demand_of(job, kind))
        ranks = ((self.rank_now(j.job, kind, view.now_ms), j.submitted_ms, j.job) for j in jobs)
        return [[job] for _, _, job in sorted(ranks)]
