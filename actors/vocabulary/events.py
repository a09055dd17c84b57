"""The journal's vocabulary: what happened, told by whom it happened to.

An event is a fact, never an order.  Truth and belief are different events: `AttemptStarted` and
`AttemptEnded` are told by the slot when they happen, `AttemptClosed` by the master when a
heartbeat has brought the news.  Times are virtual milliseconds from the run's start.
"""

from enum import StrEnum

import msgspec

from callboard.actors.vocabulary.faults import AnyFault
from callboard.scheduler.decisions import Why
from callboard.scheduler.model import (
    AttemptId,
    JobId,
    Locality,
    Millis,
    NodeId,
    Priority,
    TaskIndex,
    TaskKind,
)


class Outcome(StrEnum):
    """How an attempt or a job ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    KILLED = "killed"


class Stall(StrEnum):
    """Why an attempt makes no progress."""

    HANGS = "hangs"
    NO_INPUT = "no replica of its input can be read"
    NOT_BEGUN = "it cannot begin"


class Event(msgspec.Struct, frozen=True, tag=True, array_like=True, gc=False):
    """What every event has: when it happened."""

    at_ms: Millis


class NodeFacts(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One node as the run begins."""

    node: NodeId
    rack: int
    map_slots: int
    reduce_slots: int
    speed: float
    kind: str = ""


class RunStarted(Event, frozen=True):
    """The first event of every journal: what is being run, enough to run it again.

    `scenario` is the whole scenario as plain data (what its file says, overrides applied).
    """

    version: str
    name: str
    policy: str
    seed: int
    scenario: dict[str, object]
    nodes: tuple[NodeFacts, ...]


class JobSubmitted(Event, frozen=True):
    """A job entered the system.  Told by the job."""

    job: JobId
    name: str
    user: str
    pool: str
    priority: Priority
    maps: int
    reduces: int


class AttemptLaunched(Event, frozen=True):
    """The master decided to run a task on a node.  Told by the master, with the policy's reason.

    `number` counts the task's attempts from 0; `level` is the locality that the ledger found.
    Of a copy, `copy_of` is the attempt that ran the task before and still does; else it is 0.
    """

    attempt: AttemptId
    job: JobId
    kind: TaskKind
    task: TaskIndex
    number: int
    node: NodeId
    level: Locality
    why: Why
    copy_of: AttemptId = 0


class AttemptStarted(Event, frozen=True):
    """The attempt really began.  Told by the slot; `slot` is its place on the node."""

    attempt: AttemptId
    node: NodeId
    slot: int


class ShuffleEnded(Event, frozen=True):
    """A reduce has all its map outputs.  Told by the slot."""

    attempt: AttemptId


class AttemptStalled(Event, frozen=True):
    """The attempt makes no progress any more, which was `progress` so far.  Told by the slot."""

    attempt: AttemptId
    progress: float
    why: Stall


class StallEnded(Event, frozen=True):
    """The attempt, which waited for its input, has found it and begins.  Told by the slot."""

    attempt: AttemptId


class AttemptSuspended(Event, frozen=True):
    """The attempt really stopped; its node holds it, and its slot is free.  Told by the slot."""

    attempt: AttemptId


class AttemptResumed(Event, frozen=True):
    """A suspended attempt really goes on.  Told by the slot; `slot` is its place on the node."""

    attempt: AttemptId
    node: NodeId
    slot: int


class AttemptEnded(Event, frozen=True):
    """The attempt really ended and its slot is free.  Told by the slot, or by the node if it was
    killed while suspended; `suspended_ms` is how long it was suspended in all.
    """

    attempt: AttemptId
    outcome: Outcome
    started_ms: Millis
    suspended_ms: Millis = 0


class AttemptClosed(Event, frozen=True):
    """The master learnt the end of an attempt and booked it.  Told by the master.

    The booked outcome can differ from the slot's: the second success of a task is booked as
    killed, and so is whatever ran on a node given up for lost.
    """

    attempt: AttemptId
    outcome: Outcome


