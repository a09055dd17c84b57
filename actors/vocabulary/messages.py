"""Every message, grouped by conversation.  The docstring says who sends it to whom.

Imperatives are orders or requests, past tenses are facts.
"""

from callboard.actors.kernel.actor import Message
from callboard.actors.vocabulary.events import NodeFacts, Outcome
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

# What an attempt has to do.  The job writes it, the slot reads it; the master carries it sealed.


class TaskAnomalies(Message, frozen=True):
    """What is wrong with single tasks of a kind: the `poisoned` fail wherever they run, the
    `skewed` take `skew` times as long.
    """

    poisoned: tuple[TaskIndex, ...] = ()
    skewed: tuple[TaskIndex, ...] = ()
    skew: float = 1.0


class StallingAnomalies(TaskAnomalies, frozen=True):
    """The same of a kind of which the `hanging` stand still wherever they run; where a task fails
    or hangs it is at the progress `fails_at`, None for a drawn one.
    """

    hanging: tuple[TaskIndex, ...] = ()
    fails_at: float | None = None


class InjectedFailure(Message, frozen=True):
    """An attempt comes to an end before its end: it fails, or hangs, when its work after the
    shuffle is done to the share `at`; it does so already if it has `hung`.
    """

    at: float
    hangs: bool
    hung: bool = False


class MapWork(Message, frozen=True):
    """One map: `ms` on a node of speed 1 with local input, before noise; times the factor that
    stands beside the node's kind, if any does.
    """

    ms: Millis
    factors: tuple[tuple[str, float], ...] = ()
    quirks: TaskAnomalies | None = None


class ReduceWork(Message, frozen=True):
    """One reduce: `shuffle_ms` to fetch its share, `tail_ms` of it for the last map's output
    alone, and `reduce_ms` for all that comes after on a node of speed 1; before noise.  `factors`
    are for what comes after.
    """

    shuffle_ms: Millis
    tail_ms: Millis
    reduce_ms: Millis
    factors: tuple[tuple[str, float], ...] = ()
    quirks: TaskAnomalies | None = None


# Submission and the life of a job.


class SubmissionDue(Message, frozen=True):
    """Client to itself: the next job's submission is due."""


class EnterSystem(Message, frozen=True):
    """Client to a new job: enter the system."""


class SubmitJob(Message, frozen=True):
    """Job to master: here I am, my maps may run now.

    `replicas` holds `replication` node numbers for each map, -1 where there are fewer, as
    little-endian 32-bit integers: 90,000 block locations are one message and no 90,000 objects.
    """

    job: JobId
    user: str
    pool: str
    priority: Priority
    maps: int
    reduces: int
    replication: int
    replicas: bytes
    map_work: MapWork
    reduce_work: ReduceWork


class ReducesReady(Message, frozen=True):
    """Job to master: enough maps are done, my reduces may run now."""

    job: JobId


class RunAgain(Message, frozen=True):
    """Job to master: an attempt of this task came to nothing, it may run again now."""

    job: JobId
    kind: TaskKind
    task: TaskIndex


class AttemptBooked(Message, frozen=True):
    """Master to job: an attempt of yours has ended, and no other attempt of its task runs if it was
    `alone`.
    """

    attempt: AttemptId
    kind: TaskKind
    task: TaskIndex
    node: NodeId
    outcome: Outcome
    alone: bool = True


class OutputsLost(Message, frozen=True):
    """Master to job: these maps of yours had succeeded, and their outputs are gone (rule T2).

    They count as failed where nobody could fetch them (rule T6).
    """

    tasks: tuple[TaskIndex, ...]
    failed: bool = False


class MasterRestarted(Message, frozen=True):
    """Master to job: I have begun again and know nothing of you; be submitted again, or be lost."""

    recover: bool


class JobDone(Message, frozen=True):
    """Job to master and to client: I have ended."""

    job: JobId
    outcome: Outcome


# Heartbeats.


class HeartbeatDue(Message, frozen=True):
    """Node to itself: beat now, unless a later plan has overtaken plan number `plan`."""

    plan: int


class ElidedReplyDue(Message, frozen=True):
    """Node to itself: the reply to a beat that was left out would come now."""


class RetryHeartbeat(Message, frozen=True):
    """Node to itself: if beat number `beat` has no answer yet, send it again (rule H5)."""

    beat: int


class HeartbeatsResumed(Message, frozen=True):
    """Node to master: from now on I leave no beat out; the last one that I did would have arrived
    at `left_out_ms`, or -1.

    It is part of leaving beats out and not of the world: it says what real beats would have said.
    """

    node: NodeId
    left_out_ms: Millis = -1


