"""One of Sparrow's schedulers: sends reservations for its jobs, and gives a task to who asks first.

It knows which nodes there are and nothing of what they do: a stage's reservations go to nodes drawn
at random, `probes` of them for each task, and the first nodes that have a slot free and ask for a
task get one (batch sampling with late binding, SOSP 2013, §4).  A node that asks later gets none.
"""

from collections import Counter
from collections.abc import Sequence
from math import ceil

import msgspec
import numpy as np

from callboard.actors.books.attempts import BookedAttempt
from callboard.actors.books.bookings import Bookings
from callboard.actors.books.job_tasks import BookedJob
from callboard.actors.books.ledger import Ledger
from callboard.actors.books.members import BookedNode
from callboard.actors.kernel.actor import Actor
from callboard.actors.kernel.address import node_address, scheduler_address
from callboard.actors.kernel.message import NO_CAUSE
from callboard.actors.kernel.streams import Stream
from callboard.actors.sparrow.probe_messages import (
    AnswersDue,
    CancelTaskReservations,
    EnqueueTaskReservations,
    GetTask,
    NoTask,
)
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import messages as msg
from callboard.actors.vocabulary.events import AnyEvent, Outcome
from callboard.actors.vocabulary.lifecycle import BookedChange
from callboard.actors.world import World
from callboard.scheduler.facts import Fact
from callboard.scheduler.model import (
    CLEANUP,
    SETUP,
    JobId,
    NodeId,
    Stage,
    first_attempt,
    slot_kind,
)
from callboard.scheduler.reasons import Reason, Why


class _Stage:
    """What is kept of a stage beside the books."""

    def __init__(self) -> None:
        self.batches = 0
        """How often reservations were sent for it."""
        self.reserved: Counter[NodeId] = Counter()
        """How many wait on which nodes that have not asked yet."""
        self.unseen = 0
        """Of a setup or cleanup: 1 until a node has been given it."""

    def count_question(self, node: NodeId) -> None:
        """A node has asked, be it that its reservation was to be taken back."""
        if node in self.reserved:
            self.reserved[node] -= 1
            if not self.reserved[node]:
                del self.reserved[node]


JobStage = tuple[JobId, Stage]

_WHY = {SETUP: Why(Reason.JOB_SETUP), CLEANUP: Why(Reason.JOB_CLEANUP)}
_ASKED = Why(Reason.RESERVATION, "sparrow")


