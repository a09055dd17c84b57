"""The master (Hadoop's JobTracker): believes what heartbeats tell, and lets the policy decide.

It never looks into another actor.  What it knows is in its ledger; what it decides it asks of
the policy, which sees the ledger through a read-only view; what comes of it goes out as replies
to heartbeats.  A job says what may run, the master says where and when.

A heartbeat's way: a repeated one gets the stored reply again (rule H5); else what it reports is
booked, the policy and the jobs are told, and if the node has a free slot that something is
pending for, the policy is asked until it has no more to give (rule H6).
"""

from collections.abc import Callable
from copy import deepcopy

import msgspec

from callboard.actors.config import Cluster
from callboard.actors.elided_heartbeats import IdleNodeIndex
from callboard.actors.kernel.address import MASTER, job_address, node_address
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.master.blacklist import NodeBlacklist
from callboard.actors.master.bookkeeper import Bookkeeper
from callboard.actors.master.entries import NodeEntry, OfferEntry
from callboard.actors.network import Link
from callboard.actors.vocabulary.events import AttemptClosed, JobChanged, NodeReturned, Outcome
from callboard.actors.vocabulary.faults import (
    Disturb,
    Drain,
    Jumble,
    PauseMaster,
    RestartMaster,
    ResumeMaster,
    SetPool,
    SetPriority,
    SwitchPolicy,
)
from callboard.actors.vocabulary.messages import (
    BlacklistReview,
    DropOutputs,
    ElidedHeartbeat,
    EndReport,
    ExpiryCheck,
    FetchFailure,
    FetchTrouble,
    Heartbeat,
    HeartbeatReply,
    HeartbeatsResumed,
    JobDone,
    LaunchTask,
    MasterRestarted,
    NotBegun,
    Preempt,
    PreemptionDue,
    ProgressHeartbeat,
    ReducesReady,
    Reinitialize,
    ResumeTask,
    RunAgain,
    StopAttempt,
    SubmitJob,
    SuspensionReport,
    TrackingReply,
)
from callboard.scheduler.decisions import Launch, Speculate, Suspend
from callboard.scheduler.facts import (
    JobArrived,
    JobUpdated,
    NodeJoined,
    OfferAnswered,
    Rejected,
    TasksPending,
)
from callboard.scheduler.model import (
    KINDS,
    AttemptId,
    JobId,
    Millis,
    NodeId,
    TaskKind,
)
from callboard.scheduler.policy import Policy


