"""Every message, by conversation: imperatives are orders or requests, past tenses are facts."""

from callboard.actors.config import ATTEMPTS_MAX
from callboard.actors.kernel.message import Message
from callboard.actors.vocabulary.events import Outcome
from callboard.actors.vocabulary.lifecycle import AttemptState
from callboard.scheduler import model
from callboard.scheduler.reasons import Reason

# What an attempt has to do: the job writes it, the slot reads it; the master only passes it on.


class TaskAnomalies(Message, frozen=True):
    """What is wrong with single tasks of a stage, wherever they run (see `JobSpec`)."""

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


class PlainWork(Message, frozen=True):
    """A task that sets a job up or cleans up after it: `ms` at speed 1."""

    ms: model.Millis


AnyWork = MapWork | ReduceWork | PlainWork


# Submission and the life of a job.


class SubmissionDue(Message, frozen=True):
    """Client to itself: the next job's submission is due."""


class EnterSystem(Message, frozen=True):
    """Client to a new job: enter the system."""


class JobProfile(Message, frozen=True):
    """What schedulers may know of a job from the start; `tasks` is how many each stage has, and
    `demands` what each of them takes besides its slot, by name.  Its tasks may run only on nodes of
    the types `only_on`, if it names any, and it fails when one of them has failed `max_attempts`
    times.
    """

    user: str
    pool: str
    priority: model.Priority
    tasks: tuple[int, ...]
    demands: tuple[tuple[tuple[str, int], ...], ...] = ()
    only_on: tuple[str, ...] = ()
    max_attempts: int = ATTEMPTS_MAX

    def demand(self, stage: model.Stage) -> tuple[tuple[str, int], ...]:
        """What a task of the stage takes besides its slot, by name."""
        return self.demands[stage] if stage < len(self.demands) else ()


class AnnounceJob(Message, frozen=True):
    """Job to its scheduler: I am here, and shall ask for tasks once I have been initialised."""

    job: model.JobId
    profile: JobProfile


class InitialisationDue(Message, frozen=True):
    """Job to itself: its initialisation is over at this instant."""


class InitialisationOver(Message, frozen=True):
    """Job to itself, a round later, when jobs act: it may ask for tasks."""


class SubmitStage(Message, frozen=True):
    """Job to its scheduler: the tasks of this stage may run now.  `replicas` holds `replication`
    node numbers for each map, -1 where there are fewer, as little-endian 32-bit integers: one
    message, no 90,000 objects.
    """

    job: model.JobId
    profile: JobProfile
    stage: model.Stage
    work: AnyWork
    replication: int = 0
    replicas: bytes = b""


class RunAgain(Message, frozen=True):
    """Job to its scheduler: an attempt of this task failed or was lost; it may run again now."""

    job: model.JobId
    stage: model.Stage
    task: model.TaskIndex


class AttemptBooked(Message, frozen=True):
    """Scheduler to job: an attempt of yours has ended.  `alone` says that no other of its task
    runs, `exhausted` that the task has failed too often.
    """

    attempt: model.AttemptId
    stage: model.Stage
    task: model.TaskIndex
    node: model.NodeId
    outcome: Outcome
    alone: bool = True
    exhausted: bool = False


class OutputsLost(Message, frozen=True):
    """Scheduler to job: these maps' outputs are gone (rule T2), or cannot be fetched, with which
    one of the maps may have failed too often (`exhausted`).
    """

    tasks: tuple[model.TaskIndex, ...]
    exhausted: bool = False


class SchedulerRestarted(Message, frozen=True):
    """Scheduler to job: I have started again and know nothing of you; be resubmitted, or lost."""

    recover: bool


class SchedulerGone(Message, frozen=True):
    """From the machine of a scheduler whose process has ended, to jobs and nodes that were
    connected with it, or that try to be: there is nobody at this address.
    """

    scheduler: int


class SubmitElsewhere(Message, frozen=True):
    """Job to itself: time to be submitted to another scheduler."""


class StopAttempt(Message, frozen=True):
    """Scheduler to itself: another attempt has replaced this one; kill it when this instant's
    reports have been heard.
    """

    attempt: model.AttemptId
    reason: Reason


class JobDone(Message, frozen=True):
    """Job to its scheduler and to the client: I have ended."""

    job: model.JobId
    outcome: Outcome


# What a node tells its schedulers, and what they order.


class EndReport(Message, frozen=True):
    """Node to scheduler: an attempt has ended; `shuffled_ms` of `ran_ms` were its shuffle's."""

    attempt: model.AttemptId
    outcome: Outcome
    ran_ms: model.Millis
    shuffled_ms: model.Millis
    cause: int


class SuspensionReport(Message, frozen=True):
    """Node to scheduler: an attempt is suspended; the times are as in `EndReport`."""

    attempt: model.AttemptId
    ran_ms: model.Millis
    shuffled_ms: model.Millis
    cause: int


class FetchFailure(Message, frozen=True):
    """Slot to node, then to a scheduler: a reduce of `job` cannot fetch from `host`."""

    job: model.JobId
    host: model.NodeId
    cause: int


class _OfAttempt(Message, frozen=True):
    """About an attempt; `cause` is the event that brought it about."""

    attempt: model.AttemptId
    cause: int


class NotBegun(_OfAttempt, frozen=True):
    """Slot to node, then to a scheduler: a launch is stuck (Hadoop: UNASSIGNED)."""


class AttemptProgress(Message, frozen=True):
    """Node to scheduler: how far an attempt is (`done`: `scheduler.view.AttemptView.progress`)."""

    attempt: model.AttemptId
    ran_ms: model.Millis
    shuffled_ms: model.Millis
    done: float


AnyReport = EndReport | SuspensionReport | FetchFailure | NotBegun
"""What a node tells, once."""


class LaunchTask(Message, frozen=True):
    """Scheduler to node, then to a slot: run this attempt, the task's `number`th from 0."""

    attempt: model.AttemptId
    job: model.JobId
    stage: model.Stage
    kind: model.SlotKind
    task: model.TaskIndex
    number: int
    level: model.Locality
    work: AnyWork
    tracked: bool
    cause: int


class KillTask(_OfAttempt, frozen=True):
    """Scheduler to node, then to its slot: stop this attempt."""


class SuspendTask(_OfAttempt, frozen=True):
    """Scheduler to node, then to its slot: hand a checkpoint of this attempt to the node."""


class ResumeTask(_OfAttempt, frozen=True):
    """Scheduler to node: put this suspended attempt into a free slot of its kind."""


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
    """Scheduler to job: a reduce of yours cannot fetch from this host; `running` of them run."""

    host: model.NodeId
    running: int


class GivenUp(Message, frozen=True):
    """Scheduler to job: there has been no room for all of your tasks for too long."""

    job: model.JobId


class DropOutputs(Message, frozen=True):
    """Job to its scheduler: all my outputs on this host are lost."""

    job: model.JobId
    host: model.NodeId


class OutputsObsolete(Message, frozen=True):
    """Job to slot: some map output that was there is not any more (rule T3)."""

    attempt: model.AttemptId
