"""What the speculation rules share: they look for stragglers once a heartbeat interval, and hand
out speculative attempts one by one.

Hadoop looks through all running tasks for every slot that asks.  No progress is older than an
interval, since every node with a followed attempt sends one heartbeat in it.  An attempt that ran
already when the rule was put in force counts once its node has told its progress.  Between two
looks a slot that asks costs a walk down the short list of stragglers.
"""

from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from callboard.scheduler.decisions import Speculate
from callboard.scheduler.facts import Closed, Fact, JobLeft, Launched, Progressed
from callboard.scheduler.model import KINDS, AttemptId, JobId, Millis, NodeId, SlotKind
from callboard.scheduler.policy import Order, Policy, SpeculationRule
from callboard.scheduler.reasons import Detail, Reason, Why
from callboard.scheduler.view import AttemptView, ClusterView, Offer

UNKNOWN_LEFT_MS: Millis = 10**15
"""The time left of an attempt that has done nothing so far."""


class Straggler(NamedTuple):
    """A running attempt that deserves a second one, and how long it is expected to go on."""

    attempt: AttemptId
    job: JobId
    node: NodeId
    left_ms: Millis
    reason: Reason
    detail: Detail


RunningByJob: TypeAlias = dict[JobId, list[AttemptView]]


class StragglerRule(SpeculationRule):
    """A rule that looks for stragglers once a heartbeat interval."""

    wants_progress = True

    def __init__(self) -> None:
        self.stragglers: list[dict[AttemptId, Straggler]] = [{}, {}]
        self.speculative: tuple[Counter[JobId], Counter[JobId]] = (Counter(), Counter())
        """Tasks of each job with two running attempts, by kind."""
        self._speculative_pair: dict[AttemptId, AttemptId] = {}
        self._since_ms: Millis = 0  # when it was put in force
        self._looked_ms: Millis | None = None
        self._order: Order | None = None

    # What the rules differ in.

    @abstractmethod
    def find(self, kind: SlotKind, running: RunningByJob, view: ClusterView) -> Sequence[Straggler]:
        """The stragglers now, the neediest first; `running`: running attempts by job."""

    def has_reached_cap(self, job: JobId, kind: SlotKind, view: ClusterView) -> bool:  # noqa: ARG002
        """Whether the job may have no more speculative attempts now; changed by facts alone."""
        return False

    def suits(self, straggler: Straggler, kind: SlotKind, node: NodeId, view: ClusterView) -> bool:  # noqa: ARG002
        return True

    def learn_end(self, closed: Closed) -> None:
        """Hear of an attempt's end."""

    def forget_job(self, job: JobId) -> None:
        """The job has left."""

    # What they share.

    def bind(self, policy: Policy) -> None:
        self._order = policy.order

    def observe(self, fact: Fact, view: ClusterView) -> None:
        if type(fact) is not Progressed:  # nearly all are, and only tell that time has passed
            self._take_in_fact(fact)
        if self._looked_ms is None:  # what there is to see will be told only now
            self._looked_ms = self._since_ms = view.now_ms
        elif view.now_ms - self._looked_ms >= view.heartbeat_ms:
            self._find_stragglers(view)

    def _take_in_fact(self, fact: Fact) -> None:
        match fact:
            case Launched() if fact.original:
                self._speculative_pair[fact.attempt] = fact.original
                self._speculative_pair[fact.original] = fact.attempt
                self.speculative[fact.kind][fact.job] += 1
                self.stragglers[fact.kind].pop(fact.original, None)
            case Closed():
                self.stragglers[fact.kind].pop(fact.attempt, None)
                twin = self._speculative_pair.pop(fact.attempt, None)
                if twin is not None:
                    del self._speculative_pair[twin]
                    self.speculative[fact.kind][fact.job] -= 1
                self.learn_end(fact)
            case JobLeft(job):
                for kind in KINDS:
                    self.speculative[kind].pop(job, None)
                self.forget_job(job)

    def speculate(self, kind: SlotKind, offer: Offer, view: ClusterView) -> Speculate | None:
        for rank, straggler in enumerate(self.stragglers[kind].values(), start=1):
            if self._may_copy(straggler, kind, offer, view):
                return Speculate(straggler.attempt, self.why(straggler, rank))
        return None

    def has_candidates(self, kind: SlotKind, view: ClusterView) -> bool:
        stragglers = self.stragglers[kind]
        if not stragglers:  # mostly, and it is asked after every message
            return False
        return any(not self.has_reached_cap(each.job, kind, view) for each in stragglers.values())

    def why(self, straggler: Straggler, rank: int) -> Why:
        """The score is the seconds that the straggler is expected to go on; 0: unknown."""
        left_s = 0.0 if straggler.left_ms == UNKNOWN_LEFT_MS else straggler.left_ms / 1000
        return Why(straggler.reason, self.name, rank, left_s, detail=straggler.detail)

    def _may_copy(
        self, straggler: Straggler, kind: SlotKind, offer: Offer, view: ClusterView
    ) -> bool:
        attempt, node = view.attempt(straggler.attempt), offer.node.node
        if attempt is None or attempt.killing or not attempt.alone or attempt.node == node:
            return False
        if self._order is not None and not self._order.may_speculate(straggler.job, kind):
            return False
        full = self.has_reached_cap(straggler.job, kind, view)
        return not full and self.suits(straggler, kind, node, view)

    def _find_stragglers(self, view: ClusterView) -> None:
        self._looked_ms = view.now_ms
        running: tuple[dict[JobId, list[AttemptView]], ...] = ({}, {})
        for attempt in view.attempts():
            if attempt.launched_ms < self._since_ms and not attempt.ran_ms:
                continue  # under way before its progress was wanted
            running[attempt.kind].setdefault(attempt.job, []).append(attempt)
        for kind in KINDS:
            found = self.find(kind, running[kind], view) if running[kind] else ()
            self.stragglers[kind] = {each.attempt: each for each in found}


def time_left_ms(attempt: AttemptView) -> Millis:
    """How long the attempt is expected to go on if it goes on as it has."""
    if not attempt.progress:
        return UNKNOWN_LEFT_MS
    return round(attempt.ran_ms * (1 - attempt.progress) / attempt.progress)


def neediest_first(found: list[Straggler]) -> list[Straggler]:
    """By the time they are expected to go on; ties by number."""
    return sorted(found, key=lambda each: (-each.left_ms, each.attempt))
