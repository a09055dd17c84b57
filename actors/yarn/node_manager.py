"""A node manager: starts what masters tell it to, and tells the resource manager at heartbeats."""

from collections.abc import Callable

from callboard.actors.kernel.message import NO_CAUSE
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import messages as msg
from callboard.actors.worker.direct_dialogue import DirectDialogue
from callboard.actors.yarn.yarn_messages import (
    RESOURCE_MANAGER,
    ContainerNews,
    MasterStarted,
    NodeHeartbeat,
    NodeHeartbeatDue,
    NodeHeartbeatReply,
    StartContainer,
    StartMaster,
    StopMaster,
)
from callboard.scheduler.model import AttemptId, JobId, Millis
from callboard.scheduler.queues.preemption_victims import ContainerNumber
from callboard.scheduler.reasons import Reason, Why


class NodeManager(DirectDialogue):
    """A node's.  Masters hear at once how their attempts end, the resource manager at the next
    heartbeat, which is when their room is free.
    """

    __slots__ = ("_attempts", "_first_ms", "_masters", "_news")

    def __init__(
        self, first_ms: Millis, latency_ms: Millis, scheduler_of_job: Callable[[JobId], int]
    ) -> None:
        super().__init__(latency_ms, scheduler_of_job)
        self._first_ms = first_ms
        self._news: list[ContainerNews] = []
        self._attempts: dict[AttemptId, ContainerNumber] = {}
        self._masters: dict[JobId, ContainerNumber] = {}

    def begin(self) -> None:
        self._node.timer(NodeHeartbeatDue(), self._first_ms, NO_CAUSE)

    # Heartbeats.

    def on_node_heartbeat_due(self, _: NodeHeartbeatDue) -> None:
        news, self._news = tuple(self._news), []
        told = NodeHeartbeat(self._node.facts.node, news)
        self._node.send(RESOURCE_MANAGER, told, NO_CAUSE, self._latency_ms)

    def on_node_heartbeat_reply(self, reply: NodeHeartbeatReply) -> None:
        """An attempt may have ended before it is to be stopped, of which nothing is told then."""
        for attempt in reply.kills:
            if attempt in self._attempts:
                why = Why(Reason.OVER_CAPACITY, "monitor")
                ordered = ev.KillOrdered(self._node.now_ms, attempt, why)
                self._node.kill(msg.KillTask(attempt, self._node.note(ordered)))
        self._node.timer(NodeHeartbeatDue(), reply.interval_ms, NO_CAUSE)

    # Masters, and what they order.

    def on_start_master(self, start: StartMaster) -> None:
        self._masters[start.job] = start.container
        started = MasterStarted(self._node.facts.node)
        self._node.send(self._scheduler_of_job(start.job), started, self._node.cause)

    def on_stop_master(self, stop: StopMaster) -> None:
        container = self._masters.pop(stop.job)
        self._news.append(ContainerNews(container, 0, ended=True, cause=self._node.cause))

    def on_start_container(self, start: StartContainer) -> None:
        attempt = start.launch.attempt
        self._attempts[attempt] = start.container
        self._news.append(ContainerNews(start.container, attempt))
        self._node.launch(start.launch)

    def on_kill_task(self, kill: msg.KillTask) -> None:
        self._node.kill(kill)

    def report(self, report: msg.AnyReport) -> None:
        super().report(report)
        if isinstance(report, msg.EndReport):
            container = self._attempts.pop(report.attempt)
            ended = ContainerNews(container, report.attempt, ended=True, cause=report.cause)
            self._news.append(ended)
