"""Gittins' index at slot level: the law of sizes is known, and what each job has had, but no size.

The index is that of the ideal machine (`scheduler.ideal.gittins`), where it has the least mean
response of all that sees no size.  A job's age is the work of its ended and suspended tasks, and
how long its running maps have run; maps and reduces are ranked apart.  While a job is served its
rank may fall behind others', so slots are taken for it only by suspending: who loses its work by
being killed would be young again, and take the slot back.
"""

from bisect import bisect

from callboard.scheduler.entitlements import demand_of
from callboard.scheduler.estimation import DoneWork
from callboard.scheduler.facts import Closed, Fact, JobLeft, Suspended
from callboard.scheduler.guarantees import EFFICIENT
from callboard.scheduler.ideal.age_loop import AgeRanks
from callboard.scheduler.ideal.gittins import gittins_ranks
from callboard.scheduler.ideal.law_names import law_named
from callboard.scheduler.model import MAP, JobId, Millis, SlotKind, stage_on
from callboard.scheduler.orders.keyed import KeyedOrder, SortKey
from callboard.scheduler.orders.size_based.running_maps import RunningMaps
from callboard.scheduler.part_params import PartParams
from callboard.scheduler.policy import MisfitError, Policy
from callboard.scheduler.preemption.rank_based import RankPreemption
from callboard.scheduler.ranking import Ranking
from callboard.scheduler.view import ClusterView, JobView


class Gittins(KeyedOrder, Ranking):
    """Gittins' rank of the job's age: the least service for each job that ends."""

    name = "gittins"
    summary = "Gittins' index: by the law of sizes and what a job has had; no sizes"
    score_format = "{:,.1f} slot-s an end"
    guarantees = (*EFFICIENT, "ideal-work", "blind")

    class Params(PartParams, frozen=True):
        """What is known of sizes."""

        law: str = "weibull(shape=0.5, mean=60)"
        """The law of a job's work on a kind of slot, in slot-seconds; `callboard ideal --law` knows
        the same.
        """

        def __post_init__(self) -> None:
            super().__post_init__()
            try:
                law_named(self.law)
            except ValueError as error:
                raise ValueError(f"law: {error}") from None

    def __init__(self, params: Params | None = None) -> None:
        super().__init__()
        self.params = params or Gittins.Params()
        seconds = gittins_ranks(law_named(self.params.law))
        self.ranks_ms = AgeRanks(*([1000 * each for each in row] for row in seconds))
        """By ages in milliseconds."""
        self._done = DoneWork()
        self._running = RunningMaps()
        self._told_ms: Millis = 0

    def bind(self, policy: Policy) -> None:
        rule = policy.preemption
        if isinstance(rule, RankPreemption) and rule.params.how == "kill":
            raise MisfitError(
                f"under `{self.name}` a job whose task is killed is young again and takes the slot"
                f' back; use `{rule.name}(how="suspend")`'
            )

    def observe(self, fact: Fact, view: ClusterView) -> None:
        self._running.observe(fact, view.now_ms)
        match fact:
            case Closed():
                self._done.learn(fact)
            case Suspended():
                self._done.pause(fact)
            case JobLeft(job):
                self._done.forget(job)
        self._told_ms = view.now_ms
        super().observe(fact, view)

    def key(self, job: JobView, kind: SlotKind) -> SortKey:
        return (self.rank_ms(job.job, kind, self._told_ms), job.submitted_ms)

    def score(self, key: SortKey) -> float:
        return float(key[0] / 1000)

    def tiers(self, kind: SlotKind, view: ClusterView) -> list[list[JobId]]:
        """By their ranks at this moment, a tier a job."""
        jobs = (job for job in view.jobs() if demand_of(job, kind))
        ranks = ((self.rank_ms(j.job, kind, view.now_ms), j.submitted_ms, j.job) for j in jobs)
        return [[job] for _, _, job in sorted(ranks)]

    def rank_ms(self, job: JobId, kind: SlotKind, now_ms: Millis) -> float:
        """The rank of the job's age on these slots: milliseconds of service for a job that ends."""
        age_ms = self._done.of(job, stage_on(kind))
        if kind is MAP:
            age_ms += self._running.ran_ms(job, now_ms)
        return self.ranks_ms.ranks[bisect(self.ranks_ms.ages, age_ms) - 1]
