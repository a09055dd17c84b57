"""Containers of YARN: room on nodes (Y1), their lives (Y2), and what queues hold (Y3)."""

from collections.abc import Iterable, Sequence
from typing import Any

from callboard.actors.architecture import Architecture
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.kernel.probes import Probe
from callboard.actors.vocabulary.events import AnyEvent
from callboard.actors.worker.node import Node
from callboard.actors.yarn.held_containers import Container, YarnNode
from callboard.actors.yarn.resource_manager import ResourceManager
from callboard.actors.yarn.yarn_messages import (
    RESOURCE_MANAGER,
    Allocate,
    FinishApplication,
    NodeHeartbeat,
    StartContainer,
    StartMaster,
    StopMaster,
)
from callboard.actors.yarn.yarn_queues import YarnQueue
from callboard.journal.checks.rule import Rule, RunFacts
from callboard.scheduler.model import JobId, Millis, NodeId
from callboard.scheduler.queues.preemption_victims import ContainerNumber
from callboard.scheduler.resources import Vector

YARN = ("yarn",)


def _sum_of_vectors(vectors: Iterable[Vector], width: int) -> Vector:
    """Of none it is nothing."""
    return tuple(map(sum, zip((0,) * width, *vectors, strict=True)))


class _ManagerRule(Rule, Probe):
    """Looks on beside the resource manager."""

    architectures = YARN
    idle = "seen only beside a live resource manager"

    def probed_addresses(
        self,
        kernel: Kernel[AnyEvent],  # noqa: ARG002
        architecture: Architecture,  # noqa: ARG002
    ) -> Sequence[int]:
        return [RESOURCE_MANAGER]


class ContainersHaveRoom(_ManagerRule):
    """Y1.  In every dimension, slots too; after every heartbeat, on the node that sent it."""

    id = "Y1"
    says = "what is given of a node, with what is free there, is what it has"
    looks_at = NodeHeartbeat

    def after_message(self, actor: ResourceManager, message: NodeHeartbeat, noted: object) -> None:  # noqa: ARG002
        node: YarnNode = actor.nodes[message.node]
        self.times += 1
        held = _sum_of_vectors((each.vector for each in node.containers.values()), len(node.has))
        left = tuple(has - taken for has, taken in zip(node.has, held, strict=True))
        if left != node.free or min(left) < 0:
            self.keep_first_violation(
                f"node-{node.node} has {node.has}, gave {held}, and takes {node.free} as free"
            )


