"""A scheduler of several: keeps the books of its own jobs, and knows which nodes there are.

What nodes do it learns from their answers alone.  How it finds nodes for tasks is a subclass's
affair, and what those do that it finds.
"""

from abc import abstractmethod
from collections.abc import Sequence

import msgspec

from callboard.actors.books.attempts import BookedAttempt
from callboard.actors.books.bookings import Bookings
from callboard.actors.books.job_tasks import BookedJob
from callboard.actors.books.ledger import Ledger
from callboard.actors.books.members import BookedNode
from callboard.actors.books.node_contacts import ContactHolder, NodeContacts
from callboard.actors.kernel.address import job_address, node_address, scheduler_address
from callboard.actors.kernel.message import Message
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary import messages as msg
from callboard.actors.vocabulary.events import Outcome
from callboard.actors.vocabulary.lifecycle import BookedChange, BookedJobState
from callboard.actors.world import World
from callboard.scheduler.facts import Fact
from callboard.scheduler.model import (
    CLEANUP,
    SETUP,
    STAGES,
    AttemptId,
    JobId,
    Millis,
    NodeId,
    Stage,
    attempt_block_start,
    slot_kind,
)
from callboard.scheduler.reasons import Reason, Why

JobStage = tuple[JobId, Stage]

ALL_STAGES = (*STAGES, SETUP, CLEANUP)


