"""Every message, by conversation: imperatives are orders or requests, past tenses are facts."""

from callboard.actors.kernel.actor import Message
from callboard.actors.vocabulary.events import AuxiliaryPurpose, NodeFacts, Outcome
from callboard.actors.vocabulary.lifecycle import AttemptState
from callboard.scheduler import model
from callboard.scheduler.reasons import Reason

# What an attempt has to do: the job writes it, the slot reads it; the master only passes it on.


class TaskAnomalies(Message, frozen=True):
    """What is wrong with single tasks of a kind, wherever they run (see `JobSpec`)."""

    poisoned: tuple[model.TaskIndex, ...] = ()
    hanging: tuple[model.TaskIndex, ...] = ()
    fails_at: float | None = None
    skewed: tuple[model.TaskIndex, ...] = ()
    skew: float = 1.0


class InjectedFailure(Message, frozen=True):
    """An attempt is to fail, or hang, when the share `at` of its own work is done, by `cause`; or,
    if it was when it was recorded, to be `killed`.
    """

    at: float
    hangs: bool
    cause: int
    killed: bool = False


class MapWork(Message, frozen=True):
    """One map: `ms` with local input at speed 1, before noise, times the node type's factor."""

    ms: model.Millis
    factors: tuple[tuple[str, float], ...] = ()
    anomalies: TaskAnomalies | None = None


class ReduceWork(Message, frozen=True):
    """One reduce, before noise: its shuffle, `tail_ms` of it for the last map, and the rest."""

    shuffle_ms: model.Millis
    tail_ms: model.Millis
    reduce_ms: model.Millis
    factors: tuple[tuple[str, float], ...] = ()
    anomalies: TaskAnomalies | None = None


class AuxiliaryWork(Message, frozen=True):
    """What sets a job up or cleans up after it: `ms` at speed 1."""

    purpose: AuxiliaryPurpose
    ms: model.Millis


# Submission and the life of a job.


class SubmissionDue(Message, frozen=True):
    """Client to itself: the next job's submission is due."""


class EnterSystem(Message, frozen=True):
    """Client to a new job: enter the system."""


class SubmitJob(Message, frozen=True):
    """Job to master: my maps may run now.  `replicas` holds `replication` node numbers for each
    map, -1 where there are fewer, as little-endian 32-bit integers: one message, no 90,000 objects.
    """

    job: model.JobId
    user: str
    pool: str
    priority: model.Priority
    maps: int
    reduces: int
    replication: int
    replicas: bytes
    map_work: MapWork
    reduce_work: ReduceWork


class RunAuxiliary(Message, frozen=True):
    """Job to master: my setup or cleanup task may run now; after the setup I submit my maps."""

    job: model.JobId
    work: AuxiliaryWork


class AuxiliaryDone(Message, frozen=True):
    """Master to job: your setup or cleanup task has succeeded."""

    purpose: AuxiliaryPurpose


class ReducesReady(Message, frozen=True):
    """Job to master: enough maps are done, my reduces may run now."""

    job: model.JobId


class RunAgain(Message, frozen=True):
    """Job to master: an attempt of this task failed or was lost; it may run again now."""

    job: model.JobId
    kind: model.TaskKind
    task: model.TaskIndex


class AttemptBooked(Message, frozen=True):
    """Master to job: an attempt of yours has ended; `alone` says that no other of its task runs."""

    attempt: model.AttemptId
    kind: model.TaskKind
    task: model.TaskIndex
    node: model.NodeId
    outcome: Outcome
    alone: bool = True


class OutputsLost(Message, frozen=True):
    """Master to job: these maps' outputs are gone (rule T2), or cannot be fetched (`failed`)."""

    tasks: tuple[model.TaskIndex, ...]
    failed: bool = False


class MasterRestarted(Message, frozen=True):
    """Master to job: I have started again and know nothing of you; be resubmitted, or be lost."""

    recover: bool


class JobDone(Message, frozen=True):
    """Job to master and to client: I have ended."""

    job: model.JobId
    outcome: Outcome


# Heartbeats.


class HeartbeatDue(Message, frozen=True):
    """Node to itself: send a heartbeat now, unless a later plan has replaced number `plan`."""

    plan: int


