"""A node's side where tasks are bound early: a queue of tasks, and answers to how long it is."""

from collections.abc import Callable

from callboard.actors.kernel.address import launching_scheduler_address
from callboard.actors.sparrow.node_queues import NodeQueues
from callboard.actors.sparrow.probe_messages import ProbeReply, QueueProbe
from callboard.actors.vocabulary import messages as msg
from callboard.actors.vocabulary.events import NodeFacts
from callboard.scheduler.model import AttemptId, JobId, Millis


class TaskQueue(NodeQueues[msg.LaunchTask]):
    """Tasks wait, bound to the node."""

    __slots__ = ("_doomed",)

    def __init__(
        self,
        facts: NodeFacts,
        latency_ms: Millis,
        scheduler_of_job: Callable[[JobId], int],
        seed: int = 0,
    ) -> None:
        super().__init__(facts, latency_ms, scheduler_of_job, seed)
        self._doomed: dict[AttemptId, msg.KillTask] = {}
        """Tasks in a queue that have been killed: each ends as soon as it has a slot."""

    def on_queue_probe(self, probe: QueueProbe) -> None:
        """Tell how long the queue is, or how many slots are free."""
        load = len(self._queues[probe.kind]) - self._free[probe.kind]
        reply = ProbeReply(probe.sample, probe.place, load)
        self.say(probe.scheduler, reply, self._node.cause)

    def on_scheduler_gone(self, gone: msg.SchedulerGone) -> None:
        """Forget its tasks that wait, too."""
        for queue in self._queues:
            of_it = [launching_scheduler_address(each.attempt) == gone.scheduler for each in queue]
            left = [each for each, is_its in zip(queue, of_it, strict=True) if not is_its]
            queue.clear()
            queue.extend(left)
        self.kill_attempts_of(gone.scheduler, self._node.cause)

    def forget_scheduler(self, scheduler: int, cause: int) -> None:  # noqa: ARG002
        self.on_scheduler_gone(msg.SchedulerGone(scheduler))

    def forget_all(self) -> None:
        super().forget_all()
        self._doomed.clear()

    def on_launch_task(self, launch: msg.LaunchTask) -> None:
        if self.is_stale:
            return
        self._queues[launch.kind].append(launch)
        self.serve(launch.kind, launch.cause)

    def on_kill_task(self, kill: msg.KillTask) -> None:
        if any(each.attempt == kill.attempt for queue in self._queues for each in queue):
            self._doomed[kill.attempt] = kill
        else:
            self._node.kill(kill)

    def use_slot(self, first: msg.LaunchTask, cause: int) -> None:  # noqa: ARG002
        self.launch(first)
        if first.attempt in self._doomed:
            self._node.kill(self._doomed.pop(first.attempt))