class Frontend(Actor[AnyEvent]):
    """Scheduler `number` of several, from 1; attempts have it in their numbers."""

    def __init__(self, number: int, world: World, *, probes: float, cancellation: bool) -> None:
        super().__init__(scheduler_address(number), f"scheduler {number}")
        self.ledger = Ledger(world.cluster.topology(), 0, first_attempt(number))
        self._bookings = Bookings(self.ledger, self)
        self._nodes = world.nodes
        self._latency_ms = world.cluster.latency_ms
        self._seed = world.seed
        self._probes = probes
        self._cancellation = cancellation
        self._stages: dict[JobStage, _Stage] = {}
        self._questions: list[tuple[GetTask, int]] = []
        """Those of this instant, with their causes."""

    def receive(self, message: msgspec.Struct) -> None:
        self.ledger.now_ms = self.now_ms
        super().receive(message)

    def tell(self, fact: Fact, cause: int) -> None:
        """There is no policy that would learn it."""

    # Jobs.

    def on_submit_stage(self, order: msg.SubmitStage) -> None:
        """Send reservations for all tasks of the stage at once."""
        if order.stage < SETUP:
            self.ledger.submit(order, self.cause)
            tasks = order.profile.tasks[order.stage]
        else:
            job = self.ledger.known_job(order.job)
            job = job or self.ledger.prepare(order.job, order.profile)
            job.drop_outputs()
            job.set_work(order)
            self._await(order.job, order.stage)
            tasks = 1
        self._reserve(order.job, order.stage, tasks, self.cause)

    def on_run_again(self, again: msg.RunAgain) -> None:
        job = self.ledger.known_job(again.job)
        if job is None:
            return
        if again.stage < SETUP:
            job.give_back(again.stage, again.task, self.cause)
        else:
            job.tries_again(again.stage, again.task)
            self._await(again.job, again.stage)
        self._reserve(again.job, again.stage, 1, self.cause)

    def on_drop_outputs(self, drop: msg.DropOutputs) -> None:
        self._bookings.drop_outputs(drop, self.cause)

    def on_job_done(self, done: msg.JobDone) -> None:
        """The job has ended.  It stays in the books until nothing of it runs any more."""
        job = self.ledger.known_job(done.job)
        if job is None:
            return
        if done.outcome is not Outcome.SUCCEEDED:
            job.withdraw()
            for entry in list(job.attempts.values()):
                self._stop(entry)
        for stage in [stage for number, stage in self._stages if number == done.job]:
            if self._cancellation:
                self._cancel(done.job, stage, self.cause)
            del self._stages[done.job, stage]
        job.end()
        self._bookings.leave_if_over(job, self.cause)

    def _stop(self, entry: BookedAttempt) -> None:
        entry.change(BookedChange.ORDER_KILL)
        ordered = ev.KillOrdered(self.now_ms, entry.attempt, Why(Reason.JOB_ENDS), cause=self.cause)
        kill = msg.KillTask(entry.attempt, self.note(ordered))
        self.send(node_address(entry.node), kill, kill.cause, self._latency_ms)

    def _await(self, job: JobId, stage: Stage) -> None:
        """A setup or cleanup waits for a node."""
        self._stages.setdefault((job, stage), _Stage()).unseen = 1

    # Reservations.

    def _reserve(self, job: JobId, stage: Stage, tasks: int, cause: int) -> None:
        """Send `probes` reservations a task, to distinct nodes as far as there are as many."""
        count, kept = ceil(self._probes * tasks), self._stages.setdefault((job, stage), _Stage())
        nodes = self.draw(job, stage, kept.batches, count)
        kept.batches += 1
        sent = Counter(nodes[place % len(nodes)] for place in range(count))
        kept.reserved.update(sent)
        for place, (node, each) in enumerate(sent.items()):
            enqueue = EnqueueTaskReservations(job, stage, self.address, each, place)
            self.send(node_address(node), enqueue, cause, self._latency_ms)

    def draw(self, job: JobId, stage: Stage, batch: int, count: int) -> Sequence[NodeId]:
        """So many nodes that have slots for the stage, or all of them, in random order."""
        kind = slot_kind(stage)
        able = [each.node for each in self._nodes if (each.map_slots, each.reduce_slots)[kind]]
        draws = Stream(self._seed, f"probes/{stage}/{batch}").bits_row(job, len(able))
        return [able[place] for place in np.argsort(draws, kind="stable")[:count].tolist()]

    def _cancel(self, job: JobId, stage: Stage, cause: int) -> None:
        """Take back the reservations of a stage whose nodes have not asked."""
        reserved = self._stages[job, stage].reserved
        for node in reserved:
            cancel = CancelTaskReservations(job, stage)
            self.send(node_address(node), cancel, cause, self._latency_ms)
        reserved.clear()

    def on_get_task(self, ask: GetTask) -> None:
        """Hear all nodes that ask at this instant before any of them is answered."""
        if not self._questions:
            self.send(self.address, AnswersDue(), NO_CAUSE)
        self._questions.append((ask, self.cause))

    def on_answers_due(self, _: AnswersDue) -> None:
        """Answer in the order in which the nodes were drawn, which is random: they were told so."""
        questions, self._questions = self._questions, []
        for ask, cause in sorted(questions, key=lambda each: each[0].place):
            self._answer(ask, cause)

    def _answer(self, ask: GetTask, cause: int) -> None:
        """Give the node a task if any is left, the one whose input is nearest to it."""
        stage, to = self._stages.get((ask.job, ask.stage)), node_address(ask.node)
        if stage is not None:
            stage.count_question(ask.node)
        entry = self._taken(ask, cause)
        if entry is None:
            self.send(to, NoTask(ask.job, ask.stage), cause, self._latency_ms)
            return
        job = self.ledger.known_job(ask.job)
        assert job is not None
        attempt = (entry.attempt, job.job, entry.kind, entry.task, entry.number)
        place = (entry.node, entry.level, _WHY.get(ask.stage, _ASKED))
        entry.event = self.note(ev.AttemptLaunched(self.now_ms, *attempt, *place, cause=cause))
        self.send(to, job.order(entry), entry.event, self._latency_ms)
        if self._cancellation and not self._left(job, ask.stage):
            self._cancel(ask.job, ask.stage, entry.event)

    def _taken(self, ask: GetTask, cause: int) -> BookedAttempt | None:
        """The attempt with which a node's question is answered."""
        job, stage = self.ledger.known_job(ask.job), ask.stage
        if job is None or not self._left(job, stage):
            return None
        kind, node = slot_kind(stage), self._member(ask.node)
        if stage >= SETUP:
            self._stages[job.job, stage].unseen = 0
            return self.ledger.launch_unseen(job, stage, kind, node)
        if job.nearest(kind, ask.node) is None:  # what is left has failed there: ask another node
            self._reserve(job.job, stage, 1, cause)
            return None
        return self.ledger.launch(job, kind, node)

    def _left(self, job: BookedJob, stage: Stage) -> int:
        """How many of the stage's tasks no node has been given."""
        if stage >= SETUP:
            return self._stages[job.job, stage].unseen
        return job.pending(slot_kind(stage))

    def _member(self, node: NodeId) -> BookedNode:
        """What the books say of a node; it is there when it first asks."""
        members = self.ledger.members
        return members.get(node) or members.join(self._nodes[node])

    # What nodes report.

    def on_report(self, report: msg.EndReport | msg.FetchFailure) -> None:
        self._bookings.book(report)