class ContainersLiveOnce(Rule, Probe):
    """Y2.  A job's master may have asked for the end of a container before it was begun."""

    id = "Y2"
    architectures = YARN
    says = (
        "a container is begun once, where it was given, for its own job, whose master runs; and is"
        " not given back before it ends"
    )
    idle = "seen only beside live nodes"

    def begin(self, run_facts: RunFacts) -> None:
        super().begin(run_facts)
        self._last: ContainerNumber = 0
        self._given: dict[ContainerNumber, Container] = {}
        """What has been given and not begun."""
        self._masters: dict[JobId, ContainerNumber] = {}
        """Those that run."""
        self._stopped: dict[NodeId, dict[ContainerNumber, Millis]] = {}
        """When they stopped whose end the resource manager has not been told."""
        self._running: set[ContainerNumber] = set()
        """What has been begun, and whose end the resource manager has not been told."""

    def probed_addresses(
        self,
        kernel: Kernel[AnyEvent],
        architecture: Architecture,  # noqa: ARG002
    ) -> Sequence[int]:
        """The resource manager and the nodes."""
        nodes = (at for at, actor in kernel.actors.items() if isinstance(actor, Node))
        return [RESOURCE_MANAGER, *nodes]

    def before_message(self, actor: Any, message: Any) -> None:
        match message:
            case StartMaster():
                self._check_container_begun(actor, message.container, message.job)
                self._masters[message.job] = message.container
            case StopMaster():
                stopped = self._stopped.setdefault(actor.facts.node, {})
                stopped[self._masters.pop(message.job)] = actor.now_ms
            case StartContainer():
                self._check_container_begun(actor, message.container, message.launch.job)
                if message.launch.job not in self._masters:
                    self.keep_first_violation(
                        f"job-{message.launch.job} begins a task without a running master"
                    )
            case Allocate() | FinishApplication():
                back = message.released if isinstance(message, Allocate) else message.unstarted
                for number in self._running.intersection(back):
                    self.keep_first_violation(f"container {number} is given back, and runs")
            case NodeHeartbeat():
                ended = {each.container for each in message.news if each.ended}
                self._running -= ended
                self._check_stopped_masters_reported(
                    message.node, ended, actor.now_ms - self.run_facts.latency_ms
                )
            case _:
                pass

    def after_message(self, actor: Any, message: Any, noted: Sequence[AnyEvent]) -> None:  # noqa: ARG002
        if isinstance(message, NodeHeartbeat):
            new = [each for number, each in actor.containers.items() if number > self._last]
            self._given.update((each.number, each) for each in new)
            self._last = max((each.number for each in new), default=self._last)
        elif isinstance(message, Allocate | FinishApplication):
            for number in [number for number in self._given if number not in actor.containers]:
                del self._given[number]

    def _check_container_begun(self, node: Node, number: ContainerNumber, job: JobId) -> None:
        self.times += 1
        container = self._given.pop(number, None)
        self._running.add(number)
        if container is None:
            self.keep_first_violation(
                f"container {number} is begun, and was not given, or was begun before"
            )
        elif (container.node, container.job) != (node.facts.node, job):
            self.keep_first_violation(
                f"container {number} of job-{container.job} is begun by job-{job}"
            )

    def _check_stopped_masters_reported(
        self, node: NodeId, ended: set[ContainerNumber], sent_ms: Millis
    ) -> None:
        """A heartbeat that was sent then tells of all masters that had stopped before."""
        stopped = self._stopped.get(node, {})
        for number, at_ms in list(stopped.items()):
            if number in ended:
                del stopped[number]
            elif at_ms < sent_ms:
                self.keep_first_violation(
                    f"the master in container {number} has ended, and node-{node} is silent"
                )


class QueuesHoldTheirContainers(_ManagerRule):
    """Y3.  What a queue may hold at most counts when something is given to it."""

    id = "Y3"
    says = (
        "a queue holds what its applications' containers take, and is given no more than its most"
    )
    looks_at = NodeHeartbeat

    def begin(self, run_facts: RunFacts) -> None:
        super().begin(run_facts)
        self._before: dict[str, Vector] = {}

    def before_message(self, actor: ResourceManager, message: NodeHeartbeat) -> None:  # noqa: ARG002
        self._before = {queue.path: queue.used for queue in actor.tree.root.subtree()}

    def after_message(self, actor: ResourceManager, message: NodeHeartbeat, noted: object) -> None:  # noqa: ARG002
        self.times += 1
        held: dict[str, Vector] = {}
        for job, application in actor.applications.items():
            taken = _sum_of_vectors(
                (c.amounts for c in application.containers.values()), len(application.used)
            )
            if taken != application.used:
                self.keep_first_violation(f"job-{job} holds {taken}, and counts {application.used}")
            for queue in actor._queues[job].lineage():
                before = held.get(queue.path, (0,) * len(taken))
                held[queue.path] = tuple(a + b for a, b in zip(before, taken, strict=True))
        for queue in actor.tree.root.subtree():
            if any(queue.used) and queue.used != held.get(queue.path):
                found = held.get(queue.path)
                self.keep_first_violation(
                    f"queue {queue.path} counts {queue.used}, and its jobs hold {found}"
                )
            is_given_more = sum(queue.used) > sum(self._before.get(queue.path, ()))
            if is_given_more and _exceeds_maximum(actor, queue):
                told = f"queue {queue.path} is given {queue.used}, and may hold {queue.maximum}"
                self.keep_first_violation(told)


def _exceeds_maximum(manager: ResourceManager, queue: YarnQueue) -> bool:
    """Whether it holds more than it may: of memory, or where more counts of what it has most of;
    under the Fair Scheduler of anything.
    """
    params, whole = manager.params, manager.counted.total
    if params.scheduler != "capacity":
        return any(held > most for held, most in zip(queue.used, queue.maximum, strict=True))
    if params.calculator == "memory":
        return queue.used[0] > queue.maximum[0]
    share, most = (
        max(amount / of for amount, of in zip(amounts, whole, strict=True) if of)
        for amounts in (queue.used, queue.maximum)
    )
    return share > most
