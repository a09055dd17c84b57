"""The journal's vocabulary: what happened, told by the actor it happened to.

An event is a fact, never an order. Truth and belief differ: slots tell `AttemptStarted` and
`AttemptEnded` when they happen, the master `AttemptClosed` when a heartbeat has brought the news.
Times are virtual milliseconds from the run's start. Events are numbered by their places in the
journal, from 0; each names as its cause the one that brought it about, and so back to a submission,
a fault, or the master's own clock (`NO_CAUSE`).

A new event is a class here, in `AnyEvent` too, with what it changes in `journal.run_state` and its
sentence in `journal.tell.sentences`. All else goes by its base, importance and mark.
"""

from enum import IntEnum, StrEnum
from typing import ClassVar

import msgspec

from callboard.actors.kernel.message import NO_CAUSE
from callboard.actors.vocabulary.faults import AnyFault
from callboard.scheduler import model
from callboard.scheduler.reasons import Reason, Why


class Outcome(StrEnum):
    """How an attempt or a job ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    KILLED = "killed"


OUTCOMES: dict[str, Outcome] = {outcome.value: outcome for outcome in Outcome}
"""By the state in which an attempt or a job has ended: the names are the same."""


class Stall(StrEnum):
    """Why an attempt makes no progress."""

    HANGS = "hangs"
    NO_INPUT = "no replica of its input can be read"
    NOT_BEGUN = "it cannot begin"


class Importance(IntEnum):
    """How much a reader must want to know for an event to be told."""

    HEADLINE = 0
    DECISION = 1
    DETAIL = 2


class Mark(IntEnum):
    """What is worth a mark on the time bar; of several at one place the highest is shown."""

    NONE = 0
    PREEMPTION = 1
    RETURNED = 2
    LOST = 3
    FAULT = 4


class NodeFacts(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One node as the run begins."""

    node: model.NodeId
    rack: int
    map_slots: int
    reduce_slots: int
    speed: float
    node_type: str = ""


class Caused(msgspec.Struct, frozen=True, tag=True, array_like=True, gc=False, kw_only=True):
    """What has a cause: the number of the event that brought it about, or `NO_CAUSE`."""

    cause: int = NO_CAUSE


class Event(Caused, frozen=True):
    """What every event has: when it happened, and its cause."""

    importance: ClassVar[Importance] = Importance.HEADLINE
    mark: ClassVar[Mark] = Mark.NONE

    at_ms: model.Millis


class JobEvent(Event, frozen=True):
    """What happened to a job."""

    job: model.JobId


class NodeEvent(Event, frozen=True):
    """What became of a node in the master's books."""

    node: model.NodeId


class AttemptEvent(Event, frozen=True):
    """What happened to an attempt."""

    attempt: model.AttemptId


class DecisionEvent(AttemptEvent, frozen=True):
    """What the master decided for an attempt."""

    importance = Importance.DECISION


class OrderEvent(DecisionEvent, frozen=True):
    """An order for an attempt that runs or is suspended, with the policy's reason."""

    why: Why


class DetailEvent(AttemptEvent, frozen=True):
    """What became of an attempt."""

    importance = Importance.DETAIL


# The run.


class RunStarted(Event, frozen=True):
    """The first event: what is run, enough to run it again; `scenario` is plain data, whole."""

    version: str
    name: str
    policy: str
    seed: int
    scenario: dict[str, object]
    nodes: tuple[NodeFacts, ...]


class FaultStruck(Event, frozen=True):
    """Something happened to a machine, a link or a job.  Told by the injector."""

    mark = Mark.FAULT

    fault: AnyFault


class OrderSwitched(Event, frozen=True):
    """An order that is made of several changed from one to another. Told by the master. Its cause
    is what the order was told last: `waiting` tasks of the kind of slot that is loaded most, and
    `free` of all its `slots`, made it change.
    """

    was: str
    now: str
    kind: model.SlotKind
    waiting: int
    free: int
    slots: int


class RunEnded(Event, frozen=True):
    """The last event of a run that ended by itself, at its limit, or by Ctrl-C: `reason` is
    `complete`, `until` or `interrupted`; or `livelock` for one whose preemption went round. A
    journal without this event was cut off.

    `digest` names the run by its messages.  The compiled twin has none: of what it has played
    `messages` and `ties` are None, not measured, and the digest, which begins with `events-`, is
    one of the events before, as they are recorded.
    """

    reason: str
    messages: int | None
    ties: int | None
    digest: str


