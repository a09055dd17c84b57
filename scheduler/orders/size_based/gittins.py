"""Gittins' index at slot level: the law of sizes is known, and what each job has had, but no size.

The index is that of the ideal machine (`scheduler.ideal.gittins_index`), where it has the least
mean response of all that sees no size.  A job's age is what it has had; maps and reduces are ranked
apart.
"""

from bisect import bisect

from callboard.scheduler.guarantees import EFFICIENT
from callboard.scheduler.ideal.age_loop import AgeRanks
from callboard.scheduler.ideal.gittins_index import gittins_ranks
from callboard.scheduler.ideal.law_names import law_named
from callboard.scheduler.model import JobId, Millis, SlotKind
from callboard.scheduler.orders.keyed import SortKey
from callboard.scheduler.orders.size_based.time_slices import SlicedOrder
from callboard.scheduler.part_params import PartParams
from callboard.scheduler.view import JobView


class Gittins(SlicedOrder):
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
        self.slices = True

    def key(self, job: JobView, kind: SlotKind) -> SortKey:
        return self.turn_key(job, kind)

    def score(self, key: SortKey) -> float:
        return float(key[0] / 1000)

    def rank_now(self, job: JobId, kind: SlotKind, now_ms: Millis) -> float:
        """The rank of the job's age on these slots: service for each job that ends."""
        age_ms = self.service.ms(job, kind, now_ms)
        return self.ranks_ms.ranks[bisect(self.ranks_ms.ages, age_ms) - 1]
