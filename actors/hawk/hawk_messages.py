"""What Hawk's and Eagle's schedulers and nodes say to each other beside what Sparrow's do: probes
and placements are Sparrow's reservations and are asked for, answered and taken back like those.
"""

from collections.abc import Iterable

from callboard.actors.kernel.message import Message
from callboard.actors.sparrow.reservations import Reservation
from callboard.scheduler.model import JobId, Millis, NodeId, SlotKind, Stage


class _OfTasks(Message, frozen=True):
    """About tasks of a stage, each of which takes `estimate_ms` by estimate."""

    job: JobId
    stage: Stage
    scheduler: int
    estimate_ms: Millis
    count: int
    left: int
    """How many of the stage's tasks no node had been given when this was sent."""


class ShortProbe(_OfTasks, frozen=True):
    """Scheduler to node: `count` reservations for short tasks, or where nobody places long jobs for
    `long` ones.  The node is the `place`th that is told so.  One that has long work refuses, unless
    `round` is 0.
    """

    place: int
    round: int
    long: bool = False


class LongPlaced(_OfTasks, frozen=True):
    """The scheduler of long jobs to node: `count` tasks are placed with you, to be asked for.  With
    the kind of slot that they take, these `nodes` (a bitmap) have long work; of two such bitmaps
    that with the greater `stamp` is newer.
    """

    stamp: int
    nodes: bytes


class ProbeRejected(Message, frozen=True):
    """Node to scheduler: I have long work and take none of your `count` reservations of this
    `round`.  So have these `nodes`, as I was told at `stamp`.
    """

    job: JobId
    stage: Stage
    node: NodeId
    count: int
    round: int
    stamp: int
    nodes: bytes


class RedrawDue(Message, frozen=True):
    """Scheduler to itself: all refusals of this instant have come."""

    job: JobId
    stage: Stage
    round: int


class TasksLeft(Message, frozen=True):
    """Scheduler to node, beside a task of this stage: that many are left."""

    job: JobId
    stage: Stage
    left: int


class StolenProbe(Message, frozen=True):
    """Reservations that go to another node, and what is known of their stage."""

    reservation: Reservation
    count: int
    estimate_ms: Millis
    left: int


class Steal(Message, frozen=True):
    """Node to node: `thief` has a slot of this kind and nothing to do.  Its `turn`s are counted."""

    thief: NodeId
    kind: SlotKind
    turn: int


class StealAgain(Message, frozen=True):
    """Node to itself: if nobody has answered since this turn, ask another one."""

    kind: SlotKind
    turn: int


class Stolen(Message, frozen=True):
    """Node to node: the short tasks' reservations that have waited here behind a long one, if there
    are any.
    """

    kind: SlotKind
    turn: int
    victim: NodeId
    probes: tuple[StolenProbe, ...]


# Sets of nodes as these carry them: a bit a node (Eagle's succinct state).


def node_bitmap(nodes: Iterable[NodeId]) -> bytes:
    """These nodes, the lowest in the first byte's lowest bit."""
    bits = 0
    for node in nodes:
        bits |= 1 << node
    return bits.to_bytes((bits.bit_length() + 7) // 8, "little")


NO_LONG_WORK = (-1, b"")
"""A stamp and a bitmap of nodes with long work, before any has been told."""


def is_marked(bitmap: bytes, node: NodeId) -> bool:
    """Whether the node is in it."""
    byte, bit = divmod(node, 8)
    return byte < len(bitmap) and bool(bitmap[byte] >> bit & 1)
