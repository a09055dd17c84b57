"""The master (Hadoop's JobTracker): believes what heartbeats tell, and lets the policy decide.

It never looks into another actor.  What reaches it is told to its parts: `heartbeats` hears and
answers nodes, `membership` says which belong to the cluster, `bookings` book what they report,
`assignments` ask the policy what they are to run, and `preemptor` says who must give way.  None
of them knows the master; they have its voice (`actors.books.voice`), and share the books.
"""

from collections.abc import Callable
from copy import deepcopy

import msgspec

from callboard.actors.books.bookings import Bookings
from callboard.actors.books.ledger import Ledger
from callboard.actors.books.members import BookedOffer
from callboard.actors.central import heartbeat_messages as own
from callboard.actors.central.assignments import Assignments
from callboard.actors.central.briefing import brief_policy
from callboard.actors.central.heartbeat_queue import HeartbeatQueue
from callboard.actors.central.heartbeats import MasterHeartbeats
from callboard.actors.central.membership import Membership
from callboard.actors.central.preemptor import Preemptor
from callboard.actors.central.setup_and_cleanup import SetupAndCleanup
from callboard.actors.config import Cluster
from callboard.actors.kernel.actor import Actor
from callboard.actors.kernel.address import job_address, node_address
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.kernel.message import NO_CAUSE
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary import messages as msg
from callboard.actors.vocabulary.events import AnyEvent, Outcome
from callboard.actors.vocabulary.lifecycle import BookedJobState
from callboard.scheduler import facts
from callboard.scheduler.model import MAP, MAPS, SETUP, STAGES, Millis, NodeId, slot_kind
from callboard.scheduler.policy import Policy
from callboard.scheduler.text.quantities import clock

_MAPS_ONLY = (MAP,)
_PAUSES = (faults.PauseMaster, faults.ResumeMaster)
_TIMERS = (
    own.ExpiryCheck,
    own.BlacklistReview,
    own.PreemptionDue,
    own.Preempt,
    own.ElidedHeartbeat,
)
_WHILE_PAUSED = (faults.ResumeMaster, faults.Disturb)
"""What a paused master answers all the same: its own resumption, and what happens to links."""


