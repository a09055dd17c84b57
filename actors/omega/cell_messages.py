"""What schedulers of a cell say to who keeps its state, to an allocator, and to themselves."""

from callboard.actors.kernel.message import Message
from callboard.actors.omega.cell_state import Claim, NodeState
from callboard.scheduler.model import JobId, Millis, NodeId, Stage
from callboard.scheduler.resources import Vector

# What holds for each.  `life` counts how often a scheduler has begun anew: what is said to an
# earlier life is not heard.


class Release(Message, frozen=True):
    """Scheduler to keeper or allocator: a task of this demand has ended, or has not begun."""

    scheduler: int
    node: NodeId
    demand: Vector


class NodeGivenUp(Message, frozen=True):
    """Keeper or allocator to all schedulers: the node, heard of last at `heard_ms`, is silent, or
    has begun a new life (`again`, with its number).
    """

    node: NodeId
    life: int
    heard_ms: Millis
    again: bool


# Shared state (Omega).


class Sync(Message, frozen=True):
    """Scheduler to keeper: what has changed since the first `changes` changes?"""

    scheduler: int
    changes: int
    life: int


class CellChanges(Message, frozen=True):
    """Keeper to scheduler: these nodes; there have been `changes` changes in all."""

    changes: int
    nodes: tuple[NodeState, ...]
    life: int


class Commit(Message, frozen=True):
    """Scheduler to keeper: claim these, a task of this demand each."""

    scheduler: int
    demand: Vector
    claims: tuple[Claim, ...]
    life: int


class Committed(Message, frozen=True):
    """Keeper to scheduler: what became of the claims."""

    committed: tuple[NodeId, ...]
    conflicted: tuple[NodeId, ...]
    life: int


# Offers (Mesos).


class RequestOffer(Message, frozen=True):
    """Framework to allocator: I have tasks to place."""

    scheduler: int
    life: int


class CancelRequest(Message, frozen=True):
    """Framework to allocator: I have none any more."""

    scheduler: int


class ResourceOffer(Message, frozen=True):
    """Allocator to framework: these nodes have that free, locked for you until you answer."""

    offer: int
    nodes: tuple[tuple[NodeId, Vector], ...]
    life: int


class AnswerOffer(Message, frozen=True):
    """Framework to allocator: of the offer take these, the nodes by the demand of each task.  For
    tasks of the `lacking` demands there was no room in it.
    """

    scheduler: int
    offer: int
    claims: tuple[tuple[Vector, tuple[NodeId, ...]], ...]
    lacking: tuple[Vector, ...]


class OfferSettled(Message, frozen=True):
    """Allocator to framework: what you have taken is yours, the rest is no longer locked."""

    offer: int


class AllocationDue(Message, frozen=True):
    """Allocator to itself: resources have gathered for long enough."""


class OfferDue(Message, frozen=True):
    """Allocator to itself: the offer has been thought out, it can go."""

    offer: int


class OfferThoughtOver(Message, frozen=True):
    """Framework to itself: the thoughts about an offer are over."""

    offer: int


# Thinking.


class ThoughtOver(Message, frozen=True):
    """Scheduler to itself: the thought that is going on is over."""

    life: int


class QueueAgain(Message, frozen=True):
    """Scheduler to itself: it is time for another attempt to place this stage."""

    job: JobId
    stage: Stage
    life: int = 0
