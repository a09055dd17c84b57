"""A node's side of Hawk and Eagle: reservations for short tasks and for long ones in one queue."""

from bisect import insort
from collections.abc import Callable
from itertools import takewhile

from callboard.actors.hawk.hawk_messages import (
    NO_LONG_WORK,
    LongPlaced,
    ProbeRejected,
    ShortProbe,
    Steal,
    StealAgain,
    Stolen,
    StolenProbe,
    TasksLeft,
)
from callboard.actors.hawk.hawk_params import HawkParams
from callboard.actors.hawk.held_reservations import behind_long, place_with_least_left
from callboard.actors.hawk.thief import Thief
from callboard.actors.kernel.address import node_address
from callboard.actors.sparrow.probe_messages import CancelTaskReservations
from callboard.actors.sparrow.reservations import HeldReservations, Reservation, Reservations
from callboard.actors.vocabulary import messages as msg
from callboard.actors.vocabulary.events import NodeFacts, ReservationsStolen
from callboard.scheduler.model import KINDS, AttemptId, JobId, Millis, SlotKind, slot_kind


class MixedQueues(Reservations):
    """As Sparrow's reservations, with the pieces that `params` turns on; `thief` if it steals.  It
    asks another node after `patience_ms`, if any, without an answer.
    """

    __slots__ = (
        "_arrived",
        "_long",
        "_nodes_with_long",
        "_params",
        "_patience_ms",
        "_serving",
        "_thief",
    )

    def __init__(
        self,
        facts: NodeFacts,
        latency_ms: Millis,
        scheduler_of_job: Callable[[JobId], int],
        params: HawkParams,
        thief: Thief | None,
        patience_ms: Millis | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(facts, latency_ms, scheduler_of_job, seed)
        self._params = params
        self._thief = thief
        self._patience_ms = patience_ms
        self._arrived = 0
        self._serving: dict[AttemptId, HeldReservations] = {}
        """What brought each attempt that runs."""
        self._long = [0 for _ in KINDS]
        """How many long tasks wait or run here."""
        self._nodes_with_long: list[tuple[int, bytes]] = [NO_LONG_WORK for _ in KINDS]
        """The newest bitmap of the nodes with long work, and its stamp."""

    def forget_all(self) -> None:
        super().forget_all()
        self._serving.clear()
        self._long = [0 for _ in KINDS]
        self._nodes_with_long = [NO_LONG_WORK for _ in KINDS]
        if self._thief is not None:
            for kind in KINDS:
                self._thief.give_up(kind)

    # What comes.

    def on_short_probe(self, probe: ShortProbe) -> None:
        """Wait, and ask at once if a slot is free; or refuse."""
        kind, cause = slot_kind(probe.stage), self._node.cause
        if probe.round and self._long[kind]:
            self._refuse(probe, kind)
            return
        self._long[kind] += probe.long * probe.count
        reservation = Reservation(probe.job, probe.stage, probe.scheduler, probe.place, cause)
        self._queue_reservations(
            reservation, probe.count, probe.estimate_ms, probe.left, long=probe.long
        )
        self.serve(kind, cause)

    def _refuse(self, probe: ShortProbe, kind: SlotKind) -> None:
        stamp, nodes = self._nodes_with_long[kind]
        what = (probe.job, probe.stage, self._node.facts.node, probe.count, probe.round)
        rejected = ProbeRejected(*what, stamp, nodes)
        self.say(probe.scheduler, rejected, self._node.cause)

    def on_long_placed(self, placed: LongPlaced) -> None:
        """Wait, and keep what is told of other nodes."""
        kind, cause = slot_kind(placed.stage), self._node.cause
        newest, _ = self._nodes_with_long[kind]
        if placed.stamp > newest:
            self._nodes_with_long[kind] = placed.stamp, placed.nodes
        self._long[kind] += placed.count
        reservation = Reservation(placed.job, placed.stage, placed.scheduler, 0, cause)
        self._queue_reservations(
            reservation, placed.count, placed.estimate_ms, placed.left, long=True
        )
        self.serve(kind, cause)

    def _queue_reservations(
        self,
        reservation: Reservation,
        count: int,
        estimate_ms: Millis,
        left: int,
        *,
        long: bool = False,
    ) -> None:
        self._arrived += 1
        held = HeldReservations(reservation, count, estimate_ms, left, long, self._arrived)
        self._queues[slot_kind(reservation.stage)].append(held)

    def on_cancel(self, cancel: CancelTaskReservations) -> None:
        """Do not ask again when a task has ended either."""
        super().on_cancel(cancel)
        for held in self._serving.values():
            held.taken_back |= held.job_stage == (cancel.job, cancel.stage)

    def on_scheduler_gone(self, gone: msg.SchedulerGone) -> None:
        for held in self._serving.values():
            held.taken_back |= held.was_sent_by(gone.scheduler)
        super().on_scheduler_gone(gone)

    def take_back(self, held: HeldReservations, kind: SlotKind) -> None:
        self._long[kind] -= held.long * held.count
        super().take_back(held, kind)

    def on_tasks_left(self, told: TasksLeft) -> None:
        of = (told.job, told.stage)
        for held in (*self._queues[slot_kind(told.stage)], *self._serving.values()):
            if held.job_stage == of:
                held.left = told.left

    # Slots.

    def take(self, kind: SlotKind) -> HeldReservations:
        queue, params = self._queues[kind], self._params
        held = queue[place_with_least_left(queue, params.cap) if params.srpt else 0]
        self.drop(held, kind, 1)
        return held

    def on_launch_task(self, launch: msg.LaunchTask) -> None:
        if self.is_stale:
            return
        held = self.take_answered(launch.job, launch.stage)
        assert held is not None, "a task comes that was not asked for"
        self._serving[launch.attempt] = held
        for each in takewhile(lambda each: each.number < held.number, self._queues[launch.kind]):
            each.put_off_ms += held.estimate_ms
        self.launch(launch)

    def release_in_vain(self, held: HeldReservations, kind: SlotKind, cause: int) -> None:
        self._long[kind] -= held.long
        super().release_in_vain(held, kind, cause)

    def report(self, report: msg.AnyReport) -> None:
        """Tell it.  At an end a sticky reservation waits again, where it has waited before."""
        if isinstance(report, msg.EndReport):
            held = self._serving.pop(report.attempt)
            kind = self._running[report.attempt].kind
            self._long[kind] -= held.long
            if self._params.sticky and not held.long and not held.taken_back:
                self._wait_again(held, kind)
        super().report(report)

    def _wait_again(self, held: HeldReservations, kind: SlotKind) -> None:
        held.count += 1
        if held.count == 1:
            insort(self._queues[kind], held, key=lambda each: each.number)

    # Stealing.

    def release(self, kind: SlotKind, cause: int) -> None:
        super().release(kind, cause)
        if self._thief is not None and self._is_idle(kind):
            self._steal_from(self._thief.begin(kind), kind, cause)

    def _is_idle(self, kind: SlotKind) -> bool:
        return self._free[kind] > 0 and not self._queues[kind]

    def _steal_from(self, victim: int | None, kind: SlotKind, cause: int) -> None:
        if victim is None:
            return
        assert self._thief is not None, "a node that steals has a thief"
        turn = self._thief.times_asked(kind)
        steal = Steal(self._node.facts.node, kind, turn)
        self._node.send(node_address(victim), steal, cause, self._latency_ms)
        if self._patience_ms is not None:
            self._node.timer(StealAgain(kind, turn), self._patience_ms, cause)

    def on_steal_again(self, again: StealAgain) -> None:
        """The node that was asked does not answer."""
        kind, thief = again.kind, self._thief
        if thief is not None and thief.awaits(kind, again.turn):
            self._go_on_stealing(thief, kind)

    def _go_on_stealing(self, thief: Thief, kind: SlotKind) -> None:
        if self._is_idle(kind):
            self._steal_from(thief.go_on(kind), kind, self._node.cause)
        else:
            thief.give_up(kind)

    def on_steal(self, steal: Steal) -> None:
        """Give away what waits behind long work."""
        queue, kind, probes = self._queues[steal.kind], steal.kind, []
        long_runs = self._long[kind] > sum(each.count for each in queue if each.long)
        for held, count in list(behind_long(queue, long_runs, self._params.limit)):
            probes.append(StolenProbe(held.reservation, count, held.estimate_ms, held.left))
            self.drop(held, kind, count)
        stolen = Stolen(kind, steal.turn, self._node.facts.node, tuple(probes))
        self._node.send(node_address(steal.thief), stolen, self._node.cause, self._latency_ms)

    def on_stolen(self, stolen: Stolen) -> None:
        """Serve what there is; if there is nothing, ask the next one.  It may come too late."""
        kind, cause, thief = stolen.kind, self._node.cause, self._thief
        assert thief is not None, "a node that has stolen has a thief"
        for probe in stolen.probes:
            job, stage, thief_node = *probe.reservation[:2], self._node.facts.node
            what = (job, stage, thief_node, stolen.victim, probe.count)
            self._node.note(ReservationsStolen(self._node.now_ms, *what, cause=cause))
            self._queue_reservations(probe.reservation, probe.count, probe.estimate_ms, probe.left)
        if stolen.probes:
            thief.give_up(kind)
            self.serve(kind, cause)
        elif thief.awaits(kind, stolen.turn):
            self._go_on_stealing(thief, kind)
