"""What the master does to its books, and tells of it: launches, copies, kills, ends, losses.

Every entry into the ledger goes with what belongs to it: the note in the journal, the fact for the
policy, the news for the job, the order for the node.  Who says what to the master, and when it
does all this, is in `actors.master.master`.
"""

from callboard.actors.config import Cluster
from callboard.actors.elided_heartbeats import IdleNodeIndex
from callboard.actors.kernel.actor import Actor
from callboard.actors.kernel.address import MASTER, job_address, node_address
from callboard.actors.master.blacklist import NodeBlacklist
from callboard.actors.master.entries import (
    TRACKER_FAILURES_MAX,
    AttemptEntry,
    NodeEntry,
    OfferEntry,
)
from callboard.actors.master.ledger import Ledger
from callboard.actors.network import Link
from callboard.actors.vocabulary.events import (
    AttemptClosed,
    AttemptLaunched,
    KillOrdered,
    LaunchExpired,
    MapsUndone,
    NodeCleared,
    NodeListed,
    NodeLost,
    NodeShunned,
    OrderSwitched,
    Outcome,
    ResumeOrdered,
    SuspendOrdered,
)
from callboard.actors.vocabulary.messages import (
    AttemptBooked,
    AttemptProgress,
    BlacklistReview,
    ElidedHeartbeat,
    EndReport,
    HeartbeatReply,
    KillTask,
    LaunchTask,
    OutputsLost,
    Reinitialize,
    ResumeTask,
    StopAttempt,
    SuspendTask,
    SuspensionReport,
    TrackedLaunch,
)
from callboard.scheduler.decisions import Kill, Launch, Resume, Speculate, Suspend, Why
from callboard.scheduler.facts import (
    Closed,
    Fact,
    JobArrived,
    JobLeft,
    Launched,
    NodeDrained,
    NodeGone,
    NodeJoined,
    Progressed,
    Resumed,
    Suspended,
    TasksPending,
    TasksUndone,
    TasksWithdrawn,
)
from callboard.scheduler.model import (
    KINDS,
    AttemptId,
    JobId,
    Locality,
    Millis,
    NodeId,
    TaskIndex,
    TaskKind,
)
from callboard.scheduler.policy import Policy


