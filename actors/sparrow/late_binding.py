"""Late binding: nodes are sent reservations, and who has a slot free first is given a task.

A stage's reservations go to nodes drawn at random, `probes` of them for each task, and the first
nodes that have a slot free and ask for a task get one (batch sampling with late binding, SOSP 2013,
§4.2).  A node that asks later gets none.  With `cancellation` reservations are taken back that have
not asked when the last task is given.
"""

from collections import Counter
from math import ceil

from callboard.actors.kernel.address import node_address
from callboard.actors.kernel.message import NO_CAUSE
from callboard.actors.sparrow.draws import Draws
from callboard.actors.sparrow.frontend import Frontend, JobStage
from callboard.actors.sparrow.probe_messages import (
    AnswersDue,
    CancelTaskReservations,
    EnqueueTaskReservations,
    GetTask,
    NoTask,
)
from callboard.actors.world import World
from callboard.scheduler.model import JobId, NodeId, Stage
from callboard.scheduler.reasons import Reason, Why


class _Reserved:
    """The reservations of a stage."""

    def __init__(self) -> None:
        self.batches = 0
        """How often any were sent."""
        self.waiting: Counter[NodeId] = Counter()
        """How many wait on which nodes that have not asked yet."""

    def count_question(self, node: NodeId) -> None:
        """A node has asked, be it that its reservation was to be taken back."""
        if node in self.waiting:
            self.waiting[node] -= 1
            if not self.waiting[node]:
                del self.waiting[node]


class LateBinding(Frontend):
    """Sends `probes` reservations for each task."""

    why = Why(Reason.RESERVATION, "sparrow")

    def __init__(
        self, number: int, world: World, draws: Draws, *, probes: float, cancellation: bool
    ) -> None:
        super().__init__(number, world)
        self._draws = draws
        self._probes = probes
        self._cancellation = cancellation
        self._stages: dict[JobStage, _Reserved] = {}
        self._questions: list[tuple[GetTask, int]] = []
        """Those of this instant, with their causes."""

    def place(self, job: JobId, stage: Stage, tasks: int, cause: int) -> None:
        """Send reservations, to distinct nodes as far as there are as many."""
        reserved = self._stages.setdefault((job, stage), _Reserved())
        count = ceil(self._probes * tasks)
        nodes = self._draws.distinct(job, stage, reserved.batches, count)
        reserved.batches += 1
        sent = Counter(nodes[place % len(nodes)] for place in range(count))
        reserved.waiting.update(sent)
        for place, (node, each) in enumerate(sent.items()):
            enqueue = EnqueueTaskReservations(job, stage, self.address, each, place)
            self.send(node_address(node), enqueue, cause, self._latency_ms)

    def withdraw(self, job: JobId, cause: int) -> None:
        for stage in [stage for number, stage in self._stages if number == job]:
            if self._cancellation:
                self._cancel(job, stage, cause)
            del self._stages[job, stage]

    def _cancel(self, job: JobId, stage: Stage, cause: int) -> None:
        """Take back the reservations of a stage whose nodes have not asked."""
        waiting = self._stages[job, stage].waiting
        for node in waiting:
            cancel = CancelTaskReservations(job, stage)
            self.send(node_address(node), cancel, cause, self._latency_ms)
        waiting.clear()

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
        """Give the node a task if any is left."""
        reserved = self._stages.get((ask.job, ask.stage))
        if reserved is not None:
            reserved.count_question(ask.node)
        job, event = self.ledger.known_job(ask.job), None
        if job is not None and self.left(job, ask.stage):
            event = self.launch(job, ask.stage, ask.node, cause)
            if event is None:  # what is left has failed there
                self.place(ask.job, ask.stage, 1, cause)
            elif self._cancellation and not self.left(job, ask.stage):
                self._cancel(ask.job, ask.stage, event)
        if event is None:
            no_task = NoTask(ask.job, ask.stage)
            self.send(node_address(ask.node), no_task, cause, self._latency_ms)
