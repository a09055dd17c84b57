"""What a heartbeat that asks for work is given: the policy decides, the ledger checks and books."""

from typing import TYPE_CHECKING

from callboard.actors.kernel.actor import NO_CAUSE
from callboard.actors.kernel.address import MASTER
from callboard.actors.master.entries import AttemptEntry, NodeEntry, OfferEntry
from callboard.actors.master.ledger import Ledger
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import messages as msg
from callboard.scheduler import facts
from callboard.scheduler.decisions import Launch, Resume, Speculate
from callboard.scheduler.facts import Rejection
from callboard.scheduler.model import KINDS, MAP, REDUCE, JobId, Locality, Millis, TaskKind
from callboard.scheduler.policy import Policy
from callboard.scheduler.reasons import Reason, Why

_NODE = Locality.NODE
_OFF_RACK = Locality.OFF_RACK

if TYPE_CHECKING:
    from callboard.actors.master.master import Master


class Assignments:
    """Asks `policy` what nodes are to run, and books it in `ledger`."""

    def __init__(self, ledger: Ledger, policy: Policy, outbox: "Master", *, one_each: bool) -> None:
        self._ledger = ledger
        self._policy = policy
        self._outbox = outbox
        self._one_each = one_each
        self._candidates_from: list[Millis | None] = [None, None]

    def assign(self, node: NodeEntry) -> tuple[msg.LaunchTask | msg.ResumeTask, ...]:
        """Ask the policy for tasks until it has no more to give."""
        if not self._ledger.could_gain(node) and not (
            self._policy.speculates and self._could_speculate(node)
        ):
            return ()
        outbox, policy = self._outbox, self._policy
        offer = OfferEntry(node)
        passed: list[JobId] | None = [] if policy.hears_offers else None
        launch = policy.decide(offer, self._ledger, passed)
        if launch is None:  # with delay scheduling most offers end here
            if passed:
                outbox.tell(facts.OfferAnswered(node.node, tuple(passed)))
            return ()
        launches: list[msg.LaunchTask | msg.ResumeTask] = []
        served: set[JobId] = set()
        while launch is not None:
            problem = self._problem(launch, node)
            if problem is not None:
                outbox.cause = NO_CAUSE
                outbox.tell(facts.Rejected(launch, problem))
                break
            if isinstance(launch, Launch):
                launches.append(self._launch(launch, offer))
                if launch.kind is MAP:
                    served.add(launch.job)
            elif isinstance(launch, Speculate):
                launches.append(self._speculate(launch, offer))
            else:
                launches.append(self._resume(launch, offer))
            if self._one_each:
                break
            launch = policy.decide(offer, self._ledger, passed)
        if passed is not None:
            skipped = tuple([job for job in dict.fromkeys(passed) if job not in served])
            outbox.cause = NO_CAUSE
            outbox.tell(facts.OfferAnswered(node.node, skipped))
        return tuple(launches)

    # Speculation.

    def note_candidates(self) -> None:
        """Keep from when on there has been something to speculate on.  Only what has been so since
        an earlier instant makes an offer: within an instant heartbeats come in an order, and elided
        ones must not depend on what the earlier ones told.
        """
        has_candidates = self._policy.speculation.has_candidates
        for kind in KINDS:
            if not has_candidates(kind, self._ledger):
                self._candidates_from[kind] = None
            elif self._candidates_from[kind] is None:
                self._candidates_from[kind] = self._outbox.now_ms + 1

    def forget_candidates(self) -> None:
        self._candidates_from = [None, None]

    def kinds_wanted(self) -> tuple[TaskKind, ...]:
        """The kinds of slot for which there is something to launch."""
        pending = self._ledger.kinds_pending()
        if not self._policy.speculates:
            return pending
        maps_from, reduces_from = self._candidates_from
        if maps_from is None and reduces_from is None:
            return pending
        candidates = self._candidates_from
        return tuple(kind for kind in KINDS if kind in pending or candidates[kind] is not None)

    def _could_speculate(self, node: NodeEntry) -> bool:
        maps_from, reduces_from = self._candidates_from
        if maps_from is None and reduces_from is None:
            return False
        now_ms = self._ledger.now_ms
        if maps_from is not None and maps_from <= now_ms and node.free(MAP):
            return True
        return reduces_from is not None and reduces_from <= now_ms and node.free(REDUCE) > 0

    # Booking.

    def _launch(self, launch: Launch, offer: OfferEntry) -> msg.LaunchTask:
        kind = launch.kind
        entry = self._ledger.launch(launch.job, kind, offer.node)
        offer.give(kind, launch.level)
        job = self._ledger.job(launch.job)
        made_pending = job.cause[kind]
        if job.retry_causes:
            made_pending = job.retry_causes.pop((kind, entry.task), made_pending)
        return self._order(entry, launch.why, self._freed(offer.node, kind, made_pending))

    def _speculate(self, copy: Speculate, offer: OfferEntry) -> msg.LaunchTask:
        """It counts as off-rack: Hadoop looks for such tasks when it does for off-rack maps."""
        original = self._ledger.attempt(copy.attempt)
        assert original is not None
        entry = self._ledger.copy(original, offer.node)
        offer.give(entry.kind, _OFF_RACK)
        cause = self._freed(offer.node, entry.kind, original.event)
        order = self._order(entry, copy.why, cause)
        if copy.restart:
            stop = msg.StopAttempt(original.attempt, Reason.BEGUN_ELSEWHERE)
            self._outbox.send(MASTER, stop)
        return order

    def _resume(self, resume: Resume, offer: OfferEntry) -> msg.ResumeTask:
        outbox = self._outbox
        entry = self._ledger.attempt(resume.attempt)
        assert entry is not None
        self._ledger.resume(entry)
        outbox.not_begun.pop(resume.attempt, None)  # it tries again, and may begin
        offer.give(entry.kind, _NODE)
        cause = self._freed(offer.node, entry.kind, entry.event)
        ordered = ev.ResumeOrdered(outbox.now_ms, resume.attempt, resume.why, cause=cause)
        outbox.cause = outbox.note(ordered)
        outbox.tell(facts.Resumed(entry.job, entry.kind, entry.attempt, entry.node))
        return msg.ResumeTask(resume.attempt, outbox.cause)

    def _freed(self, node: NodeEntry, kind: TaskKind, otherwise: int) -> int:
        """The event that freed the slot which is taken now, if it was ever held."""
        freed = node.freed[kind]
        return freed.pop(0) if freed else otherwise

    def _order(self, entry: AttemptEntry, why: Why, cause: int) -> msg.LaunchTask:
        outbox, now_ms = self._outbox, self._ledger.now_ms
        attempt, job, kind, task = entry.attempt, entry.job, entry.kind, entry.task
        number, node, level, original = entry.number, entry.node, entry.level, entry.original
        launched = ev.AttemptLaunched(
            now_ms, attempt, job, kind, task, number, node, level, why, original, cause=cause
        )
        event = entry.event = outbox.cause = outbox.note(launched)
        fact = facts.Launched(job, kind, attempt, node, level, original)
        outbox.tell(fact)
        tracked = entry.tracked = self._policy.wants_progress_of(fact)
        work = self._ledger.job(job).work(kind)
        return msg.LaunchTask(attempt, job, kind, task, number, level, work, tracked, event)

    # Checking.

    def _problem(self, launch: Launch | Speculate | Resume, node: NodeEntry) -> Rejection | None:
        if isinstance(launch, Launch):  # nearly all
            if not node.free(launch.kind):
                return Rejection.NO_FREE_SLOT
            if not self._ledger.has_pending(launch.job, launch.kind):
                return Rejection.NOTHING_PENDING
            return None
        if isinstance(launch, Resume):
            entry = self._ledger.attempt(launch.attempt)
            if entry is None or entry.suspended_ms is None or entry.killing:
                return Rejection.NOT_SUSPENDED
            if entry.node != node.node or not node.free(entry.kind):
                return Rejection.NO_SLOT_ON_ITS_NODE
            return None
        return self._problem_of_speculation(launch, node)

    def _problem_of_speculation(self, copy: Speculate, node: NodeEntry) -> Rejection | None:
        entry = self._ledger.attempt(copy.attempt)
        if entry is None or entry.killing or not entry.alone:
            return Rejection.NOT_ALONE
        if not node.free(entry.kind):
            return Rejection.NO_FREE_SLOT
        if entry.node == node.node:
            return Rejection.SAME_NODE
        return None
