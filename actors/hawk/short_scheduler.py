"""A scheduler of short jobs: probes as Sparrow's do, and learns from refusals where long work is.

In Eagle a node with long work refuses a probe and returns the newest bitmap that it has been told.
All refusals of an instant are drawn anew among the nodes that have none by the newest of these;
what is refused again goes to the nodes that are closed to long tasks (SoCC 2016, §4.1).  A node
answers after a round trip, so the rounds arrive one, three and five latencies after the job; the
released simulator looks into the nodes and counts one, two and two.
"""

from collections import Counter
from collections.abc import Sequence
from math import ceil

from callboard.actors.books.frontend import JobStage
from callboard.actors.hawk.hawk_messages import (
    NO_LONG_WORK,
    ProbeRejected,
    RedrawDue,
    ShortProbe,
    TasksLeft,
    is_marked,
)
from callboard.actors.hawk.hawk_params import HawkParams
from callboard.actors.hawk.probe_draws import ProbeDraws
from callboard.actors.hawk.short_partition import ShortPartition
from callboard.actors.hawk.task_estimates import TaskEstimates
from callboard.actors.sparrow.asked_frontend import AskedFrontend
from callboard.actors.sparrow.probe_messages import GetTask
from callboard.actors.vocabulary.events import ReservationsSent
from callboard.actors.world import World
from callboard.scheduler.model import JobId, NodeId, Stage, slot_kind
from callboard.scheduler.reasons import Reason, Why

ROUNDS = 2
"""How often probes may be refused; in the one after that none is (round 0)."""


class ShortScheduler(AskedFrontend):
    """Scheduler `number` of those that share nothing."""

    def __init__(
        self,
        number: int,
        world: World,
        draws: ProbeDraws,
        *,
        name: str,
        params: HawkParams,
        partition: ShortPartition,
        estimates: TaskEstimates,
    ) -> None:
        super().__init__(number, world)
        self.why = Why(Reason.RESERVATION, name)
        self._draws = draws
        self._params = params
        self._partition = partition
        self._estimates = estimates
        self._refused: dict[tuple[JobId, Stage, int], Counter[NodeId]] = {}
        """How many probes of a round each node has refused at this instant."""
        self._newest: dict[JobStage, tuple[int, bytes]] = {}
        """The nodes with long work by the newest stamp that a refusal has brought."""

    # Probes.

    def place_tasks(self, job: JobId, stage: Stage, tasks: int, cause: int) -> None:
        """Send probes; those of a long job go where long tasks may go."""
        kind, params = slot_kind(stage), self._params
        long = self._estimates.is_long(job)
        nodes = (
            self._partition.nodes_open_to_long(kind)
            if long
            else self._partition.nodes_with_slots(kind)
        )
        nodes = self._reachable_nodes(nodes) or self._reachable_nodes(
            self._partition.nodes_with_slots(kind)
        )
        if nodes:  # else they wait until one is back
            count = max(ceil(params.probes * tasks), params.minimum)
            self._send_probes(job, stage, count, nodes, int(params.sharing and not long), cause)

    def _reachable_nodes(self, nodes: Sequence[NodeId]) -> Sequence[NodeId]:
        return self.contacts.within_reach(nodes) if self.contacts.lost else nodes

    def _send_probes(
        self,
        job: JobId,
        stage: Stage,
        count: int,
        among: Sequence[NodeId],
        turn: int,
        cause: int,
        refused: tuple[NodeId, ...] = (),
    ) -> None:
        batch = self._sent_reservations.next_batch(job, stage)
        suited = self.nodes_not_failed_on(job, stage, among)
        able = self._reachable_nodes(self._partition.nodes_with_slots(slot_kind(stage)))
        if not suited:  # all that is left has failed on each of these
            suited, turn = self.nodes_not_failed_on(job, stage, able) or able, 0
        sent = Counter(self._draws.probed(job, stage, batch, count, suited))
        self._sent_reservations.add_sent(job, stage, sent)
        what = (job, self.number, stage, tuple(sent.elements()), refused)
        self.note(ReservationsSent(self.now_ms, *what, cause=cause))
        estimate_ms, left = self._estimates.task_ms(job, stage), self.tasks_left(job, stage)
        who, long = (job, stage, self.address), self._estimates.is_long(job)
        for place, (node, each) in enumerate(sent.items()):
            probe = ShortProbe(*who, estimate_ms, each, left, place, turn, long)
            self.tell_node(node, probe, cause)

    def on_probe_rejected(self, rejected: ProbeRejected) -> None:
        """Hear all nodes that refuse at this instant before any node is drawn anew."""
        job, stage, turn = rejected.job, rejected.stage, rejected.round
        self._sent_reservations.remove(job, stage, rejected.node, rejected.count)
        if (job, stage, turn) not in self._refused:
            self.send(self.address, RedrawDue(job, stage, turn), self.cause)
        refused = self._refused.setdefault((job, stage, turn), Counter())
        refused[rejected.node] += rejected.count
        stamp, _ = self._newest.get((job, stage), NO_LONG_WORK)
        if rejected.stamp > stamp:
            self._newest[job, stage] = rejected.stamp, rejected.nodes

    def on_redraw_due(self, due: RedrawDue) -> None:
        """Probe other nodes, if there is still a task for any."""
        job, stage, kind = due.job, due.stage, slot_kind(due.stage)
        refused = self._refused.pop((job, stage, due.round))
        if not self.tasks_left(job, stage):
            return
        _, long = self._newest.get((job, stage), NO_LONG_WORK)
        able, turn = self._reachable_nodes(self._partition.nodes_with_slots(kind)), due.round + 1
        unmarked = [node for node in able if turn <= ROUNDS and not is_marked(long, node)]
        if not unmarked:
            turn = 0
        among = (
            unmarked or self._reachable_nodes(self._partition.nodes_closed_to_long(kind)) or able
        )
        who = tuple(refused.elements())
        if among:  # else they wait until one is back
            self._send_probes(job, stage, len(who), among, turn, self.cause, who)

    def withdraw_job(self, job: JobId, cause: int) -> None:
        for stage in self._sent_reservations.stages(job):
            if self._params.cancellation:
                self._sent_reservations.cancel_stage(job, stage, cause)
            self._newest.pop((job, stage), None)
        self._sent_reservations.forget_job(job)

    def forget_all(self) -> None:
        super().forget_all()
        self._refused.clear()
        self._newest.clear()

    def node_lost(self, node: NodeId, cause: int) -> None:
        """Probes there bring nothing.  Which it has stolen nobody knows: probe for all anew."""
        lost = self._sent_reservations.lose_node(node)
        if not self._params.attempts:
            for job, stage in lost:
                self.place_remaining_tasks(job, stage, cause)
            return
        for job, stage in self.unplaced_stages():
            self.place_tasks(job, stage, self.tasks_left(job, stage), cause)

    # Answers.

    def answer_question(self, ask: GetTask, cause: int) -> int | None:
        event = super().answer_question(ask, cause)
        if event is not None:
            self._update_reservations_after_launch(ask, event)
        return event

    def _update_reservations_after_launch(self, ask: GetTask, event: int) -> None:
        """A node has been given a task, and keeps the reservation if reservations are sticky."""
        job, stage, params = ask.job, ask.stage, self._params
        if params.sticky and not self._estimates.is_long(job):
            self._sent_reservations.add_sent(job, stage, {ask.node: 1})
        left = self.tasks_left(job, stage)
        if params.cancellation and not left:
            self._sent_reservations.cancel_stage(job, stage, event)
        elif params.srpt and left:
            told = TasksLeft(job, stage, left)
            self.tell_node(ask.node, told, event)
