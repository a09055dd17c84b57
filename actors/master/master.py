"""The master (Hadoop's JobTracker): believes what heartbeats tell, and lets the policy decide.

It never looks into another actor. A repeated heartbeat gets the stored reply again (rule H5); else
what it reports is booked in the ledger, the policy and the jobs are told, and if the node has a
free slot that something is pending for, the policy, which sees the ledger as a view, is asked until
it has no more to give (rule H6, `Assignments`). Heartbeats that were not sent are answered all the
same (`actors.elided_heartbeats`).
"""

from collections.abc import Callable
from copy import deepcopy

import msgspec

from callboard.actors.config import Cluster
from callboard.actors.elided_heartbeats import ElidedHeartbeats
from callboard.actors.kernel.actor import NO_CAUSE, Actor
from callboard.actors.kernel.address import MASTER, job_address, node_address
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.master.assignments import Assignments
from callboard.actors.master.auxiliary_tasks import AuxiliaryTasks
from callboard.actors.master.blacklist import NodeBlacklist
from callboard.actors.master.entries import (
    TRACKER_FAILURES_MAX,
    AttemptEntry,
    NodeEntry,
    OfferEntry,
)
from callboard.actors.master.ledger import Ledger
from callboard.actors.network import Link
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary import messages as msg
from callboard.actors.vocabulary.events import Outcome
from callboard.actors.vocabulary.lifecycle import (
    BOOKED_ATTEMPT,
    BookedChange,
    BookedJobState,
    BookedState,
    step,
)
from callboard.scheduler import facts, model
from callboard.scheduler.decisions import Kill, Suspend
from callboard.scheduler.facts import Rejection
from callboard.scheduler.model import KINDS, MAP, REDUCE
from callboard.scheduler.policy import Policy
from callboard.scheduler.reasons import JobClaimant, Reason, Why

_ENDING = BookedJobState.ENDING
_REPORT_REDUNDANT = BookedChange.REPORT_REDUNDANT
_FAILED = Outcome.FAILED
_KILLED = Outcome.KILLED
_SUCCEEDED = Outcome.SUCCEEDED

_REPORTS = {
    Outcome.SUCCEEDED: BookedChange.REPORT_SUCCEEDED,
    Outcome.FAILED: BookedChange.REPORT_FAILED,
    Outcome.KILLED: BookedChange.REPORT_KILLED,
}
_TIMERS = (
    msg.ExpiryCheck,
    msg.BlacklistReview,
    msg.PreemptionDue,
    msg.Preempt,
    msg.ElidedHeartbeat,
)
_WHILE_PAUSED = (faults.ResumeMaster, faults.Disturb)
"""What a paused master answers all the same: its own resumption, and what happens to links."""

_MAPS_ONLY = (MAP,)
_PAUSES = (faults.PauseMaster, faults.ResumeMaster)