class ElidedReplyDue(Message, frozen=True):
    """Node to itself: the reply to a heartbeat that was left out would come now."""


class RetryHeartbeat(Message, frozen=True):
    """Node to itself: send this heartbeat again if it has no answer yet (rule H5)."""

    heartbeat: int


class HeartbeatsResumed(Message, frozen=True):
    """Node to master: I send all heartbeats now; the last left out was due at `left_out_ms`."""

    node: model.NodeId
    left_out_ms: model.Millis = -1


class ExpiryCheck(Message, frozen=True):
    """Master to itself: look which nodes have not been heard of for too long (rule T1)."""


class BlacklistReview(Message, frozen=True):
    """Master to itself: the faults of a blacklisted node may be long enough ago."""

    node: model.NodeId


class EndReport(Message, frozen=True):
    """In a heartbeat: an attempt has ended; `shuffled_ms` of `ran_ms` were its shuffle's."""

    attempt: model.AttemptId
    outcome: Outcome
    ran_ms: model.Millis
    shuffled_ms: model.Millis
    cause: int


class SuspensionReport(Message, frozen=True):
    """In a heartbeat: an attempt is suspended; the times are as in `EndReport`."""

    attempt: model.AttemptId
    ran_ms: model.Millis
    shuffled_ms: model.Millis
    cause: int


class FetchFailure(Message, frozen=True):
    """Slot to node, then in a heartbeat: a reduce of `job` cannot fetch from `host`."""

    job: model.JobId
    host: model.NodeId
    cause: int


class _OfAttempt(Message, frozen=True):
    """About an attempt; `cause` is the event that brought it about."""

    attempt: model.AttemptId
    cause: int


class NotBegun(_OfAttempt, frozen=True):
    """Slot to node, then in a heartbeat: a launch is stuck (Hadoop: UNASSIGNED)."""


class AttemptProgress(Message, frozen=True):
    """In a heartbeat: how far an attempt is (`done`: `scheduler.view.AttemptView.progress`)."""

    attempt: model.AttemptId
    ran_ms: model.Millis
    shuffled_ms: model.Millis
    done: float


AnyReport = EndReport | SuspensionReport | FetchFailure | NotBegun
"""What a node tells with a heartbeat, once."""


class Heartbeat(Message, frozen=True):
    """Node to master: this is what has happened since my last heartbeat.

    `response` is the number of the last reply that reached the node (rule H5).  `joins` is set in
    the first heartbeat of each `life`, counted from 0.  `progress` is of tracked attempts.
    """

    node: model.NodeId
    response: int
    reports: tuple[AnyReport, ...]
    joins: NodeFacts | None = None
    life: int = 0
    progress: tuple[AttemptProgress, ...] = ()


class LaunchTask(Message, frozen=True):
    """In a reply, then node to slot: run this attempt, the task's `number`th from 0."""

    attempt: model.AttemptId
    job: model.JobId
    kind: model.TaskKind
    task: model.TaskIndex
    number: int
    level: model.Locality
    work: MapWork | ReduceWork | AuxiliaryWork
    tracked: bool
    cause: int


class KillTask(_OfAttempt, frozen=True):
    """Part of a reply, then node to slot: stop this attempt."""


class SuspendTask(_OfAttempt, frozen=True):
    """Part of a reply, then node to slot: hand a checkpoint of this attempt to the node."""


class ResumeTask(_OfAttempt, frozen=True):
    """Part of a reply: put this suspended attempt into a free slot of its kind."""


class HeartbeatReply(Message, frozen=True):
    """Master to node: what to start, stop and track, and when the next heartbeat is due."""

    response: int
    interval_ms: model.Millis
    launches: tuple[LaunchTask | ResumeTask, ...] = ()
    kills: tuple[KillTask, ...] = ()
    suspends: tuple[SuspendTask, ...] = ()
    tracks: tuple[model.AttemptId, ...] = ()
    life: int = 0


class Reinitialize(Message, frozen=True):
    """Master to node: you were given up for lost; drop everything and join again (rule T4)."""

    life: int


class ElidedHeartbeat(Message, frozen=True):
    """Master to itself: a heartbeat that `node` leaves out would arrive now."""

    node: model.NodeId