class Master(Bookkeeper):
    """The one master of a cluster that begins with `nodes` nodes and `policy`; `make_policy` makes
    another from its spelling.
    """

    def __init__(
        self,
        cluster: Cluster,
        nodes: int,
        policy: Policy,
        seed: int,
        make_policy: Callable[[str], Policy],
    ) -> None:
        super().__init__(cluster, nodes, policy, seed)
        self._policies = 0
        self._pristine = deepcopy(policy)
        self._paused = False
        self._backlog: list[msgspec.Struct] = []
        self._make_policy = make_policy
        self._one_task_a_beat = cluster.heartbeat.tasks_per_beat == "one"
        self._expiry_ms = cluster.heartbeat.expiry_ms
        self._lives: dict[NodeId, int] = {}
        self._told: dict[NodeId, int] = {}  # which life to begin anew
        self._not_begun: list[AttemptId] = []
        self._armed: tuple[Millis, list[NodeId]] = (-1, [])
        self._copies_from: list[Millis | None] = [None, None]

    def join(self, kernel: Kernel) -> None:
        super().join(kernel)
        self._wait_for_tick()

    def receive(self, message: msgspec.Struct) -> None:
        if self._paused and not isinstance(message, ResumeMaster | Disturb):
            if not isinstance(message, PauseMaster):  # one who stands still can stand no stiller
                self._backlog.append(message)
            return
        self.ledger.now_ms = self.now_ms
        match message:
            case ElidedHeartbeat():
                self.on_elided_heartbeat(message)
            case Heartbeat():
                self.on_heartbeat(message)
            case SubmitJob():
                self.on_submit(message)
            case ReducesReady():
                self.on_reduces_ready(message)
            case RunAgain():
                self.on_run_again(message)
            case JobDone():
                self.on_job_done(message)
            case PreemptionDue():
                self.send(MASTER, Preempt(message.policy))
            case Preempt():
                self.on_preempt(message)
            case Drain():
                self.on_drain(message)
            case SetPriority() | SetPool():
                self.on_set(message)
            case SwitchPolicy():
                self.on_switch_policy(message)
            case PauseMaster():
                self._paused = True
                return
            case ResumeMaster():
                self.on_resume()
                return
            case RestartMaster():
                self.on_restart(message)
            case StopAttempt():
                self.on_stop_attempt(message)
            case HeartbeatsResumed():
                self.on_heartbeats_resumed(message)
            case ExpiryCheck():
                self.on_expiry_check()
            case BlacklistReview():
                self.on_blacklist_review(message)
            case DropOutputs():
                self.on_drop_outputs(message)
            case Disturb():
                self.on_disturb(message)
            case _:
                raise AssertionError(f"the master has no answer to {message!r}")
        if self._policy.speculates:
            self._note_wishes()
        if self._idle_nodes is not None:
            self._arm(self._idle_nodes)

    # Jobs.

    def on_submit(self, order: SubmitJob) -> None:
        self.ledger.submit(order)
        self._tell(JobArrived(order.job))

    def on_reduces_ready(self, ready: ReducesReady) -> None:
        if not self.ledger.here(ready.job):
            return  # it was lost with an earlier master
        self.ledger.open_reduces(ready.job)
        self._tell(TasksPending(ready.job, TaskKind.REDUCE))

    def on_run_again(self, again: RunAgain) -> None:
        if not self.ledger.here(again.job):
            return
        self.ledger.give_back(again.job, again.kind, again.task)
        self._tell(TasksPending(again.job, again.kind))

    def on_job_done(self, done: JobDone) -> None:
        """The job has ended.  It stays in the books until nothing of it runs any more."""
        if not self.ledger.here(done.job):
            return
        if done.outcome is not Outcome.SUCCEEDED:
            self._withdraw(done.job)
        else:
            for node in self.ledger.job(done.job).flaky():
                self._hold_against(node)
        self.ledger.job(done.job).outputs.clear()
        if self.ledger.has_attempts(done.job):
            self._gone[done.job] = None
        else:
            self._leave(done.job)

    def on_set(self, order: SetPriority | SetPool) -> None:
        """Another priority or pool for a job, if it is there (JobTracker.setJobPriority)."""
        if not self.ledger.here(order.job):
            return
        entry = self.ledger.job(order.job)
        if isinstance(order, SetPriority):
            entry.priority = order.priority
        else:
            entry.pool = order.pool
        self.note(JobChanged(self.now_ms, entry.job, entry.pool, entry.priority))
        self._tell(JobUpdated(order.job))

    # Heartbeats.

    def on_heartbeat(self, beat: Heartbeat) -> None:
        """Book what the node says and answer with what it is to do."""
        node = self._known(beat)
        if node is None:
            return
        if beat.response != node.reply.response:
            self._send_down(beat.node, node.reply)
            return
        node.heard_ms = self.now_ms
        for report in beat.reports:
            match report:
                case EndReport():
                    self._close(report)
                case SuspensionReport():
                    self._halt(report)
                case FetchFailure():
                    self._pass_on(report)
                case NotBegun():
                    self._not_begun.append(report.attempt)
        if isinstance(beat, ProgressHeartbeat):
            for progress in beat.progress:
                self._hear(progress)
        launches = self._assign(node)
        if self._idle_nodes is not None and beat.node not in self._heartbeating:
            self._idle_nodes.heard(beat.node, self.now_ms)
            self._list(self._idle_nodes, node)
        self._reply(node, launches)

    def on_elided_heartbeat(self, unsent: ElidedHeartbeat) -> None:
        """Do what the node's beat would bring about if it had been sent."""
        node, now_ms = self.ledger.node(unsent.node), self.ledger.now_ms
        assert self._idle_nodes is not None
        if node is None or node.node in self._heartbeating:
            return  # it is gone, or leaves no beat out any more
        if node.heard_ms == now_ms or not self._idle_nodes.arrives(node.node, now_ms):
            return  # it really beat, or its beats have moved
        node.heard_ms = now_ms
        launches = self._assign(node)
        if launches:
            self._list(self._idle_nodes, node)
        if launches or node.kills or node.suspends or node.follows:
            self._reply(node, launches)

    def _known(self, beat: Heartbeat) -> NodeEntry | None:
        """The node's entry; a life's first beat makes one.  None for a beat to be left alone:
        of a life that is over, or of one given up, which is told to begin anew (rule T4).
        """
        node = self.ledger.node(beat.node)
        if node is not None and beat.life <= node.life:
            return node if beat.life == node.life else None
        if beat.joins is None or beat.life <= self._lives.get(beat.node, -1):
            self._send_down(beat.node, Reinitialize(beat.life))
            self._told[beat.node] = beat.life
            return None
        if node is not None:  # it restarted before its silence was noticed (rule T5)
            self._lose(node, again=True)
        if beat.node in self._lives:
            self.note(NodeReturned(self.now_ms, beat.node))
        self._lives[beat.node] = beat.life
        node = self.ledger.join(beat.joins, beat.life)
        self._tell(NodeJoined(beat.node))
        if self._told.get(beat.node) != beat.life - 1:  # nobody asked it to: its machine restarted
            self._clear(beat.node)
        self._serve_or_not(beat.node)
        return node

    def _assign(self, node: NodeEntry) -> tuple[LaunchTask | ResumeTask, ...]:
        """Ask the policy for tasks until it has no more to give."""
        if not self.ledger.could_gain(node) and not self._could_copy(node):
            return ()
        offer = OfferEntry(node)
        launches: list[LaunchTask | ResumeTask] = []
        served: set[JobId] = set()
        passed: list[JobId] | None = [] if self._policy.hears_offers else None
        while (launch := self._policy.decide(offer, self.ledger, passed)) is not None:
            problem = self._problem(launch, node)
            if problem is not None:
                self._tell(Rejected(launch, problem))
                break
            if isinstance(launch, Launch):
                launches.append(self._book(launch, offer))
                if launch.kind is TaskKind.MAP:
                    served.add(launch.job)
            elif isinstance(launch, Speculate):
                launches.append(self._book_copy(launch, offer))
            else:
                launches.append(self._book_again(launch, offer))
            if self._one_task_a_beat:
                break
        if passed is not None:
            # Asked once, nobody is passed over twice.
            skipped = [job for job in dict.fromkeys(passed) if job not in served]
            self._tell(OfferAnswered(node.node, tuple(skipped if launches else passed)))
        return tuple(launches)

    def _reply(self, node: NodeEntry, launches: tuple[LaunchTask | ResumeTask, ...]) -> None:
        """Answer a beat, and keep the answer in case it has to be repeated (rule H5)."""
        orders = tuple(node.kills), tuple(node.suspends)
        node.kills.clear()
        node.suspends.clear()
        response = node.reply.response + 1
        what = (response, self._interval_ms, launches, *orders, node.life)
        if node.follows:
            node.reply = TrackingReply(*what, tuple(node.follows))
            node.follows.clear()
        else:
            node.reply = HeartbeatReply(*what)
        self._send_down(node.node, node.reply)

    # Kills.

    def on_preempt(self, preempt: Preempt) -> None:
        """Mark the policy's victims; the orders go out with their nodes' next replies.

        A round after the timer, when all beats of this instant have been answered, so that
        beats left out and beats sent come to the same.
        """
        if preempt.policy != self._policies:
            return
        for order in self._policy.preempt(self.ledger):
            entry = self.ledger.attempt(order.attempt)
            if entry is None or entry.killing:
                self._tell(Rejected(order, "the attempt has ended or is being killed"))
                continue
            problem = self._problem_of_victim(order, entry)
            if problem is not None:
                self._tell(Rejected(order, problem))
            elif isinstance(order, Suspend):
                self._suspend(entry, order.why)
            else:
                self._kill(entry, order.why)
        self._wait_for_tick()

    def on_stop_attempt(self, stop: StopAttempt) -> None:
        """See to it that an attempt which another one has made useless is killed, if it runs."""
        entry = self.ledger.attempt(stop.attempt)
        if entry is not None and not entry.killing:
            self._kill(entry, stop.why)

    def _wait_for_tick(self) -> None:
        if self._policy.interval_ms is not None:
            self.timer(PreemptionDue(self._policies), self._policy.interval_ms)

    def on_switch_policy(self, fault: SwitchPolicy) -> None:
        """Put another policy in force.  It learns what the books say, and no more of the past."""
        self._put_in_force(self._make_policy(fault.policy))
        self._brief()

    def _put_in_force(self, policy: Policy) -> None:
        """Go by a fresh policy."""
        self._policies += 1
        self._pristine = deepcopy(policy)
        self._policy.become(policy)
        self._switching = policy.order if policy.order.switches else None
        self._copies_from = [None, None]
        self._wait_for_tick()

    def on_drain(self, fault: Drain) -> None:
        """Keep a list of who is out of service, for whoever joins later too."""
        self._out_of_service[fault.node] = fault.out
        self._serve_or_not(fault.node)

    # Pauses and restarts of its own.

    def on_resume(self) -> None:
        """Answer what has come in the pause; only then what fell due in it, or beats that have
        long been here would count as missed (rule T1).
        """
        self._paused = False
        backlog, self._backlog = self._backlog, []
        timers = (ExpiryCheck, BlacklistReview, PreemptionDue, Preempt, ElidedHeartbeat)
        for message in sorted(backlog, key=lambda each: isinstance(each, timers)):
            self.receive(message)

    def on_restart(self, fault: RestartMaster) -> None:
        """Begin again.  Nodes that beat are told to begin anew, jobs come again or are lost."""
        lost = self.ledger
        for entry in lost.attempts():
            self.note(AttemptClosed(self.now_ms, entry.attempt, Outcome.KILLED))
        jobs = [job.job for job in lost.jobs() if job.job not in self._gone]
        self.ledger = lost.successor()
        self._gone.clear()
        self._lives.clear()
        self._not_begun.clear()
        self._blacklist = NodeBlacklist()
        if self._idle_nodes is not None:
            self._idle_nodes = IdleNodeIndex(self._interval_ms + 2 * self._latency_ms)
        self._armed = (-1, [])
        self._put_in_force(self._pristine)
        for job in jobs:
            self.send(job_address(job), MasterRestarted(fault.recover))

    # Copies.

    def _note_wishes(self) -> None:
        """Keep from when on there has been something to copy.

        Only what has been so since an earlier instant makes an offer: within an instant beats
        come in an order, and those left out must not depend on what the earlier ones told.
        """
        for kind in KINDS:
            if not self._policy.speculation.has_candidates(kind, self.ledger):
                self._copies_from[kind] = None
            elif self._copies_from[kind] is None:
                self._copies_from[kind] = self.now_ms + 1

    def _could_copy(self, node: NodeEntry) -> bool:
        """Whether the node has a free slot of a kind of which something is to be copied."""
        return any(
            from_ms is not None and from_ms <= self.now_ms and node.free(kind) > 0
            for kind, from_ms in zip(KINDS, self._copies_from, strict=True)
        )

    # Nodes that fail.

    def on_disturb(self, fault: Disturb) -> None:
        """The way to a node changes.  The master does not know; what it sends bears it."""
        if fault.node not in self._downlinks:
            new = Link(self._seed, f"down/{fault.node}", self._latency_ms)
            self._downlinks[fault.node] = new
        link = self._downlinks[fault.node]
        link.way = fault.down
        link.held_share = fault.down_held if isinstance(fault, Jumble) else 0.0

    def on_expiry_check(self) -> None:
        """Give up every node that has been silent for longer than the expiry (rule T1), and every
        launch that has not begun for as long (rule H8: Hadoop's two checkers have one interval).
        """
        for number in sorted(self._heartbeating):
            node = self.ledger.node(number)
            if node is not None and self.now_ms - node.heard_ms > self._expiry_ms:
                self._lose(node)
        entries = [self.ledger.attempt(attempt) for attempt in self._not_begun]
        waiting = [entry for entry in entries if entry is not None and not entry.killing]
        for entry in waiting:
            if self.now_ms - entry.launched_ms > self._expiry_ms:
                self._expire(entry)
        self._not_begun = [entry.attempt for entry in waiting if not entry.killing]
        self._await_expiry_check()

    def _await_expiry_check(self) -> None:
        """The checker wakes three times an expiry, counted from the start."""
        every_ms = max(self._expiry_ms // 3, 1)
        self.timer(ExpiryCheck(), every_ms - self.now_ms % every_ms)

    def on_blacklist_review(self, forgive: BlacklistReview) -> None:
        """Take a node off the list of bad ones, unless it has had faults since."""
        node = forgive.node
        if node in self._blacklist.listed:
            if self._blacklist.expires_ms(node) > self.now_ms:
                self._await_blacklist_review(node)
            else:
                self._clear(node)

    def at_work(self) -> bool:
        """A node that is out of service for its faults will come back."""
        return self._removes_bad_nodes and bool(self._blacklist.listed)

    def on_drop_outputs(self, drop: DropOutputs) -> None:
        """A host's outputs of a job cannot be fetched: its maps have failed (rule T6)."""
        if self.ledger.here(drop.job):
            outputs = self.ledger.undo_maps_of(drop.job, drop.host)
            if outputs:
                self._undo(drop.job, drop.host, outputs, Outcome.FAILED)

    def _pass_on(self, failure: FetchFailure) -> None:
        """Tell the job that a reduce of its cannot fetch."""
        if self.ledger.here(failure.job):
            running = self.ledger.job(failure.job).running(TaskKind.REDUCE)
            self.send(job_address(failure.job), FetchTrouble(failure.host, running))

    # Beats left out.

    def on_heartbeats_resumed(self, awake: HeartbeatsResumed) -> None:
        """A node leaves no more beats out: from now on its silence means something."""
        if not self._heartbeating:
            self._await_expiry_check()
        self._heartbeating.add(awake.node)
        node = self.ledger.node(awake.node)
        if self._idle_nodes is None or node is None:
            return
        self._idle_nodes.forget(awake.node)
        node.heard_ms = max(node.heard_ms, awake.left_out_ms)

    def _arm(self, roster: IdleNodeIndex) -> None:
        """See to it that the next unsent beat that could change anything is not missed."""
        kinds = self.ledger.kinds_pending()
        if self._policy.speculates:
            wished = self._copies_from
            kinds = tuple(kind for kind in KINDS if kind in kinds or wished[kind] is not None)
        useful = roster.next_useful(self.ledger.now_ms, kinds)
        if useful is None or useful == self._armed:
            return
        at_ms, nodes = useful
        armed_ms, armed = self._armed
        for node in nodes:
            if at_ms != armed_ms or node not in armed:
                self.timer_behind(node_address(node), ElidedHeartbeat(node), at_ms)
        self._armed = useful