# Jobs.


class JobSubmitted(JobEvent, frozen=True):
    """A job entered the system.  Told by the job."""

    name: str
    user: str
    pool: str
    priority: model.Priority
    maps: int
    reduces: int


class JobInitialised(JobEvent, frozen=True):
    """A job that had to be initialised first may run tasks from now on.  Told by the job; its cause
    is its submission, or the last of them.
    """

    importance = Importance.DETAIL


class JobChanged(JobEvent, frozen=True):
    """A job has another pool or priority from now on, by a fault.  Told by the master."""

    pool: str
    priority: model.Priority


class SizeEstimated(JobEvent, frozen=True):
    """An order that measures sizes has measured a job's maps or its reduces: it takes them for
    `size_ms` of slot time in all, shuffles apart, and what is left of them for `left_ms`. Told by
    the master. Its cause is what the order was told last.
    """

    importance = Importance.DECISION

    kind: model.SlotKind
    size_ms: model.Millis
    left_ms: model.Millis

    @property
    def stage(self) -> model.Stage:
        """The stage that was measured."""
        return model.stage_on(self.kind)


class ThoughtBegun(JobEvent, frozen=True):
    """A scheduler of a shared cell will think about `tasks` tasks of a job's stage for `thought_ms`
    from `from_ms` on: at once, or once it has thought about others that are placed on the same
    offer.  Told by that scheduler, by its number; its cause is what brought the stage into its
    queue, or back there.
    """

    importance = Importance.DETAIL

    scheduler: int
    stage: model.Stage
    from_ms: model.Millis
    thought_ms: model.Millis
    tasks: int

    @property
    def until_ms(self) -> model.Millis:
        """When the thought will be over."""
        return self.from_ms + self.thought_ms


class SchedulingAttempted(JobEvent, frozen=True):
    """A scheduler of a shared cell has thought about a job's stage and tried to place its tasks.
    Told by that scheduler, by its number; its cause is what brought the stage into its queue, or
    back there.

    The stage had waited in the queue for `queued_ms`; the thought about `tasks` of it took
    `thought_ms`.  A task takes `demand` of a node: a map slot, a reduce slot, and what nodes have
    named.  One task may run on each of the `committed` nodes; its claim conflicted with others' on
    each of the `conflicted` ones.  Where there are neither there was no room.
    """

    importance = Importance.DECISION

    scheduler: int
    stage: model.Stage
    queued_ms: model.Millis
    thought_ms: model.Millis
    tasks: int
    demand: tuple[int, ...]
    committed: tuple[model.NodeId, ...]
    conflicted: tuple[model.NodeId, ...]

    @property
    def began_ms(self) -> model.Millis:
        """When the thought began."""
        return self.at_ms - self.thought_ms


class NodesProbed(JobEvent, frozen=True):
    """A scheduler asks nodes how much waits there, to bind `tasks` tasks of a job's stage to those
    where it is least, once all have answered.  Told by that scheduler, which numbers its samples;
    its cause is what made the tasks pending.
    """

    importance = Importance.DETAIL

    scheduler: int
    sample: int
    stage: model.Stage
    tasks: int
    nodes: tuple[model.NodeId, ...]


class ProbesAnswered(JobEvent, frozen=True):
    """The nodes of a sample, which were asked at `asked_ms`, have all answered, and tasks of the
    job's stage are bound to those with the least `loads`.  Told by the scheduler that has asked;
    its cause is that of the question, or the loss of the node whose answer was awaited.

    A node's load is how many tasks wait there for a slot of the kind, less its free slots; None if
    it was given up before it had answered.
    """

    importance = Importance.DETAIL

    scheduler: int
    sample: int
    stage: model.Stage
    asked_ms: model.Millis
    tasks: int
    nodes: tuple[model.NodeId, ...]
    loads: tuple[int | None, ...]


class ReservationsSent(JobEvent, frozen=True):
    """A scheduler has sent reservations for a job's stage to nodes, which ask for a task when they
    have a slot free.  Told by that scheduler, by its number; its cause is what made the tasks
    pending, or the refusal of those before.

    `nodes` has each node as often as it was sent one.  Those that have `refused` have long work;
    these take their place.  `long` ones are placements: each is sure of its task.
    """

    importance = Importance.DETAIL

    scheduler: int
    stage: model.Stage
    nodes: tuple[model.NodeId, ...]
    refused: tuple[model.NodeId, ...] = ()
    long: bool = False


