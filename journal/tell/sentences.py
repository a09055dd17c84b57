"""Every event as one plain sentence.

An event names its attempt by number only, so a narrator remembers what each live attempt is, and
forgets it when the master has closed it: its memory is that of the cluster, not of the run.
"""

from typing import assert_never

from callboard.actors.network import LinkConditions
from callboard.actors.vocabulary.events import (
    AnyEvent,
    AttemptClosed,
    AttemptEnded,
    AttemptLaunched,
    AttemptResumed,
    AttemptStalled,
    AttemptStarted,
    AttemptSuspended,
    FaultStruck,
    JobBlacklistedNode,
    JobChanged,
    JobFinished,
    JobResubmitted,
    JobSubmitted,
    KillOrdered,
    LaunchExpired,
    MapOutputsLost,
    NodeBlacklisted,
    NodeLost,
    NodeReturned,
    NodeUnblacklisted,
    OrderSwitched,
    Outcome,
    ResumeOrdered,
    RunEnded,
    RunStarted,
    ShuffleEnded,
    Stall,
    StallEnded,
    SuspendOrdered,
)
from callboard.actors.vocabulary.faults import (
    AnyFault,
    Crash,
    Disturb,
    Drain,
    Drift,
    Flaky,
    Hang,
    JobFault,
    KillJob,
    NodeFault,
    Partition,
    PauseMaster,
    PauseNode,
    Restart,
    RestartMaster,
    ResumeMaster,
    ResumeNode,
    SetPool,
    SetPriority,
    Slow,
    StickLaunches,
    SwitchPolicy,
)
from callboard.actors.vocabulary.job_names import job_name, job_title
from callboard.journal.tell.names import (
    LOCALITY_NAMES,
    attempt_name,
    clock,
    count,
    duration,
    node_name,
    printable,
    task_name,
)
from callboard.journal.tell.reason_words import switch_in_words, why_in_words
from callboard.scheduler.model import AttemptId, JobId, Millis, NodeId, Priority, TaskKind

_DONE = {
    Outcome.SUCCEEDED: "succeeded",
    Outcome.FAILED: "failed",
    Outcome.KILLED: "was killed",
}
_ENDINGS = {
    "complete": "the run is complete",
    "until": "the run stops at its time limit",
    "interrupted": "the run was interrupted",
}


