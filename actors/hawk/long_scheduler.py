"""The scheduler of all long jobs: places each task where the wait is least (Hawk, ATC 2015, §3.6).

A placement is a reservation that is sure of its task: the node asks for it when a slot is free,
which tells the scheduler that it begins, and a report tells it the end.  Nothing else is known of
nodes, short tasks not at all.
"""

from collections import Counter
from collections.abc import Sequence

from callboard.actors.books.attempts import BookedAttempt
from callboard.actors.books.job_tasks import BookedJob
from callboard.actors.hawk.hawk_messages import LongPlaced, node_bitmap
from callboard.actors.hawk.long_waits import LongWaits
from callboard.actors.hawk.short_partition import ShortPartition
from callboard.actors.hawk.task_estimates import TaskEstimates
from callboard.actors.sparrow.asked_frontend import AskedFrontend
from callboard.actors.sparrow.probe_messages import GetTask
from callboard.actors.vocabulary import messages as msg
from callboard.actors.vocabulary.events import ReservationsSent
from callboard.actors.world import World
from callboard.scheduler.model import KINDS, JobId, NodeId, Stage, slot_kind
from callboard.scheduler.reasons import Reason, Why


class LongScheduler(AskedFrontend):
    """Scheduler `number`, behind those of short jobs."""

    def __init__(
        self,
        number: int,
        world: World,
        *,
        name: str,
        partition: ShortPartition,
        estimates: TaskEstimates,
    ) -> None:
        super().__init__(number, world)
        self.why = Why(Reason.LEAST_WAIT, name)
        self._partition = partition
        self._estimates = estimates
        self._stamp = 0
        self._waits = self._empty_waits()

    def _empty_waits(self) -> list[LongWaits]:
        facts = {each.node: each for each in self._nodes}
        return [
            LongWaits(facts, self._partition.nodes_open_to_long(kind), kind, self._latency_ms)
            for kind in KINDS
        ]

    def forget_all(self) -> None:
        """Its nodes forget what it has placed, so that it is right in knowing of none.  What it
        tells of nodes with long work goes on to be newer than before.
        """
        super().forget_all()
        self._waits = self._empty_waits()

    def place_tasks(self, job: JobId, stage: Stage, tasks: int, cause: int) -> None:
        """Place tasks, and tell their nodes which nodes have long work now."""
        kind, estimate_ms = slot_kind(stage), self._estimates.task_ms(job, stage)
        waits = self._waits[kind]
        nodes = self.contacts.within_reach(self._partition.nodes_open_to_long(kind))
        if not nodes:
            return  # until one is back
        suited = self.nodes_not_failed_on(job, stage, nodes) or nodes
        nodes = waits.nodes_for_tasks(tasks, estimate_ms, self.now_ms, suited)
        placed = Counter(nodes)
        self._sent_reservations.next_batch(job, stage)
        self._sent_reservations.add_sent(job, stage, placed)
        sent = (job, self.number, stage, tuple(placed.elements()))
        self.note(ReservationsSent(self.now_ms, *sent, long=True, cause=cause))
        self._stamp += 1
        left, bitmap = self.tasks_left(job, stage), node_bitmap(waits.busy_nodes())
        for node, count in placed.items():
            what = (job, stage, self.address, estimate_ms, count, left)
            told = LongPlaced(*what, self._stamp, bitmap)
            self.tell_node(node, told, cause)

    def usable_nodes(self) -> Sequence[NodeId]:
        return [node for node in super().usable_nodes() if self._partition.is_open_to_long(node)]

    def withdraw_job(self, job: JobId, cause: int) -> None:
        for stage in self._sent_reservations.stages(job):
            for node, count in self._sent_reservations.waiting(job, stage).items():
                self._remove_tasks_from_waits(job, stage, node, count)
            self._sent_reservations.cancel_stage(job, stage, cause)
        self._sent_reservations.forget_job(job)

    def attempt_lost(self, entry: BookedAttempt) -> None:
        self._remove_attempt_from_waits(entry)

    def node_lost(self, node: NodeId, cause: int) -> None:
        """What was placed there is placed elsewhere."""
        lost = self._sent_reservations.lose_node(node)
        for (job, stage), count in lost.items():
            self._remove_tasks_from_waits(job, stage, node, count)
        for job, stage in lost:
            self.place_remaining_tasks(job, stage, cause)

    def answer_question(self, ask: GetTask, cause: int) -> int | None:
        waited = ask.node in self._sent_reservations.waiting(ask.job, ask.stage)
        event = super().answer_question(ask, cause)
        if event is None and waited:
            self._remove_tasks_from_waits(ask.job, ask.stage, ask.node, 1)
        return event

    def book_task(self, job: BookedJob, stage: Stage, node: NodeId) -> BookedAttempt | None:
        entry = super().book_task(job, stage, node)
        if entry is not None:
            estimate_ms = self._estimates.task_ms(job.job, stage)
            self._waits[entry.kind].begin_task(node, entry.attempt, estimate_ms, self.now_ms)
        return entry

    def _remove_tasks_from_waits(self, job: JobId, stage: Stage, node: NodeId, tasks: int) -> None:
        estimate_ms = self._estimates.task_ms(job, stage)
        self._waits[slot_kind(stage)].remove_tasks(node, estimate_ms, tasks)

    def on_report(self, report: msg.EndReport | msg.FetchFailure) -> None:
        if isinstance(report, msg.EndReport) and not self.is_forgotten_attempt(report.attempt):
            entry = self.ledger.attempt(report.attempt)
            assert entry is not None, f"attempt {report.attempt} was closed before"
            self._remove_attempt_from_waits(entry)
        super().on_report(report)

    def _remove_attempt_from_waits(self, entry: BookedAttempt) -> None:
        estimate_ms = self._estimates.task_ms(entry.job, entry.stage)
        self._waits[entry.kind].remove_tasks(entry.node, estimate_ms, attempt=entry.attempt)