class ExpiryCheck(Message, frozen=True):
    """Master to itself: look which nodes have not been heard of for too long (rule T1)."""


class BlacklistReview(Message, frozen=True):
    """Master to itself: a listed node's faults may be long enough ago."""

    node: NodeId


class EndReport(Message, frozen=True):
    """Part of a heartbeat: an attempt on this node has ended, having run `ran_ms` in all and
    `shuffled_ms` of it in its shuffle (0 for maps).
    """

    attempt: AttemptId
    outcome: Outcome
    ran_ms: Millis
    shuffled_ms: Millis = 0


class SuspensionReport(Message, frozen=True):
    """Part of a heartbeat: an attempt on this node is suspended, having run `ran_ms` so far and
    `shuffled_ms` of it in its shuffle (0 for maps).
    """

    attempt: AttemptId
    ran_ms: Millis
    shuffled_ms: Millis


class FetchFailure(Message, frozen=True):
    """Slot to node, then part of a heartbeat: a reduce of `job` cannot fetch from `host`."""

    job: JobId
    host: NodeId


class NotBegun(Message, frozen=True):
    """Slot to node, then part of a heartbeat: an attempt holds its slot and has not begun (Hadoop:
    its state is UNASSIGNED).
    """

    attempt: AttemptId


class Heartbeat(Message, frozen=True):
    """Node to master: I am here, and this is what ended or was suspended since my last beat.

    `response` is the number of the last reply that reached the node (rule H5); `joins` is set
    in a node's first beat, and in the first after it has begun anew; `life` counts how often it
    has.
    """

    node: NodeId
    response: int
    reports: tuple[EndReport | SuspensionReport | FetchFailure | NotBegun, ...]
    joins: NodeFacts | None = None
    life: int = 0


class AttemptProgress(Message, frozen=True):
    """Part of a heartbeat: an attempt is under way, has run `ran_ms` so far and `shuffled_ms` of
    it in its shuffle, and has done the share `done` (`scheduler.view.AttemptView.progress`).
    """

    attempt: AttemptId
    ran_ms: Millis
    shuffled_ms: Millis
    done: float


class ProgressHeartbeat(Heartbeat, frozen=True):
    """Node to master: a heartbeat with the progress of followed attempts."""

    progress: tuple[AttemptProgress, ...] = ()


class LaunchTask(Message, frozen=True):
    """Part of a reply, then node to slot: run this attempt, the task's `number`th from 0."""

    attempt: AttemptId
    job: JobId
    kind: TaskKind
    task: TaskIndex
    number: int
    level: Locality
    work: MapWork | ReduceWork


class TrackedLaunch(LaunchTask, frozen=True):
    """Part of a reply, then node to slot: run this attempt, and tell how far it is."""


def tracked(launch: LaunchTask) -> TrackedLaunch:
    """The same launch of an attempt that is to tell how far it is."""
    if isinstance(launch, TrackedLaunch):
        return launch
    return TrackedLaunch(*(getattr(launch, name) for name in LaunchTask.__struct_fields__))


class KillTask(Message, frozen=True):
    """Part of a reply, then node to slot: stop this attempt."""

    attempt: AttemptId


class SuspendTask(Message, frozen=True):
    """Part of a reply, then node to slot: give this attempt's rest back to the node."""

    attempt: AttemptId


class ResumeTask(Message, frozen=True):
    """Part of a reply: put this suspended attempt into a free slot of its kind."""

    attempt: AttemptId


class HeartbeatReply(Message, frozen=True):
    """Master to node: what to start, what to stop, and when to beat next.

    It answers a beat of the node's life number `life`.
    """

    response: int
    interval_ms: Millis
    launches: tuple[LaunchTask | ResumeTask, ...] = ()
    kills: tuple[KillTask, ...] = ()
    suspends: tuple[SuspendTask, ...] = ()
    life: int = 0


class TrackingReply(HeartbeatReply, frozen=True):
    """Master to node: a reply that also asks how far these attempts are, from now on."""

    follows: tuple[AttemptId, ...] = ()


class Reinitialize(Message, frozen=True):
    """Master to node: you were given up for lost; drop everything and join again (rule T4)."""

    life: int


class ElidedHeartbeat(Message, frozen=True):
    """Master to itself: a beat that `node` leaves out would arrive now."""

    node: NodeId