class Master(Actor):
    """The master of a cluster of `nodes` nodes; `make_policy` makes a policy from its spelling."""

    def __init__(
        self,
        cluster: Cluster,
        nodes: int,
        policy: Policy,
        seed: int,
        make_policy: Callable[[str], Policy],
    ) -> None:
        super().__init__(MASTER, "master")
        self._cluster = cluster
        self._interval_ms = cluster.heartbeat.period_ms(nodes)
        self._expiry_ms = cluster.heartbeat.expiry_ms
        self._latency_ms = cluster.latency_ms
        self._seed = seed
        self._policy = policy
        self._pristine = deepcopy(policy)
        self._policies = 0
        self._make_policy = make_policy
        self._switching = policy.order if policy.order.switches else None
        self._estimating = policy.order if policy.order.estimates else None
        self._paused = False
        self._backlog: list[tuple[int, msgspec.Struct]] = []
        self._downlinks: dict[model.NodeId, Link] = {}
        self._heartbeating: set[model.NodeId] = (
            set()
        )  # send every heartbeat: their silence means loss
        self._out_of_service: dict[model.NodeId, bool] = {}  # as the operator says
        self._told: dict[model.NodeId, int] = {}  # which of its lives a node was told to give up
        self._former_lives: dict[model.NodeId, int] = {}  # those that joined before a restart
        self._begin(Ledger(cluster.topology(), self._interval_ms))

    def _begin(self, ledger: Ledger) -> None:
        self.ledger = ledger
        one_each = self._cluster.heartbeat.tasks_per_heartbeat == "one"
        self._assignments = Assignments(ledger, self._policy, self, one_each=one_each)
        self._auxiliary = AuxiliaryTasks(ledger, self)
        self._elided: ElidedHeartbeats | None = None
        if self._cluster.heartbeat.send == "needed" and self._latency_ms > 0:
            self._elided = ElidedHeartbeats(self._interval_ms + 2 * self._latency_ms)
        self._lives: dict[model.NodeId, int] = {}
        self._lost_by: dict[model.NodeId, int] = {}  # the event by which a node is given up
        self.not_begun: dict[model.AttemptId, int] = {}  # by the events that told so
        self._blacklist = NodeBlacklist()

    def join(self, kernel: Kernel) -> None:
        super().join(kernel)
        self._await_preemption()

    def receive(self, message: msgspec.Struct) -> None:
        if self._paused and not isinstance(message, _WHILE_PAUSED):
            if not isinstance(message, faults.PauseMaster):  # paused twice is paused
                self._backlog.append((self.cause, message))
            return
        self.ledger.now_ms = self._kernel.now_ms
        self.answers[type(message)](self, message)  # as in the base class, a call less
        if type(message) in _PAUSES:
            return
        if self._policy.speculates:
            self._assignments.note_candidates()
        if self._elided is not None:
            self._await_elided(self._elided)

    def tell(self, fact: facts.Fact) -> None:
        self._policy.observe(fact, self.ledger)
        if self._switching is not None and (switch := self._switching.switch) is not None:
            what = (switch.was, switch.now, switch.kind, switch.waiting, switch.free, switch.slots)
            self.note(ev.OrderSwitched(self.now_ms, *what, cause=self.cause))
        if self._estimating is not None and (found := self._estimating.estimate) is not None:
            size = (found.job, found.kind, found.size_ms, found.left_ms)
            self.note(ev.SizeEstimated(self.now_ms, *size, cause=self.cause))

    # Jobs.

    def on_submit_job(self, order: msg.SubmitJob) -> None:
        self.ledger.submit(order, self.cause)
        self.tell(facts.JobArrived(order.job))

    def on_run_auxiliary(self, order: msg.RunAuxiliary) -> None:
        self._auxiliary.ask(order)

    def on_reduces_ready(self, ready: msg.ReducesReady) -> None:
        if not self.ledger.here(ready.job):
            return  # it was lost with an earlier master
        self.ledger.open_reduces(ready.job, self.cause)
        self.tell(facts.TasksPending(ready.job, REDUCE))

    def on_run_again(self, again: msg.RunAgain) -> None:
        if not self.ledger.here(again.job):
            return
        self.ledger.give_back(again.job, again.kind, again.task, self.cause)
        self.tell(facts.TasksPending(again.job, again.kind))

    def on_drop_outputs(self, drop: msg.DropOutputs) -> None:
        """A host's outputs of a job cannot be fetched: its maps have failed (rule T6)."""
        if self.ledger.here(drop.job):
            outputs = self.ledger.fail_maps_of(drop.job, drop.host)
            if outputs:
                self._undo(drop.job, drop.host, outputs, BookedChange.FAIL_FETCHES)

    def on_job_done(self, done: msg.JobDone) -> None:
        """The job has ended.  It stays in the books until nothing of it runs any more."""
        for node, kill in self._auxiliary.withdraw(done.job):
            self._send_kill_to(node, kill)
        self.ledger.forget_announced(done.job)
        if not self.ledger.here(done.job):
            return
        if done.outcome is not _SUCCEEDED:
            self._withdraw(done.job)
        else:
            for node in self.ledger.job(done.job).failing_nodes():
                self._hold_against(node)
        self.ledger.end(done.job)
        self._leave_if_over(done.job)

    def on_change_of_job(self, order: faults.SetPriority | faults.SetPool) -> None:
        """Another priority (JobTracker.setJobPriority) or pool for a job, if it is there."""
        job = order.job
        if not self.ledger.here(job):
            return
        entry = self.ledger.job(job)
        if isinstance(order, faults.SetPool):
            entry.pool = order.pool
        else:
            entry.priority = order.priority
        changed = ev.JobChanged(self.now_ms, job, entry.pool, entry.priority, cause=self.cause)
        self.cause = self.note(changed)
        self.tell(facts.JobUpdated(job))

    def _withdraw(self, job: model.JobId) -> None:
        """Kill what runs of a job that ends before its time; nothing of it is pending any more."""
        self.ledger.withdraw(job)
        for kind in KINDS:
            if self.ledger.job(job).total(kind):
                self.tell(facts.TasksWithdrawn(job, kind))
        for attempt in self.ledger.attempts_of(job):
            if not attempt.killing:
                self._kill(attempt, Why(Reason.JOB_ENDS))

    def _undo(
        self,
        job: model.JobId,
        node: model.NodeId,
        outputs: list[tuple[model.TaskIndex, model.AttemptId]],
        change: BookedChange,
    ) -> None:
        cause = self.cause
        outcome = ev.OUTCOMES[step(BOOKED_ATTEMPT, BookedState.SUCCEEDED, change)]
        attempts = tuple(attempt for _, attempt in outputs)
        lost = ev.MapOutputsLost(self.now_ms, job, node, attempts, outcome, cause=cause)
        self.cause = self.note(lost)
        tasks = tuple(task for task, _ in outputs)
        self.send(job_address(job), msg.OutputsLost(tasks, outcome is Outcome.FAILED))
        self.tell(facts.TaskOutputsLost(job, MAP, len(tasks)))
        self.cause = cause

    def _leave_if_over(self, job: model.JobId) -> None:
        """Take a job that has ended off the books when nothing of it runs any more."""
        entry = self.ledger.job(job)
        if entry.state is _ENDING and not self.ledger.has_attempts(job):
            self.ledger.leave(job)
            self.tell(facts.JobLeft(job))

    # Heartbeats.

    def on_heartbeat(self, heartbeat: msg.Heartbeat) -> None:
        node = self._known(heartbeat)
        if node is None:
            return
        if heartbeat.response != node.reply.response:
            self._send_down(heartbeat.node, node.reply)
            return
        node.heard_ms = self._kernel.now_ms
        for report in heartbeat.reports:
            self.cause = report.cause
            if isinstance(report, msg.EndReport):  # nearly all
                self._book_report(report)
            else:
                self._book_trouble(report)
        self.cause = NO_CAUSE
        for progress in heartbeat.progress:
            self._book_progress(progress)
        launches = self._work_for(node)
        elides = self._elided is not None and heartbeat.node not in self._heartbeating
        if self._elided is not None and elides:
            self._elided.index.heard(heartbeat.node, self._kernel.now_ms)
            if heartbeat.reports or launches or heartbeat.joins is not None:
                self._list(self._elided, node)  # else its slots are as it left them
        self._reply(node, launches, elides=elides and heartbeat.joins is None)

    def on_elided_heartbeat(self, elided: msg.ElidedHeartbeat) -> None:
        node, now_ms = self.ledger.node(elided.node), self._kernel.now_ms
        assert self._elided is not None
        if node is None or node.node in self._heartbeating:
            return  # it is gone, or sends every heartbeat now
        if node.heard_ms == now_ms or not self._elided.index.arrives(node.node, now_ms):
            return  # it really sent one, or its heartbeats have moved
        node.heard_ms = now_ms
        self.cause = NO_CAUSE
        launches = self._work_for(node)
        if launches:
            self._list(self._elided, node)
        if launches or node.has_orders:
            self._reply(node, launches)

    def _work_for(self, node: NodeEntry) -> tuple[msg.LaunchTask | msg.ResumeTask, ...]:
        """What a heartbeat brings: a setup or cleanup task alone, or what the policy says (H6)."""
        if self._auxiliary.pending and (launches := self._auxiliary.assign(node)):
            return launches
        return self._assignments.assign(node)

    def on_heartbeats_resumed(self, resumed: msg.HeartbeatsResumed) -> None:
        """A node leaves no more heartbeats out: from now on its silence means something."""
        if not self._heartbeating:
            self._await_expiry_check()
        self._heartbeating.add(resumed.node)
        node = self.ledger.node(resumed.node)
        if self._elided is None or node is None:
            return
        self._elided.index.forget(resumed.node)
        node.heard_ms = max(node.heard_ms, resumed.left_out_ms)

    def _known(self, heartbeat: msg.Heartbeat) -> NodeEntry | None:
        """The entry, made when a node joins; None for a life that is over or given up (rule T4)."""
        number, life = heartbeat.node, heartbeat.life
        node = self.ledger.node(number)
        if node is not None and life <= node.life:
            return node if life == node.life else None
        last = self._lives.get(number, self._former_lives.get(number, -1))
        if heartbeat.joins is None or life <= last:
            self.cause = self._lost_by.get(number, NO_CAUSE)
            self._send_down(number, msg.Reinitialize(life))
            self._told[number] = life
            return None
        if node is not None:  # it restarted before its silence was noticed (rule T5)
            self._lose(node, again=True)
        if number in self._lives:
            self.cause = self.note(ev.NodeReturned(self.now_ms, number, cause=self.cause))
        self._lives[number] = life
        node = self.ledger.join(heartbeat.joins, life)
        self.tell(facts.NodeJoined(number))
        if self._told.get(number) != life - 1:  # it was not asked to: its machine restarted
            self._clear(number)
        self._serve_or_not(number)
        return node

    def _reply(
        self,
        node: NodeEntry,
        launches: tuple[msg.LaunchTask | msg.ResumeTask, ...],
        *,
        elides: bool = False,
    ) -> None:
        """Answer a heartbeat, and keep the answer in case it has to be repeated (rule H5).  One to
        a node that elides counts, but is not sent if it says nothing.
        """
        elides = elides and not launches and not node.has_orders
        what: tuple[tuple[msg.KillTask, ...], tuple[msg.SuspendTask, ...], tuple[int, ...]]
        what = (), (), ()
        if node.has_orders:
            what = tuple(node.kills), tuple(node.suspends), tuple(node.tracks)
            node.kills.clear()
            node.suspends.clear()
            node.tracks.clear()
        reply = node.reply = msg.HeartbeatReply(
            node.reply.response + 1, self._interval_ms, launches, *what, node.life
        )
        if elides:
            return
        if self._downlinks:
            self._send_down(node.node, reply)
        else:
            self.send(node_address(node.node), reply, self._latency_ms)

    def _send_down(
        self, node: model.NodeId, message: msg.HeartbeatReply | msg.Reinitialize
    ) -> None:
        link = self._downlinks.get(node)
        if link is None:
            self.send(node_address(node), message, self._latency_ms)
        else:
            for delay_ms, each in link.carry(message):
                self.send(node_address(node), each, delay_ms)

    def _list(self, elided: ElidedHeartbeats, node: NodeEntry) -> None:
        able = (node.free(MAP) > 0, node.free(REDUCE) > 0, node.could_resume())
        elided.index.set_able(node.node, able)

    def _await_elided(self, elided: ElidedHeartbeats) -> None:
        kinds = KINDS if self._auxiliary.pending else self._assignments.kinds_wanted()
        if not kinds and not elided.index.any_resuming:
            return
        if kinds == _MAPS_ONLY and self._policy.hears_offers and not elided.index.any_resuming:
            refused = None
            for arrival in elided.index.lone_map_arrivals(self.ledger.now_ms):
                if not self._refuses(*arrival):
                    break
                refused = arrival
            if refused is not None:
                elided.armed = (refused[0], [refused[1]])
        at_ms, nodes = elided.newly_due(self.ledger.now_ms, kinds)
        for node in nodes:
            self.timer_behind(node_address(node), msg.ElidedHeartbeat(node), at_ms)

    def _refuses(self, at_ms: model.Millis, number: model.NodeId) -> bool:
        """Answer an elided heartbeat without its timer, if that brings nothing and nothing else
        happens before: so end nearly nine of ten offers that delay scheduling refuses.
        """
        ledger, policy = self.ledger, self._policy
        node = ledger.node(number)
        if node is None or node.has_orders:
            return False
        now_ms, ledger.now_ms = ledger.now_ms, at_ms
        passed = policy.refuses_again(OfferEntry(node), ledger)
        timer = msg.ElidedHeartbeat(number)
        if passed is None or not self.run_on(node_address(number), timer, at_ms):
            ledger.now_ms = now_ms
            return False
        if passed:
            policy.observe_offer(facts.OfferAnswered(number, passed), ledger)
        node.heard_ms = at_ms
        self.cause = NO_CAUSE
        return True

    # What heartbeats report.

    def _book_trouble(self, report: msg.SuspensionReport | msg.FetchFailure | msg.NotBegun) -> None:
        match report:
            case msg.SuspensionReport():
                self._book_suspension(report)
            case msg.FetchFailure(job, host) if self.ledger.here(job):
                running = self.ledger.job(job).running(REDUCE)
                self.send(job_address(job), msg.FetchTrouble(host, running))
            case msg.NotBegun():
                self.not_begun[report.attempt] = report.cause

    def _book_report(self, report: msg.EndReport) -> None:
        if self._auxiliary.book(report):
            return
        entry = self.ledger.attempt(report.attempt)
        assert entry is not None, f"attempt {report.attempt} was closed before"
        change = _REPORT_REDUNDANT if entry.beaten else _REPORTS[report.outcome]
        self._close(entry, change, report.ran_ms, report.shuffled_ms)

    def _close(
        self,
        entry: AttemptEntry,
        change: BookedChange,
        ran_ms: model.Millis,
        shuffled_ms: model.Millis,
    ) -> None:
        """Book an attempt's end and tell the policy; the job too, if it matters to the task: its
        first success, a failure, or an end without success when no other attempt of it runs.
        """
        job, kind, attempt, node = entry.job, entry.kind, entry.attempt, entry.node
        held_slot = entry.suspended_ms is None
        sibling = self.ledger.close(entry, change)
        outcome = ev.OUTCOMES[entry.state]
        succeeded, failed = outcome is _SUCCEEDED, outcome is _FAILED
        closed = ev.AttemptClosed(self._kernel.now_ms, attempt, outcome, cause=self.cause)
        self.cause = self.note(closed)
        if held_slot:
            books = self.ledger.node(node)
            assert books is not None, f"{entry} is on no node"
            books.freed[kind].append(self.cause)
        self.tell(facts.Closed(job, kind, attempt, node, succeeded, ran_ms, shuffled_ms))
        if succeeded and sibling is not None:
            self.send(MASTER, msg.StopAttempt(sibling.attempt, Reason.TASK_DONE))
        alone = sibling is None and not entry.beaten
        if succeeded or failed or alone:
            booked = msg.AttemptBooked(attempt, kind, entry.task, node, outcome, alone)
            self.send(job_address(job), booked)
        if failed:
            self._note_blacklisting(job, node)
        self._leave_if_over(job)

    def _book_suspension(self, report: msg.SuspensionReport) -> None:
        """Book that an attempt is suspended: only now is its slot free."""
        entry = self.ledger.attempt(report.attempt)
        assert entry is not None, f"attempt {report.attempt} was closed and is held"
        self.ledger.suspend(entry)
        node = self.ledger.node(entry.node)
        assert node is not None
        node.freed[entry.kind].append(report.cause)
        what = (entry.job, entry.kind, entry.attempt, entry.node)
        self.tell(facts.Suspended(*what, report.ran_ms, report.shuffled_ms))

    def _book_progress(self, progress: msg.AttemptProgress) -> None:
        entry = self.ledger.attempt(progress.attempt)
        assert entry is not None, f"attempt {progress.attempt} was closed and goes on"
        entry.progress, entry.ran_ms = progress.done, progress.ran_ms
        entry.shuffled_ms = progress.shuffled_ms
        ran = (progress.done, progress.ran_ms, progress.shuffled_ms)
        self.tell(facts.Progressed(entry.job, entry.kind, entry.attempt, *ran))

    # Who must give way.

    def on_preemption_due(self, due: msg.PreemptionDue) -> None:
        """Go by what this instant's heartbeats have told: a round later they are all answered."""
        self.send(MASTER, msg.Preempt(due.policy))

    def on_preempt(self, preempt: msg.Preempt) -> None:
        """Mark the policy's victims: all heartbeats of this instant, sent or not, are answered."""
        if preempt.policy != self._policies:
            return
        self.cause = NO_CAUSE
        for order in self._policy.preempt(self.ledger):
            entry = self.ledger.attempt(order.attempt)
            problem = _problem_of_victim(order, entry)
            if problem is not None:
                self.tell(facts.Rejected(order, problem))
                continue
            assert entry is not None
            self.cause = self._arrival_of_beneficiary(order.why)
            if isinstance(order, Suspend):
                self._suspend(entry, order.why)
            else:
                self._kill(entry, order.why)
            self.cause = NO_CAUSE
        self._await_preemption()

    def _arrival_of_beneficiary(self, why: Why) -> int:
        """The submission of the job for which an attempt gives way, if it is for a single one."""
        match why.beneficiary:
            case JobClaimant(job) if self.ledger.here(job):
                return self.ledger.job(job).cause[MAP]
            case _:
                return NO_CAUSE

    def on_stop_attempt(self, stop: msg.StopAttempt) -> None:
        """See to it that an attempt which another one has made useless is killed, if it runs."""
        entry = self.ledger.attempt(stop.attempt)
        if entry is not None and not entry.killing:
            self._kill(entry, Why(stop.reason))

    def _kill(self, entry: AttemptEntry, why: Why) -> None:
        entry.change(BookedChange.ORDER_KILL)
        self._send_kill(entry, why)

    def _expire(self, entry: AttemptEntry) -> None:
        entry.change(BookedChange.EXPIRE)
        expired = ev.LaunchExpired(self.now_ms, entry.attempt, cause=self.not_begun[entry.attempt])
        self.cause = self.note(expired)
        self._send_kill(entry, Why(Reason.LAUNCH_EXPIRED))

    def _send_kill(self, entry: AttemptEntry, why: Why) -> None:
        order = self.note(ev.KillOrdered(self.now_ms, entry.attempt, why, cause=self.cause))
        self._send_kill_to(entry.node, msg.KillTask(entry.attempt, order))

    def _send_kill_to(self, number: model.NodeId, kill: msg.KillTask) -> None:
        node = self.ledger.node(number)
        assert node is not None, f"node {number} is gone, and attempt {kill.attempt} runs there"
        node.kills.append(kill)
        self._see_to(number)

    def _suspend(self, entry: AttemptEntry, why: Why) -> None:
        entry.change(BookedChange.ORDER_SUSPEND)
        order = self.note(ev.SuspendOrdered(self.now_ms, entry.attempt, why, cause=self.cause))
        self._node_of(entry).suspends.append(msg.SuspendTask(entry.attempt, order))
        self._see_to(entry.node)

    def _track(self, entry: AttemptEntry) -> None:
        entry.tracked = True
        self._node_of(entry).tracks.append(entry.attempt)
        self._see_to(entry.node)

    def _node_of(self, entry: AttemptEntry) -> NodeEntry:
        node = self.ledger.node(entry.node)
        assert node is not None, f"{entry} is on no node"
        return node

    def _see_to(self, node: model.NodeId) -> None:
        """Do not miss the node's next heartbeat, even if it is elided."""
        if self._elided is not None and node not in self._heartbeating:
            at_ms = self._elided.index.next_arrival(node, self.now_ms)
            self.timer_behind(node_address(node), msg.ElidedHeartbeat(node), at_ms)

    def _await_preemption(self) -> None:
        if self._policy.interval_ms is not None:
            self.timer(msg.PreemptionDue(self._policies), self._policy.interval_ms)

    # Nodes that are lost.

    def on_expiry_check(self, _: msg.ExpiryCheck) -> None:
        """Give up nodes (rule T1) and launches (rule H8) after an expiry without a sign of them."""
        for number in sorted(self._heartbeating):
            node = self.ledger.node(number)
            if node is not None and self.now_ms - node.heard_ms > self._expiry_ms:
                self.cause = NO_CAUSE
                self._lose(node)
        for attempt in list(self.not_begun):
            entry = self.ledger.attempt(attempt)
            if entry is None or entry.killing:
                del self.not_begun[attempt]
            elif self.now_ms - entry.launched_ms > self._expiry_ms:
                self._expire(entry)
                del self.not_begun[attempt]
        self._await_expiry_check()

    def _await_expiry_check(self) -> None:
        """The checker wakes three times an expiry, counted from the start."""
        every_ms = max(self._expiry_ms // 3, 1)
        self.timer(msg.ExpiryCheck(), every_ms - self.now_ms % every_ms)

    def _lose(self, node: NodeEntry, again: bool = False) -> None:
        """Give up a node: kill what ran there, run maps again that reduces need (rule T2)."""
        lost = ev.NodeLost(self.now_ms, node.node, node.heard_ms, again, cause=self.cause)
        cause = self.cause = self._lost_by[node.node] = self.note(lost)
        self._auxiliary.lose(node.node)
        jobs: dict[model.JobId, None] = {}
        for attempt in self.ledger.attempts_on(node):
            jobs[attempt.job] = None
            self.cause = cause
            self._close(attempt, BookedChange.LOSE, 0, 0)
        self.cause = cause
        for job, outputs in self.ledger.undo_maps(node):
            jobs[job] = None
            self._undo(job, node.node, outputs, BookedChange.LOSE_OUTPUT)
        for job in jobs:  # one failure on the node of each job that it concerned
            if self.ledger.here(job):
                self.ledger.blame(job, node.node)
                self._note_blacklisting(job, node.node)
        self.ledger.part(node)
        self.tell(facts.NodeGone(node.node))

    # Nodes that are out of service.

    def on_drain(self, fault: faults.Drain) -> None:
        """Remember it, for a node that joins later too."""
        self._out_of_service[fault.node] = fault.out
        self._serve_or_not(fault.node)

    def on_blacklist_review(self, review: msg.BlacklistReview) -> None:
        """Take a node off the list of bad ones, unless it has had faults since."""
        node = review.node
        if node in self._blacklist.blacklisted:
            if self._blacklist.expires_ms(node) > self.now_ms:
                self._await_blacklist_review(node)
            else:
                self.cause = NO_CAUSE
                self._clear(node)

    def at_work(self) -> bool:
        """A node that is out of service for its faults will come back."""
        return self._cluster.removes_bad_nodes and bool(self._blacklist.blacklisted)

    def _note_blacklisting(self, job: model.JobId, node: model.NodeId) -> None:
        entry = self.ledger.job(job)
        if entry.faults[node] == TRACKER_FAILURES_MAX:
            in_force = entry.blacklists(node)
            self.note(ev.JobBlacklistedNode(self.now_ms, job, node, in_force, cause=self.cause))

    def _hold_against(self, node: model.NodeId) -> None:
        """A job has succeeded that had come to blacklist the node: a fault of the node's."""
        blacklist, now_ms = self._blacklist, self.now_ms
        blacklist.add(node, now_ms)
        if node in blacklist.blacklisted:
            return
        if blacklist.exceeds(node, now_ms, self.ledger.nodes):
            blacklist.blacklisted[node] = None
            cause, number = self.cause, blacklist.faults(node, now_ms)
            in_force = self._cluster.removes_bad_nodes
            self.cause = self.note(ev.NodeBlacklisted(now_ms, node, number, in_force, cause=cause))
            self._await_blacklist_review(node)
            self._serve_or_not(node)
            self.cause = cause

    def _await_blacklist_review(self, node: model.NodeId) -> None:
        at_ms = self._blacklist.expires_ms(node)
        self.timer(msg.BlacklistReview(node), at_ms - self.now_ms)
        if self._cluster.removes_bad_nodes:  # jobs may have no other node
            self._kernel.progress_ms = max(self._kernel.progress_ms, at_ms)

    def _clear(self, node: model.NodeId) -> None:
        blacklisted = node in self._blacklist.blacklisted
        self._blacklist.clear(node)
        if blacklisted:
            cleared = ev.NodeUnblacklisted(self.now_ms, node, cause=self.cause)
            self.cause = self.note(cleared)
            self._serve_or_not(node)

    def _serve_or_not(self, node: model.NodeId) -> None:
        """Take a node out of service, or back, as its operator and the list of bad nodes say."""
        entry = self.ledger.node(node)
        bad = self._cluster.removes_bad_nodes and node in self._blacklist.blacklisted
        out = bad or self._out_of_service.get(node, False)
        if entry is not None and entry.drained != out:
            self._drain(entry, out)

    def _drain(self, node: NodeEntry, out: bool) -> None:
        """Take a node out of service, or back; what it holds suspended has to begin elsewhere."""
        self.ledger.drain(node, out)
        self.tell(facts.NodeDrained(node.node) if out else facts.NodeJoined(node.node))
        for entry in self.ledger.attempts_on(node) if out else ():
            if entry.suspended_ms is not None and not entry.killing:
                self._kill(entry, Why(Reason.NODE_DRAINED))
        if self._elided is not None and node.node not in self._heartbeating:
            self._list(self._elided, node)

    # What happens to links, to the policy and to the master itself.

    def on_disturb(self, fault: faults.Disturb) -> None:
        """The way to a node changes.  The master does not know, but its messages suffer."""
        link = self._downlinks.get(fault.node)
        if link is None:
            link = Link(self._seed, f"down/{fault.node}", self._latency_ms)
            self._downlinks[fault.node] = link
        link.conditions = fault.down

    def on_switch_policy(self, fault: faults.SwitchPolicy) -> None:
        """Put another policy in force.  It learns what the books say, and no more of the past."""
        self._put_in_force(self._make_policy(fault.policy))
        self._brief()

    def on_pause_master(self, _: faults.PauseMaster) -> None:
        self._paused = True

    def on_resume_master(self, _: faults.ResumeMaster) -> None:
        """Answer what came meanwhile, then what fell due: no heartbeat here is missed (T1)."""
        self._paused = False
        backlog, self._backlog = self._backlog, []
        for self.cause, message in sorted(backlog, key=lambda each: isinstance(each[1], _TIMERS)):
            self.receive(message)

    def on_restart_master(self, fault: faults.RestartMaster) -> None:
        """Begin again: nodes are told to when they send heartbeats, jobs come again or are lost."""
        lost, cause = self.ledger, self.cause
        for entry in lost.attempts():
            entry.change(BookedChange.LOSE)
            closed = ev.AttemptClosed(self.now_ms, entry.attempt, _KILLED, cause=cause)
            self.note(closed)
        self._auxiliary.forget()
        jobs = [job.job for job in lost.jobs() if job.state is not _ENDING]
        jobs += lost.announced()
        known = [node.node for node in lost.members()]
        self._former_lives |= self._lives
        self._begin(lost.successor())
        self._lost_by = dict.fromkeys(known, cause)
        self._put_in_force(self._pristine)
        for job in jobs:
            self.send(job_address(job), msg.MasterRestarted(fault.recover))

    def _put_in_force(self, policy: Policy) -> None:
        self._policies += 1
        self._pristine = deepcopy(policy)
        self._policy.become(policy)
        self._switching = policy.order if policy.order.switches else None
        self._estimating = policy.order if policy.order.estimates else None
        self._assignments.forget_candidates()
        self._await_preemption()

    def _brief(self) -> None:
        """Tell a new policy what the books say, and track the attempts that it wants to follow."""
        for node in self.ledger.members():
            self.tell(facts.NodeJoined(node.node))
        for job in self.ledger.jobs():
            self.tell(facts.JobArrived(job.job))
            if job.total(REDUCE) and job.opened(REDUCE):
                self.tell(facts.TasksPending(job.job, REDUCE))
        for entry in self.ledger.attempts():
            what = (entry.job, entry.kind, entry.attempt, entry.node)
            original = entry.original if entry.sibling else 0
            launched = facts.Launched(*what, entry.level, original)
            self.tell(launched)
            if not entry.tracked and self._policy.wants_progress_of(launched):
                self._track(entry)
            if entry.suspended_ms is not None:
                self.tell(facts.Suspended(*what, entry.ran_ms, entry.shuffled_ms))


def _problem_of_victim(order: Kill | Suspend, entry: AttemptEntry | None) -> Rejection | None:
    if entry is None or entry.killing:
        return Rejection.ENDED_OR_KILLED
    if isinstance(order, Kill) or entry.alone:
        return None
    if entry.suspending or entry.suspended_ms is not None:
        return Rejection.ALREADY_SUSPENDED
    return Rejection.HAS_SIBLING
