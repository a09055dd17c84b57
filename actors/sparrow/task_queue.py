"""A node's side where tasks are bound early: a queue of tasks, and answers to how long it is."""

from collections import deque
from collections.abc import Callable

from callboard.actors.sparrow.probe_messages import ProbeReply, QueueProbe
from callboard.actors.sparrow.reporting import Reporting
from callboard.actors.vocabulary import messages as msg
from callboard.actors.vocabulary.events import NodeFacts
from callboard.scheduler.model import KINDS, AttemptId, JobId, Millis, SlotKind


class TaskQueue(Reporting):
    """One queue for each kind of slot, first come first served."""

    __slots__ = ("_doomed", "_free", "_queues")

    def __init__(
        self,
        facts: NodeFacts,
        latency_ms: Millis,
        address_of: Callable[[int], int],
        address_for: Callable[[JobId], int],
    ) -> None:
        super().__init__(latency_ms, address_of, address_for)
        self._free = [facts.map_slots, facts.reduce_slots]
        self._queues: tuple[deque[msg.LaunchTask], ...] = tuple(deque() for _ in KINDS)
        self._doomed: dict[AttemptId, msg.KillTask] = {}
        """Tasks in a queue that have been killed: each ends as soon as it has a slot."""

    def on_queue_probe(self, probe: QueueProbe) -> None:
        """Tell how long the queue is, or how many slots are free."""
        load = len(self._queues[probe.kind]) - self._free[probe.kind]
        reply = ProbeReply(probe.sample, probe.place, load)
        self._node.send(probe.scheduler, reply, self._node.cause, self._latency_ms)

    def on_launch_task(self, launch: msg.LaunchTask) -> None:
        self._queues[launch.kind].append(launch)
        self._start(launch.kind)

    def on_kill_task(self, kill: msg.KillTask) -> None:
        if any(each.attempt == kill.attempt for queue in self._queues for each in queue):
            self._doomed[kill.attempt] = kill
        else:
            self._node.kill(kill)

    def released(self, kind: SlotKind, cause: int) -> None:  # noqa: ARG002
        self._free[kind] += 1
        self._start(kind)

    def _start(self, kind: SlotKind) -> None:
        queue = self._queues[kind]
        while queue and self._free[kind]:
            self._free[kind] -= 1
            launch = queue.popleft()
            self.launch(launch)
            if launch.attempt in self._doomed:
                self._node.kill(self._doomed.pop(launch.attempt))
