"""An order that is broken on purpose: it means to be fair, and its comparison is the wrong way.

callboard check './docs/examples/most_first.py:MostFirst' --property max-min
"""

from callboard.scheduler.model import SlotKind
from callboard.scheduler.orders.keyed import KeyedOrder, SortKey
from callboard.scheduler.view import JobView


class MostFirst(KeyedOrder):
    """Most tasks running, where fewest was meant."""

    name = "most-first"
    summary = "the job with the most tasks running is next: a slip of the pen"
    guarantees = ("max-min", "sharing-incentive", "work-conserving")

    def key(self, job: JobView, kind: SlotKind) -> SortKey:
        return (-job.running(kind), job.submitted_ms)

    def score(self, key: SortKey) -> float:
        return float(-key[0])
