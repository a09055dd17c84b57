"""What a policy is told, after the view has changed: on `Launched` `running` counts the attempt."""

from enum import StrEnum

import msgspec

from callboard.scheduler.decisions import Decision
from callboard.scheduler.model import (
    KINDS,
    AttemptId,
    JobId,
    Locality,
    Millis,
    NodeId,
    SlotKind,
    Stage,
)


class OfJob(msgspec.Struct, frozen=True, gc=False):
    """A fact about one job."""

    job: JobId


class _OfStage(OfJob, frozen=True):
    """A fact about one of the job's stages, maps or reduces."""

    stage: Stage

    @property
    def kind(self) -> SlotKind:
        """The kind of slot that the stage's tasks take."""
        return KINDS[self.stage]


class StageFact(_OfStage, frozen=True):
    """How many tasks of the job's stage are pending or running has changed."""


class JobArrived(OfJob, frozen=True):
    """A job was submitted; its maps are pending."""


class TasksPending(StageFact, frozen=True):
    """The job has pending tasks of this stage again: reduces at slowstart, or something lost."""


class Launched(StageFact, frozen=True):
    """An attempt is booked on the node; `original`: the attempt whose task it runs too, or 0."""

    attempt: AttemptId
    node: NodeId
    level: Locality = Locality.OFF_RACK
    original: AttemptId = 0


class OfferAnswered(msgspec.Struct, frozen=True, gc=False):
    """A heartbeat that asked for work has been answered (told where `hears_offers`); `skipped`:
    jobs that got no map in it because the locality rule refused them one.
    """

    node: NodeId
    skipped: tuple[JobId, ...]


class Closed(StageFact, frozen=True):
    """An attempt has ended; `succeeded` says whether its task is done by it.  It ran `ran_ms` from
    start to end by its node's report, `shuffled_ms` of it in the shuffle (0 for maps).
    """

    attempt: AttemptId
    node: NodeId
    succeeded: bool
    ran_ms: Millis = 0
    shuffled_ms: Millis = 0


class Suspended(StageFact, frozen=True):
    """An attempt gave up its slot; its task waits for its own node.  Times as in `Closed`."""

    attempt: AttemptId
    node: NodeId
    ran_ms: Millis = 0
    shuffled_ms: Millis = 0


class Resumed(StageFact, frozen=True):
    """A suspended attempt was given a slot of its node again."""

    attempt: AttemptId
    node: NodeId


class Progressed(_OfStage, frozen=True):
    """A heartbeat told an attempt's `AttemptView.progress` to a part that wants it."""

    attempt: AttemptId
    progress: float
    ran_ms: Millis
    shuffled_ms: Millis = 0


class JobLeft(OfJob, frozen=True):
    """The job has ended and nothing of it runs any more; the view no longer has it."""


class JobUpdated(OfJob, frozen=True):
    """The job's user or the cluster's operator has changed its priority or its pool."""


class NodeJoined(msgspec.Struct, frozen=True, gc=False):
    """A node joined the cluster."""

    node: NodeId


class NodeGone(msgspec.Struct, frozen=True, gc=False):
    """A node was given up for lost; the view no longer has it, nor anything that ran on it."""

    node: NodeId


class NodeDrained(msgspec.Struct, frozen=True, gc=False):
    """A node takes no tasks until `NodeJoined`, and its slots do not count; what runs goes on."""

    node: NodeId


class TaskOutputsLost(_OfStage, frozen=True):
    """`tasks` outputs are lost, to be made anew; `TasksPending` follows when the job asks."""

    tasks: int


class TasksWithdrawn(StageFact, frozen=True):
    """The job is ended early: nothing of this stage is pending any more, attempts are killed."""


class Rejection(StrEnum):
    """How a decision does not fit the master's books."""

    NOT_SUSPENDED = "not-suspended"  # the attempt is not suspended, or is being killed
    NO_SLOT_ON_ITS_NODE = "no-slot-on-its-node"  # the attempt's node has no free slot of its kind
    NO_FREE_SLOT = "no-free-slot"  # the node has no free slot of this kind
    NOTHING_PENDING = "nothing-pending"  # the job has no pending task of this kind
    NOT_ALONE = "not-alone"  # the attempt has ended, is being killed, or is not alone
    SAME_NODE = "same-node"  # the task runs on this node already
    ENDED_OR_KILLED = "ended-or-killed"  # the attempt has ended or is being killed
    ALREADY_SUSPENDED = "already-suspended"  # or it is being suspended
    HAS_SIBLING = "has-sibling"  # another attempt of its task runs


class Rejected(msgspec.Struct, frozen=True, gc=False):
    """The master did not carry out a decision: it did not fit its books."""

    decision: Decision
    rejection: Rejection


_JobFact = JobArrived | JobUpdated | JobLeft | TasksPending | TaskOutputsLost | TasksWithdrawn
_AttemptFact = Launched | Progressed | Suspended | Resumed | Closed
_NodeFact = NodeJoined | NodeGone | NodeDrained

Fact = _JobFact | _AttemptFact | _NodeFact | OfferAnswered | Rejected