class Narrator:
    """Tells events, in their order, each as a sentence without a full stop.

    `tell` is `learn`, `describe`, `forget`; who wants to describe an event without taking it as
    having happened (as `diff` does) calls `describe` alone.  An attempt whose launch was not
    told, or that is closed already, goes by its number.
    """

    def __init__(self) -> None:
        self.attempts: dict[AttemptId, AttemptLaunched] = {}
        self.jobs: dict[JobId, str] = {}
        self._suspended: dict[AttemptId, Millis] = {}

    def tell(self, event: AnyEvent) -> str:
        """What `event` says."""
        self.learn(event)
        sentence = self.describe(event)
        self.forget(event)
        return sentence

    def line(self, event: AnyEvent) -> str:
        """The same with the time before it, as `callboard show` prints it."""
        return f"{clock(event.at_ms)}  {self.tell(event)}"

    def learn(self, event: AnyEvent) -> None:
        """Remember whom later events will speak of."""
        if isinstance(event, AttemptLaunched):
            self.attempts[event.attempt] = event
        elif isinstance(event, JobSubmitted):
            self.jobs[event.job] = event.name
        elif isinstance(event, AttemptSuspended):
            self._suspended[event.attempt] = event.at_ms

    def forget(self, event: AnyEvent) -> None:
        """Drop what has left the system with `event`."""
        if isinstance(event, AttemptClosed):
            self.attempts.pop(event.attempt, None)
            self._suspended.pop(event.attempt, None)
        elif isinstance(event, AttemptResumed):
            self._suspended.pop(event.attempt, None)
        elif isinstance(event, JobFinished):
            self.jobs.pop(event.job, None)

    def subject(self, event: AnyEvent) -> tuple[JobId | None, NodeId | None]:
        """The job and the node that `event` is about, as far as it is about one and known."""
        match event:
            case AttemptLaunched():
                return event.job, event.node
            case MapOutputsLost():
                return event.job, event.node
            case JobBlacklistedNode():
                return event.job, event.node
            case JobSubmitted() | JobFinished() | JobResubmitted() | JobChanged():
                return event.job, None
            case RunStarted() | OrderSwitched() | RunEnded():
                return None, None
            case FaultStruck():
                if isinstance(event.fault, JobFault):
                    return event.fault.job, None
                return None, event.fault.node if isinstance(event.fault, NodeFault) else None
            case NodeLost() | NodeReturned() | NodeBlacklisted() | NodeUnblacklisted():
                return None, event.node
            case _:
                launch = self.attempts.get(event.attempt)
                return (launch.job, launch.node) if launch else (None, None)

    def describe(self, event: AnyEvent) -> str:
        """The sentence, from what is remembered."""
        return printable(self._sentence(event))

    def _sentence(self, event: AnyEvent) -> str:
        match event:
            case RunStarted():
                return _beginning(event)
            case JobSubmitted():
                return f"{self._job(event.job, event.name)} submitted{_particulars(event)}"
            case AttemptLaunched():
                return f"{_task(event)} launched {_place(event)} ({self._launch_reason(event)})"
            case AttemptStarted():
                place = f"{node_name(event.node)}, slot {event.slot}"
                return f"{self._attempt(event.attempt)} starts on {place}"
            case ShuffleEnded():
                return f"{self._attempt(event.attempt)} has all its map outputs"
            case AttemptStalled():
                who = self._attempt(event.attempt) + self._where(event.attempt)
                if event.why is Stall.HANGS:
                    return f"{who} hangs, {100 * event.progress:.0f} % done"
                return f"{who} waits: {event.why}"
            case StallEnded():
                return f"{self._attempt(event.attempt)}{self._where(event.attempt)} finds its input"
            case LaunchExpired():
                who = self._attempt(event.attempt) + self._where(event.attempt)
                return f"the master gives {who} up: its launch has expired"
            case AttemptSuspended():
                where = self._where(event.attempt)
                return f"{self._attempt(event.attempt)} is suspended{where} and keeps its work"
            case AttemptResumed():
                place = f"{node_name(event.node)}, slot {event.slot}"
                since_ms = self._suspended.get(event.attempt)
                after = "" if since_ms is None else f" after {duration(event.at_ms - since_ms)}"
                return f"{self._attempt(event.attempt)} goes on{after} on {place}"
            case AttemptEnded():
                took = duration(event.at_ms - event.started_ms)
                where = self._where(event.attempt)
                done = _DONE[event.outcome]
                spent = ""
                if event.suspended_ms:
                    spent = f", {duration(event.suspended_ms)} of it suspended"
                return f"{self._attempt(event.attempt)} {done}{where} after {took}{spent}"
            case AttemptClosed():
                return f"the master books {self._attempt(event.attempt)} as {event.outcome}"
            case KillOrdered():
                victim = self._attempt(event.attempt) + self._where(event.attempt)
                return f"{victim} must give way ({why_in_words(event.why)})"
            case SuspendOrdered():
                victim = self._attempt(event.attempt) + self._where(event.attempt)
                return f"{victim} must give way and keep its work ({why_in_words(event.why)})"
            case ResumeOrdered():
                held = self._attempt(event.attempt) + self._where(event.attempt)
                return f"{held} may go on ({why_in_words(event.why)})"
            case OrderSwitched():
                change = f"the order changes from {event.was} to {event.now}"
                return f"{change}: {switch_in_words(event)}"
            case FaultStruck():
                return _fault_sentence(event.fault)
            case NodeLost():
                return f"the master gives {node_name(event.node)} up for lost{_silent(event)}"
            case MapOutputsLost():
                maps = f"{count(len(event.attempts), 'map')} of {self._job(event.job)}"
                where = node_name(event.node)
                lost = event.outcome is Outcome.KILLED
                why = f"{where} had the outputs" if lost else f"nobody can fetch from {where}"
                return f"{maps} must run again: {why}"
            case JobChanged():
                pool = f"is in pool {event.pool} and " if event.pool else ""
                return f"{self._job(event.job)} {pool}has {_priority(event.priority)} from now on"
            case JobResubmitted():
                return f"{self._job(event.job)} is submitted again"
            case JobBlacklistedNode():
                job, node = self._job(event.job), node_name(event.node)
                if event.in_force:
                    return f"{job} uses {node} no more: too many of its attempts failed there"
                return f"{job} would shun {node}, but already shuns too many nodes: it uses all"
            case NodeBlacklisted():
                told = f"{node_name(event.node)} is listed as bad, having been shunned by"
                told = f"{told} {count(event.faults, 'job')} that succeeded"
                return f"{told}: it gets no more tasks" if event.in_force else told
            case NodeUnblacklisted():
                return f"{node_name(event.node)} is not listed as bad any more"
            case NodeReturned():
                return f"{node_name(event.node)} joins again"
            case JobFinished():
                took = duration(event.at_ms - event.submitted_ms)
                return f"{self._job(event.job)} {_DONE[event.outcome]} after {took}"
            case RunEnded():
                return _ending(event)
            case _:
                assert_never(event)

    def _launch_reason(self, event: AttemptLaunched) -> str:
        if not event.original:
            return why_in_words(event.why)
        original = self._where(event.original)
        return f"a copy of the one{original}; {why_in_words(event.why, 'of the stragglers')}"

    def _attempt(self, attempt: AttemptId) -> str:
        launch = self.attempts.get(attempt)
        return _task(launch) if launch else attempt_name(attempt)

    def _where(self, attempt: AttemptId) -> str:
        launch = self.attempts.get(attempt)
        return f" on {node_name(launch.node)}" if launch else ""

    def _job(self, job: JobId, name: str = "") -> str:
        name = name or self.jobs.get(job, "")
        return job_title(job, name) if name else job_name(job)


