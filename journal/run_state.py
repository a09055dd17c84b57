"""The state of a run, folded from its events: the one place where that is done.

What really is (by the events of slots, nodes, jobs and the injector) and what the master has booked
stand side by side, each a state of `actors.vocabulary.lifecycle` that moves by its table alone.
Attempts are forgotten when they are over and closed, so apart from the list of jobs the state is of
the size of the cluster.  What needs to know more (figures, rules, a screen) looks at an event
before the state takes it in, or at the attempt that `observe` returns.

A state can be copied cheaply: copies share the records that neither has changed since.
"""

from collections.abc import Callable
from copy import copy
from typing import Any, Self

import msgspec

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary import lifecycle as lc
from callboard.actors.vocabulary.events import UNSEEN_STAGES, Outcome
from callboard.journal import run_changes as changes
from callboard.journal.event_limits import InconsistentEvents
from callboard.journal.run_changes import AFTER_CLOSING, AFTER_END, AFTER_SHUFFLE, AFTER_START
from callboard.journal.run_records import (
    NEVER,
    NO_SLOT,
    AttemptRecord,
    JobRecord,
    NodeRecord,
    PhaseRecord,
)
from callboard.scheduler.model import (
    BLOCK_BITS,
    MAPS,
    STAGES,
    AttemptId,
    JobId,
    Millis,
    NodeId,
)

NO_SUBJECT = -1
"""In place of a job or a node, for an event that is about none."""

_SUCCEEDED, _BOOKED_SUCCEEDED = Outcome.SUCCEEDED, lc.BookedState.SUCCEEDED


