"""The resource manager: gives containers to applications as nodes' heartbeats come."""

from collections import Counter

from callboard.actors.kernel.actor import Actor
from callboard.actors.kernel.address import node_address, scheduler_address
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.kernel.message import NO_CAUSE
from callboard.actors.vocabulary.events import AnyEvent
from callboard.actors.world import World
from callboard.actors.yarn.capacity_serving import CapacityServing
from callboard.actors.yarn.counted_amounts import CountedAmounts
from callboard.actors.yarn.fair_serving import FairServing
from callboard.actors.yarn.held_containers import (
    MASTER_PRIORITY,
    Application,
    Container,
    ContainerRequest,
    YarnNode,
)
from callboard.actors.yarn.preemption_monitor import PreemptionMonitor
from callboard.actors.yarn.serving import Serving
from callboard.actors.yarn.yarn_messages import (
    RESOURCE_MANAGER,
    Allocate,
    AllocateReply,
    ContainerNews,
    FinishApplication,
    GrantedContainer,
    NodeHeartbeat,
    NodeHeartbeatReply,
    PreemptionRoundDue,
    StartMaster,
    SubmitApplication,
)
from callboard.actors.yarn.yarn_params import YarnParams
from callboard.actors.yarn.yarn_queues import QueueTree, YarnQueue
from callboard.scheduler.model import SETUP, JobId, Locality
from callboard.scheduler.orders.fair.water_filling import exact_fraction
from callboard.scheduler.queues.preemption_victims import ContainerNumber
from callboard.scheduler.reasons import PoolPlace, Reason, Why
from callboard.scheduler.resources import fits, minus, plus


def master_address(job: JobId) -> int:
    """The address of a job's application master."""
    return scheduler_address(job + 1)


