"""Every event as one plain sentence.

An event names its attempt by number only: its task and the names of jobs come from the state of the
run before the event.
"""

from collections.abc import Iterable
from typing import Protocol, assert_never

from callboard.actors.network import LinkConditions
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.events import Outcome, Stall
from callboard.actors.vocabulary.job_names import job_name, job_title
from callboard.journal.tell import names
from callboard.journal.tell.names import node_name, priority_name, scheduler_or_cell_name
from callboard.journal.tell.reason_words import switch_in_words, why_in_words
from callboard.scheduler.model import MAPS, STAGE_NAMES, AttemptId, JobId, Millis, NodeId
from callboard.scheduler.text.quantities import and_more, clock, count, duration, printable

_DONE = {
    Outcome.SUCCEEDED: "succeeded",
    Outcome.FAILED: "failed",
    Outcome.KILLED: "was killed",
}
_ENDINGS = {
    "complete": "the run is complete",
    "until": "the run stops at its time limit",
    "interrupted": "the run was interrupted",
    "livelock": "the run is ended, since its preemption goes round",
}


_LOADS_SHOWN = 4


class Known(Protocol):
    """What a sentence has to know of earlier events; `journal.run_state.RunState` knows it."""

    def launch(self, number: AttemptId) -> ev.AttemptLaunched | None:
        """The launch of an attempt; None if it is not remembered."""

    def given_name(self, number: JobId) -> str:
        """The name that its user gave a job; empty for one that is not known."""

    def suspended_ms(self, number: AttemptId) -> Millis | None:
        """Since when an attempt has been suspended."""


_VICTIM = "of the check's victims"
"""Among what a victim has its rank: not in the queue."""