class Frontend(ContactHolder):
    """Scheduler `number` of several, from 1; attempts have it in their numbers."""

    why: Why
    """Why a node is given a task."""

    binds_early = False
    """Whether tasks may wait at nodes for a slot."""

    def __init__(self, number: int, world: World) -> None:
        super().__init__(scheduler_address(number), f"scheduler {number}")
        self.number = number
        racks, first = world.cluster.topology(), attempt_block_start(number)
        self.ledger = Ledger(racks, 0, first, binds_early=self.binds_early)
        self._bookings = Bookings(self.ledger, self)
        self._nodes = world.nodes
        self._latency_ms = world.cluster.latency_ms
        self._unseen: set[JobStage] = set()
        """Setups and cleanups that no node has been given yet."""
        self._is_gone = False
        self._forgotten = first
        """The last attempt of an earlier life."""
        self.contacts = NodeContacts(self, world)

    def receive(self, message: msgspec.Struct) -> None:
        self.ledger.now_ms = self.now_ms
        super().receive(message)

    def tell_policy(self, fact: Fact, cause: int) -> None:
        """There is no policy that would learn it."""

    @abstractmethod
    def place_tasks(self, job: JobId, stage: Stage, tasks: int, cause: int) -> None:
        """Find nodes for `tasks` more tasks of a stage."""

    @abstractmethod
    def withdraw_job(self, job: JobId, cause: int) -> None:
        """The job has ended: find none for it any more."""

    # Its process ends, and begins anew.

    def on_crash_scheduler(self, _: faults.CrashScheduler) -> None:
        """All that it knew is gone; its machine tells jobs and nodes that it is."""
        jobs, cause = self.ledger.known_jobs(), self.cause
        self._bookings.lose_all_attempts(self.now_ms, cause)
        self._is_gone, self._forgotten = True, self.ledger.last_attempt
        self.ledger = self.ledger.successor()
        self._bookings = Bookings(self.ledger, self)
        self._unseen.clear()
        self.forget_all()
        gone = msg.SchedulerGone(self.address)
        for job in jobs:
            if job.state is not BookedJobState.ENDING:
                self.send(job_address(job.job), gone, cause)
        for facts in self._nodes:
            if not self.contacts.watches_node(facts.node):
                self.send(node_address(facts.node), gone, cause, self._latency_ms)
        self.contacts.end_all_sessions(cause)

    def forget_all(self) -> None:
        """What else it knew is gone too."""

    def on_restart_scheduler(self, _: faults.RestartScheduler) -> None:
        self._is_gone = False
        self.contacts.take_all_as_heard()

    # Contact with nodes.

    @property
    def wants_nodes(self) -> bool:
        return self.ledger.has_jobs

    def lose_contact(self, node: NodeId, heard_ms: Millis, *, again: bool) -> int:
        """A node is given up: what ran there is lost, and so are outputs that reduces need."""
        if self._is_gone:
            return self.cause
        what = (self.now_ms, node, self.number, heard_ms, again)
        lost = self.note(ev.ContactLost(*what, cause=self.cause))
        member = self.ledger.members.get(node)
        if member is not None:
            self._bookings.lose_node(member, lost, self.attempt_lost)
        self.node_lost(node, lost)
        return lost

    def regain_contact(self, node: NodeId) -> None:
        if not self._is_gone:
            what = (self.now_ms, node, self.number)
            self.node_back(node, self.note(ev.ContactRegained(*what, cause=self.cause)))

    def attempt_lost(self, entry: BookedAttempt) -> None:
        """Its node is given up."""

    def node_lost(self, node: NodeId, cause: int) -> None:
        """What was to be done there has to be done elsewhere."""

    def node_back(self, node: NodeId, cause: int) -> None:  # noqa: ARG002
        """There is a node more: place what has found none."""
        for job, stage in self.unplaced_stages():
            self.place_remaining_tasks(job, stage, cause)

    def unplaced_stages(self) -> list[JobStage]:
        """All that have tasks which no node has been given."""
        jobs = self.ledger.known_jobs()
        return [
            (job.job, stage)
            for job in jobs
            for stage in ALL_STAGES
            if self.tasks_to_place(job, stage)
        ]

    def place_remaining_tasks(self, job: JobId, stage: Stage, cause: int) -> None:
        """Find nodes for what is left of a stage, as far as nobody is looking for them."""

    # Jobs.

    def on_announce_job(self, _: msg.AnnounceJob) -> None:
        """There is nothing to do for a job before it asks for tasks."""

    def on_submit_stage(self, order: msg.SubmitStage) -> None:
        """All tasks of the stage may run from now on, if there is anybody to hear of it."""
        if self._is_gone:
            self.send(job_address(order.job), msg.SchedulerGone(self.address), self.cause)
            return
        if order.stage < SETUP:
            self.ledger.submit_stage(order, self.cause)
            tasks = order.profile.tasks[order.stage]
        else:
            self.ledger.submit_setup_or_cleanup(order)
            self._unseen.add((order.job, order.stage))
            tasks = 1
        self.contacts.look_if_wanted()
        self.place_tasks(order.job, order.stage, tasks, self.cause)

    def on_run_again(self, again: msg.RunAgain) -> None:
        job = self.ledger.known_job(again.job)
        if job is None:
            return
        if again.stage < SETUP:
            job.give_back(again.stage, again.task, self.cause)
        else:
            job.count_retry(again.stage, again.task)
            self._unseen.add((again.job, again.stage))
        self.place_tasks(again.job, again.stage, 1, self.cause)

    def on_drop_outputs(self, drop: msg.DropOutputs) -> None:
        self._book_all_nodes()
        self._bookings.fail_unfetchable_maps(drop, self.cause)

    def on_job_done(self, done: msg.JobDone) -> None:
        """The job has ended.  It stays in the books until nothing of it runs any more."""
        job = self.ledger.known_job(done.job)
        if job is None:
            return
        if done.outcome is not Outcome.SUCCEEDED:
            job.withdraw_tasks()
            for entry in list(job.attempts.values()):
                self._order_kill(entry)
        self._unseen -= {(done.job, SETUP), (done.job, CLEANUP)}
        self.withdraw_job(done.job, self.cause)
        job.begin_ending()
        self._bookings.leave_if_over(job, self.cause)

    def _order_kill(self, entry: BookedAttempt) -> None:
        entry.change_state(BookedChange.ORDER_KILL)
        ordered = ev.KillOrdered(self.now_ms, entry.attempt, Why(Reason.JOB_ENDS), cause=self.cause)
        kill = msg.KillTask(entry.attempt, self.note(ordered))
        self.tell_node(entry.node, kill, kill.cause)

    # Tasks for nodes.

    def tasks_to_place(self, job: BookedJob, stage: Stage) -> int:
        """How many of the stage's tasks no node has been given."""
        if stage >= SETUP:
            return int((job.job, stage) in self._unseen)
        return job.pending(slot_kind(stage))

    def tasks_left(self, job: JobId, stage: Stage) -> int:
        """The same of a job that may have ended."""
        entry = self.ledger.known_job(job)
        return 0 if entry is None else self.tasks_to_place(entry, stage)

    def allowed_node_types(self, job: JobId) -> tuple[str, ...]:
        """The node types on which alone the job may run; none: on all."""
        entry = self.ledger.known_job(job)
        return () if entry is None else entry.only_on

    def nodes_not_failed_on(
        self, job: JobId, stage: Stage, nodes: Sequence[NodeId]
    ) -> Sequence[NodeId]:
        """Those of the nodes on which not all that is left has failed."""
        entry = self.ledger.known_job(job)
        if entry is None or not entry.faults or stage >= SETUP:
            return nodes
        kind = slot_kind(stage)
        return [node for node in nodes if entry.nearest(kind, node) is not None]

    def launch_task(self, job: BookedJob, stage: Stage, node: NodeId, cause: int) -> int | None:
        """Give the node that task of those left whose input is nearest to it; the event, or None if
        all that are left have failed there.
        """
        entry = self.book_task(job, stage, node)
        if entry is None:
            return None
        entry.event = self.note(entry.launch_event(ev.WHY_UNSEEN.get(stage, self.why), cause))
        self.tell_node(node, job.launch_order(entry), entry.event)
        return entry.event

    def tell_node(self, node: NodeId, message: Message, cause: int) -> None:
        """Have a node hear it, a latency later at the earliest."""
        self.contacts.tell_node(node, message, cause)

    def book_task(self, job: BookedJob, stage: Stage, node: NodeId) -> BookedAttempt | None:
        """Put that task into the books; None if there is none, or the job may not run there."""
        if not job.allows_node_type(self._nodes[node].node_type):
            return None
        kind, member = slot_kind(stage), self._booked_node(node)
        if stage >= SETUP:
            self._unseen.remove((job.job, stage))
            return self.ledger.launch_setup_or_cleanup(job, stage, kind, member)
        if job.nearest(kind, node) is None:
            return None
        return self.ledger.launch_task(job, stage, member)

    def _booked_node(self, node: NodeId) -> BookedNode:
        """What the books say of a node; it is there when it is first given something."""
        members = self.ledger.members
        return members.get(node) or members.join_node(self._nodes[node])

    # What nodes report.

    def on_report(self, report: msg.EndReport | msg.FetchFailure) -> None:
        if isinstance(report, msg.EndReport) and self.is_forgotten_attempt(report.attempt):
            return
        if isinstance(report, msg.EndReport) and report.outcome is Outcome.FAILED:
            self._book_all_nodes()
        entry = self.ledger.attempt(report.attempt) if isinstance(report, msg.EndReport) else None
        self._bookings.book_report(report)
        if entry is not None:
            self.attempt_ended(entry, report.cause)

    def attempt_ended(self, entry: BookedAttempt, cause: int) -> None:
        """Its end has been booked."""

    def is_forgotten_attempt(self, attempt: AttemptId) -> bool:
        """Whether it was begun in an earlier life, or was lost with its node."""
        if attempt <= self._forgotten:
            return True
        return self.contacts.watches_any_node and self.ledger.attempt(attempt) is None

    def _book_all_nodes(self) -> None:
        """Have all its nodes in the books: a task that has failed is kept away from those on which
        it has, unless it has on all.
        """
        hosts = self.usable_nodes()
        if len(self.ledger.members) < len(hosts):
            for node in hosts:
                self._booked_node(node)

    def usable_nodes(self) -> Sequence[NodeId]:
        """The nodes that it may use."""
        there = range(len(self._nodes))
        return self.contacts.within_reach(there) if self.contacts.lost else there
