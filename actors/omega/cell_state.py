"""The state of a cell: what each node has free, and a number that every claim on it raises.

A scheduler that thinks about a copy asks later whether its claims still hold: they conflict where
the demand does not fit any more (`fit`), or also where the number is another than it saw
(`sequence`), which finds more conflicts, since others may have taken what is not needed.
"""

from collections.abc import Container, Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

from callboard.scheduler.model import NodeId
from callboard.scheduler.resources import SLOTS, Vector, fits, minus, plus, total

Conflicts = Literal["fit", "sequence"]
"""What a conflict is."""

Transaction = Literal["incremental", "all-or-nothing"]
"""Whether what does not conflict is committed beside what does."""

Claim: TypeAlias = tuple[NodeId, int]
"""A node for one task, and the number that it had when it was chosen."""

NodeState: TypeAlias = tuple[NodeId, Vector, int]
"""What can be claimed of a node, and its number."""


def is_worth_offering(free: Vector, capacity: Vector, share: float = 0.0) -> bool:
    """Whether some kind of slot is free, and something of all else that there is; of each at least
    this share.
    """
    there = [(have, whole) for have, whole in zip(free, capacity, strict=True)]
    enough = [have > 0 and have >= share * whole for have, whole in there]
    named = zip(enough[len(SLOTS) :], capacity[len(SLOTS) :], strict=True)
    return any(enough[: len(SLOTS)]) and all(is_enough for is_enough, whole in named if whole)


def reachable_capacity(capacities: Sequence[Vector], lost: Container[NodeId]) -> Vector:
    """What all nodes have together that are not lost."""
    nothing = (0,) * len(capacities[0])
    return total([nothing, *(each for node, each in enumerate(capacities) if node not in lost)])


class CommitResult(NamedTuple):
    """What became of claims: the nodes of each task that may run, and of each that may not."""

    committed: tuple[NodeId, ...]
    conflicted: tuple[NodeId, ...]


class CellState:
    """All nodes; `changes` are those that were claimed or released, in the order of time."""

    def __init__(
        self, free: Iterable[Vector], numbers: Iterable[int] = (), shut: Iterable[NodeId] = ()
    ) -> None:
        self.free = list(free)
        self.numbers = list(numbers) or [0] * len(self.free)
        self.changes: list[NodeId] = []
        self._shut = set(shut)

    def copy(self, shut: Iterable[NodeId] = ()) -> "CellState":
        """The same, to be claimed from in private; these nodes are shut there too."""
        return CellState(self.free, self.numbers, self._shut.union(shut))

    def shut(self, node: NodeId) -> None:
        """Let nothing more be claimed of a node."""
        self._shut.add(node)
        self.changes.append(node)

    def open(self, node: NodeId) -> None:
        """What is free there can be claimed again."""
        self._shut.discard(node)
        self.changes.append(node)

    def claimable(self, node: NodeId) -> Vector:
        """What is free there, or nothing if it is shut."""
        free = self.free[node]
        return (0,) * len(free) if node in self._shut else free

    def has_room(self, node: NodeId, demand: Vector) -> bool:
        """Whether a task of this demand fits."""
        return fits(demand, self.free[node]) and node not in self._shut

    def claim(self, node: NodeId, demand: Vector) -> Claim:
        """Take what a task needs, which has to fit; what somebody was offered is his, though the
        node has been shut since.
        """
        can = self.has_room(node, demand) or node in self._shut
        assert can, f"O1: node {node} has no room for {demand}"
        claim = (node, self.numbers[node])
        self.free[node] = minus(self.free[node], demand)
        self.numbers[node] += 1
        self.changes.append(node)
        return claim

    def release(self, node: NodeId, demand: Vector) -> None:
        """Give it back; the node's number stays, since room cannot spoil a claim."""
        self.free[node] = plus(self.free[node], demand)
        self.changes.append(node)

    def is_conflicting(self, claim: Claim, demand: Vector, conflicts: Conflicts) -> bool:
        """Whether a claim that was made elsewhere does not hold here."""
        node, number = claim
        changed = conflicts == "sequence" and self.numbers[node] != number
        return changed or not self.has_room(node, demand)

    def commit(
        self,
        claims: Sequence[Claim],
        demand: Vector,
        conflicts: Conflicts,
        transaction: Transaction,
    ) -> CommitResult:
        """Claim here what was claimed on a copy, as far as it holds.

        All or nothing ends at the first conflict: the claims before it are taken back, those behind
        it are not looked at.  The numbers that it has raised stay so, as in the released simulator.
        """
        committed: list[NodeId] = []
        conflicted: list[NodeId] = []
        for claim in claims:
            if not self.is_conflicting(claim, demand, conflicts):
                self.claim(claim[0], demand)
                committed.append(claim[0])
                continue
            conflicted.append(claim[0])
            if transaction == "all-or-nothing":
                for node in committed:
                    self.release(node, demand)
                return CommitResult((), (*conflicted, *committed))
        return CommitResult(tuple(committed), tuple(conflicted))

    def changed_since(self, changes: int) -> tuple[NodeState, ...]:
        """The nodes that have changed since the first `changes` changes, as they are now."""
        changed = dict.fromkeys(self.changes[changes:])
        return tuple((node, self.claimable(node), self.numbers[node]) for node in changed)

    def update(self, states: Iterable[NodeState]) -> None:
        """Take over the state of some nodes."""
        for node, free, number in states:
            self.free[node], self.numbers[node] = free, number