class Narrator:
    """Tells an event as a sentence without a full stop, by what is `known` before it.

    An attempt whose launch is not known, or that is over, goes by its number.
    """

    def __init__(self, known: Known) -> None:
        self._known = known

    def line(self, event: ev.AnyEvent) -> str:
        """The sentence with the time before it, as `callboard show` prints it."""
        return f"{clock(event.at_ms)}  {self.describe(event)}"

    def describe(self, event: ev.AnyEvent) -> str:
        return printable(self._sentence(event))

    def _sentence(self, event: ev.AnyEvent) -> str:
        match event:
            case ev.RunStarted():
                return _run_start_sentence(event)
            case ev.JobSubmitted():
                told = _submission_particulars(event)
                return f"{self._job_title(event.job, event.name)} submitted{told}"
            case ev.JobInitialised():
                return f"{self._job_title(event.job)} has been initialised: its tasks may run"
            case ev.AttemptLaunched():
                launched = f"{_task_name(event)} launched {_launch_place(event)}"
                return f"{launched} ({self._launch_reason(event)})"
            case ev.AttemptStarted():
                return f"{self._attempt_name(event.attempt)} starts on {_slot_text(event)}"
            case ev.ShuffleEnded():
                return f"{self._attempt_name(event.attempt)} has all its map outputs"
            case ev.AttemptStalled(why=Stall.HANGS):
                attempt = self._attempt_and_node(event.attempt)
                return f"{attempt} hangs, {100 * event.progress:.0f} % done"
            case ev.AttemptStalled():
                return f"{self._attempt_and_node(event.attempt)} waits: {event.why}"
            case ev.StallEnded():
                return f"{self._attempt_and_node(event.attempt)} finds its input"
            case ev.LaunchExpired():
                attempt = self._attempt_and_node(event.attempt)
                return f"the master gives {attempt} up: its launch has expired"
            case ev.AttemptSuspended():
                suspended = self._attempt_and_node(event.attempt, " is suspended")
                return f"{suspended} and keeps its work"
            case ev.AttemptResumed():
                since_ms = self._known.suspended_ms(event.attempt)
                after = "" if since_ms is None else f" after {duration(event.at_ms - since_ms)}"
                return f"{self._attempt_name(event.attempt)} goes on{after} on {_slot_text(event)}"
            case ev.AttemptEnded():
                ended = self._attempt_and_node(event.attempt, f" {_DONE[event.outcome]}")
                held = event.suspended_ms
                spent = f", {duration(held)} of it suspended" if held else ""
                return f"{ended} after {duration(event.at_ms - event.started_ms)}{spent}"
            case ev.AttemptClosed():
                who = names.scheduler_name(event.attempt)
                return f"{who} books {self._attempt_name(event.attempt)} as {event.outcome}"
            case ev.KillOrdered():
                victim = self._attempt_and_node(event.attempt)
                return f"{victim} must give way ({why_in_words(event.why, _VICTIM)})"
            case ev.SuspendOrdered():
                victim = self._attempt_and_node(event.attempt)
                why = why_in_words(event.why, _VICTIM)
                return f"{victim} must give way and keep its work ({why})"
            case ev.ResumeOrdered():
                attempt = self._attempt_and_node(event.attempt)
                return f"{attempt} may go on ({why_in_words(event.why)})"
            case ev.OrderSwitched():
                change = f"the order changes from {event.was} to {event.now}"
                return f"{change}: {switch_in_words(event)}"
            case ev.SizeEstimated():
                whole, left = duration(event.size_ms), duration(event.left_ms)
                tasks = f"{STAGE_NAMES[event.stage]}s"
                said = f"the order takes the {tasks} of {self._job_title(event.job)} for {whole}"
                return f"{said} of slot time in all, {left} of it left"
            case ev.ThoughtBegun():
                return self._thought_begun(event)
            case ev.SchedulingAttempted():
                return self._scheduling_attempt(event)
            case ev.NodesProbed():
                return self._nodes_probed(event)
            case ev.ProbesAnswered():
                return self._probes_answered(event)
            case ev.ReservationsSent():
                return self._reservations_sent(event)
            case ev.ReservationsStolen():
                taken = count(event.count, "reservation")
                where = f"that waited on {node_name(event.victim)} behind long work"
                thief = node_name(event.node)
                return f"{thief} takes over {taken} of {self._job_title(event.job)} {where}"
            case ev.FaultStruck():
                return _fault_sentence(event.fault)
            case ev.NodeLost():
                return f"the master gives {node_name(event.node)} up for lost{_silence_text(event)}"
            case ev.ContactLost():
                watcher, node = scheduler_or_cell_name(event.scheduler), node_name(event.node)
                return f"{watcher} gives {node} up{_silence_text(event)}"
            case ev.ContactRegained():
                watcher, node = scheduler_or_cell_name(event.scheduler), node_name(event.node)
                return f"{watcher} hears of {node} again"
            case ev.MapOutputsLost():
                maps = f"{count(len(event.attempts), 'map')} of {self._job_title(event.job)}"
                node, lost = node_name(event.node), event.outcome is Outcome.KILLED
                why = f"{node} had the outputs" if lost else f"nobody can fetch from {node}"
                return f"{maps} must run again: {why}"
            case ev.JobChanged():
                pool = f"is in pool {event.pool} and " if event.pool else ""
                has = f"{pool}has {priority_name(event.priority)} priority"
                return f"{self._job_title(event.job)} {has} from now on"
            case ev.JobResubmitted():
                return f"{self._job_title(event.job)} is submitted again"
            case ev.JobBlacklistedNode():
                job, node = self._job_title(event.job), node_name(event.node)
                if event.in_force:
                    return f"{job} uses {node} no more: too many of its attempts failed there"
                return f"{job} would shun {node}, but already shuns too many nodes: it uses all"
            case ev.NodeBlacklisted():
                jobs = f"{count(event.faults, 'job')} that succeeded"
                told = f"{node_name(event.node)} is listed as bad, having been shunned by {jobs}"
                return f"{told}: it gets no more tasks" if event.in_force else told
            case ev.NodeUnblacklisted():
                return f"{node_name(event.node)} is not listed as bad any more"
            case ev.NodeReturned():
                return f"{node_name(event.node)} joins again"
            case ev.JobFinished():
                took = duration(event.at_ms - event.submitted_ms)
                return f"{self._job_title(event.job)} {_DONE[event.outcome]} after {took}"
            case ev.RunEnded():
                return _run_end_sentence(event)
            case _:
                assert_never(event)

    def _thought_begun(self, event: ev.ThoughtBegun) -> str:
        tasks = count(event.tasks, STAGE_NAMES[event.stage])
        later = "" if event.from_ms == event.at_ms else f"from {clock(event.from_ms)} on "
        thinks = f"scheduler {event.scheduler} thinks {later}for {duration(event.thought_ms)}"
        return f"{thinks} about {tasks} of {self._job_title(event.job)}"

    def _scheduling_attempt(self, event: ev.SchedulingAttempted) -> str:
        tasks = count(event.tasks, STAGE_NAMES[event.stage])
        thought = f"scheduler {event.scheduler} has thought for {duration(event.thought_ms)}"
        return f"{thought} about {tasks} of {self._job_title(event.job)}{_thought_outcome(event)}"

    def _nodes_probed(self, event: ev.NodesProbed) -> str:
        tasks = count(event.tasks, STAGE_NAMES[event.stage])
        asks = f"scheduler {event.scheduler} asks {nodes_shown(event.nodes)} how much waits there"
        return f"{asks}, for {tasks} of {self._job_title(event.job)}"

    def _probes_answered(self, event: ev.ProbesAnswered) -> str:
        tasks = count(event.tasks, STAGE_NAMES[event.stage])
        knows = f"scheduler {event.scheduler} knows for {tasks} of {self._job_title(event.job)}"
        return (
            f"{knows}, {duration(event.at_ms - event.asked_ms)} after asking: {loads_told(event)}"
        )

    def _reservations_sent(self, event: ev.ReservationsSent) -> str:
        what = "placement" if event.long else "reservation"
        nodes = count(len(set(event.nodes)), "node")
        sent = f"sends {count(len(event.nodes), what)} for {STAGE_NAMES[event.stage]}s"
        instead = ""
        if event.refused:
            instead = f", for those that {nodes_shown(event.refused)} refused"
        job = self._job_title(event.job)
        return f"scheduler {event.scheduler} {sent} of {job} to {nodes}{instead}"

    def _launch_reason(self, event: ev.AttemptLaunched) -> str:
        if not event.original:
            return why_in_words(event.why)
        original = self._node_of_attempt(event.original)
        return f"a copy of the one{original}; {why_in_words(event.why, 'of the stragglers')}"

    def _attempt_name(self, attempt: AttemptId) -> str:
        launch = self._known.launch(attempt)
        return _task_name(launch) if launch else names.attempt_name(attempt)

    def _attempt_and_node(self, attempt: AttemptId, does: str = "") -> str:
        """The attempt, what it does, and its node, where that is known."""
        return f"{self._attempt_name(attempt)}{does}{self._node_of_attempt(attempt)}"

    def _node_of_attempt(self, attempt: AttemptId) -> str:
        launch = self._known.launch(attempt)
        return f" on {node_name(launch.node)}" if launch else ""

    def _job_title(self, job: JobId, name: str = "") -> str:
        name = name or self._known.given_name(job)
        return job_title(job, name) if name else job_name(job)


