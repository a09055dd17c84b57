"""Schedulers that share a cell: what they claim, and what becomes of conflicts (O1, O2)."""

from collections import Counter
from typing import Any

from callboard.actors.architecture import Architecture
from callboard.actors.config import vectors_of_nodes
from callboard.actors.vocabulary import events as ev
from callboard.journal.checks.rule import Handlers, Rule, Setup
from callboard.scheduler.model import AttemptId, NodeId
from callboard.scheduler.resources import Vector, fits, minus, plus

_SHARED_CELLS = ("mesos", "monolithic", "omega")


class ClaimsHaveRoom(Rule):
    """O1.  By the events from the launch of each attempt until it is booked as over; in a live run
    what is free in the cell as well, which with that is never more than the node has.
    """

    id = "O1"
    says = "what is claimed of a node, with what is free there, is never more than it has"
    architectures = _SHARED_CELLS

    def begin(self, setup: Setup) -> None:
        super().begin(setup)
        self._has: tuple[Vector, ...] = ()
        if setup.cluster is not None:
            self._has = vectors_of_nodes(setup.cluster, setup.nodes)[1]
        self._used: dict[NodeId, Vector] = {}
        self._demands: dict[AttemptId, tuple[NodeId, Vector]] = {}
        self._demand: Vector = ()
        self._changed: dict[NodeId, None] = {}

    def handlers(self) -> Handlers:
        return {
            ev.SchedulingAttempted: self._attempted,
            ev.AttemptLaunched: self._launched,
            ev.AttemptClosed: self._closed,
        }

    def _attempted(self, event: ev.SchedulingAttempted) -> None:
        self._demand = event.demand

    def _launched(self, event: ev.AttemptLaunched) -> None:
        self.times += 1
        node, demand = event.node, self._demand
        self._demands[event.attempt] = node, demand
        used = self._used.get(node)
        self._used[node] = demand if used is None else plus(used, demand)
        self._changed[node] = None
        if self._has and not fits(self._used[node], self._has[node]):
            has = f"it has {self._has[node]}, and {self._used[node]} would be taken"
            raise self.broken(event, f"node-{node} has no room for {demand}: {has}")

    def _closed(self, event: ev.AttemptClosed) -> None:
        node, demand = self._demands.pop(event.attempt)
        self._used[node] = minus(self._used[node], demand)
        self._changed[node] = None

    def settle(self, architecture: Architecture) -> None:
        """Look at the cell: a claim may be ahead of its launch, and a release behind the end."""
        cell: Any = getattr(architecture, "cell", None)
        changed, self._changed = self._changed, {}
        for node in changed if cell is not None and self._has else ():
            free, used, has = cell.free[node], self._used[node], self._has[node]
            if min(free) < 0 or not fits(plus(free, used), has):
                told = f"{free} free and {used} taken, of {has}"
                raise self.broken(None, f"the cell's state says of node-{node}: {told}")


class ConflictsLaunchNothing(Rule):
    """O2."""

    id = "O2"
    says = (
        "a task is launched on a node where a claim for it was committed; a conflict launches none"
    )
    architectures = _SHARED_CELLS

    def begin(self, setup: Setup) -> None:
        super().begin(setup)
        self._last: ev.SchedulingAttempted | None = None
        self._number = 0
        self._committed: Counter[NodeId] = Counter()
        """Claims of the last attempt for which nothing has been launched yet."""

    def handlers(self) -> Handlers:
        return {ev.SchedulingAttempted: self._attempted, ev.AttemptLaunched: self._launched}

    def _attempted(self, event: ev.SchedulingAttempted) -> None:
        self._last, self._number = event, self.run_state.index
        self._committed = Counter(event.committed)

    def _launched(self, event: ev.AttemptLaunched) -> None:
        """Launches follow right behind the attempt to place the job."""
        self.times += 1
        last = self._last
        if last is None or event.cause != self._number or event.job != last.job:
            raise self.broken(event, "no claim for it was committed just before")
        if not self._committed[event.node]:
            conflicts = last.conflicted.count(event.node)
            told = f"{conflicts} in conflict" if conflicts else "none left"
            raise self.broken(event, f"of the claims on node-{event.node} there is {told}")
        self._committed[event.node] -= 1