class ReservationsStolen(JobEvent, frozen=True):
    """A node that was idle has taken over `count` reservations for a job's stage, which had waited
    at `victim` behind long work.  Told by the node.
    """

    importance = Importance.DETAIL

    stage: model.Stage
    node: model.NodeId
    victim: model.NodeId
    count: int


class MapOutputsLost(JobEvent, frozen=True):
    """Maps of a job that had succeeded, by these attempts, must run again: their outputs were on
    a node that is lost, or cannot be fetched from it.  Told by the master.

    `outcome` is what the attempts are booked as now: killed where the node is lost, else failed.
    Its cause is the loss of the node, or the start of the last reduce that complained.
    """

    node: model.NodeId
    attempts: tuple[model.AttemptId, ...]
    outcome: Outcome


class JobBlacklistedNode(JobEvent, frozen=True):
    """A job has had too many failures on a node, the last its cause, and no longer uses it. Told by
    the master. Not `in_force` where it would blacklist too large a share of the cluster: then it
    uses all of it.
    """

    node: model.NodeId
    in_force: bool


class JobResubmitted(JobEvent, frozen=True):
    """A job, all of it, was submitted again, caused by a restart of the master. Told by the job."""


class JobFinished(JobEvent, frozen=True):
    """A job left, by its last booking, one failure too many, or its user.  Told by the job."""

    outcome: Outcome
    submitted_ms: model.Millis


# Attempts, as the master decides and books.


class AttemptLaunched(DecisionEvent, frozen=True):
    """The master decided to run a task on a node.  Told by the master, with the policy's reason.

    `number` counts the task's attempts from 0; `level` is the locality that the ledger found.
    Of a speculative attempt, `original` is the one that ran the task before and still does; else
    it is 0.

    Its cause is what freed the slot that it takes: the booked end or the suspension of an attempt.
    Where that slot was never held before, it is what made the task pending.

    A job's setup and its cleanup are launched ahead of all that a policy would launch there (rule
    H6): `why` says so, and the cause is what the job did last.  Such attempts and their slot time
    count in all figures, except for what is owed to users, and for delay scheduling.
    """

    job: model.JobId
    kind: model.SlotKind
    task: model.TaskIndex
    number: int
    node: model.NodeId
    level: model.Locality
    why: Why
    original: model.AttemptId = 0

    @property
    def stage(self) -> model.Stage:
        """The job's stage that the task belongs to."""
        return UNSEEN_STAGES.get(self.why.reason, model.stage_on(self.kind))


UNSEEN_STAGES = {Reason.JOB_SETUP: model.SETUP, Reason.JOB_CLEANUP: model.CLEANUP}
"""Why attempts are launched that set jobs up or clean up after them, which no policy sees."""

WHY_UNSEEN = {stage: Why(reason) for reason, stage in UNSEEN_STAGES.items()}
"""The same by stage, as launches say it."""


class KillOrdered(OrderEvent, frozen=True):
    """An attempt must give way: the policy decided so, or another attempt of its task succeeded.
    Told by the master; by YARN's node managers for the resource manager, of which a job's own
    master does not know, so that either may order the same.  The cause is the submission of the
    job that is to benefit; where the master acts on its own, that on which it does.
    """

    mark = Mark.PREEMPTION


class SuspendOrdered(OrderEvent, frozen=True):
    """An attempt must give way and keep its work; else like `KillOrdered`.  Told by the master."""

    mark = Mark.PREEMPTION


class ResumeOrdered(OrderEvent, frozen=True):
    """A suspended attempt gets a slot again, whose freeing is its cause.  Told by the master."""


class LaunchExpired(AttemptEvent, frozen=True):
    """The master gives up a launch that has not begun for so long, the stall that is its cause: the
    attempt is to be stopped, and has failed (rule H8). Told by the master.
    """


class AttemptClosed(DetailEvent, frozen=True):
    """The master learnt the end of an attempt and booked it.  Told by the master.

    The booked outcome can differ from the slot's: the second success of a task is booked as
    killed, and so is whatever ran on a node given up for lost.  Its cause is the end that was
    reported, the loss of the node, or the restart of the master.
    """

    outcome: Outcome