class PreemptionDue(Message, frozen=True):
    """Master to itself: time to ask the policy for victims, once this instant's beats are done.

    `policy` counts the policies that have been in force.
    """

    policy: int


class Preempt(Message, frozen=True):
    """Master to itself: ask the policy for victims now."""

    policy: int


class StopAttempt(Message, frozen=True):
    """Master to itself: once this instant's beats are done, order this attempt to be killed,
    since another one of its task has succeeded or takes its place.
    """

    attempt: AttemptId
    why: Why


# On the node.


class PhaseOver(Message, frozen=True):
    """Slot to itself: the phase that it timed as its `timed`th is over."""

    timed: int


class RetryInput(Message, frozen=True):
    """Slot to itself: see whether the input is there now, unless something was timed since."""

    timed: int


class PhaseBegan(Message, frozen=True):
    """Slot to node: a followed attempt began a phase that would last `length_ms` if nothing came
    between; `done` is the attempt's progress at its beginning, and stays that if the length is 0.
    """

    attempt: AttemptId
    length_ms: Millis
    done: float = 0.0


class TrackProgress(Message, frozen=True):
    """Node to slot: tell how far this attempt is, which runs already."""

    attempt: AttemptId


class ProgressTold(Message, frozen=True):
    """Slot to node: the attempt has run `ran_ms` so far, `shuffled_ms` of it in its shuffle, and
    has done the share `done`; its present phase takes `left_ms` more, None where nobody can tell.
    """

    attempt: AttemptId
    ran_ms: Millis
    shuffled_ms: Millis
    left_ms: Millis | None
    done: float


class AttemptFinished(Message, frozen=True):
    """Slot to node: the attempt has ended and I am free; `report` is for the master.

    A map that succeeded leaves its output on the node; `output_of` says whose.
    """

    slot: int
    report: EndReport
    output_of: JobId | None = None


class Checkpoint(Message, frozen=True):
    """What is left of a suspended attempt, as its node's memory holds it: it began at
    `started_ms`, has run `ran_ms`, `shuffled_ms` of it in its shuffle.  Its present phase takes
    `left_ms` more on a machine as slow as `slowness` (None while it waits for map outputs), and
    its progress is `done`; `doom` says whether it will come to its end.  In its shuffle it has
    `fetched` from these hosts; None after it.
    """

    launch: LaunchTask
    started_ms: Millis
    ran_ms: Millis
    shuffled_ms: Millis
    left_ms: Millis | None
    done: float
    injected: InjectedFailure | None
    slowness: float
    fetched: tuple[NodeId, ...] | None


class AttemptCheckpointed(Message, frozen=True):
    """Slot to node: the attempt is suspended and I am free."""

    slot: int
    rest: Checkpoint


class ResumeAttempt(Message, frozen=True):
    """Node to slot: run what is left of this attempt."""

    rest: Checkpoint


class FetchOutputs(Message, frozen=True):
    """Slot to job: a reduce of yours waits here for the last map output."""

    slot_address: int
    attempt: AttemptId


class FetchOutputsAgain(FetchOutputs, frozen=True):
    """The same of a reduce that was suspended, and goes on as if all outputs were still there."""


class OutputsReady(Message, frozen=True):
    """Job to slot: every map output is there to be fetched, from these hosts.

    In a world to which nothing can happen every host would answer: none is named, none is asked.
    """

    attempt: AttemptId
    hosts: tuple[NodeId, ...] = ()


class Fetch(Message, frozen=True):
    """Slot of `node` to the node that has outputs of a job's maps: give me my share."""

    slot_address: int
    node: NodeId
    attempt: AttemptId
    job: JobId


class Fetched(Message, frozen=True):
    """Node to a slot that asked: here it is."""

    attempt: AttemptId
    host: NodeId


class FetchTimeout(Message, frozen=True):
    """Slot to itself: if the host has not answered by now, this try has failed (rule T6)."""

    attempt: AttemptId
    host: NodeId


class RetryFetch(Message, frozen=True):
    """Slot to itself: ask the host once more."""

    attempt: AttemptId
    host: NodeId


class FetchTrouble(Message, frozen=True):
    """Master to job: a reduce of yours cannot fetch from this host; so many of them run."""

    host: NodeId
    running: int


class DropOutputs(Message, frozen=True):
    """Job to master: whatever outputs of mine this host has are lost."""

    job: JobId
    host: NodeId


class OutputsObsolete(Message, frozen=True):
    """Job to slot: some map output that was there is not any more (rule T3)."""

    attempt: AttemptId
