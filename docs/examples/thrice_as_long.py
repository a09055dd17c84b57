"""A speculation rule of one's own: a second attempt for what takes three times as long as its like.

callboard run stragglers --policy fair+./docs/examples/thrice_as_long.py:ThriceAsLong
"""

from collections import Counter

from callboard.scheduler.decisions import Speculate
from callboard.scheduler.facts import Closed, Fact, JobLeft
from callboard.scheduler.model import JobId, SlotKind
from callboard.scheduler.policy import SpeculationRule
from callboard.scheduler.reasons import Reason, Why
from callboard.scheduler.view import AttemptView, ClusterView, Offer


class ThriceAsLong(SpeculationRule):
    """What has run three times as long as its job's tasks of that kind have taken runs twice."""

    name = "thrice-as-long"
    summary = "copy a task that runs three times as long as its job's tasks have taken"

    def __init__(self) -> None:
        self._ended: Counter[tuple[JobId, SlotKind]] = Counter()
        self._took_ms: Counter[tuple[JobId, SlotKind]] = Counter()

    def observe(self, fact: Fact, view: ClusterView) -> None:
        if isinstance(fact, Closed) and fact.succeeded:
            self._ended[fact.job, fact.kind] += 1
            self._took_ms[fact.job, fact.kind] += fact.ran_ms
        elif isinstance(fact, JobLeft):
            for kind in SlotKind:
                self._ended.pop((fact.job, kind), None)
                self._took_ms.pop((fact.job, kind), None)

    def speculate(self, kind: SlotKind, offer: Offer, view: ClusterView) -> Speculate | None:
        for attempt in view.attempts():
            mine = attempt.kind is kind and attempt.alone and not attempt.killing
            if mine and self._is_late(attempt, view) and attempt.node != offer.node.node:
                return Speculate(attempt.attempt, Why(Reason.OWN, self.name))
        return None

    def _is_late(self, attempt: AttemptView, view: ClusterView) -> bool:
        ended = self._ended[attempt.job, attempt.kind]
        ran_ms = view.now_ms - attempt.launched_ms
        return ended > 0 and ended * ran_ms > 3 * self._took_ms[attempt.job, attempt.kind]