class Bookkeeper(Actor):
    """The half of a master that writes."""

    def __init__(self, cluster: Cluster, nodes: int, policy: Policy, seed: int) -> None:
        super().__init__(MASTER, "master")
        self._interval_ms = cluster.heartbeat.period_ms(nodes)
        self.ledger = Ledger(cluster.racks, self._interval_ms)
        self._policy = policy
        self._switching = policy.order if policy.order.switches else None
        self._latency_ms = cluster.latency_ms
        self._idle_nodes: IdleNodeIndex | None = None
        if cluster.heartbeat.send == "needed" and cluster.latency_ms > 0:
            self._idle_nodes = IdleNodeIndex(self._interval_ms + 2 * cluster.latency_ms)
        self._heartbeating: set[NodeId] = set()
        self._downlinks: dict[NodeId, Link] = {}
        self._seed = seed
        self._gone: dict[JobId, None] = {}
        self._blacklist = NodeBlacklist()
        self._removes_bad_nodes = cluster.removes_bad_nodes
        self._out_of_service: dict[NodeId, bool] = {}

    def _leave(self, job: JobId) -> None:
        self.ledger.leave(job)
        self._tell(JobLeft(job))

    def _close(self, report: EndReport) -> None:
        """Book an attempt's end and tell whom it concerns.

        The job hears of it if it makes a difference to the task: the first success, a failure, or
        an end without success when no other attempt of the task runs.  A second success is booked
        as killed.
        """
        entry = self.ledger.attempt(report.attempt)
        assert entry is not None, f"attempt {report.attempt} was closed before"
        outcome = Outcome.KILLED if entry.beaten else report.outcome
        if entry.expired and not entry.beaten:
            outcome = Outcome.FAILED
        succeeded = outcome is Outcome.SUCCEEDED
        failed = outcome is Outcome.FAILED
        twin = self.ledger.close(entry, succeeded=succeeded, failed=failed)
        self.note(AttemptClosed(self.now_ms, entry.attempt, outcome))
        ran = (report.ran_ms, report.shuffled_ms)
        self._tell(Closed(entry.job, entry.kind, entry.attempt, entry.node, succeeded, *ran))
        if succeeded and twin is not None:
            self.send(MASTER, StopAttempt(twin.attempt, Why("its task is done", 0)))
        alone = twin is None and not entry.beaten
        if succeeded or failed or alone:
            news = AttemptBooked(entry.attempt, entry.kind, entry.task, entry.node, outcome, alone)
            self.send(job_address(entry.job), news)
        if failed and self.ledger.job(entry.job).faults[entry.node] == TRACKER_FAILURES_MAX:
            self._shun(entry.job, entry.node)
        if entry.job in self._gone and not self.ledger.has_attempts(entry.job):
            del self._gone[entry.job]
            self._leave(entry.job)

    def _halt(self, halted: SuspensionReport) -> None:
        """Book that an attempt is suspended: only now is its slot free."""
        entry = self.ledger.attempt(halted.attempt)
        assert entry is not None, f"attempt {halted.attempt} was closed and is held"
        self.ledger.suspend(entry)
        ran = (halted.ran_ms, halted.shuffled_ms)
        self._tell(Suspended(entry.job, entry.kind, entry.attempt, entry.node, *ran))

    def _hear(self, progress: AttemptProgress) -> None:
        """Book how far an attempt is."""
        entry = self.ledger.attempt(progress.attempt)
        assert entry is not None, f"attempt {progress.attempt} was closed and goes on"
        entry.progress, entry.ran_ms = progress.done, progress.ran_ms
        entry.shuffled_ms = progress.shuffled_ms
        ran = (progress.done, progress.ran_ms, progress.shuffled_ms)
        self._tell(Progressed(entry.job, entry.kind, entry.attempt, *ran))

    def _book(self, launch: Launch, offer: OfferEntry) -> LaunchTask:
        """Carry out a launch: into the books, into the journal, into the reply."""
        entry = self.ledger.launch(launch.job, launch.kind, offer.node)
        offer.give(launch.kind, launch.level)
        return self._order(entry, launch.why)

    def _book_copy(self, copy: Speculate, offer: OfferEntry) -> LaunchTask:
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

    def _book_again(self, resume: Resume, offer: OfferEntry) -> ResumeTask:
        """Carry out a resumption: into the books, into the journal, into the reply."""
        entry = self.ledger.attempt(resume.attempt)
        assert entry is not None
        self.ledger.resume(entry)
        offer.give(entry.kind, Locality.NODE)
        self.note(ResumeOrdered(self.now_ms, resume.attempt, resume.why))
        self._tell(Resumed(entry.job, entry.kind, entry.attempt, entry.node))
        return ResumeTask(resume.attempt)

    def _order(self, entry: AttemptEntry, why: Why) -> LaunchTask:
        """Tell the journal and the policy of a booked attempt, and make the node's order of it."""
        self.note(_launched(entry, why, self.now_ms))
        what = (entry.job, entry.kind, entry.attempt)
        launched = Launched(*what, entry.node, entry.level, entry.copy_of)
        self._tell(launched)
        entry.followed = self._policy.wants_progress_of(launched)
        order = TrackedLaunch if entry.followed else LaunchTask
        work = self.ledger.job(entry.job).work(entry.kind)
        task = (entry.kind, entry.task, entry.number)
        return order(entry.attempt, entry.job, *task, entry.level, work)

    def _problem(self, launch: Launch | Speculate | Resume, node: NodeEntry) -> str | None:
        """Why a decision does not fit the books; None if it does."""
        if isinstance(launch, Resume):
            entry = self.ledger.attempt(launch.attempt)
            if entry is None or entry.suspended_ms is None or entry.killing:
                return "the attempt is not suspended, or is being killed"
            if entry.node != node.node or not node.free(entry.kind):
                return "the attempt's node has no free slot of its kind"
            return None
        if isinstance(launch, Speculate):
            return self._problem_of_copy(launch, node)
        if not node.free(launch.kind):
            return "the node has no free slot of this kind"
        if not self.ledger.has_pending(launch.job, launch.kind):
            return "the job has no pending task of this kind"
        return None

    def _problem_of_copy(self, copy: Speculate, node: NodeEntry) -> str | None:
        entry = self.ledger.attempt(copy.attempt)
        if entry is None or entry.killing or not entry.alone:
            return "the attempt has ended, is being killed, or is not alone"
        if not node.free(entry.kind):
            return "the node has no free slot of this kind"
        if entry.node == node.node:
            return "the task runs on this node already"
        return None

    def _problem_of_victim(self, order: Kill | Suspend, entry: AttemptEntry) -> str | None:
        """Why an attempt cannot be made to give way like this; None if it can."""
        if isinstance(order, Kill) or entry.alone:
            return None
        if entry.suspending or entry.suspended_ms is not None:
            return "the attempt is suspended or is being suspended"
        return "another attempt of its task runs"

    def _kill(self, entry: AttemptEntry, why: Why) -> None:
        """Order an attempt to be killed with its node's next reply."""
        entry.killing = True
        node = self.ledger.node(entry.node)
        assert node is not None
        node.kills.append(KillTask(entry.attempt))
        self.note(KillOrdered(self.now_ms, entry.attempt, why))
        self._see_to(entry.node)

    def _expire(self, entry: AttemptEntry) -> None:
        """Give up a launch that has not begun for too long: it is to be stopped and has failed."""
        entry.expired = True
        self.note(LaunchExpired(self.now_ms, entry.attempt))
        self._kill(entry, Why("its launch has expired", 0))

    def _suspend(self, entry: AttemptEntry, why: Why) -> None:
        """Order an attempt to be suspended with its node's next reply."""
        entry.suspending = True
        node = self.ledger.node(entry.node)
        assert node is not None
        node.suspends.append(SuspendTask(entry.attempt))
        self.note(SuspendOrdered(self.now_ms, entry.attempt, why))
        self._see_to(entry.node)

    def _follow(self, entry: AttemptEntry) -> None:
        """Ask with the node's next reply how far an attempt is that runs already."""
        entry.followed = True
        node = self.ledger.node(entry.node)
        assert node is not None
        node.follows.append(entry.attempt)
        self._see_to(entry.node)

    def _see_to(self, node: NodeId) -> None:
        """Do not miss the node's next beat, even if it leaves it out."""
        if self._idle_nodes is not None and node not in self._heartbeating:
            at_ms = self._idle_nodes.next_arrival(node, self.now_ms)
            self.timer_behind(node_address(node), ElidedHeartbeat(node), at_ms)

    def _lose(self, node: NodeEntry, again: bool = False) -> None:
        """Give a node up: what ran there is killed, and what reduces may still want of its maps'
        outputs has to be made again (rule T2).
        """
        self.note(NodeLost(self.now_ms, node.node, node.heard_ms, again))
        jobs: dict[JobId, None] = {}
        for attempt in self.ledger.attempts_on(node.node):
            jobs[attempt.job] = None
            attempt.expired = False
            self._close(EndReport(attempt.attempt, Outcome.KILLED, 0))
        for job, outputs in self.ledger.undo_maps(node.node):
            jobs[job] = None
            self._undo(job, node.node, outputs, Outcome.KILLED)
        for job in jobs:
            self._blame(job, node.node)
        self.ledger.part(node)
        self._tell(NodeGone(node.node))

    def _drain(self, node: NodeEntry, out: bool) -> None:
        """Take a node out of service, or back; what it holds suspended has to begin elsewhere."""
        self.ledger.drain(node, out)
        self._tell(NodeDrained(node.node) if out else NodeJoined(node.node))
        for entry in self.ledger.attempts_on(node.node) if out else ():
            if entry.suspended_ms is not None and not entry.killing:
                self._kill(entry, Why("its node is out of service", 0))
        if self._idle_nodes is not None and node.node not in self._heartbeating:
            self._list(self._idle_nodes, node)

    def _list(self, roster: IdleNodeIndex, node: NodeEntry) -> None:
        """Keep the roster's record of what the node could take."""
        for kind in KINDS:
            roster.set_able(node.node, kind, node.free(kind) > 0)
        roster.set_resuming(node.node, node.could_resume())

    def _blame(self, job: JobId, node: NodeId) -> None:
        """A node that was lost counts as one failure on it of each job that it concerned."""
        if self.ledger.here(job):
            self.ledger.blame(job, node)
            if self.ledger.job(job).faults[node] == TRACKER_FAILURES_MAX:
                self._shun(job, node)

    def _shun(self, job: JobId, node: NodeId) -> None:
        """Tell of a job that will use a node no more."""
        in_force = self.ledger.job(job).shuns(node)
        self.note(NodeShunned(self.now_ms, job, node, in_force))

    def _hold_against(self, node: NodeId) -> None:
        """A job has succeeded that had come to shun the node: that is a fault of the node's."""
        self._blacklist.add(node, self.now_ms)
        if node in self._blacklist.listed:
            return
        if self._blacklist.exceeds(node, self.now_ms, self.ledger.nodes):
            self._blacklist.listed[node] = None
            faults = self._blacklist.faults(node, self.now_ms)
            self.note(NodeListed(self.now_ms, node, faults, self._removes_bad_nodes))
            self._await_blacklist_review(node)
            self._serve_or_not(node)

    def _await_blacklist_review(self, node: NodeId) -> None:
        at_ms = self._blacklist.expires_ms(node)
        self.timer(BlacklistReview(node), at_ms - self.now_ms)
        if self._removes_bad_nodes:  # jobs may have nobody else
            self._kernel.progress_ms = max(self._kernel.progress_ms, at_ms)

    def _clear(self, node: NodeId) -> None:
        """Hold nothing against a node any more."""
        listed = node in self._blacklist.listed
        self._blacklist.clear(node)
        if listed:
            self.note(NodeCleared(self.now_ms, node))
            self._serve_or_not(node)

    def _serve_or_not(self, node: NodeId) -> None:
        """Take a node out of service, or back, as its operator and the list of bad nodes say."""
        entry = self.ledger.node(node)
        listed = self._removes_bad_nodes and node in self._blacklist.listed
        out = listed or self._out_of_service.get(node, False)
        if entry is not None and entry.drained != out:
            self._drain(entry, out)

    def _withdraw(self, job: JobId) -> None:
        """Kill what runs of a job that ends before its time; nothing of it is pending any more."""
        self.ledger.withdraw(job)
        for kind in KINDS:
            if self.ledger.job(job).total(kind):
                self._tell(TasksWithdrawn(job, kind))
        for attempt in self.ledger.attempts_of(job):
            if not attempt.killing:
                self._kill(attempt, Why("its job ends", 0))

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
        self.send(job_address(job), OutputsLost(tasks, outcome is Outcome.FAILED))
        self._tell(TasksUndone(job, TaskKind.MAP, len(tasks)))

    def _send_down(self, node: NodeId, message: HeartbeatReply | Reinitialize) -> None:
        """Send to a node, over whatever the link is like."""
        link = self._downlinks.get(node)
        if link is None:
            self.send(node_address(node), message, self._latency_ms)
        else:
            for delay_ms, each in link.carry(message):
                self.send(node_address(node), each, delay_ms)

    def _brief(self) -> None:
        """Tell a new policy what the books say: who is there, what is pending, what runs; how far
        that is it may want to hear from now on.
        """
        for node in self.ledger.members():
            self._tell(NodeJoined(node.node))
        for job in self.ledger.jobs():
            self._tell(JobArrived(job.job))
            if job.total(TaskKind.REDUCE) and job.opened(TaskKind.REDUCE):
                self._tell(TasksPending(job.job, TaskKind.REDUCE))
        for entry in self.ledger.attempts():
            what = (entry.job, entry.kind, entry.attempt, entry.node)
            launched = Launched(*what, entry.level, entry.copy_of if entry.sibling else 0)
            self._tell(launched)
            if not entry.followed and self._policy.wants_progress_of(launched):
                self._follow(entry)
            if entry.suspended_ms is not None:
                self._tell(Suspended(*what, entry.ran_ms, entry.shuffled_ms))

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
