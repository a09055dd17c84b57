"""A node's side where tasks are bound early: a queue of tasks, and answers to how long it is."""

from collections.abc import Iterable
from itertools import chain

from callboard.actors.kernel.address import launching_scheduler_address
from callboard.actors.sparrow.node_queues import NodeQueues
from callboard.actors.sparrow.probe_messages import ProbeReply, QueueProbe
from callboard.actors.vocabulary import messages as msg


class TaskQueue(NodeQueues[msg.LaunchTask]):
    """Tasks wait, bound to the node."""

    __slots__ = ()

    def on_queue_probe(self, probe: QueueProbe) -> None:
        """Tell how long the queue is, or how many slots are free."""
        load = len(self._queues[probe.kind]) - self._free[probe.kind]
        reply = ProbeReply(probe.sample, probe.place, load)
        self.say(probe.scheduler, reply, self._node.cause)

    def on_scheduler_gone(self, gone: msg.SchedulerGone) -> None:
        """Forget its tasks that wait, too."""
        for queue in self._queues:
            left = [
                each
                for each in queue
                if launching_scheduler_address(each.attempt) != gone.scheduler
            ]
            queue.clear()
            queue.extend(left)
        self.kill_attempts_of(gone.scheduler, self._node.cause)

    def forget_scheduler(self, scheduler: int, cause: int) -> None:  # noqa: ARG002
        self.on_scheduler_gone(msg.SchedulerGone(scheduler))

    def waiting_launches(self) -> Iterable[msg.LaunchTask]:
        return chain.from_iterable(self._queues)

    def on_launch_task(self, launch: msg.LaunchTask) -> None:
        if self.is_stale:
            return
        self._queues[launch.kind].append(launch)
        self.serve(launch.kind, launch.cause)

    def use_slot(self, first: msg.LaunchTask, cause: int) -> None:  # noqa: ARG002
        self.launch(first)
