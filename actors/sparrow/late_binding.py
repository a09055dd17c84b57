"""Late binding: nodes are sent reservations, and who has a slot free first is given a task.

A stage's reservations go to nodes drawn at random, `probes` of them for each task, and the first
nodes that have a slot free and ask for a task get one (batch sampling with late binding, SOSP 2013,
§4.2).  A node that asks later gets none.  With `cancellation` reservations are taken back that have
not asked when the last task is given.
"""

from collections import Counter
from math import ceil

from callboard.actors.sparrow.asked_frontend import AskedFrontend
from callboard.actors.sparrow.draws import Draws, DrawsWithinReach, ProbeRatios
from callboard.actors.sparrow.probe_messages import EnqueueTaskReservations, GetTask
from callboard.actors.vocabulary.events import ReservationsSent
from callboard.actors.world import World
from callboard.scheduler.model import JobId, NodeId, Stage
from callboard.scheduler.reasons import Reason, Why


class LateBinding(AskedFrontend):
    """Sends that many reservations for each task as `ratios` say."""

    why = Why(Reason.RESERVATION, "sparrow")

    def __init__(
        self, number: int, world: World, draws: Draws, *, ratios: ProbeRatios, cancellation: bool
    ) -> None:
        super().__init__(number, world)
        self._draws = DrawsWithinReach(draws, self.contacts, self.allowed_node_types)
        self._ratios = ratios
        self._cancellation = cancellation

    def place_tasks(self, job: JobId, stage: Stage, tasks: int, cause: int) -> None:
        """Send reservations, to distinct nodes as far as there are as many."""
        count = ceil(self._ratios.ratio_for(self.allowed_node_types(job)) * tasks)
        batch = self._sent_reservations.next_batch(job, stage)
        drawn = self._draws.distinct(job, stage, batch, count)
        nodes = self.nodes_not_failed_on(job, stage, drawn) or drawn
        if not nodes:
            return  # until one is back
        sent = Counter(nodes[place % len(nodes)] for place in range(count))
        self._sent_reservations.add_sent(job, stage, sent)
        told = tuple(sent.elements())
        self.note(ReservationsSent(self.now_ms, job, self.number, stage, told, cause=cause))
        for place, (node, each) in enumerate(sent.items()):
            enqueue = EnqueueTaskReservations(job, stage, self.address, each, place)
            self.tell_node(node, enqueue, cause)

    def withdraw_job(self, job: JobId, cause: int) -> None:
        if self._cancellation:
            for stage in self._sent_reservations.stages(job):
                self._sent_reservations.cancel_stage(job, stage, cause)
        self._sent_reservations.forget_job(job)

    def node_lost(self, node: NodeId, cause: int) -> None:
        """Reservations there bring nothing: send others where too few are left."""
        for job, stage in self._sent_reservations.lose_node(node):
            self.place_remaining_tasks(job, stage, cause)

    def answer_question(self, ask: GetTask, cause: int) -> int | None:
        event = super().answer_question(ask, cause)
        if event is not None and self._cancellation and not self.tasks_left(ask.job, ask.stage):
            self._sent_reservations.cancel_stage(ask.job, ask.stage, event)
        return event