class RunState:
    """Everything that is so after the events observed: `index` of them, the last at `now_ms`."""

    def __init__(self) -> None:
        self.started: ev.RunStarted | None = None
        self.ended: ev.RunEnded | None = None
        self.now_ms: Millis = 0
        self.index = 0
        self.policy = ""
        """The one in force."""
        self.policies = 0
        """How many have been put in force since the run began, the same ones anew included."""
        self.paused = False
        """Whether the master is paused."""
        self.resumed_ms: Millis = NEVER
        """When it last went on: at that instant it acts on what it should have known before."""
        self.restarted_ms: Millis = NEVER
        self._backlog: list[faults.Fault] = []
        """What a paused master will hear of when it goes on."""
        self.nodes: dict[NodeId, NodeRecord] = {}
        self.jobs: dict[JobId, JobRecord] = {}
        self.live: dict[JobId, None] = {}
        """Jobs in the system, in the order of their submission."""
        self.attempts: dict[AttemptId, AttemptRecord] = {}
        """Those that are not over, or not closed."""
        self.last_launch: ev.AttemptLaunched | None = None
        """Speculative attempts are left out."""
        self.last_attempts: dict[int, AttemptId] = {}
        """The number of the latest launch of each scheduler."""
        self.levels = [0, 0, 0]
        """Launched maps, by locality."""
        self.busy = [0, 0]
        """Slots held, by kind."""
        self.suspended = 0
        self._version = 0

    def copy(self) -> Self:
        """The same, to be changed independently."""
        twin = copy(self)
        for name, value in vars(self).items():
            if isinstance(value, dict | list):
                vars(twin)[name] = value.copy()
        # Records are older than either from now on, and a change makes a copy.
        self._version = twin._version = self._version + 1
        return twin

    def observe(self, event: ev.AnyEvent) -> AttemptRecord | None:
        """Take in the next event; the attempt that it is about, as it is now.

        Raises IllegalTransition or InconsistentEvents for an event that no run can have there; then
        only its time is kept.
        """
        self.now_ms = event.at_ms
        self.index += 1
        take = TAKE.get(type(event))
        return None if take is None else take(self, event)

    def observe_if_possible(self, event: ev.AnyEvent) -> AttemptRecord | None:
        """Take in the next event, or ignore one that no run can have there."""
        try:
            return self.observe(event)
        except (lc.IllegalTransition, InconsistentEvents):
            return None

    # What is asked of it.

    def job_and_node_of(self, event: ev.AnyEvent) -> tuple[JobId, NodeId]:
        """The job and the node that an event is about, before the state has taken it in."""
        about: object = event
        if isinstance(event, ev.AttemptEvent):
            attempt = self.attempts.get(event.attempt)
            about = event if attempt is None else attempt.launch
        elif isinstance(event, ev.FaultStruck):
            about = event.fault
        return getattr(about, "job", NO_SUBJECT), getattr(about, "node", NO_SUBJECT)

    def launch(self, number: AttemptId) -> ev.AttemptLaunched | None:
        """The launch of an attempt; None if it is not remembered."""
        attempt = self.attempts.get(number)
        return None if attempt is None else attempt.launch

    def given_name(self, number: JobId) -> str:
        """The name that its user gave a job; empty for one that is not known."""
        job = self.jobs.get(number)
        return "" if job is None else job.submission.name

    def suspended_ms(self, number: AttemptId) -> Millis | None:
        """Since when an attempt has been suspended, or was last."""
        attempt = self.attempts.get(number)
        told = None if attempt is None else attempt.suspended
        return None if told is None else told.at_ms

    def _attempt_to_change(self, number: AttemptId) -> AttemptRecord:
        attempt = self.attempts.get(number)
        if attempt is None:
            raise InconsistentEvents(f"attempt {number} was never launched, or is over")
        if attempt.version != self._version:
            attempt = msgspec.structs.replace(attempt, version=self._version)
            self.attempts[number] = attempt
        return attempt

    def _job_to_change(self, number: JobId) -> JobRecord:
        job = self.jobs.get(number)
        if job is None:
            raise InconsistentEvents(f"job {number} was never submitted")
        if job.version != self._version:
            job = self.jobs[number] = job.changeable_copy(self._version)
        return job

    # The run, and its jobs.

    def _run_started(self, event: ev.RunStarted) -> None:
        self.started = event
        self.policy = event.policy
        self.nodes = {facts.node: NodeRecord(facts) for facts in event.nodes}

    def _run_ended(self, event: ev.RunEnded) -> None:
        self.ended = event

    def _job_submitted(self, event: ev.JobSubmitted) -> None:
        state = changes.job_state_after(event, self.jobs.get(event.job))
        self.jobs[event.job] = JobRecord(event, self._version, event.pool, event.priority, state)
        self.live[event.job] = None

    def _job_changed(self, event: ev.JobChanged) -> None:
        job = self._job_to_change(event.job)
        job.pool, job.priority = event.pool, event.priority

    def _size_estimated(self, event: ev.SizeEstimated) -> None:
        self._job_to_change(event.job).phases[event.stage].estimated_ms = event.size_ms

    def _job_resubmitted(self, event: ev.JobResubmitted) -> None:
        """All of it runs again."""
        job = self._job_to_change(event.job)
        job.state = changes.job_state_after(event, job)
        for phase in job.phases.values():
            phase.done, phase.lost = 0, phase.lost + phase.done

    def _outputs_lost(self, event: ev.MapOutputsLost) -> None:
        maps, count = self._job_to_change(event.job).phases[MAPS], len(event.attempts)
        maps.done -= count
        maps.lost += count

    def _job_finished(self, event: ev.JobFinished) -> None:
        job = self._job_to_change(event.job)
        job.state, job.finished = changes.job_state_after(event, job), event
        self.live.pop(event.job, None)

    # Attempts, in the master's books.  Of what comes for every task nothing is called that its
    # few lines can say: these six events are nearly all of a run.

    def _attempt_launched(self, event: ev.AttemptLaunched) -> AttemptRecord:
        number, kind = event.attempt, event.kind
        job = self.jobs.get(event.job)
        if job is None or job.version != self._version:
            job = self._job_to_change(event.job)
        if number in self.attempts:
            raise InconsistentEvents(f"attempt {number} was launched before")
        if event.node not in self.nodes and self.started is not None:
            raise _unknown_node_error(event.node)
        attempt = self.attempts[number] = AttemptRecord(event, self._version)
        self.last_attempts[number >> BLOCK_BITS] = number
        if event.why.reason in UNSEEN_STAGES:
            attempt.unseen = True
            job.unseen += 1
            return attempt
        phase = job.phases[STAGES[kind]]
        phase.open += 1
        if event.original:
            job.speculative += 1
            self._pair_with_original(attempt, phase)
        else:
            job.last_launch = self.last_launch = event
        if job.first_launch_ms is None:
            job.first_launch_ms = event.at_ms
        if not kind:
            job.levels[event.level] += 1
            self.levels[event.level] += 1
        return attempt

    def _pair_with_original(self, attempt: AttemptRecord, phase: PhaseRecord) -> None:
        """A speculative attempt runs beside its original, or alone if that is over."""
        launch = attempt.launch
        original = self._attempt_still_competing(launch.original)
        if original is not None:
            phase.spare += 1
            original.rival, attempt.rival = launch.attempt, launch.original

    def _attempt_still_competing(self, number: AttemptId) -> AttemptRecord | None:
        """An attempt that may still do its task, to be changed."""
        if number not in self.attempts:
            return None
        attempt = self._attempt_to_change(number)
        return None if attempt.closed is not None or attempt.beaten else attempt

    def _order_booked(self, event: ev.AttemptEvent) -> AttemptRecord:
        attempt = self._attempt_to_change(event.attempt)
        attempt.booked = changes.booked_state_after(event, attempt)
        match event:
            case ev.KillOrdered():
                attempt.kill_ordered = True
                attempt.reclaimed = attempt.reclaimed or changes.is_reclaim(event)
            case ev.SuspendOrdered():
                attempt.suspend_ordered = True
            case ev.ResumeOrdered():
                attempt.suspend_ordered, attempt.resume_ordered = False, True
        match event:
            case ev.KillOrdered() | ev.SuspendOrdered() if not event.why.reason.is_the_masters:
                job = self._job_to_change(attempt.launch.job)
                job.preempted += 1
                job.last_preemption = event
        return attempt

    def _attempt_closed(self, event: ev.AttemptClosed) -> AttemptRecord:
        attempt, outcome = self.attempts.get(event.attempt), event.outcome
        if attempt is None or attempt.version != self._version:
            attempt = self._attempt_to_change(event.attempt)
        after = AFTER_CLOSING[outcome].get(attempt.booked)
        attempt.booked = after or changes.booked_state_after(event, attempt)
        attempt.closed = event
        launch = attempt.launch
        job = self.jobs[launch.job]
        if job.version != self._version:
            job = self._job_to_change(launch.job)
        phase = job.phases[STAGES[launch.kind]]
        is_over = attempt.ended is not None
        held_ms = attempt.held_ms if is_over else attempt.held_ms_until(event.at_ms)
        if attempt.rival:
            self._decide_between_rivals(attempt, phase)
        if attempt.unseen:
            job.unseen -= 1
        else:
            phase.open -= 1
        if outcome is not _SUCCEEDED:
            job.wasted_ms += held_ms
        elif not attempt.unseen:
            phase.done += 1
            phase.held_ms += held_ms
            if attempt.fetching_ms:
                phase.fetching_ms += attempt.fetching_ms
        if is_over:
            del self.attempts[event.attempt]
        return attempt

    def _decide_between_rivals(self, attempt: AttemptRecord, phase: PhaseRecord) -> None:
        """One of two attempts of a task is closed: it has beaten the other, or leaves the task to
        it.
        """
        rival = self._attempt_still_competing(attempt.rival)
        if rival is not None and attempt.booked is _BOOKED_SUCCEEDED:
            rival.beaten = True
        elif rival is not None or attempt.beaten:
            phase.spare -= 1

    # Attempts, as they really go.

    def _attempt_with_next_state(self, event: ev.AttemptEvent) -> AttemptRecord:
        attempt = self._attempt_to_change(event.attempt)
        attempt.state = changes.attempt_state_after(event, attempt)
        return attempt

    def _attempt_started(self, event: ev.AttemptStarted) -> AttemptRecord:
        attempt = self.attempts.get(event.attempt)
        if attempt is None or attempt.version != self._version:
            attempt = self._attempt_to_change(event.attempt)
        self._check_slot_exists(event)
        kind = attempt.launch.kind
        after = AFTER_START[MAPS if attempt.unseen else STAGES[kind]].get(attempt.state)
        attempt.state = after or changes.attempt_state_after(event, attempt)
        attempt.started = event
        attempt.slot = event.slot
        attempt.began_ms = event.at_ms
        self.busy[kind] += 1
        return attempt

    def _shuffle_ended(self, event: ev.ShuffleEnded) -> AttemptRecord:
        attempt = self.attempts.get(event.attempt)
        if attempt is None or attempt.version != self._version:
            attempt = self._attempt_to_change(event.attempt)
        after = AFTER_SHUFFLE.get(attempt.state)
        attempt.state = after or changes.attempt_state_after(event, attempt)
        attempt.shuffled, attempt.fetching_ms = event, attempt.held_ms_until(event.at_ms)
        return attempt

    def _attempt_stalled(self, event: ev.AttemptStalled) -> AttemptRecord:
        attempt = self._attempt_with_next_state(event)
        attempt.stalled = event
        return attempt

    def _attempt_suspended(self, event: ev.AttemptSuspended) -> AttemptRecord:
        attempt = self._attempt_with_next_state(event)
        attempt.suspended, attempt.left_ms = event, event.at_ms
        attempt.held_ms += event.at_ms - attempt.began_ms
        self.busy[attempt.launch.kind] -= 1
        self._count_suspended(attempt, 1)
        return attempt

    def _attempt_resumed(self, event: ev.AttemptResumed) -> AttemptRecord:
        self._check_slot_exists(event)
        attempt = self._attempt_with_next_state(event)
        attempt.resume_ordered = False
        attempt.slot, attempt.began_ms, attempt.left_ms = event.slot, event.at_ms, NEVER
        self.busy[attempt.launch.kind] += 1
        self._count_suspended(attempt, -1)
        return attempt

    def _attempt_ended(self, event: ev.AttemptEnded) -> AttemptRecord:
        attempt = self.attempts.get(event.attempt)
        if attempt is None or attempt.version != self._version:
            attempt = self._attempt_to_change(event.attempt)
        after = AFTER_END[event.outcome].get(attempt.state)
        attempt.state = after or changes.attempt_state_after(event, attempt)
        if attempt.left_ms == NEVER:
            at_ms = event.at_ms
            attempt.held_ms += at_ms - attempt.began_ms
            attempt.left_ms = at_ms
            self.busy[attempt.launch.kind] -= 1
        else:
            attempt.slot = NO_SLOT
            self._count_suspended(attempt, -1)
        attempt.ended = event
        if attempt.closed is not None:
            del self.attempts[event.attempt]
        return attempt

    def _count_suspended(self, attempt: AttemptRecord, change: int) -> None:
        self.suspended += change
        self._job_to_change(attempt.launch.job).suspended += change

    # Nodes, and the master.

    def _known_node(self, number: NodeId) -> NodeRecord:
        node = self.nodes.get(number)
        if node is None:
            raise _unknown_node_error(number)
        return node

    def _check_slot_exists(self, event: ev.AttemptStarted | ev.AttemptResumed) -> None:
        """Where the nodes are known, since figures may be made of events without their start."""
        if self.started is None:
            return
        facts = self._known_node(event.node).facts
        if not 0 <= event.slot < facts.map_slots + facts.reduce_slots:
            raise InconsistentEvents(f"node {event.node} has no slot {event.slot}")

    def _node_lost(self, event: ev.NodeLost) -> None:
        node = self._known_node(event.node)
        booked = changes.node_state_after(event, node, self.restarted_ms)
        self.nodes[event.node] = msgspec.structs.replace(node, booked=booked, lost_ms=event.at_ms)

    def _node_returned(self, event: ev.NodeReturned) -> None:
        node = self._known_node(event.node)
        booked = changes.node_state_after(event, node, self.restarted_ms)
        self.nodes[event.node] = msgspec.structs.replace(node, booked=booked)

    def _contact_lost(self, event: ev.ContactLost) -> None:
        """One scheduler of several has given it up: for the others the node is where it was."""
        node = self._known_node(event.node)
        by = node.given_up_by | {event.scheduler}
        self.nodes[event.node] = msgspec.structs.replace(node, lost_ms=event.at_ms, given_up_by=by)

    def _contact_regained(self, event: ev.ContactRegained) -> None:
        node = self._known_node(event.node)
        by = node.given_up_by - {event.scheduler}
        self.nodes[event.node] = msgspec.structs.replace(node, given_up_by=by)

    def _fault_struck(self, event: ev.FaultStruck) -> None:
        match event.fault:
            case faults.NodeFault() as fault:
                self.nodes[fault.node] = self._known_node(fault.node).after_fault(
                    fault, event.at_ms
                )
            case faults.PauseMaster():
                self.paused = True
            case faults.ResumeMaster() if self.paused:
                self.paused, self.resumed_ms = False, event.at_ms
            case faults.RestartMaster() | faults.SwitchPolicy() as fault:
                self._backlog.append(fault)
            case faults.CrashScheduler() as fault:
                self.restarted_ms = event.at_ms
                for number, node in self.nodes.items():  # what it knew of them is gone with it
                    if fault.scheduler in node.given_up_by:
                        by = node.given_up_by - {fault.scheduler}
                        self.nodes[number] = msgspec.structs.replace(node, given_up_by=by)
            case _:
                return  # what comes of it is told by other events
        if self._backlog and not self.paused:
            self._switch_or_restart_master(event.at_ms)

    @property
    def policy_to_come(self) -> str:
        """The policy in force, or that which a paused master will put in force."""
        told = (
            each.policy for each in reversed(self._backlog) if isinstance(each, faults.SwitchPolicy)
        )
        return next(told, self.policy)

    def _switch_or_restart_master(self, at_ms: Millis) -> None:
        """The master changes its policy or restarts; a restarted one knows of no lost nodes."""
        told, self._backlog = self._backlog, []
        self.policies += len(told)
        for fault in told:
            if isinstance(fault, faults.SwitchPolicy):
                self.policy = fault.policy
                continue
            self.restarted_ms = at_ms
            for number, node in self.nodes.items():
                forgotten = lc.step(lc.BOOKED_NODE, node.booked, lc.BookedNodeChange.FORGET)
                joined = lc.step(lc.BOOKED_NODE, forgotten, lc.BookedNodeChange.JOIN)
                self.nodes[number] = msgspec.structs.replace(node, booked=joined)