class PreemptionDue(Message, frozen=True):
    """Master to itself: time for victims; `policy` counts the policies that have been in force."""

    policy: int


class Preempt(Message, frozen=True):
    """Master to itself: ask the policy for victims now."""

    policy: int


class StopAttempt(Message, frozen=True):
    """Master to itself: another attempt has replaced this one; kill it after the heartbeats."""

    attempt: model.AttemptId
    reason: Reason


# On the node.


class PhaseOver(Message, frozen=True):
    """Slot to itself: the phase that it timed as its `timed`th is over."""

    timed: int


class RetryInput(Message, frozen=True):
    """Slot to itself: see whether the input is there now, unless something was timed since."""

    timed: int


class PhaseBegan(Message, frozen=True):
    """Slot to node: a tracked attempt began a phase of `length_ms` (0: none) at progress `done`."""

    attempt: model.AttemptId
    length_ms: model.Millis
    done: float = 0.0


class TrackProgress(Message, frozen=True):
    """Node to slot: tell how far this attempt is, which runs already."""

    attempt: model.AttemptId


class ProgressTold(Message, frozen=True):
    """Slot to node: how far the attempt is; its phase takes `left_ms` more (None: unknown)."""

    attempt: model.AttemptId
    ran_ms: model.Millis
    shuffled_ms: model.Millis
    left_ms: model.Millis | None
    done: float


class AttemptFinished(Message, frozen=True):
    """Slot to node: I am free; a map that succeeded leaves an output of the job `output_of`."""

    slot: int
    report: EndReport
    output_of: model.JobId | None = None


class Checkpoint(Message, frozen=True):
    """What is left of an attempt that was in `state` when it was suspended: it began at
    `started_ms`, has run `ran_ms`, `shuffled_ms` of it in its shuffle.  Its present phase takes
    `left_ms` more on a machine as slow as `slowness` (None where no phase was timed), and its
    progress is `done`; `injected` says whether it is to fail.  In its shuffle it has `fetched` from
    these hosts.
    """

    launch: LaunchTask
    state: AttemptState
    started_ms: model.Millis
    ran_ms: model.Millis
    shuffled_ms: model.Millis
    left_ms: model.Millis | None
    done: float
    injected: InjectedFailure | None
    slowness: float
    fetched: tuple[model.NodeId, ...]


class AttemptCheckpointed(Message, frozen=True):
    """Slot to node: the attempt is suspended and I am free."""

    slot: int
    checkpoint: Checkpoint


class ResumeAttempt(Message, frozen=True):
    """Node to slot: run what is left of this attempt."""

    checkpoint: Checkpoint


class FetchOutputs(Message, frozen=True):
    """Slot to job: a reduce waits for the last map output, or resumes its shuffle (`fetching`)."""

    slot_address: int
    attempt: model.AttemptId
    fetching: bool = False


class OutputsReady(Message, frozen=True):
    """Job to slot: all outputs can be fetched, from these hosts (none named without faults)."""

    attempt: model.AttemptId
    hosts: tuple[model.NodeId, ...] = ()


class Fetch(Message, frozen=True):
    """Slot of `node` to the node that has outputs of a job's maps: give me my share."""

    slot_address: int
    node: model.NodeId
    attempt: model.AttemptId
    job: model.JobId


class _OfFetch(Message, frozen=True):
    """About what a reduce fetches from a host."""

    attempt: model.AttemptId
    host: model.NodeId


class Fetched(_OfFetch, frozen=True):
    """Node to a slot that asked: here it is."""


class FetchTimeout(_OfFetch, frozen=True):
    """Slot to itself: if the host has not answered by now, this try has failed (rule T6)."""


class RetryFetch(_OfFetch, frozen=True):
    """Slot to itself: ask the host once more."""


class FetchTrouble(Message, frozen=True):
    """Master to job: a reduce of yours cannot fetch from this host; `running` of them run."""

    host: model.NodeId
    running: int


class DropOutputs(Message, frozen=True):
    """Job to master: whatever outputs of mine this host has are lost."""

    job: model.JobId
    host: model.NodeId


class OutputsObsolete(Message, frozen=True):
    """Job to slot: some map output that was there is not any more (rule T3)."""

    attempt: model.AttemptId
