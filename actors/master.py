"""The master (Hadoop's JobTracker): believes what heartbeats tell, and lets the policy decide.

It never looks into another actor.  What it knows is in its ledger; what it decides it asks of
the policy, which sees the ledger through a read-only view; what comes of it goes out as replies
to heartbeats.  A job says what may run, the master says where and when.

A heartbeat's way: a repeated one gets the stored reply again (rule H5); else what it reports is
booked, the policy and the jobs are told, and if the node has a free slot that something is
pending for, the policy is asked until it has no more to give (rule H6).
"""

import msgspec

from actors.actor import Actor
from actors.address import MASTER, job_address, node_address
from actors.config import Cluster
from actors.events import (
    AttemptClosed,
    AttemptLaunched,
    KillOrdered,
    MapsUndone,
    NodeLost,
    NodeReturned,
    OrderSwitched,
    Outcome,
    ResumeOrdered,
    SuspendOrdered,
)
from actors.faults import Disturb
from actors.kernel import Kernel
from actors.ledger import AttemptEntry, Ledger, NodeEntry, OfferEntry
from actors.messages import (
    AttemptNews,
    Awake,
    BeginAnew,
    DropOutputs,
    FetchFailure,
    FetchTrouble,
    FollowedLaunch,
    Halted,
    Heartbeat,
    HeartbeatReply,
    JobDone,
    KillTask,
    LaunchTask,
    OutputsLost,
    Preempt,
    Progress,
    ProgressHeartbeat,
    ReducesReady,
    Report,
    ResumeTask,
    RunAgain,
    StopAttempt,
    SubmitJob,
    SuspendTask,
    Sweep,
    Tick,
    UnsentBeat,
)
from actors.network import Link
from actors.roster import Roster
from scheduler.decisions import Copy, Kill, Launch, Resume, Suspend, Why
from scheduler.facts import (
    Closed,
    Fact,
    JobArrived,
    JobLeft,
    Launched,
    NodeGone,
    NodeJoined,
    Offered,
    Progressed,
    Rejected,
    Resumed,
    Suspended,
    TasksPending,
    TasksUndone,
)
from scheduler.model import (
    KINDS,
    AttemptId,
    JobId,
    Locality,
    Millis,
    NodeId,
    TaskIndex,
    TaskKind,
)
from scheduler.policy import Policy


