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
    Outcome,
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
    RunAgain,
    SubmitJob,
    Sweep,
    Tick,
    UnsentBeat,
)
from actors.network import Link
from actors.roster import Roster
from scheduler.decisions import Launch
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
    TasksPending,
    TasksUndone,
)
from scheduler.model import KINDS, AttemptId, JobId, Millis, NodeId, TaskIndex, TaskKind
from scheduler.policy import Policy


class Master(Actor):
    """The one master of a cluster that begins with `nodes` nodes."""

    def __init__(self, cluster: Cluster, nodes: int, policy: Policy, seed: int) -> None:
        super().__init__(MASTER, "master")
        self._interval_ms = cluster.heartbeat.period_ms(nodes)
        self.ledger = Ledger(cluster.racks, self._interval_ms)
        self._policy = policy
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
        self.ledger.leave(done.job)
        self._tell(JobLeft(done.job))

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
            if isinstance(report, Report):
                self._close(report)
            else:
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
        if launches or node.kills:
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
        """Book an attempt's end and tell whom it concerns."""
        entry = self.ledger.attempt(report.attempt)
        assert entry is not None, f"attempt {report.attempt} was closed before"
        succeeded = report.outcome is Outcome.SUCCEEDED
        self.ledger.close(entry, succeeded=succeeded)
        self.note(AttemptClosed(self.now_ms, entry.attempt, report.outcome))
        ran = (report.ran_ms, report.shuffled_ms)
        self._tell(Closed(entry.job, entry.kind, entry.attempt, entry.node, succeeded, *ran))
        news = AttemptNews(entry.attempt, entry.kind, entry.task, entry.node, report.outcome)
        self.send(job_address(entry.job), news)

    def _hear(self, progress: Progress) -> None:
        """Book how far an attempt is."""
        entry = self.ledger.attempt(progress.attempt)
        assert entry is not None, f"attempt {progress.attempt} was closed and goes on"
        entry.progress = progress.done
        ran = (progress.done, progress.ran_ms, progress.shuffled_ms)
        self._tell(Progressed(entry.job, entry.kind, entry.attempt, *ran))

    def _assign(self, node: NodeEntry) -> tuple[LaunchTask, ...]:
        """Ask the policy for tasks until it has no more to give."""
        if not self.ledger.could_gain(node):
            return ()
        offer = OfferEntry(node)
        launches: list[LaunchTask] = []
        passed: list[JobId] | None = [] if self._policy.hears_offers else None
        while (launch := self._policy.decide(offer, self.ledger, passed)) is not None:
            problem = self._problem(launch, node)
            if problem is not None:
                self._tell(Rejected(launch, problem))
                break
            launches.append(self._book(launch, offer))
            if self._one_task_a_beat:
                break
        if passed is not None:
            self._tell(Offered(node.node, _skipped(passed, launches)))
        return tuple(launches)

    def _problem(self, launch: Launch, node: NodeEntry) -> str | None:
        """Why a launch does not fit the books; None if it does."""
        if not node.free(launch.kind):
            return "the node has no free slot of this kind"
        if not self.ledger.has_pending(launch.job, launch.kind):
            return "the job has no pending task of this kind"
        return None

    def _book(self, launch: Launch, offer: OfferEntry) -> LaunchTask:
        """Carry out a launch: into the books, into the journal, into the reply."""
        entry = self.ledger.launch(launch.job, launch.kind, offer.node)
        offer.give(launch.kind, launch.level)
        self.note(_launched(entry, launch, self.now_ms))
        launched = Launched(entry.job, entry.kind, entry.attempt, entry.node, entry.level)
        self._tell(launched)
        followed = self._policy.wants_progress_of(launched)
        order = FollowedLaunch if followed else LaunchTask
        work = self.ledger.job(entry.job).work(entry.kind)
        return order(entry.attempt, entry.job, entry.kind, entry.task, entry.level, work)

    def _reply(self, node: NodeEntry, launches: tuple[LaunchTask, ...]) -> None:
        """Answer a beat, and keep the answer in case it has to be repeated (rule H5)."""
        kills = tuple(node.kills)
        node.kills.clear()
        response = node.reply.response + 1
        node.reply = HeartbeatReply(response, self._interval_ms, launches, kills, node.life)
        self._send_down(node.node, node.reply)

    def _send_down(self, node: NodeId, message: HeartbeatReply | BeginAnew) -> None:
        """Send to a node, over whatever the link is like."""
        link = self._downlinks.get(node)
        if link is None:
            self.send(node_address(node), message, self._latency_ms)
        else:
            for delay_ms in link.deliveries():
                self.send(node_address(node), message, delay_ms)

    # Preemption.

    def on_preempt(self) -> None:
        """Mark the policy's victims; the order goes out with their nodes' next replies.

        A round after the timer, when all beats of this instant have been answered, so that
        beats left out and beats sent come to the same.
        """
        for kill in self._policy.preempt(self.ledger):
            entry = self.ledger.attempt(kill.attempt)
            if entry is None or entry.killing:
                self._tell(Rejected(kill, "the attempt has ended or is being killed"))
                continue
            entry.killing = True
            node = self.ledger.node(entry.node)
            assert node is not None
            node.kills.append(KillTask(kill.attempt))
            self.note(KillOrdered(self.now_ms, kill.attempt, kill.why))
            if self._roster is not None and entry.node not in self._awake:
                at_ms = self._roster.next_arrival(entry.node, self.now_ms)
                self.timer_behind(node_address(entry.node), UnsentBeat(entry.node), at_ms)
        self._wait_for_tick()

    def _wait_for_tick(self) -> None:
        if self._policy.interval_ms is not None:
            self.timer(Tick(), self._policy.interval_ms)

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

    def _arm(self, roster: Roster) -> None:
        """See to it that the next unsent beat that could change anything is not missed."""
        useful = roster.next_useful(self.ledger.now_ms, self.ledger.kinds_pending())
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


def _skipped(passed: list[JobId], launches: list[LaunchTask]) -> tuple[JobId, ...]:
    """Who was passed over and got no map in the same heartbeat."""
    if not launches:
        return tuple(passed)  # asked once, nobody is passed over twice
    served = {each.job for each in launches if each.kind is TaskKind.MAP}
    return tuple(job for job in dict.fromkeys(passed) if job not in served)


def _launched(entry: AttemptEntry, launch: Launch, now_ms: Millis) -> AttemptLaunched:
    return AttemptLaunched(
        at_ms=now_ms,
        attempt=entry.attempt,
        job=entry.job,
        kind=entry.kind,
        task=entry.task,
        number=entry.number,
        node=entry.node,
        level=entry.level,
        why=launch.why,
    )