class ResourceManager(Actor[AnyEvent]):
    """Knows of nodes what their heartbeats told, of applications what their masters asked."""

    def __init__(self, world: World, params: YarnParams) -> None:
        super().__init__(RESOURCE_MANAGER, "resource manager")
        self.params = params
        dimensions, vectors = world.resources
        self.counted = CountedAmounts(dimensions, vectors, params.least)
        if params.am:
            self.counted.check_names(params.am, "am")
        self.tree = QueueTree(params.queues, open_ended=params.scheduler != "capacity")
        self.tree.set_amounts_due(self.counted)
        self.nodes = [
            YarnNode(facts.node, facts.rack, vector)
            for facts, vector in zip(world.nodes, vectors, strict=True)
        ]
        self.serving: Serving
        self._monitor: PreemptionMonitor | None = None
        world_of_queues = (params, self.tree, self.counted, len(vectors))
        if params.scheduler == "capacity":
            self.serving = by_capacity = CapacityServing(*world_of_queues)
            self._monitor = PreemptionMonitor(by_capacity) if params.monitor else None
        else:
            self.serving = FairServing(*world_of_queues)
        self.applications: dict[JobId, Application] = {}
        self.containers: dict[ContainerNumber, Container] = {}
        self._latency_ms = world.cluster.latency_ms
        self._last_container = 0
        self._queues: dict[JobId, YarnQueue] = {}

    def join(self, kernel: Kernel[AnyEvent]) -> None:
        super().join(kernel)
        self._time_monitor()

    @property
    def is_idle(self) -> bool:
        """Whether heartbeats without news change nothing.  The monitor has rounds of its own."""
        busy = self.applications or self.containers or any(node.kills for node in self.nodes)
        return not busy and self._monitor is None

    # Applications.

    def on_submit_application(self, new: SubmitApplication) -> None:
        queue = self.tree.leaf(new.queue)
        amounts = self.counted.of_vector(new.demand)
        application = Application(new.job, new.user, len(self._queues), amounts)
        application.request(MASTER_PRIORITY, SETUP, new.demand, self.cause).anywhere = 1
        self.applications[new.job] = application
        self._queues[new.job] = queue
        queue.waiting.append(application)
        self._let_applications_in(queue)

    def _let_applications_in(self, queue: YarnQueue) -> None:
        """Let applications in, as they came, while their masters hold no more than their part of
        the queue's maximum; one is let in anyway (maximum-am-resource-percent).
        """
        percent = queue.params.am_percent
        part = exact_fraction(self.params.am_percent if percent is None else percent) / 100
        most = tuple(int(each * part) for each in queue.maximum)
        while queue.waiting:
            first = queue.waiting[0]
            masters = plus(queue.masters, first.master_amounts)
            if queue.applications and not fits(masters, most):
                return
            queue.masters = masters
            queue.applications[first.job] = queue.waiting.pop(0)
            queue.note_pending(first)

    def on_allocate(self, told: Allocate) -> None:
        """Take over what a master asks for, and tell it what it has been given."""
        for number in told.released:
            self._give_back_container(number)
        application = self.applications.get(told.job)
        if application is None or application.over:
            return
        application.shunned = frozenset(told.shunned)
        for ask in told.asks:
            request = application.request(ask.priority, ask.stage, ask.demand, self.cause)
            if ask.anywhere > request.anywhere:
                request.asked_by = self.cause
            request.update(ask)
        granted, application.granted = tuple(application.granted), []
        queue = self._queues[told.job]
        queue.note_pending(application)
        free = minus(self.counted.total, self.tree.root.used)
        reply = AllocateReply(granted, self.serving.headroom(queue, application, free))
        self.send(master_address(told.job), reply, self.cause, self._latency_ms)

    def on_finish_application(self, told: FinishApplication) -> None:
        """It wants nothing any more.  What its master never started is free at once, what runs when
        its node tells the end.
        """
        application = self.applications.get(told.job)
        if application is None:
            return
        queue = self._queues[told.job]
        application.over = True
        application.requests.clear()
        queue.note_pending(application)
        granted, application.granted = application.granted, []
        for number in (*told.unstarted, *(each.container for each in granted)):
            self._give_back_container(number)
        if queue.applications.pop(told.job, None) is None:
            queue.waiting.remove(application)
        else:
            queue.masters = minus(queue.masters, application.master_amounts)
        self._let_applications_in(queue)
        self._forget_if_over(application)

    def _forget_if_over(self, application: Application) -> None:
        if application.over and not application.containers:
            del self.applications[application.job]

    # Nodes.

    def on_node_heartbeat(self, heartbeat: NodeHeartbeat) -> None:
        """Hear what has begun and ended, and give out what is free."""
        node = self.nodes[heartbeat.node]
        for news in heartbeat.news:
            self._hear_container_news(node, news)
        kills, node.kills = tuple(node.kills), []
        reply = NodeHeartbeatReply(kills, self.params.node_heartbeat_ms)
        self.send(node_address(node.node), reply, self.cause, self._latency_ms)
        self._assign_on(node)

    def _hear_container_news(self, node: YarnNode, news: ContainerNews) -> None:
        if news.ended:
            self._give_back_container(news.container)
            node.freed.append(news.cause)
        else:
            self.containers[news.container].attempt = news.attempt

    def _give_back_container(self, number: ContainerNumber) -> None:
        """A container has ended, or was never used."""
        container = self.containers.pop(number)
        self.nodes[container.node].give_back(number)
        application = self.applications[container.job]
        del application.containers[number]
        application.used = minus(application.used, container.amounts)
        self._queues[container.job].give_up(application.user, container.amounts)
        self._forget_if_over(application)

    def _assign_on(self, node: YarnNode) -> None:
        """Give out containers on a node that has just been heard of."""
        given = off_switch = 0
        while self._could_hold_something(node):
            level = self._assign_one_container(node)
            if level is None:
                return
            given += 1
            off_switch += level is Locality.OFF_RACK
            if not self.serving.may_assign_more(given, off_switch):
                return

    def _could_hold_something(self, node: YarnNode) -> bool:
        """Whether anybody asks for what would fit."""
        asked = self.tree.root.demands.items()
        return any(count > 0 and node.has_room(demand) for demand, count in asked)

    def _assign_one_container(self, node: YarnNode) -> Locality | None:
        """Give the first application that may have one a container; how near it is."""
        for place, (queue, application) in enumerate(self.serving.in_order(), start=1):
            if node.node in application.shunned:
                continue
            for request in application.pending_requests():
                level = self._allowed_level(node, queue, application, request)
                if level is not None:
                    self._allocate_container(node, queue, application, request, place)
                    if level is not Locality.OFF_RACK:
                        request.missed = 0
                    return level
        return None

    def _allowed_level(
        self, node: YarnNode, queue: YarnQueue, application: Application, request: ContainerRequest
    ) -> Locality | None:
        """How near a container would be that the request may have here; None if it may not."""
        if not node.has_room(request.demand):
            return None
        if not self.serving.allows(queue, application, self.counted.of_vector(request.demand)):
            return None
        request.missed += 1
        level = request.nearest(node)
        return level if level <= self.serving.farthest_allowed_level(request) else None

    def _allocate_container(
        self,
        node: YarnNode,
        queue: YarnQueue,
        application: Application,
        request: ContainerRequest,
        place: int,
    ) -> None:
        self._last_container += 1
        number, amounts = self._last_container, self.counted.of_vector(request.demand)
        container = Container(
            number,
            application.job,
            node.node,
            request.stage,
            request.priority,
            request.demand,
            amounts,
            request.priority == MASTER_PRIORITY,
        )
        score = self.serving.score(queue)
        node.take(container)
        request.grant(node)
        self.containers[number] = application.containers[number] = container
        application.used = plus(application.used, amounts)
        queue.hold(application.user, amounts)
        queue.note_pending(application)
        if container.is_master:
            start = StartMaster(application.job, number)
            self.send(node_address(node.node), start, request.asked_by, self._latency_ms)
            return
        cause = node.freed.pop(0) if node.freed else request.asked_by
        why = Why(Reason.POOL, "yarn", place, score, detail=PoolPlace(queue.path))
        granted = GrantedContainer(number, node.node, request.priority, why, cause)
        application.granted.append(granted)

    # Containers that are taken back.

    def _time_monitor(self) -> None:
        if self._monitor is not None:
            wait_ms = round(1000 * self.params.monitor_interval)
            self.timer(PreemptionRoundDue(), wait_ms, NO_CAUSE)

    def on_preemption_round_due(self, _: PreemptionRoundDue) -> None:
        """Have what queues must give back ended, as far as nodes have told what runs in it; nodes
        hear of it when they are answered next.
        """
        assert self._monitor is not None
        self._time_monitor()
        for number in self._monitor.to_kill(self.now_ms):
            container = self.containers[number]
            if container.attempt:
                self.nodes[container.node].kills.append(container.attempt)

    # For people.

    def waiting_reason(self) -> str | None:
        """How many applications ask, and what keeps them from what they ask for."""
        asking = [each for each in self.applications.values() if each.has_pending()]
        if not asking:
            return None
        why = Counter(map(self._binding_limit, asking))
        binds = "; ".join(f"{count}: {limit}" for limit, count in why.items() if limit)
        told = f"{self.name}: {len(asking)} applications ask for containers"
        return f"{told} ({binds})" if binds else told

    def _binding_limit(self, application: Application) -> str:
        """The limit that keeps an application from its next container; empty where none does."""
        queue = self._queues[application.job]
        if application in queue.waiting:
            return f"application masters may hold no more of queue `{queue.path}` (am_percent)"
        request = next(application.pending_requests())
        amounts = self.counted.of_vector(request.demand)
        if not self.serving.allows(queue, application, amounts):
            return self.serving.why_no_more(queue, application)
        return ""
