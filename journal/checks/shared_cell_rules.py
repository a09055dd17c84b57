"""Schedulers that share a cell: what they claim, and what becomes of conflicts (O1 to O3)."""

from collections import Counter
from typing import Any

from callboard.actors.architecture import Architecture
from callboard.actors.config import vectors_of_nodes
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import faults
from callboard.journal.checks.rule import Handlers, Rule, RunFacts
from callboard.journal.figures.metrics import Metrics
from callboard.journal.run_records import NEVER
from callboard.scheduler.model import AttemptId, Millis, NodeId
from callboard.scheduler.resources import Vector, fits, minus, plus

_SHARED_CELLS = ("mesos", "monolithic", "omega")


class ClaimsHaveRoom(Rule):
    """O1.  By the events from the launch of each attempt until it is booked as over; in a live run
    what is free in the cell as well, which with that is never more than the node has.  Nor is it
    less for longer than messages about a claim, or its end, are under way.
    """

    id = "O1"
    says = "what is claimed of a node, with what is free there, is what it has"
    architectures = _SHARED_CELLS

    def begin(self, run_facts: RunFacts) -> None:
        super().begin(run_facts)
        self._has: tuple[Vector, ...] = ()
        if run_facts.cluster is not None:
            self._has = vectors_of_nodes(run_facts.cluster, run_facts.nodes)[1]
        self._used: dict[NodeId, Vector] = {}
        self._demands: dict[AttemptId, tuple[NodeId, Vector]] = {}
        self._demand: Vector = ()
        self._changed: dict[NodeId, None] = {}
        self._lacking: dict[NodeId, tuple[Vector, int, Millis]] = {}
        """What is neither free nor taken, after how many claims on the node, and since when."""

    def handlers(self) -> Handlers:
        return {
            ev.SchedulingAttempted: self._note_demand,
            ev.AttemptLaunched: self._check_claim_fits,
            ev.AttemptClosed: self._release_claim,
        }

    def _note_demand(self, event: ev.SchedulingAttempted) -> None:
        self._demand = event.demand

    def _check_claim_fits(self, event: ev.AttemptLaunched) -> None:
        self.times += 1
        node, demand = event.node, self._demand
        self._demands[event.attempt] = node, demand
        used = self._used.get(node)
        self._used[node] = demand if used is None else plus(used, demand)
        self._changed[node] = None
        if self._has and not fits(self._used[node], self._has[node]):
            has = f"it has {self._has[node]}, and {self._used[node]} would be taken"
            raise self.violation(event, f"node-{node} has no room for {demand}: {has}")

    def _release_claim(self, event: ev.AttemptClosed) -> None:
        node, demand = self._demands.pop(event.attempt)
        self._used[node] = minus(self._used[node], demand)
        self._changed[node] = None

    def check_books(self, architecture: Architecture) -> None:
        """Look at the cell: a claim may be ahead of its launch, and a release behind the end."""
        cell: Any = getattr(architecture, "cell", None)
        changed, self._changed = self._changed, {}
        for node in changed:
            self._lacking.pop(node, None)
        looked_at = changed | dict.fromkeys(self._lacking)
        for node in looked_at if cell is not None and self._has else ():
            free, has = cell.free[node], self._has[node]
            used = self._used.get(node, (0,) * len(has))
            told = f"{free} free and {used} taken, of {has}"
            if min(free) < 0 or not fits(plus(free, used), has):
                raise self.violation(None, f"the cell's state says of node-{node}: {told}")
            lacking = minus(
                minus(has, plus(free, used)),
                _amounts_locked_by_offers(architecture, node, len(has)),
            )
            if self._lacks_for_long(node, lacking, cell.numbers[node]):
                raise self.violation(None, f"nobody gives node-{node} back what it lacks: {told}")

    def _lacks_for_long(self, node: NodeId, lacking: Vector, claims: int) -> bool:
        """Whether the same is missing for longer than a claim takes to be launched or taken back:
        two latencies.
        """
        if not any(lacking):
            self._lacking.pop(node, None)
            return False
        was = self._lacking.get(node)
        if was is None or was[:2] != (lacking, claims):
            was = self._lacking[node] = (lacking, claims, self.run_state.now_ms)
        return self.run_state.now_ms - was[2] > 2 * self.run_facts.latency_ms + 1


def _amounts_locked_by_offers(architecture: Architecture, node: NodeId, dimensions: int) -> Vector:
    """What is locked of a node for somebody who thinks about an offer."""
    allocator: Any = getattr(architecture, "allocator", None)
    locked = (0,) * dimensions
    for _, nodes, _ in () if allocator is None else allocator.offers.values():
        for offered, free in nodes:
            locked = plus(locked, free) if offered == node else locked
    return locked