def loads_told(event: ev.ProbesAnswered) -> str:
    """What the probed nodes have told, of those with the least load first."""
    answers = zip(event.loads, event.nodes, strict=True)
    known = sorted((load, node) for load, node in answers if load is not None)
    told = [f"{node_name(node)} {_load_text(load)}" for load, node in known[:_LOADS_SHOWN]]
    told += [f"and {rest} more"] if (rest := len(known) - _LOADS_SHOWN) > 0 else []
    silent = len(event.nodes) - len(known)
    told += [f"{count(silent, 'node')} given up"] if silent else []
    return ", ".join(told)


def _load_text(load: int) -> str:
    return f"has {-load:,} free" if load < 0 else f"has {load:,} waiting"


def nodes_shown(nodes: Iterable[NodeId]) -> str:
    """The first three different ones, and how many more there are."""
    each = list(dict.fromkeys(nodes))
    return and_more(map(node_name, each[:3]), len(each) - 3)


def _thought_outcome(event: ev.SchedulingAttempted) -> str:
    if not event.conflicted:
        return f" and places {len(event.committed):,}" if event.committed else ": there is no room"
    where = nodes_shown(event.conflicted)
    placed = f"places {len(event.committed):,}" if event.committed else "places none"
    return f" and {placed}: {count(len(event.conflicted), 'claim')} in conflict, on {where}"


def _slot_text(event: ev.AttemptStarted | ev.AttemptResumed) -> str:
    return f"{node_name(event.node)}, slot {event.slot}"


def _task_name(launch: ev.AttemptLaunched) -> str:
    return names.launch_name(launch)


def _run_start_sentence(event: ev.RunStarted) -> str:
    maps = sum(node.map_slots for node in event.nodes)
    reduces = sum(node.reduce_slots for node in event.nodes)
    slots = f"{count(maps, 'map slot')}, {count(reduces, 'reduce slot')}"
    cluster = f"{count(len(event.nodes), 'node')} ({slots})"
    run = f"“{event.name}” under {event.policy}, seed {event.seed}"
    return f"run of {run}, on {cluster}, by Callboard {event.version}"


