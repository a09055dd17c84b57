"""Who must give way, and how they are told: victims of the policy, and attempts made useless."""

from callboard.actors.books.attempts import BookedAttempt
from callboard.actors.books.job_tasks import BookedJob
from callboard.actors.books.ledger import Ledger
from callboard.actors.books.voice import Voice
from callboard.actors.central.heartbeat_messages import PreemptionDue
from callboard.actors.central.heartbeats import MasterHeartbeats
from callboard.actors.kernel.message import NO_CAUSE
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.lifecycle import BookedChange
from callboard.actors.vocabulary.messages import KillTask, SuspendTask
from callboard.scheduler import facts
from callboard.scheduler.decisions import Kill, Suspend
from callboard.scheduler.facts import Rejection
from callboard.scheduler.model import MAPS
from callboard.scheduler.policy import Policy
from callboard.scheduler.reasons import JobClaimant, Reason, Why


class Preemptor:
    """Orders attempts to stop; `heartbeats` brings the orders to their nodes."""

    def __init__(
        self, ledger: Ledger, policy: Policy, heartbeats: MasterHeartbeats, voice: Voice
    ) -> None:
        self._ledger = ledger
        self._policy = policy
        self._heartbeats = heartbeats
        self._voice = voice

    def await_check(self, policies: int) -> None:
        """Have the policy in force asked for victims when it wants to be; `policies` were in force
        before it.
        """
        if self._policy.interval_ms is not None:
            due = PreemptionDue(policies)
            self._voice.send(self._voice.address, due, NO_CAUSE, self._policy.interval_ms)

    def preempt_victims(self) -> None:
        """Order what the policy wants to give way to do so."""
        for order in self._policy.preempt(self._ledger):
            entry = self._ledger.attempt(order.attempt)
            problem = _rejection_of_preemption(order, entry)
            if problem is not None:
                self._voice.tell_policy(facts.Rejected(order, problem), NO_CAUSE)
                continue
            assert entry is not None
            cause = self._beneficiary_submission_event(order.why)
            if isinstance(order, Suspend):
                self._order_suspend(entry, order.why, cause)
            else:
                self.kill_attempt(entry, order.why, cause)

    def _beneficiary_submission_event(self, why: Why) -> int:
        """The submission of the job for which an attempt gives way, if it is for a single one."""
        match why.beneficiary:
            case JobClaimant(job) if self._ledger.has_job(job):
                return self._ledger.job(job).cause[MAPS]
            case _:
                return NO_CAUSE

    def kill_attempt(self, entry: BookedAttempt, why: Why, cause: int) -> None:
        entry.change_state(BookedChange.ORDER_KILL)
        self._order_kill(entry, why, cause)

    def kill_if_running(self, entry: BookedAttempt | None, reason: Reason, cause: int) -> None:
        """Kill an attempt that is of no use any more, if it runs."""
        if entry is not None and not entry.killing:
            self.kill_attempt(entry, Why(reason), cause)

    def stop_job(self, job: BookedJob, cause: int) -> None:
        """Kill what runs of a job that ends before its time."""
        for entry in list(job.attempts.values()):
            self.kill_if_running(entry, Reason.JOB_ENDS, cause)

    def expire_launch(self, entry: BookedAttempt, cause: int) -> None:
        """Give up a launch that has not begun for so long (rule H8)."""
        entry.change_state(BookedChange.EXPIRE)
        expired = ev.LaunchExpired(self._ledger.now_ms, entry.attempt, cause=cause)
        self._order_kill(entry, Why(Reason.LAUNCH_EXPIRED), self._voice.note(expired))

    def _order_kill(self, entry: BookedAttempt, why: Why, cause: int) -> None:
        now_ms, attempt = self._ledger.now_ms, entry.attempt
        order = self._voice.note(ev.KillOrdered(now_ms, attempt, why, cause=cause))
        self._heartbeats.give_order(entry.node, KillTask(attempt, order))

    def _order_suspend(self, entry: BookedAttempt, why: Why, cause: int) -> None:
        entry.change_state(BookedChange.ORDER_SUSPEND)
        now_ms, attempt = self._ledger.now_ms, entry.attempt
        order = self._voice.note(ev.SuspendOrdered(now_ms, attempt, why, cause=cause))
        self._heartbeats.give_order(entry.node, SuspendTask(attempt, order))


def _rejection_of_preemption(
    order: Kill | Suspend, entry: BookedAttempt | None
) -> Rejection | None:
    if entry is None or entry.killing:
        return Rejection.ENDED_OR_KILLED
    if isinstance(order, Kill) or entry.alone:
        return None
    if entry.suspending or not entry.holds_slot:
        return Rejection.ALREADY_SUSPENDED
    return Rejection.HAS_SIBLING