TAKE: dict[type[ev.AnyEvent], Callable[[RunState, Any], AttemptRecord | None]] = {
    ev.RunStarted: RunState._run_started,
    ev.RunEnded: RunState._run_ended,
    ev.JobSubmitted: RunState._job_submitted,
    ev.JobChanged: RunState._job_changed,
    ev.SizeEstimated: RunState._size_estimated,
    ev.JobResubmitted: RunState._job_resubmitted,
    ev.MapOutputsLost: RunState._outputs_lost,
    ev.JobFinished: RunState._job_finished,
    ev.AttemptLaunched: RunState._attempt_launched,
    ev.KillOrdered: RunState._order_booked,
    ev.SuspendOrdered: RunState._order_booked,
    ev.ResumeOrdered: RunState._order_booked,
    ev.LaunchExpired: RunState._order_booked,
    ev.AttemptClosed: RunState._attempt_closed,
    ev.AttemptStarted: RunState._attempt_started,
    ev.ShuffleEnded: RunState._shuffle_ended,
    ev.AttemptStalled: RunState._attempt_stalled,
    ev.StallEnded: RunState._attempt_with_next_state,
    ev.AttemptSuspended: RunState._attempt_suspended,
    ev.AttemptResumed: RunState._attempt_resumed,
    ev.AttemptEnded: RunState._attempt_ended,
    ev.NodeLost: RunState._node_lost,
    ev.NodeReturned: RunState._node_returned,
    ev.ContactLost: RunState._contact_lost,
    ev.ContactRegained: RunState._contact_regained,
    ev.FaultStruck: RunState._fault_struck,
}
"""What each event changes; all others change nothing of this."""


def _unknown_node_error(number: NodeId) -> InconsistentEvents:
    return InconsistentEvents(f"there is no node {number}")