class Master(Actor):
    """The one master of a cluster that begins with `nodes` nodes."""

    def __init__(self, cluster: Cluster, nodes: int, policy: Policy, seed: int) -> None:
        super().__init__(MASTER, "master")
        self._interval_ms = cluster.heartbeat.period_ms(nodes)
        self.ledger = Ledger(cluster.racks, self._interval_ms)
        self._policy = policy
        self._switching = policy.order if policy.order.switches else None
        self._latency_ms = cluster.latency_ms
        self._one_task_a_beat = cluster.heartbeat.tasks_per_beat == "one"
        self._roster: Roster | None = None
        if cluster.heartbeat.send == "needed" and cluster.latency_ms > 0:
            self._roster = Roster(self._interval_ms + 2 * cluster.latency_ms)
        self._expiry_ms = cluster.heartbeat.expiry_ms
        self._awake: set[NodeId] = set()
        self._lives: dict[NodeId, int] = {}
        self._downlinks: dict[NodeId, Link] = {}
        self._seed = seed
        self._armed: tuple[Millis, list[NodeId]] = (-1, [])
        self._copies_from: list[Millis | None] = [None, None]
        self._gone: dict[JobId, None] = {}

    def join(self, kernel: Kernel) -> None:
        super().join(kernel)
        self._wait_for_tick()

    def receive(self, message: msgspec.Struct) -> None:
        self.ledger.now_ms = self.now_ms
        match message:
            case UnsentBeat():
                self.on_unsent_beat(message)
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
            case Tick():
                self.send(MASTER, Preempt())
            case Preempt():
                self.on_preempt()
            case StopAttempt():
                self.on_stop_attempt(message)
            case Awake():
                self.on_awake(message)
            case Sweep():
                self.on_sweep()
            case DropOutputs():
                self.on_drop_outputs(message)
            case Disturb():
                self.on_disturb(message)
            case _:
                raise AssertionError(f"the master has no answer to {message!r}")
        if self._policy.speculates:
            self._note_wishes()
        if self._roster is not None:
            self._arm(self._roster)

    # Jobs.

    def on_submit(self, order: SubmitJob) -> None:
        self.ledger.submit(order)
        self._tell(JobArrived(order.job))

    def on_reduces_ready(self, ready: ReducesReady) -> None:
        self.ledger.open_reduces(ready.job)
        self._tell(TasksPending(ready.job, TaskKind.REDUCE))

    def on_run_again(self, again: RunAgain) -> None:
        self.ledger.give_back(again.job, again.kind, again.task)
        self._tell(TasksPending(again.job, again.kind))

    def on_job_done(self, done: JobDone) -> None:
        """The job has ended.  It stays in the books until nothing of it runs any more."""
        self.ledger.job(done.job).outputs.clear()
        if self.ledger.has_attempts(done.job):
            self._gone[done.job] = None
        else:
            self._leave(done.job)

    def _leave(self, job: JobId) -> None:
        self.ledger.leave(job)
        self._tell(JobLeft(job))

    # Heartbeats.

    def on_heartbeat(self, beat: Heartbeat) -> None:
        """Book what the node says and answer with what it is to do."""
        node = self._known(beat)
        if node is None:
            return
        if beat.response != node.reply.response:
            self._send_down(beat.node, node.reply)
            return
        node.last_beat_ms = self.now_ms
        for report in beat.reports:
            match report:
                case Report():
                    self._close(report)
                case Halted():
                    self._halt(report)
                case FetchFailure():
                    self._pass_on(report)
        if isinstance(beat, ProgressHeartbeat):
            for progress in beat.progress:
                self._hear(progress)
        launches = self._assign(node)
        if self._roster is not None and beat.node not in self._awake:
            self._roster.heard(beat.node, self.now_ms)
            self._list(self._roster, node)
        self._reply(node, launches)

    def on_unsent_beat(self, unsent: UnsentBeat) -> None:
        """Do what the node's beat would bring about if it had been sent."""
        node, now_ms = self.ledger.node(unsent.node), self.ledger.now_ms
        assert self._roster is not None
        if node is None or node.node in self._awake:
            return  # it is gone, or leaves no beat out any more
        if node.last_beat_ms == now_ms or not self._roster.arrives(node.node, now_ms):
            return  # it really beat, or its beats have moved
        node.last_beat_ms = now_ms
        launches = self._assign(node)
        if launches:
            self._list(self._roster, node)
        if launches or node.kills or node.suspends:
            self._reply(node, launches)

    def _known(self, beat: Heartbeat) -> NodeEntry | None:
        """The node's entry; a life's first beat makes one.  None for a beat to be left alone:
        of a life that is over, or of one given up, which is told to begin anew (rule T4).
        """
        node = self.ledger.node(beat.node)
        if node is not None and beat.life <= node.life:
            return node if beat.life == node.life else None
        if beat.joins is None or beat.life <= self._lives.get(beat.node, -1):
            self._send_down(beat.node, BeginAnew(beat.life))
            return None
        if node is not None:  # it restarted before its silence was noticed (rule T5)
            self._lose(node, again=True)
        if beat.node in self._lives:
            self.note(NodeReturned(self.now_ms, beat.node))
        self._lives[beat.node] = beat.life
        node = self.ledger.join(beat.joins, beat.life)
        self._tell(NodeJoined(beat.node))
        return node

    def _close(self, report: Report) -> None:
        """Book an attempt's end and tell whom it concerns.

        The job hears of it if it makes a difference to the task: the first success, or an end
        without success when no other attempt of the task runs.  A second success is booked as
        killed.
        """
        entry = self.ledger.attempt(report.attempt)
        assert entry is not None, f"attempt {report.attempt} was closed before"
        outcome = Outcome.KILLED if entry.beaten else report.outcome
        succeeded = outcome is Outcome.SUCCEEDED
        twin = self.ledger.close(entry, succeeded=succeeded)
        self.note(AttemptClosed(self.now_ms, entry.attempt, outcome))
        ran = (report.ran_ms, report.shuffled_ms)
        self._tell(Closed(entry.job, entry.kind, entry.attempt, entry.node, succeeded, *ran))
        if succeeded and twin is not None:
            self.send(MASTER, StopAttempt(twin.attempt, Why("its task is done", 0)))
        if succeeded or (twin is None and not entry.beaten):
            news = AttemptNews(entry.attempt, entry.kind, entry.task, entry.node, outcome)
            self.send(job_address(entry.job), news)
        if entry.job in self._gone and not self.ledger.has_attempts(entry.job):
            del self._gone[entry.job]
            self._leave(entry.job)

    def _halt(self, halted: Halted) -> None:
        """Book that an attempt is suspended: only now is its slot free."""
        entry = self.ledger.attempt(halted.attempt)
        assert entry is not None, f"attempt {halted.attempt} was closed and is held"
        self.ledger.suspend(entry)
        ran = (halted.ran_ms, halted.shuffled_ms)
        self._tell(Suspended(entry.job, entry.kind, entry.attempt, entry.node, *ran))

    def _hear(self, progress: Progress) -> None:
        """Book how far an attempt is."""
        entry = self.ledger.attempt(progress.attempt)
        assert entry is not None, f"attempt {progress.attempt} was closed and goes on"
        entry.progress, entry.ran_ms = progress.done, progress.ran_ms
        entry.shuffled_ms = progress.shuffled_ms
        ran = (progress.done, progress.ran_ms, progress.shuffled_ms)
        self._tell(Progressed(entry.job, entry.kind, entry.attempt, *ran))

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
            elif isinstance(launch, Copy):
                launches.append(self._book_copy(launch, offer))
            else:
                launches.append(self._book_again(launch, offer))
            if self._one_task_a_beat:
                break
        if passed is not None:
            # Asked once, nobody is passed over twice.
            skipped = [job for job in dict.fromkeys(passed) if job not in served]
            self._tell(Offered(node.node, tuple(skipped if launches else passed)))
        return tuple(launches)

    def _problem(self, launch: Launch | Copy | Resume, node: NodeEntry) -> str | None:
        """Why a decision does not fit the books; None if it does."""
        if isinstance(launch, Resume):
            entry = self.ledger.attempt(launch.attempt)
            if entry is None or entry.suspended_ms is None or entry.killing:
                return "the attempt is not suspended, or is being killed"
            if entry.node != node.node or not node.free(entry.kind):
                return "the attempt's node has no free slot of its kind"
            return None
        if isinstance(launch, Copy):
            return self._problem_of_copy(launch, node)
        if not node.free(launch.kind):
            return "the node has no free slot of this kind"
        if not self.ledger.has_pending(launch.job, launch.kind):
            return "the job has no pending task of this kind"
        return None

    def _problem_of_copy(self, copy: Copy, node: NodeEntry) -> str | None:
        entry = self.ledger.attempt(copy.attempt)
        if entry is None or entry.killing or not entry.alone:
            return "the attempt has ended, is being killed, or is not alone"
        if not node.free(entry.kind):
            return "the node has no free slot of this kind"
        if entry.node == node.node:
            return "the task runs on this node already"
        return None

    def _book(self, launch: Launch, offer: OfferEntry) -> LaunchTask:
        """Carry out a launch: into the books, into the journal, into the reply."""
        entry = self.ledger.launch(launch.job, launch.kind, offer.node)
        offer.give(launch.kind, launch.level)
        return self._order(entry, launch.why)

    def _book_copy(self, copy: Copy, offer: OfferEntry) -> LaunchTask:
        """Carry out the launch of a copy.  It counts as off-rack wherever it runs, since Hadoop
        looks for copies where it looks for off-rack maps.
        """
        original = self.ledger.attempt(copy.attempt)
        assert original is not None
        entry = self.ledger.copy(original, offer.node)
        offer.give(entry.kind, Locality.OFF_RACK)
        if copy.restart:
            self.send(MASTER, StopAttempt(original.attempt, Why("begun again elsewhere", 0)))
        return self._order(entry, copy.why)

    def _order(self, entry: AttemptEntry, why: Why) -> LaunchTask:
        """Tell the journal and the policy of a booked attempt, and make the node's order of it."""
        self.note(_launched(entry, why, self.now_ms))
        what = (entry.job, entry.kind, entry.attempt)
        launched = Launched(*what, entry.node, entry.level, entry.copy_of)
        self._tell(launched)
        followed = self._policy.wants_progress_of(launched)
        order = FollowedLaunch if followed else LaunchTask
        work = self.ledger.job(entry.job).work(entry.kind)
        task = (entry.kind, entry.task, entry.number)
        return order(entry.attempt, entry.job, *task, entry.level, work)

    def _book_again(self, resume: Resume, offer: OfferEntry) -> ResumeTask:
        """Carry out a resumption: into the books, into the journal, into the reply."""
        entry = self.ledger.attempt(resume.attempt)
        assert entry is not None
        self.ledger.resume(entry)
        offer.give(entry.kind, Locality.NODE)
        self.note(ResumeOrdered(self.now_ms, resume.attempt, resume.why))
        self._tell(Resumed(entry.job, entry.kind, entry.attempt, entry.node))
        return ResumeTask(resume.attempt)

    def _reply(self, node: NodeEntry, launches: tuple[LaunchTask | ResumeTask, ...]) -> None:
        """Answer a beat, and keep the answer in case it has to be repeated (rule H5)."""
        orders = tuple(node.kills), tuple(node.suspends)
        node.kills.clear()
        node.suspends.clear()
        response = node.reply.response + 1
        node.reply = HeartbeatReply(response, self._interval_ms, launches, *orders, node.life)
        self._send_down(node.node, node.reply)

    def _send_down(self, node: NodeId, message: HeartbeatReply | BeginAnew) -> None:
        """Send to a node, over whatever the link is like."""
        link = self._downlinks.get(node)
        if link is None:
            self.send(node_address(node), message, self._latency_ms)
        else:
            for delay_ms in link.deliveries():
                self.send(node_address(node), message, delay_ms)

    # Kills.

    def on_preempt(self) -> None:
        """Mark the policy's victims; the orders go out with their nodes' next replies.

        A round after the timer, when all beats of this instant have been answered, so that
        beats left out and beats sent come to the same.
        """
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

    def _problem_of_victim(self, order: Kill | Suspend, entry: AttemptEntry) -> str | None:
        """Why an attempt cannot be made to give way like this; None if it can."""
        if isinstance(order, Kill) or entry.alone:
            return None
        if entry.suspending or entry.suspended_ms is not None:
            return "the attempt is suspended or is being suspended"
        return "another attempt of its task runs"

    def on_stop_attempt(self, stop: StopAttempt) -> None:
        """See to it that an attempt which another one has made useless is killed, if it runs."""
        entry = self.ledger.attempt(stop.attempt)
        if entry is not None and not entry.killing:
            self._kill(entry, stop.why)

    def _kill(self, entry: AttemptEntry, why: Why) -> None:
        """Order an attempt to be killed with its node's next reply."""
        entry.killing = True
        node = self.ledger.node(entry.node)
        assert node is not None
        node.kills.append(KillTask(entry.attempt))
        self.note(KillOrdered(self.now_ms, entry.attempt, why))
        self._see_to(entry.node)

    def _suspend(self, entry: AttemptEntry, why: Why) -> None:
        """Order an attempt to be suspended with its node's next reply."""
        entry.suspending = True
        node = self.ledger.node(entry.node)
        assert node is not None
        node.suspends.append(SuspendTask(entry.attempt))
        self.note(SuspendOrdered(self.now_ms, entry.attempt, why))
        self._see_to(entry.node)

    def _see_to(self, node: NodeId) -> None:
        """Do not miss the node's next beat, even if it leaves it out."""
        if self._roster is not None and node not in self._awake:
            at_ms = self._roster.next_arrival(node, self.now_ms)
            self.timer_behind(node_address(node), UnsentBeat(node), at_ms)

    def _wait_for_tick(self) -> None:
        if self._policy.interval_ms is not None:
            self.timer(Tick(), self._policy.interval_ms)

    # Copies.

    def _note_wishes(self) -> None:
        """Keep from when on there has been something to copy.

        Only what has been so since an earlier instant makes an offer: within an instant beats
        come in an order, and those left out must not depend on what the earlier ones told.
        """
        for kind in KINDS:
            if not self._policy.speculation.wants(kind, self.ledger):
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
            link = Link(self._seed, f"down/{fault.node}", self._latency_ms)
            self._downlinks[fault.node] = link
        self._downlinks[fault.node].way = fault.down

    def on_sweep(self) -> None:
        """Give up every node that has been silent for longer than the expiry (rule T1)."""
        for number in sorted(self._awake):
            node = self.ledger.node(number)
            if node is not None and self.now_ms - node.last_beat_ms > self._expiry_ms:
                self._lose(node)
        self._await_sweep()

    def _await_sweep(self) -> None:
        """The checker wakes three times an expiry, counted from the start."""
        every_ms = max(self._expiry_ms // 3, 1)
        self.timer(Sweep(), every_ms - self.now_ms % every_ms)

    def _lose(self, node: NodeEntry, again: bool = False) -> None:
        """Give a node up: what ran there is killed, and what reduces may still want of its maps'
        outputs has to be made again (rule T2).
        """
        self.note(NodeLost(self.now_ms, node.node, node.last_beat_ms, again))
        for attempt in self.ledger.attempts_on(node.node):
            self._close(Report(attempt.attempt, Outcome.KILLED, 0))
        for job, outputs in self.ledger.undo_maps(node.node):
            self._undo(job, node.node, outputs, Outcome.KILLED)
        self.ledger.part(node)
        self._tell(NodeGone(node.node))

    def on_drop_outputs(self, drop: DropOutputs) -> None:
        """A host's outputs of a job cannot be fetched: its maps have failed (rule T6)."""
        if self.ledger.here(drop.job):
            outputs = self.ledger.undo_maps_of(drop.job, drop.host)
            if outputs:
                self._undo(drop.job, drop.host, outputs, Outcome.FAILED)

    def _undo(
        self,
        job: JobId,
        node: NodeId,
        outputs: list[tuple[TaskIndex, AttemptId]],
        outcome: Outcome,
    ) -> None:
        """Have maps run again that had succeeded on a node."""
        attempts = tuple(attempt for _, attempt in outputs)
        self.note(MapsUndone(self.now_ms, job, node, attempts, outcome))
        tasks = tuple(task for task, _ in outputs)
        self.send(job_address(job), OutputsLost(tasks))
        self._tell(TasksUndone(job, TaskKind.MAP, len(tasks)))

    def _pass_on(self, failure: FetchFailure) -> None:
        """Tell the job that a reduce of its cannot fetch."""
        if self.ledger.here(failure.job):
            running = self.ledger.job(failure.job).running(TaskKind.REDUCE)
            self.send(job_address(failure.job), FetchTrouble(failure.host, running))

    # Beats left out.

    def on_awake(self, awake: Awake) -> None:
        """A node leaves no more beats out: from now on its silence means something."""
        if not self._awake:
            self._await_sweep()
        self._awake.add(awake.node)
        node = self.ledger.node(awake.node)
        if self._roster is None or node is None:
            return
        self._roster.forget(awake.node)
        node.last_beat_ms = max(node.last_beat_ms, awake.left_out_ms)

    def _list(self, roster: Roster, node: NodeEntry) -> None:
        """Keep the roster's record of what the node could take."""
        for kind in KINDS:
            roster.set_able(node.node, kind, node.free(kind) > 0)
        roster.set_resuming(node.node, node.could_resume())

    def _arm(self, roster: Roster) -> None:
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
                self.timer_behind(node_address(node), UnsentBeat(node), at_ms)
        self._armed = useful

    def _tell(self, fact: Fact) -> None:
        self._policy.observe(fact, self.ledger)
        if self._switching is not None and (switch := self._switching.switch) is not None:
            self.note(OrderSwitched(self.now_ms, switch.was, switch.now, switch.why))


def _launched(entry: AttemptEntry, why: Why, now_ms: Millis) -> AttemptLaunched:
    return AttemptLaunched(
        at_ms=now_ms,
        attempt=entry.attempt,
        job=entry.job,
        kind=entry.kind,
        task=entry.task,
        number=entry.number,
        node=entry.node,
        level=entry.level,
        why=why,
        copy_of=entry.copy_of,
    )