def _task(launch: AttemptLaunched) -> str:
    return task_name(launch.job, launch.kind, launch.task, launch.number)


def _beginning(event: RunStarted) -> str:
    maps = sum(node.map_slots for node in event.nodes)
    reduces = sum(node.reduce_slots for node in event.nodes)
    slots = f"{count(maps, 'map slot')}, {count(reduces, 'reduce slot')}"
    cluster = f"{count(len(event.nodes), 'node')} ({slots})"
    run = f"“{event.name}” under {event.policy}, seed {event.seed}"
    return f"run of {run}, on {cluster}, by Callboard {event.version}"


def _particulars(event: JobSubmitted) -> str:
    by = f" by {event.user}" if event.user else ""
    pool = f"pool {event.pool}, " if event.pool else ""
    tasks = f"{count(event.maps, 'map')}, {count(event.reduces, 'reduce')}"
    return f"{by}: {tasks} ({pool}{_priority(event.priority)})"


def _priority(priority: Priority) -> str:
    return f"{priority.name.lower().replace('_', ' ')} priority"


def _place(event: AttemptLaunched) -> str:
    level = f", {LOCALITY_NAMES[event.level]}" if event.kind is TaskKind.MAP else ""
    return f"on {node_name(event.node)}{level}"


def _fault_sentence(fault: AnyFault) -> str:
    match fault:
        case PauseMaster():
            return "the master stands still"
        case ResumeMaster():
            return "the master goes on"
        case RestartMaster():
            jobs = "submits all jobs again" if fault.recover else "loses all jobs"
            return f"the master starts again, knowing nothing, and {jobs}"
        case _:
            pass
    if isinstance(fault, SwitchPolicy):
        return f"the policy in force is {fault.policy} from now on"
    match fault:
        case KillJob():
            return f"{job_name(fault.job)} is killed by its user"
        case SetPriority():
            return f"{job_name(fault.job)} is given {_priority(fault.priority)}"
        case SetPool():
            return f"{job_name(fault.job)} is put into pool {fault.pool}"
        case _:
            pass
    node = node_name(fault.node)
    match fault:
        case Drain():
            return f"{node} is taken out of service" if fault.out else f"{node} is in service again"
        case Hang():
            if not fault.share:
                return f"attempts that start on {node} hang no more"
            told = f"of the attempts that start on {node} from now on {fault.share:.0%} hang"
            return told if fault.progress is None else f"{told}, {fault.progress:.0%} done"
        case Drift():
            if fault.rate == 1:
                return f"the clock of {node} goes right again"
            return f"the clock of {node} goes {fault.rate:g} times as fast from now on"
        case StickLaunches():
            told = f"of the attempts launched on {node} from now on {fault.share:.0%} never begin"
            return told if fault.share else f"attempts launched on {node} begin again"
        case Flaky():
            told = f"{node} fails {fault.share:.0%} of the attempts that start on it from now on"
            at = fault.progress
            return told if at is None else f"{told}, at {at:.0%} of their way"
        case Crash():
            return f"{node} crashes"
        case Restart():
            return f"{node} starts again, empty"
        case PauseNode():
            return f"{node} stands still"
        case ResumeNode():
            return f"{node} goes on"
        case Slow():
            if fault.factor == 1:
                return f"{node} runs at its own speed again"
            return f"{node} takes {fault.factor:g} times as long from now on"
        case Partition():
            others = count(len(fault.others), "node")
            return f"{node} is cut off from {others}" if others else f"{node} reaches all nodes"
        case Disturb():
            ways = f"up {_link_conditions(fault.up)}, down {_link_conditions(fault.down)}"
            return f"the link between {node} and the master changes: {ways}"
        case _:
            assert_never(fault)


def _link_conditions(way: LinkConditions) -> str:
    """How one direction of a link is."""
    if way.cut:
        return "cut"
    told = [f"loses {way.loss:.0%}"] if way.loss else []
    told += [f"doubles {way.twice:.0%}"] if way.twice else []
    told += [f"delays by {duration(way.delay_ms)} on average"] if way.delay_ms else []
    told += [f"lets others overtake {way.reordered:.0%}"] if way.reordered else []
    return " and ".join(told) or "healthy"


def _silent(lost: NodeLost) -> str:
    if lost.again:
        return ": it has begun anew"
    return f": silent for {duration(lost.at_ms - lost.heard_ms)}"


def _ending(event: RunEnded) -> str:
    ending = _ENDINGS.get(event.reason, f"the run ends ({event.reason})")
    counts = f"{count(event.messages, 'message')}, {count(event.ties, 'tie')}"
    return f"{ending}: {counts}, digest {event.digest}"
