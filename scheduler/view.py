"""All that a policy may see: what the master believes, through heartbeats and submissions.

In a run the master's ledger implements these read-only protocols, with no copying.  What is not
here a policy cannot know: how long a task takes, how large a job is, whether a silent node is dead.
"""

from collections.abc import Iterable, Mapping
from typing import Protocol

from callboard.scheduler import model


class JobView(Protocol):
    """A job that has been submitted and has not ended, or that still has a running attempt."""

    @property
    def job(self) -> model.JobId: ...
    @property
    def submitted_ms(self) -> model.Millis: ...
    @property
    def user(self) -> str: ...
    @property
    def pool(self) -> str: ...
    @property
    def priority(self) -> model.Priority: ...

    def total(self, stage: model.Stage) -> int:
        """How many tasks this stage of the job has."""

    def pending(self, kind: model.SlotKind) -> int:
        """How many tasks may take a slot of this kind now and have none, suspended ones included;
        reduces from slowstart on.
        """

    def suspended(self, kind: model.SlotKind) -> int:
        """How many of the pending ones have a suspended attempt."""

    def resumable(self, kind: model.SlotKind, node: model.NodeId) -> model.AttemptId | None:
        """The first launched of its attempts that `node` holds suspended, not being killed."""

    def running(self, kind: model.SlotKind) -> int:
        """How many attempts are believed to hold such a slot; a task may have two."""

    def finished(self, stage: model.Stage) -> int:
        """How many of the stage's tasks are known to have succeeded."""

    def nearest(self, kind: model.SlotKind, node: model.NodeId) -> model.Locality | None:
        """How near to `node` its nearest pending task that may run there has its input; None
        without any.

        A map that must run again counts as `NODE` everywhere: it goes first and regardless of
        locality (JobInProgress.findNewMapTask).  Reduces are `OFF_RACK`.
        """


class NodeView(Protocol):
    """A node that has joined and has not been given up."""

    @property
    def node(self) -> model.NodeId: ...
    @property
    def rack(self) -> int: ...
    @property
    def speed(self) -> float: ...
    @property
    def node_type(self) -> str: ...

    def slots(self, kind: model.SlotKind) -> int:
        """How many slots of this kind it has."""

    def running(self, kind: model.SlotKind) -> int:
        """How many of them are believed to be taken."""

    def suspended(self, kind: model.SlotKind) -> int:
        """How many suspended attempts of this kind it holds."""


class AttemptView(Protocol):
    """An attempt that is believed to run, or to be held suspended by its node."""

    @property
    def attempt(self) -> model.AttemptId: ...
    @property
    def job(self) -> model.JobId: ...
    @property
    def stage(self) -> model.Stage: ...
    @property
    def kind(self) -> model.SlotKind:
        """The kind of slot that it takes."""

    @property
    def task(self) -> model.TaskIndex: ...
    @property
    def node(self) -> model.NodeId: ...
    @property
    def launched_ms(self) -> model.Millis: ...
    @property
    def killing(self) -> bool:
        """Whether it has been chosen to be killed, and its end has not been heard of."""

    @property
    def suspending(self) -> bool:
        """Whether it has been chosen to be suspended, and its slot is not known to be free."""

    @property
    def holds_slot(self) -> bool:
        """Whether it is believed to have a slot; else its node holds it suspended."""

    @property
    def suspended_ms(self) -> model.Millis | None:
        """Since when it is known to be suspended; None while it has a slot."""

    @property
    def number(self) -> int:
        """How many attempts its task had before it."""

    @property
    def original(self) -> model.AttemptId:
        """Of a speculative attempt, the one whose task it runs too; else 0."""

    @property
    def alone(self) -> bool:
        """Whether it runs, its task is not done and has not failed too often, and no other attempt
        of the task runs.
        """

    @property
    def ran_ms(self) -> model.Millis:
        """How long it had run when its progress was last told."""

    @property
    def shuffled_ms(self) -> model.Millis:
        """How much of that was its shuffle; 0 for maps."""

    @property
    def progress(self) -> float:
        """Its progress at its node's last heartbeat, from 0 to 1; 0 unless a part wants to know.

        Of a map, the share of its time; of a reduce, 1/3 when its shuffle has ended, the other
        two thirds by the share of the time after it.  (In Hadoop the shuffle's third grows with
        each map fetched; here it comes at once.)
        """


class ClusterView(Protocol):
    """The whole cluster and all jobs."""

    @property
    def now_ms(self) -> model.Millis: ...
    @property
    def nodes(self) -> int:
        """How many nodes are believed to be there."""

    @property
    def members(self) -> Mapping[model.NodeId, NodeView]:
        """These nodes by their numbers, in the order in which they joined."""

    @property
    def heartbeat_ms(self) -> model.Millis:
        """The interval between a node's heartbeats."""

    def slots(self, kind: model.SlotKind) -> int:
        """All slots of this kind."""

    def running(self, kind: model.SlotKind) -> int:
        """All attempts of this kind that are believed to run."""

    def pending(self, kind: model.SlotKind) -> int:
        """All tasks of this kind that may run now and do not."""

    def unfinished(self, kind: model.SlotKind) -> int:
        """All tasks of this kind that have not succeeded; reduces only from slowstart on."""

    def tasks_counted_for_padding(self, kind: model.SlotKind) -> int:
        """All tasks of this kind of jobs that have reduces, finished ones too."""

    def node(self, node: model.NodeId) -> NodeView | None:
        """The node of this number, if it has joined."""

    def job(self, job: model.JobId) -> JobView:
        """The job of this number, or `KeyError`."""

    def jobs(self) -> Iterable[JobView]:
        """All jobs, in the order of their submission."""

    def attempts(self) -> Iterable[AttemptView]:
        """All attempts believed to run or to be held suspended, in the order of their launch."""

    def attempt(self, attempt: model.AttemptId) -> AttemptView | None:
        """The attempt of this number, if it is believed to run."""


class Offer(Protocol):
    """A heartbeat that asks for work: the node, and what it has been given in it so far."""

    @property
    def node(self) -> NodeView: ...

    def free(self, kind: model.SlotKind) -> int:
        """Slots of this kind that are still free, after what has been given."""

    def given(self, kind: model.SlotKind) -> int:
        """Tasks of this kind given in this heartbeat."""

    @property
    def given_off_rack(self) -> int:
        """Off-rack maps given in this heartbeat."""