class Master(Actor[AnyEvent]):
    """The master of a cluster of `nodes` nodes; `make_policy` makes a policy from its spelling."""

    def __init__(
        self,
        cluster: Cluster,
        nodes: int,
        policy: Policy,
        seed: int,
        make_policy: Callable[[str], Policy],
    ) -> None:
        super().__init__(own.MASTER, "master")
        self._one_each = cluster.heartbeat.tasks_per_heartbeat == "one"
        self.policy = policy
        self._pristine = deepcopy(policy)
        self._policies = 0
        self._make_policy = make_policy
        self._paused_ms: Millis | None = None
        """Since when it stands still."""
        self._backlog: list[tuple[int, msgspec.Struct]] = []
        self._queue = HeartbeatQueue(cluster.heartbeat.thinking_ms, self)
        self.heartbeats = MasterHeartbeats(cluster, nodes, seed, self, self._await_elided_heartbeat)
        self._membership = Membership(cluster, self.heartbeats, self, self.expect_nothing_before)
        self._open_books(Ledger(cluster.topology(), self.heartbeats.interval_ms))

    def waiting_reason(self) -> str | None:
        if self._paused_ms is not None:
            return f"the master has stood still since {clock(self._paused_ms)}"
        return self.policy.why_stuck(self.ledger) or None

    def _open_books(self, ledger: Ledger) -> None:
        """Begin with these books."""
        self.ledger = ledger
        self.heartbeats.open_books(ledger)
        self._setup_and_cleanup = SetupAndCleanup(ledger, self)
        self._bookings = Bookings(ledger, self)
        self._assignments = Assignments(
            ledger,
            self.policy,
            self._setup_and_cleanup,
            self._bookings,
            self,
            one_each=self._one_each,
        )
        self._preemptor = Preemptor(ledger, self.policy, self.heartbeats, self)
        self._membership.open_books(ledger, self._bookings, self._preemptor)

    def join(self, kernel: Kernel[AnyEvent]) -> None:
        super().join(kernel)
        self._preemptor.await_check(self._policies)

    def receive(self, message: msgspec.Struct) -> None:
        if self._paused_ms is not None and not isinstance(message, _WHILE_PAUSED):
            if not isinstance(message, faults.PauseMaster):  # paused twice is paused
                self._backlog.append((self.cause, message))
            return
        self.ledger.now_ms = self._kernel.now_ms
        self.answers[type(message)](self, message)  # as in the base class, a call less
        if type(message) in _PAUSES:
            return
        if self.policy.speculates:
            self._assignments.note_speculation_candidates()
        if self.heartbeats.eliding:
            self._await_useful_heartbeat()

    def tell_policy(self, fact: facts.Fact, cause: int) -> None:
        """Tell the policy a fact, and the journal what that made of its order."""
        policy, order = self.policy, self.policy.order
        policy.observe(fact, self.ledger)
        if not (order.switches or order.estimates) or not policy.tells_order(fact):
            return
        if order.switches and (switch := order.switch) is not None:
            what = (switch.was, switch.now, switch.kind, switch.waiting, switch.free, switch.slots)
            self.note(ev.OrderSwitched(self.now_ms, *what, cause=cause))
        if order.estimates and (found := order.last_estimate) is not None:
            size = (found.job, slot_kind(found.stage), found.size_ms, found.left_ms)
            self.note(ev.SizeEstimated(self.now_ms, *size, cause=cause))

    def at_work(self) -> bool:
        return self._membership.awaits_bad_nodes

    # Jobs.

    def on_announce_job(self, new: msg.AnnounceJob) -> None:
        """A job is here that is initialised first: no policy knows it yet."""
        self.ledger.prepare_job(new.job, new.profile)

    def on_submit_stage(self, order: msg.SubmitStage) -> None:
        """Tasks may run from now on, of a new job or of one that is here."""
        if order.stage >= SETUP:
            self._setup_and_cleanup.submit_task(order, self.cause)
        elif order.stage == MAPS:
            self.ledger.submit_stage(order, self.cause)
            self.tell_policy(facts.JobArrived(order.job), self.cause)
        elif self.ledger.has_job(order.job):  # else it was lost with an earlier master
            self.ledger.submit_stage(order, self.cause)
            self.tell_policy(facts.TasksPending(order.job, order.stage), self.cause)

    def on_run_again(self, again: msg.RunAgain) -> None:
        job = self.ledger.known_job(again.job)
        if job is None:
            return
        if again.stage >= SETUP:
            self._setup_and_cleanup.run_again(job, again.stage, self.cause)
        else:
            job.give_back(again.stage, again.task, self.cause)
            self.tell_policy(facts.TasksPending(job.job, again.stage), self.cause)

    def on_drop_outputs(self, drop: msg.DropOutputs) -> None:
        self._bookings.fail_unfetchable_maps(drop, self.cause)

    def on_job_done(self, done: msg.JobDone) -> None:
        """The job has ended.  It stays in the books until nothing of it runs any more."""
        job, cause = self.ledger.known_job(done.job), self.cause
        if job is None:
            return
        self._setup_and_cleanup.withdraw_job(job)
        if done.outcome is Outcome.SUCCEEDED:
            for node in job.failing_nodes():
                self._membership.hold_against(node, cause)
        else:
            job.withdraw_tasks()
            for stage in STAGES if self.ledger.has_job(done.job) else ():
                if job.total(stage):
                    self.tell_policy(facts.TasksWithdrawn(done.job, stage), cause)
            self._preemptor.stop_job(job, cause)
        job.begin_ending()
        self._bookings.leave_if_over(job, cause)

    def on_change_of_job(self, order: faults.SetPriority | faults.SetPool) -> None:
        """Another priority (JobTracker.setJobPriority) or pool for a job that is in the system.  Of
        one that is being initialised or set up the policy hears when its tasks come.
        """
        job = self.ledger.known_job(order.job)
        if job is None or job.state is BookedJobState.ENDING:
            return
        if isinstance(order, faults.SetPool):
            job.move(order.pool)
        else:
            job.set_priority(order.priority)
        what = (self.now_ms, job.job, job.pool, job.priority)
        changed = self.note(ev.JobChanged(*what, cause=self.cause))
        if self.ledger.has_job(job.job):
            self.tell_policy(facts.JobUpdated(job.job), changed)

    # Heartbeats.

    def on_heartbeat(self, heartbeat: own.Heartbeat) -> None:
        if self._queue.thinking_ms:
            self._queue.put(heartbeat, self.cause)
        else:
            self._answer_heartbeat(heartbeat)

    def on_thought_over(self, _: own.HeartbeatThoughtOver) -> None:
        self._answer_heartbeat(self._queue.thought_over())

    def _answer_heartbeat(self, heartbeat: own.Heartbeat) -> None:
        talk = self.heartbeats.talk(heartbeat.node)
        if talk is None or talk.life != heartbeat.life:
            talk = self._membership.admit(heartbeat, self.cause)
        if talk is None or self.heartbeats.answer_if_repeated(talk, heartbeat):
            return
        for report in heartbeat.reports:
            self._bookings.book_report(report)
        for progress in heartbeat.progress:
            self._bookings.book_progress(progress)
        self.heartbeats.answer(talk, heartbeat, self._assignments.assign(talk.member))

    def on_elided_heartbeat(self, elided: own.ElidedHeartbeat) -> None:
        talk = self.heartbeats.hear_left_out(elided.node)
        if talk is not None:
            self.heartbeats.answer_left_out(talk, self._assignments.assign(talk.member))

    def on_heartbeats_resumed(self, resumed: own.HeartbeatsResumed) -> None:
        if not self.heartbeats.heartbeating:
            self._membership.await_expiry_check()
        self.heartbeats.note_heartbeats_resumed(resumed)

    def _await_elided_heartbeat(self, node: NodeId, at_ms: Millis) -> None:
        self.timer_behind(node_address(node), own.ElidedHeartbeat(node), at_ms, NO_CAUSE)

    def _await_useful_heartbeat(self) -> None:
        """Be there when a silent node could next be given something."""
        index, kinds = self.heartbeats.index, self._assignments.kinds_wanted()
        if not kinds and not index.any_resuming:
            return
        if kinds == _MAPS_ONLY and self.policy.hears_offers and not index.any_resuming:
            for arrival in index.map_arrivals_one_by_one(self.ledger.now_ms):
                if not self._try_answering_ahead(*arrival):
                    break
        self.heartbeats.await_useful(kinds)

    def _try_answering_ahead(self, at_ms: Millis, number: NodeId) -> bool:
        """Answer an elided heartbeat without its timer, if that brings nothing and nothing else
        happens before: so end nearly nine of ten offers that delay scheduling refuses.
        """
        ledger, policy, talk = self.ledger, self.policy, self.heartbeats.talk(number)
        if talk is None or talk.has_orders:
            return False
        now_ms, ledger.now_ms = ledger.now_ms, at_ms
        passed = policy.jobs_refused_again(BookedOffer(talk.member), ledger)
        timer = own.ElidedHeartbeat(number)
        if passed is None or not self.run_on(node_address(number), timer, at_ms):
            ledger.now_ms = now_ms
            return False
        if passed:
            policy.observe(facts.OfferAnswered(number, passed), ledger)
        self.heartbeats.note_answered_ahead(talk, at_ms)
        return True

    # Who is there, and who must give way.

    def on_expiry_check(self, _: own.ExpiryCheck) -> None:
        self._membership.check_expiry()

    def on_blacklist_review(self, review: own.BlacklistReview) -> None:
        self._membership.review_blacklisting(review.node)

    def on_drain(self, drain: faults.Drain) -> None:
        self._membership.take_operator_order(drain, self.cause)

    def on_preemption_due(self, due: own.PreemptionDue) -> None:
        """Hear this instant's heartbeats first: all of them, sent or not, have been answered a
        round later.
        """
        self.send(self.address, own.Preempt(due.policy), NO_CAUSE)

    def on_preempt(self, preempt: own.Preempt) -> None:
        if preempt.policy == self._policies:
            self._preemptor.preempt_victims()
            self._preemptor.await_check(self._policies)

    def on_stop_attempt(self, stop: msg.StopAttempt) -> None:
        entry = self.ledger.attempt(stop.attempt)
        self._preemptor.kill_if_running(entry, stop.reason, self.cause)

    # What happens to links, to the policy and to the master itself.

    def on_disturb(self, fault: faults.Disturb) -> None:
        self.heartbeats.disturb_link(fault)

    def on_switch_policy(self, fault: faults.SwitchPolicy) -> None:
        """Put another policy in force.  It learns what the books say, and no more of the past."""
        self._put_policy_in_force(self._make_policy(fault.policy))
        brief_policy(self.policy, self.ledger, self.heartbeats, self, self.cause)

    def on_pause_master(self, _: faults.PauseMaster) -> None:
        self._paused_ms = self.now_ms

    def on_resume_master(self, _: faults.ResumeMaster) -> None:
        """Answer what came meanwhile, then what fell due: no heartbeat here is missed (T1)."""
        self._paused_ms = None
        backlog, self._backlog = self._backlog, []
        self.receive_held_back(sorted(backlog, key=lambda each: isinstance(each[1], _TIMERS)))

    def on_restart_master(self, fault: faults.RestartMaster) -> None:
        """Begin again: nodes are told to when they send heartbeats, jobs come again or are lost."""
        lost, cause, jobs = self.ledger, self.cause, self.ledger.known_jobs()
        self._bookings.lose_all_attempts(self.now_ms, cause)
        known = [member.node for member in lost.members.values()]
        self._open_books(lost.successor())
        self._membership.on_master_restart(known, cause)
        self._put_policy_in_force(self._pristine)
        for job in jobs:
            if job.state is not BookedJobState.ENDING:
                self.send(job_address(job.job), msg.SchedulerRestarted(fault.recover), cause)

    def _put_policy_in_force(self, policy: Policy) -> None:
        self._policies += 1
        self._pristine = deepcopy(policy)
        self.policy.become(policy)
        self._assignments.forget_speculation_candidates()
        self._preemptor.await_check(self._policies)
