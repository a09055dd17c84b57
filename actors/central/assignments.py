"""What a heartbeat that asks for work is given: the policy decides, the ledger checks and books."""

from callboard.actors.books.attempts import BookedAttempt
from callboard.actors.books.bookings import Bookings
from callboard.actors.books.job_tasks import BookedJob
from callboard.actors.books.ledger import Ledger
from callboard.actors.books.members import BookedNode, BookedOffer
from callboard.actors.books.voice import Voice
from callboard.actors.central.heartbeats import Launches
from callboard.actors.central.setup_and_cleanup import SetupAndCleanup
from callboard.actors.kernel.message import NO_CAUSE
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.messages import LaunchTask, ResumeTask, StopAttempt
from callboard.scheduler import facts
from callboard.scheduler.decisions import Launch, Resume, Speculate
from callboard.scheduler.facts import Rejection
from callboard.scheduler.model import (
    KINDS,
    MAP,
    REDUCE,
    STAGES,
    JobId,
    Locality,
    Millis,
    SlotKind,
)
from callboard.scheduler.policy import Policy
from callboard.scheduler.reasons import Reason, Why

_NODE = Locality.NODE
_OFF_RACK = Locality.OFF_RACK


class Assignments:
    """Asks `policy` what nodes are to run, and books it in `ledger`."""

    def __init__(
        self,
        ledger: Ledger,
        policy: Policy,
        setup_and_cleanup: SetupAndCleanup,
        bookings: Bookings,
        voice: Voice,
        *,
        one_each: bool,
    ) -> None:
        self._ledger = ledger
        self._policy = policy
        self._setup_and_cleanup = setup_and_cleanup
        self._bookings = bookings
        self._voice = voice
        self._one_each = one_each
        self._candidates_from: list[Millis | None] = [None, None]

    def assign(self, member: BookedNode) -> Launches:
        """What a heartbeat brings: a setup or cleanup task alone, or what the policy says (H6)."""
        unseen = self._setup_and_cleanup
        if unseen.waiting and (launches := unseen.assign(member)):
            return launches
        return self._offer_slots(member)

    def _offer_slots(self, member: BookedNode) -> Launches:
        """Ask the policy for tasks until it has no more to give."""
        if not self._could_gain(member) and not (
            self._policy.speculates and self._could_speculate(member)
        ):
            return ()
        voice, policy = self._voice, self._policy
        offer = BookedOffer(member)
        passed: list[JobId] | None = [] if policy.hears_offers else None
        launch = policy.decide(offer, self._ledger, passed)
        if launch is None:  # with delay scheduling most offers end here
            if passed:
                voice.tell_policy(facts.OfferAnswered(member.node, tuple(passed)), NO_CAUSE)
            return ()
        launches: list[LaunchTask | ResumeTask] = []
        served: set[JobId] = set()
        while launch is not None:
            problem = self._rejection_of_launch(launch, member)
            if problem is not None:
                voice.tell_policy(facts.Rejected(launch, problem), NO_CAUSE)
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
            voice.tell_policy(facts.OfferAnswered(member.node, skipped), NO_CAUSE)
        return tuple(launches)

    def _could_gain(self, member: BookedNode) -> bool:
        """Whether the node has a free slot of a kind for which anything is pending."""
        maps, reduces = self._ledger.sums.pending
        if (maps and member.free_slots[MAP]) or (reduces and member.free_slots[REDUCE]):
            return True
        return member.could_resume()

    # Speculation.

    def note_speculation_candidates(self) -> None:
        """Keep from when on there has been something to speculate on.  Only what has been so since
        an earlier instant makes an offer: within an instant heartbeats come in an order, and elided
        ones must not depend on what the earlier ones told.
        """
        has_candidates = self._policy.speculation.has_candidates
        for kind in KINDS:
            if not has_candidates(kind, self._ledger):
                self._candidates_from[kind] = None
            elif self._candidates_from[kind] is None:
                self._candidates_from[kind] = self._ledger.now_ms + 1

    def forget_speculation_candidates(self) -> None:
        self._candidates_from = [None, None]

    def kinds_wanted(self) -> tuple[SlotKind, ...]:
        """The kinds of slot for which there is something to launch."""
        if self._setup_and_cleanup.waiting:
            return KINDS
        maps, reduces = self._ledger.sums.pending
        if self._policy.speculates:
            maps_from, reduces_from = self._candidates_from
            maps, reduces = maps or maps_from is not None, reduces or reduces_from is not None
        if not reduces:
            return KINDS[:1] if maps else ()
        return KINDS if maps else KINDS[1:]

    def _could_speculate(self, member: BookedNode) -> bool:
        maps_from, reduces_from = self._candidates_from
        if maps_from is None and reduces_from is None:
            return False
        now_ms = self._ledger.now_ms
        if maps_from is not None and maps_from <= now_ms and member.free_slots[MAP]:
            return True
        return reduces_from is not None and reduces_from <= now_ms and member.free_slots[REDUCE] > 0

    # Booking.

    def _launch(self, launch: Launch, offer: BookedOffer) -> LaunchTask:
        kind, job = launch.kind, self._ledger.job(launch.job)
        entry = self._ledger.launch_task(job, STAGES[kind], offer.node)
        offer.count_given(kind, launch.level)
        cause = offer.node.take_freeing_event(kind, job.take_pending_cause(entry))
        return self._launch_order(entry, job, launch.why, cause)

    def _speculate(self, copy: Speculate, offer: BookedOffer) -> LaunchTask:
        """It counts as off-rack: Hadoop looks for such tasks when it does for off-rack maps."""
        original = self._ledger.attempt(copy.attempt)
        assert original is not None
        entry = self._ledger.copy_attempt(original, offer.node)
        offer.count_given(entry.kind, _OFF_RACK)
        cause = offer.node.take_freeing_event(entry.kind, original.event)
        order = self._launch_order(entry, self._ledger.job(entry.job), copy.why, cause)
        if copy.restart:
            stop = StopAttempt(original.attempt, Reason.BEGUN_ELSEWHERE)
            self._voice.send(self._voice.address, stop, entry.event)
        return order

    def _resume(self, resume: Resume, offer: BookedOffer) -> ResumeTask:
        entry = self._ledger.attempt(resume.attempt)
        assert entry is not None
        self._ledger.resume_attempt(entry)
        self._bookings.not_begun.pop(resume.attempt, None)  # it tries again, and may begin
        offer.count_given(entry.kind, _NODE)
        cause = offer.node.take_freeing_event(entry.kind, entry.event)
        now_ms = self._ledger.now_ms
        ordered = ev.ResumeOrdered(now_ms, resume.attempt, resume.why, cause=cause)
        event = self._voice.note(ordered)
        fact = facts.Resumed(entry.job, entry.stage, entry.attempt, entry.node)
        self._voice.tell_policy(fact, event)
        return ResumeTask(resume.attempt, event)

    def _launch_order(
        self, entry: BookedAttempt, job: BookedJob, why: Why, cause: int
    ) -> LaunchTask:
        entry.event = self._voice.note(entry.launch_event(why, cause))
        attempt, node, level = entry.attempt, entry.node, entry.level
        fact = facts.Launched(job.job, entry.stage, attempt, node, level, entry.original)
        self._voice.tell_policy(fact, entry.event)
        entry.tracked = self._policy.wants_progress_of(fact)
        return job.launch_order(entry)

    # Checking.

    def _rejection_of_launch(
        self, launch: Launch | Speculate | Resume, member: BookedNode
    ) -> Rejection | None:
        if isinstance(launch, Launch):  # nearly all
            if not member.free_slots[launch.kind]:
                return Rejection.NO_FREE_SLOT
            job = self._ledger.known_job(launch.job)
            if job is None or not job.tasks[STAGES[launch.kind]].left:
                return Rejection.NOTHING_PENDING
            return None
        entry = self._ledger.attempt(launch.attempt)
        if isinstance(launch, Speculate):
            return _rejection_of_speculation(entry, member)
        if entry is None or entry.holds_slot or entry.killing:
            return Rejection.NOT_SUSPENDED
        if entry.node != member.node or not member.free_slots[entry.kind]:
            return Rejection.NO_SLOT_ON_ITS_NODE
        return None


def _rejection_of_speculation(entry: BookedAttempt | None, member: BookedNode) -> Rejection | None:
    if entry is None or entry.killing or not entry.alone:
        return Rejection.NOT_ALONE
    if not member.free_slots[entry.kind]:
        return Rejection.NO_FREE_SLOT
    if entry.node == member.node:
        return Rejection.SAME_NODE
    return None