class ConflictsLaunchNothing(Rule):
    """O2."""

    id = "O2"
    says = (
        "a task is launched on a node where a claim for it was committed; a conflict launches none"
    )
    architectures = _SHARED_CELLS

    def begin(self, run_facts: RunFacts) -> None:
        super().begin(run_facts)
        self._last: ev.SchedulingAttempted | None = None
        self._number = 0
        self._committed: Counter[NodeId] = Counter()
        """Claims of the last attempt for which nothing has been launched yet."""

    def handlers(self) -> Handlers:
        return {
            ev.SchedulingAttempted: self._note_committed_claims,
            ev.AttemptLaunched: self._check_launch,
        }

    def _note_committed_claims(self, event: ev.SchedulingAttempted) -> None:
        self._last, self._number = event, self.run_state.index
        self._committed = Counter(event.committed)

    def _check_launch(self, event: ev.AttemptLaunched) -> None:
        """Launches follow right behind the attempt to place the job."""
        self.times += 1
        last = self._last
        if last is None or event.cause != self._number or event.job != last.job:
            raise self.violation(event, "no claim for it was committed just before")
        if not self._committed[event.node]:
            conflicts = last.conflicted.count(event.node)
            told = f"{conflicts} in conflict" if conflicts else "none left"
            raise self.violation(event, f"of the claims on node-{event.node} there is {told}")
        self._committed[event.node] -= 1


class ConflictsHaveCauses(Rule):
    """O3.  So one scheduler alone never conflicts, if all nodes stay.  Messages to the holder of
    the cell and back count with the thought; a scheduler that ends may have claimed untold.
    A scheduler may hear of a node that comes, or comes back, before the holder of the cell does:
    until then the node counts as lost.
    """

    id = "O3"
    says = "a claim conflicts only where others have claimed, or the node was lost, in the meantime"
    architectures = ("omega",)
    idle = "no claim was in conflict"

    def begin(self, run_facts: RunFacts) -> None:
        super().begin(run_facts)
        self._claimed: dict[NodeId, dict[int, Millis]] = {}
        """When each scheduler was told of the last of its claims on a node."""
        self._all_or_nothing = getattr(run_facts.params, "commit", "") == "all-or-nothing"
        """Whether the first conflict takes the claims before it back, which are told behind it."""
        self._lost: dict[NodeId, Millis] = {}
        """Until when each node was lost to the cell at last; of one that still is, since when."""
        self._away: set[NodeId] = set()
        """Those that are."""
        self._ended_ms: Millis = NEVER
        self._unexplained: list[ev.SchedulingAttempted] = []
        """Those of this instant, in which others may still be told of claims."""

    def handlers(self) -> Handlers:
        return {
            ev.SchedulingAttempted: self._note_claims,
            ev.ContactLost: self._note_node_lost,
            ev.ContactRegained: self._note_node_returned,
            ev.FaultStruck: self._note_crash,
        }

    def _note_node_lost(self, event: ev.ContactLost) -> None:
        if event.scheduler == 0:
            self._lost[event.node] = event.at_ms
            self._away.add(event.node)

    def _note_node_returned(self, event: ev.ContactRegained) -> None:
        if event.scheduler == 0:
            self._lost[event.node] = event.at_ms
            self._away.discard(event.node)

    def _note_crash(self, event: ev.FaultStruck) -> None:
        if isinstance(event.fault, faults.CrashScheduler):
            self._ended_ms = event.at_ms
        elif isinstance(event.fault, faults.Crash) and not event.at_ms:
            self._away.add(event.fault.node)  # it is not there yet when the run begins

    def _note_claims(self, event: ev.SchedulingAttempted) -> None:
        self._check_earlier_conflicts(event.at_ms)
        for node in (*event.committed, *event.conflicted):
            self._claimed.setdefault(node, {})[event.scheduler] = event.at_ms
        if event.conflicted:
            self._unexplained.append(event)

    def _check_earlier_conflicts(self, now_ms: Millis) -> None:
        while self._unexplained and self._unexplained[0].at_ms < now_ms:
            self._check_conflict_has_cause(self._unexplained.pop(0))

    def _check_conflict_has_cause(self, event: ev.SchedulingAttempted) -> None:
        self.times += 1
        since_ms = event.began_ms - 4 * self.run_facts.latency_ms
        if self._ended_ms >= since_ms:
            return
        for node in event.conflicted[: 1 if self._all_or_nothing else None]:
            if node in self._away:
                continue
            others = {**self._claimed[node]}
            del others[event.scheduler]
            if max([self._lost.get(node, NEVER), *others.values()]) < since_ms:
                told = f"nobody has claimed of node-{node} since {since_ms} ms, nor was it lost"
                raise self.violation(event, told)

    def check_at_end(self, event: ev.RunEnded, metrics: Metrics) -> None:  # noqa: ARG002
        self._check_earlier_conflicts(event.at_ms + 1)
