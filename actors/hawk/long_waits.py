"""What the scheduler of long jobs believes of nodes: how long a long task would wait there.

It goes by the estimates of what it has placed, when each task was asked for, and which have ended
(Hawk, ATC 2015, §3.6); short tasks do not count.
"""

import heapq
from collections.abc import Iterator, Mapping, Sequence

from callboard.actors.vocabulary.events import NodeFacts
from callboard.scheduler.model import AttemptId, Millis, NodeId, SlotKind


class _LongWork:
    """What was placed on a node, with its slots of one kind."""

    __slots__ = ("begun", "estimated_ms", "slots", "tasks")

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.tasks = 0
        self.estimated_ms = 0
        """Of all its tasks, those that run included."""
        self.begun: dict[AttemptId, tuple[Millis, Millis]] = {}
        """When each that runs began to be asked for, and its estimate."""

    def wait_ms(self, now_ms: Millis, round_trip_ms: Millis) -> float:
        """Until all of it is done, shared among the slots; a task that runs was asked for first."""
        ran_ms = sum(min(now_ms - began_ms, ms) for began_ms, ms in self.begun.values())
        asking_ms = round_trip_ms if self.begun else 0
        return (self.estimated_ms - ran_ms + asking_ms) / self.slots


class LongWaits:
    """Of the nodes that long tasks with one kind of slot may go to."""

    def __init__(
        self,
        facts: Mapping[NodeId, NodeFacts],
        nodes: Sequence[NodeId],
        kind: SlotKind,
        latency_ms: Millis,
    ) -> None:
        slots = {node: (facts[node].map_slots, facts[node].reduce_slots)[kind] for node in nodes}
        self._work = {node: _LongWork(slots[node]) for node in nodes}
        self._latency_ms = latency_ms

    def busy_nodes(self) -> Iterator[NodeId]:
        """The nodes that have long work."""
        return (node for node, work in self._work.items() if work.tasks)

    def nodes_for_tasks(
        self, tasks: int, estimate_ms: Millis, now_ms: Millis, suited: Sequence[NodeId]
    ) -> list[NodeId]:
        """The node of each of that many tasks, of those that are `suited`: first slots without long
        work, then where the wait is least.
        """
        chosen = self._nodes_with_free_slots(tasks, suited)
        if len(chosen) < tasks:
            waits = self._sorted_node_waits(chosen, estimate_ms, now_ms, suited)
            chosen += self._least_waiting_nodes(tasks - len(chosen), waits, estimate_ms)
        for node in chosen:
            self._work[node].tasks += 1
            self._work[node].estimated_ms += estimate_ms
        return chosen

    def _nodes_with_free_slots(self, tasks: int, suited: Sequence[NodeId]) -> list[NodeId]:
        """At most that many slots without long work, one of each node before another of any."""
        chosen: list[NodeId] = []
        most = max((self._work[node].slots for node in suited), default=0)
        for level in range(most):
            for node in suited:
                if len(chosen) == tasks:
                    return chosen
                work = self._work[node]
                if work.tasks <= level < work.slots:
                    chosen.append(node)
        return chosen

    def _sorted_node_waits(
        self,
        chosen: Sequence[NodeId],
        estimate_ms: Millis,
        now_ms: Millis,
        suited: Sequence[NodeId],
    ) -> list[tuple[float, NodeId]]:
        """Each node's wait once it has what was chosen for it, least first."""
        waits = {node: self._work[node].wait_ms(now_ms, 2 * self._latency_ms) for node in suited}
        for node in chosen:
            waits[node] += estimate_ms / self._work[node].slots
        return sorted((wait, node) for node, wait in waits.items())

    def _least_waiting_nodes(
        self, tasks: int, waits: list[tuple[float, NodeId]], estimate_ms: Millis
    ) -> list[NodeId]:
        """Each task to the node with the least wait.  Of equal ones that which was chosen last goes
        on, as in the released simulator; else the lowest.
        """
        chosen: list[NodeId] = []
        wait, node = heapq.heappop(waits)
        while len(chosen) < tasks:
            if waits and wait > waits[0][0]:
                wait, node = heapq.heapreplace(waits, (wait, node))
            chosen.append(node)
            wait += estimate_ms / self._work[node].slots
        return chosen

    def begin_task(
        self, node: NodeId, attempt: AttemptId, estimate_ms: Millis, now_ms: Millis
    ) -> None:
        """The node, which has asked one latency ago, is given a task."""
        self._work[node].begun[attempt] = (now_ms - self._latency_ms, estimate_ms)

    def remove_tasks(
        self, node: NodeId, estimate_ms: Millis, tasks: int = 1, attempt: AttemptId = 0
    ) -> None:
        """That many tasks that were placed there will not run, or one has ended."""
        work = self._work[node]
        work.tasks -= tasks
        work.estimated_ms -= tasks * estimate_ms
        work.begun.pop(attempt, None)
