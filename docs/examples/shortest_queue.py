"""An order of one's own: the job with the fewest tasks left to launch goes first.

callboard run two-jobs --policy './docs/examples/shortest_queue.py:ShortestQueue+delay'
"""

from typing import Annotated

import msgspec

from callboard.scheduler.model import SlotKind
from callboard.scheduler.orders.keyed import KeyedOrder, SortKey
from callboard.scheduler.view import JobView


class Params(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`large`: with that many tasks left, jobs go by submit time, so that none starves others."""

    large: Annotated[int, msgspec.Meta(ge=1)] = 1000


class ShortestQueue(KeyedOrder):
    """Fewest tasks left to launch, then submit time."""

    name = "shortest-queue"
    summary = "the job with the fewest tasks left to launch is next"
    Params = Params

    def __init__(self, params: Params | None = None) -> None:
        super().__init__()
        self._large = (params or Params()).large

    def key(self, job: JobView, kind: SlotKind) -> SortKey:
        return (min(job.pending(kind), self._large), job.submitted_ms)

    def score(self, key: SortKey) -> float:
        return float(key[0])