# Attempts, as they really go.


class AttemptStarted(DetailEvent, frozen=True):
    """The attempt really began.  Told by the slot; `slot` is its place on the node."""

    node: model.NodeId
    slot: int


class ShuffleEnded(DetailEvent, frozen=True):
    """A reduce has all map outputs, by the last map's booking or its start.  Told by the slot."""


class AttemptStalled(DetailEvent, frozen=True):
    """The attempt makes no progress any more, which was `progress` so far. Told by the slot; its
    cause is the fault to blame, if there is one, or what the attempt did last.
    """

    progress: float
    why: Stall


class StallEnded(DetailEvent, frozen=True):
    """The attempt has its input and begins.  Told by the slot; its cause is the stall."""


class AttemptSuspended(DetailEvent, frozen=True):
    """The attempt really stopped, by an order, and freed its slot.  Told by the slot."""


class AttemptResumed(DetailEvent, frozen=True):
    """A suspended attempt really goes on in a `slot` of its node, by an order. Told by the slot."""

    node: model.NodeId
    slot: int


class AttemptEnded(DetailEvent, frozen=True):
    """The attempt really ended and its slot is free.  Told by the slot, or by the node if it was
    killed while suspended; `suspended_ms` is how long it was suspended in all.

    Of one that was killed the cause is the order, the crash, or the loss of which its node was
    told; of one that failed, the fault to blame if there is one; else what it did last.
    """

    outcome: Outcome
    started_ms: model.Millis
    suspended_ms: model.Millis = 0


# Nodes, as the master sees them.


class NodeLost(NodeEvent, frozen=True):
    """The master, which tells it, gave a node up for lost, having last heard of it at `heard_ms`.
    `again` says that the node had begun anew before its silence was noticed; then that is the
    cause. Silence has none that the master could know.
    """

    mark = Mark.LOST

    heard_ms: model.Millis
    again: bool = False


class NodeReturned(NodeEvent, frozen=True):
    """A lost node joined again: its machine restarted, or it was told to.  Told by the master."""

    mark = Mark.RETURNED


class ContactLost(NodeEvent, frozen=True):
    """One scheduler of several, which tells it, gave a node up, having last heard of it at
    `heard_ms`: what it had begun there is lost to it.  Others find out for themselves, or hear of
    it from the holder of a shared cell's state, which counts as scheduler 0.  `again` and the
    cause are as of a loss that the master notes.
    """

    mark = Mark.LOST

    scheduler: int
    heard_ms: model.Millis
    again: bool = False


class ContactRegained(NodeEvent, frozen=True):
    """That scheduler hears of the node again.  Told by it."""

    mark = Mark.RETURNED

    scheduler: int


class NodeBlacklisted(NodeEvent, frozen=True):
    """A node is on the list of bad ones across jobs: too many jobs blacklisted it and succeeded,
    the last of which is the cause. Told by the master. Where the list is `in_force` the node gets
    no more tasks; else it is advice.
    """

    faults: int
    in_force: bool


class NodeUnblacklisted(NodeEvent, frozen=True):
    """A node is off the list of bad ones, in time, or as its machine restarted.  Told by the
    master.
    """


_Beginnings = RunStarted | JobSubmitted | JobInitialised | AttemptLaunched
_OnSlots = AttemptStarted | ShuffleEnded | AttemptStalled | StallEnded
_Ends = AttemptSuspended | AttemptResumed | AttemptEnded | AttemptClosed | LaunchExpired
_Orders = KillOrdered | SuspendOrdered | ResumeOrdered | OrderSwitched
_Thoughts = ThoughtBegun | SchedulingAttempted
_Probes = NodesProbed | ProbesAnswered | ReservationsSent | ReservationsStolen
_Losses = FaultStruck | NodeLost | ContactLost | MapOutputsLost
_Blacklists = JobBlacklistedNode | NodeBlacklisted | NodeUnblacklisted
_Returns = NodeReturned | ContactRegained
_Changes = SizeEstimated | JobChanged | JobResubmitted | _Returns | JobFinished | RunEnded

_OfSchedulers = _Orders | _Thoughts | _Probes
AnyEvent = _Beginnings | _OnSlots | _Ends | _OfSchedulers | _Losses | _Blacklists | _Changes

EVENT_TYPES: tuple[type[AnyEvent], ...] = AnyEvent.__args__