class LaunchExpired(Event, frozen=True):
    """The master gives up a launch that has not begun for so long: the attempt is to be stopped,
    and has failed (rule H8).  Told by the master.
    """

    attempt: AttemptId


class KillOrdered(Event, frozen=True):
    """An attempt must give way: the policy decided so, or another attempt of its task succeeded.
    Told by the master.
    """

    attempt: AttemptId
    why: Why


class SuspendOrdered(Event, frozen=True):
    """The policy decided that an attempt must give way and keep its work.  Told by the master."""

    attempt: AttemptId
    why: Why


class ResumeOrdered(Event, frozen=True):
    """The policy gave a suspended attempt a slot of its node again.  Told by the master."""

    attempt: AttemptId
    why: Why


class OrderSwitched(Event, frozen=True):
    """An order that is made of several changed from one to another.  Told by the master."""

    was: str
    now: str
    why: str


class FaultStruck(Event, frozen=True):
    """Something happened to a machine or a link.  Told by the injector; the master is not told."""

    fault: AnyFault


class NodeLost(Event, frozen=True):
    """The master gave a node up for lost, having last heard of it at `heard_ms`.

    Told by the master.  `again` says that the node had begun anew before its silence was noticed.
    """

    node: NodeId
    heard_ms: Millis
    again: bool = False


class MapsUndone(Event, frozen=True):
    """Maps of a job that had succeeded, by these attempts, must run again: their outputs were on
    a node that is lost, or cannot be fetched from it.  Told by the master.

    `outcome` is what the attempts are booked as now: killed where the node is lost, else failed.
    """

    job: JobId
    node: NodeId
    attempts: tuple[AttemptId, ...]
    outcome: Outcome


class NodeShunned(Event, frozen=True):
    """A job has had so many failures on a node that it uses it no more.  Told by the master.

    Not `in_force` where it would shun too large a share of the cluster: then it uses all of it.
    """

    job: JobId
    node: NodeId
    in_force: bool


class NodeListed(Event, frozen=True):
    """A node is on the list of bad ones across jobs, having been shunned by so many that succeeded.
    Told by the master.

    Where the list is `in_force` the node gets no more tasks; else it is advice.
    """

    node: NodeId
    faults: int
    in_force: bool


class NodeCleared(Event, frozen=True):
    """A node is off the list of bad ones: its faults are long ago, or its machine has started
    again.  Told by the master.
    """

    node: NodeId


class JobChanged(Event, frozen=True):
    """A job has another pool or another priority from now on.  Told by the master."""

    job: JobId
    pool: str
    priority: Priority


class JobResubmitted(Event, frozen=True):
    """A job was submitted again after a restart of the master: all of it runs again.  Told by the
    job.
    """

    job: JobId


class NodeReturned(Event, frozen=True):
    """A node that had been lost joined again.  Told by the master."""

    node: NodeId


class JobFinished(Event, frozen=True):
    """A job left the system.  Told by the job."""

    job: JobId
    outcome: Outcome
    submitted_ms: Millis


class RunEnded(Event, frozen=True):
    """The last event of a run that ended by itself, at its limit, or by Ctrl-C.

    `reason` is `complete`, `until` or `interrupted`; a journal without this event was cut off.
    """

    reason: str
    messages: int
    ties: int
    digest: str


AnyEvent = (
    RunStarted
    | JobSubmitted
    | AttemptLaunched
    | AttemptStarted
    | ShuffleEnded
    | AttemptStalled
    | StallEnded
    | AttemptSuspended
    | AttemptResumed
    | AttemptEnded
    | AttemptClosed
    | LaunchExpired
    | KillOrdered
    | SuspendOrdered
    | ResumeOrdered
    | OrderSwitched
    | FaultStruck
    | NodeLost
    | MapsUndone
    | NodeShunned
    | NodeListed
    | NodeCleared
    | JobChanged
    | JobResubmitted
    | NodeReturned
    | JobFinished
    | RunEnded
)
