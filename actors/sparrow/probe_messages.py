"""What Sparrow's schedulers and nodes say to each other beside what all do, by Sparrow's own names.
`LaunchTask` answers a `GetTask` too, and an `EndReport` is its `TaskFinished`.
"""

from callboard.actors.kernel.message import Message
from callboard.scheduler.model import JobId, NodeId, SlotKind, Stage


class _OfStage(Message, frozen=True):
    """About a stage of a job."""

    job: JobId
    stage: Stage


# Late binding.


class EnqueueTaskReservations(_OfStage, frozen=True):
    """Scheduler to node: when a slot is free, ask `scheduler` (an address) for a task of this
    stage; do so `count` times.  The node is the `place`th that is told so.
    """

    scheduler: int
    count: int
    place: int


class CancelTaskReservations(_OfStage, frozen=True):
    """Scheduler to node: ask no more for tasks of this stage, all are given."""


class GetTask(_OfStage, frozen=True):
    """Node to scheduler: a slot is held for a task of this stage; `place` is the reservation's."""

    node: NodeId
    place: int


class AnswersDue(Message, frozen=True):
    """Scheduler to itself: all questions of this instant have come."""


class NoTask(_OfStage, frozen=True):
    """Scheduler to node: none is left, the slot is free again."""


# Sampling.


class QueueProbe(Message, frozen=True):
    """Scheduler to node: how many tasks wait for a slot of this kind?  `sample` and `place` are
    for the answer, which goes to the address `scheduler`.
    """

    kind: SlotKind
    scheduler: int
    sample: int
    place: int


class ProbeReply(Message, frozen=True):
    """Node to scheduler: how many tasks wait in its queue; a negative number counts free slots."""

    sample: int
    place: int
    load: int
