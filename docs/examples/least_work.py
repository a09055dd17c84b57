"""An order with a memory: the job with the least work left goes first, by how long its own tasks
took that have ended.

callboard run two-jobs --policy ./docs/examples/least_work.py:LeastWork --policy fair
"""

from callboard.scheduler.facts import Closed, Fact, JobLeft
from callboard.scheduler.model import JobId, SlotKind
from callboard.scheduler.orders.keyed import KeyedOrder, SortKey
from callboard.scheduler.view import ClusterView, JobView


class LeastWork(KeyedOrder):
    """Tasks left to launch times the mean of those that have ended; first who has none yet."""

    name = "least-work"
    summary = "the job with the least work left is next, by the mean of its ended tasks"

    def __init__(self) -> None:
        super().__init__()
        self._took_ms: dict[tuple[JobId, SlotKind], list[int]] = {}

    def observe(self, fact: Fact, view: ClusterView) -> None:
        if isinstance(fact, Closed) and fact.succeeded:
            self._took_ms.setdefault((fact.job, fact.kind), []).append(fact.ran_ms)
        super().observe(fact, view)  # keys the job anew, by what has been learned
        if isinstance(fact, JobLeft):
            for kind in SlotKind:
                self._took_ms.pop((fact.job, kind), None)

    def key(self, job: JobView, kind: SlotKind) -> SortKey:
        took_ms = self._took_ms.get((job.job, kind), [])
        left_ms = job.pending(kind) * sum(took_ms) / max(len(took_ms), 1)
        return (left_ms, job.submitted_ms)

    def score(self, key: SortKey) -> float:
        return float(key[0]) / 1000