def _submission_particulars(event: ev.JobSubmitted) -> str:
    by = f" by {event.user}" if event.user else ""
    pool = f"pool {event.pool}, " if event.pool else ""
    tasks = f"{count(event.maps, 'map')}, {count(event.reduces, 'reduce')}"
    return f"{by}: {tasks} ({pool}{priority_name(event.priority)} priority)"


def _launch_place(event: ev.AttemptLaunched) -> str:
    level = f", {names.LOCALITY_NAMES[event.level]}" if event.stage == MAPS else ""
    return f"on {node_name(event.node)}{level}"


def _fault_sentence(fault: faults.AnyFault) -> str:
    node = node_name(fault.node) if isinstance(fault, faults.NodeFault) else ""
    match fault:
        case faults.PauseMaster():
            return "the master stands still"
        case faults.ResumeMaster():
            return "the master goes on"
        case faults.RestartMaster():
            jobs = "submits all jobs again" if fault.recover else "loses all jobs"
            return f"the master starts again, knowing nothing, and {jobs}"
        case faults.CrashScheduler():
            return f"scheduler {fault.scheduler} is gone, and what it knew with it"
        case faults.RestartScheduler():
            return f"scheduler {fault.scheduler} is there again, knowing nothing"
        case faults.SwitchPolicy():
            return f"the policy in force is {fault.policy} from now on"
        case faults.KillJob():
            return f"{job_name(fault.job)} is killed by its user"
        case faults.SetPriority():
            return f"{job_name(fault.job)} is given {priority_name(fault.priority)} priority"
        case faults.SetPool():
            return f"{job_name(fault.job)} is put into pool {fault.pool}"
        case faults.Drain():
            return f"{node} is taken out of service" if fault.out else f"{node} is in service again"
        case faults.Hang():
            if not fault.share:
                return f"attempts that start on {node} hang no more"
            told = f"of the attempts that start on {node} from now on {fault.share:.0%} hang"
            return told if fault.progress is None else f"{told}, {fault.progress:.0%} done"
        case faults.Drift():
            if fault.rate == 1:
                return f"the clock of {node} goes right again"
            return f"the clock of {node} goes {fault.rate:g} times as fast from now on"
        case faults.StickLaunches():
            told = f"of the attempts launched on {node} from now on {fault.share:.0%} never begin"
            return told if fault.share else f"attempts launched on {node} begin again"
        case faults.Flaky():
            told = f"{node} fails {fault.share:.0%} of the attempts that start on it from now on"
            at = fault.progress
            return told if at is None else f"{told}, at {at:.0%} of their way"
        case faults.Crash():
            return f"{node} crashes"
        case faults.Restart():
            return f"{node} starts again, empty"
        case faults.PauseNode():
            return f"{node} stands still"
        case faults.ResumeNode():
            return f"{node} goes on"
        case faults.Slow():
            if fault.factor == 1:
                return f"{node} runs at its own speed again"
            return f"{node} takes {fault.factor:g} times as long from now on"
        case faults.Partition():
            others = count(len(fault.others), "node")
            return f"{node} is cut off from {others}" if others else f"{node} reaches all nodes"
        case faults.Disturb():
            ways = f"up {_link_conditions(fault.up)}, down {_link_conditions(fault.down)}"
            return f"the link of {node} changes: {ways}"
        case _:
            assert_never(fault)


def _link_conditions(link: LinkConditions) -> str:
    """How one direction of a link is."""
    if link.cut:
        return "cut"
    told = (
        (link.loss, f"loses {link.loss:.0%}"),
        (link.twice, f"doubles {link.twice:.0%}"),
        (link.delay_ms, f"delays by {duration(link.delay_ms)} on average"),
        (link.reordered, f"lets others overtake {link.reordered:.0%}"),
    )
    return " and ".join(text for is_so, text in told if is_so) or "healthy"


def _silence_text(lost: ev.NodeLost | ev.ContactLost) -> str:
    if lost.again:
        return ": it has begun anew"
    return f": silent for {duration(lost.at_ms - lost.heard_ms)}"


def _run_end_sentence(event: ev.RunEnded) -> str:
    ending = _ENDINGS.get(event.reason, f"the run ends ({event.reason})")
    if event.messages is None or event.ties is None:
        return f"{ending}: messages not measured, digest {event.digest}"
    counts = f"{count(event.messages, 'message')}, {count(event.ties, 'tie')}"
    return f"{ending}: {counts}, digest {event.digest}"
