"""What really happens: slots, causes, dead nodes (S1, S7, S12)."""

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.events import Outcome, Stall
from callboard.journal.checks.rule import Handlers, Rule, RunFacts
from callboard.journal.run_changes import EXPIRING, REAL_EVENTS
from callboard.journal.run_records import AttemptRecord, JobRecord
from callboard.scheduler.model import (
    CLEANUP,
    SETUP,
    AttemptId,
    JobId,
    Millis,
    NodeId,
    scheduler_of_attempt,
)


class SlotExclusivity(Rule):
    """S1.  Slots that are held must exist, so there cannot be more of them than the cluster has."""

    id = "S1"
    says = "a slot holds at most one attempt, and an attempt at most one slot, on its own node"

    def begin(self, run_facts: RunFacts) -> None:
        super().begin(run_facts)
        self._held: dict[tuple[NodeId, int], AttemptId] = {}

    def handlers(self) -> Handlers:
        return {
            ev.AttemptStarted: self._check_slot_taken,
            ev.AttemptResumed: self._check_slot_taken,
            ev.AttemptSuspended: self._release_slot,
            ev.AttemptEnded: self._release_slot,
        }

    def _check_slot_taken(self, event: ev.AttemptStarted | ev.AttemptResumed) -> None:
        self.times += 1
        attempt = self.run_state.attempts[event.attempt]
        launch = attempt.launch
        node = self.run_state.nodes[launch.node]
        if event.node != launch.node:
            raise self.violation(event, f"it was launched on node-{launch.node}", attempt)
        maps = node.facts.map_slots
        first, end = (maps, maps + node.facts.reduce_slots) if launch.kind else (0, maps)
        if not first <= event.slot < end:
            raise self.violation(event, f"node-{event.node} has no such slot of this kind", attempt)
        holder = self._held.get((event.node, event.slot))
        if holder is not None:
            raise self.violation(event, f"the slot is held by attempt {holder}", node)
        if attempt.holds_slot:
            raise self.violation(event, "the attempt holds another slot", attempt)
        self._held[event.node, event.slot] = event.attempt

    def _release_slot(self, event: ev.AttemptSuspended | ev.AttemptEnded) -> None:
        attempt = self.run_state.attempts[event.attempt]
        if attempt.holds_slot:
            self.times += isinstance(event, ev.AttemptSuspended)
            del self._held[attempt.launch.node, attempt.slot]


class Causality(Rule):
    """S7.  A slot does what was ordered, the master books what was reported; messages take time."""

    id = "S7"
    says = "nothing has an effect before its cause"

    def begin(self, run_facts: RunFacts) -> None:
        super().begin(run_facts)
        self._least_ms = min(run_facts.latency_ms, 1)  # that a message takes
        self._not_begun: set[AttemptId] = set()
        """Attempts whose nodes can have reported that since they were last told to begin."""
        self._preparing: set[JobId] = set()

    def handlers(self) -> Handlers:
        return {
            ev.AttemptLaunched: self._check_launch,
            ev.AttemptStarted: self._check_start,
            ev.ShuffleEnded: self._started_attempt,
            ev.AttemptStalled: self._note_stuck_launch,
            ev.AttemptSuspended: self._check_was_ordered,
            ev.AttemptResumed: self._check_was_ordered,
            ev.AttemptEnded: self._check_attempt_end,
            ev.AttemptClosed: self._check_attempt_closing,
            ev.LaunchExpired: self._check_launch_expiry,
            ev.KillOrdered: self._launched_attempt,
            ev.SuspendOrdered: self._launched_attempt,
            ev.ResumeOrdered: self._check_resume_order,
            ev.MapOutputsLost: self._check_lost_outputs,
            **dict.fromkeys((ev.NodeLost, ev.ContactLost), self._check_last_contact),
            ev.JobInitialised: self._check_initialisation,
            ev.JobFinished: self._submitted_job,
        }

    def _launched_attempt(self, event: ev.AttemptEvent) -> AttemptRecord | None:
        """The attempt; None for one that is over, which is S3's affair."""
        self.times += 1
        attempt = self.run_state.attempts.get(event.attempt)
        last = self.run_state.last_attempts.get(scheduler_of_attempt(event.attempt), 0)
        if attempt is None and not 0 < event.attempt <= last:
            raise self.violation(event, f"attempt {event.attempt} was never launched")
        return attempt

    def _note_stuck_launch(self, event: ev.AttemptStalled) -> None:
        if event.why is Stall.NOT_BEGUN:
            self._not_begun.add(event.attempt)

    def _check_launch_expiry(self, event: ev.LaunchExpired) -> None:
        attempt = self._launched_attempt(event)
        if attempt and event.attempt not in self._not_begun:
            raise self.violation(event, "nobody can have said that it has not begun", attempt)

    def _submitted_job(
        self, event: ev.AttemptLaunched | ev.JobInitialised | ev.JobFinished
    ) -> JobRecord:
        self.times += 1
        job = self.run_state.jobs.get(event.job)
        if job is None:
            raise self.violation(event, f"job-{event.job} has not been submitted")
        return job

    def _check_initialisation(self, event: ev.JobInitialised) -> None:
        job = self._submitted_job(event)
        if job.open_attempts or any(phase.done for phase in job.phases.values()):
            raise self.violation(event, "tasks of the job have been launched before", job)

    def _check_launch(self, event: ev.AttemptLaunched) -> None:
        job = self._submitted_job(event)
        if event.node not in self.run_state.nodes:
            raise self.violation(event, f"there is no node-{event.node}")
        if event.stage == SETUP:
            self._preparing.add(event.job)
        elif event.stage == CLEANUP:
            if any(phase.done < job.total(stage) for stage, phase in job.phases.items()):
                raise self.violation(event, "some of the job's tasks are not done", job)
        elif event.task >= job.total(event.stage):
            raise self.violation(event, "the job has no such task", job)
        elif event.job in self._preparing:
            raise self.violation(event, "the job is still being set up", job)

    def _check_start(self, event: ev.AttemptStarted) -> None:
        attempt = self._launched_attempt(event)
        if attempt and event.at_ms < attempt.launch.at_ms + self._least_ms:
            raise self.violation(event, f"it was launched at {attempt.launch.at_ms} ms", attempt)

    def _started_attempt(self, event: ev.ShuffleEnded | ev.AttemptEnded) -> AttemptRecord | None:
        attempt = self._launched_attempt(event)
        if attempt and attempt.started is None:
            raise self.violation(event, "the attempt has not started", attempt)
        return attempt

    def _check_was_ordered(self, event: ev.AttemptSuspended | ev.AttemptResumed) -> None:
        attempt, suspended = self._launched_attempt(event), isinstance(event, ev.AttemptSuspended)
        if attempt and not (attempt.suspend_ordered if suspended else attempt.resume_ordered):
            raise self.violation(event, "nobody ordered it", attempt)

    def _check_resume_order(self, event: ev.ResumeOrdered) -> None:
        attempt = self._launched_attempt(event)
        if attempt is None:
            return
        self._not_begun.discard(event.attempt)
        told = attempt.suspended
        if told is None or told.at_ms > event.at_ms - self._least_ms:
            raise self.violation(event, "the master cannot know that it is suspended", attempt)

    def _check_attempt_end(self, event: ev.AttemptEnded) -> None:
        attempt = self._started_attempt(event)
        if attempt is None or attempt.started is None:
            return
        if event.started_ms != attempt.started.at_ms:
            raise self.violation(event, f"it began at {attempt.started.at_ms} ms", attempt)
        node = self.run_state.nodes[attempt.launch.node]
        excused = attempt.kill_ordered or attempt.closed is not None or node.is_down
        excused = excused or self.run_facts.repeats_kills
        if event.outcome is Outcome.KILLED and not excused:
            raise self.violation(event, "nobody ordered it, nor has its node crashed", attempt)

    def _check_attempt_closing(self, event: ev.AttemptClosed) -> None:
        attempt = self._launched_attempt(event)
        if attempt is None:
            return
        self._not_begun.discard(event.attempt)
        if attempt.launch.stage == SETUP and event.outcome is Outcome.SUCCEEDED:
            self._preparing.discard(attempt.launch.job)
        node = self.run_state.nodes[attempt.launch.node]
        forgotten = event.at_ms in (node.lost_ms, self.run_state.restarted_ms)
        if forgotten and event.outcome is Outcome.KILLED:
            return  # given up with its node, or by a master that begins anew
        if attempt.ended is None:
            raise self.violation(event, "it has not ended", attempt)
        if event.at_ms < attempt.ended.at_ms + self._least_ms:
            raise self.violation(event, "the news cannot have come yet", attempt)
        beaten = event.outcome is Outcome.KILLED and attempt.beaten
        expired = event.outcome is Outcome.FAILED and attempt.booked in EXPIRING
        if event.outcome is not attempt.ended.outcome and not (beaten or expired):
            raise self.violation(event, "that is not how it ended", attempt)

    def _check_lost_outputs(self, event: ev.MapOutputsLost) -> None:
        self.times += 1
        job = self.tasks.jobs.get(event.job)
        if job is None or any(each not in job.outputs for each in event.attempts):
            raise self.violation(event, "these maps had left no output there", job)

    def _check_last_contact(self, event: ev.NodeLost | ev.ContactLost) -> None:
        self.times += 1
        if event.heard_ms > event.at_ms:
            raise self.violation(event, "it was heard of later than now")


_GivenUpNode = tuple[NodeId, int]
"""A node, and the scheduler that has given it up; 0 for the master."""


class DeadNodes(Rule):
    """S12.  A node that is down, or paused, does nothing; one that is given up has no attempts of
    those who have given it up: the master, or one scheduler of several.

    A fault may strike between two events of the same instant.
    """

    id = "S12"
    says = "a dead node does nothing, and once given up for lost it has no attempts"
    idle = "no node failed"

    def begin(self, run_facts: RunFacts) -> None:
        super().begin(run_facts)
        self._just_lost: dict[_GivenUpNode, Millis] = {}
        self._out_of_contact: set[_GivenUpNode] = set()

    def handlers(self) -> Handlers:
        return {
            **dict.fromkeys(REAL_EVENTS, self._check_node_is_up),
            ev.JobSubmitted: self._check_earlier_losses,
            ev.RunEnded: self._check_earlier_losses,
            **dict.fromkeys((ev.NodeLost, ev.ContactLost), self._note_node_lost),
            **dict.fromkeys((ev.NodeReturned, ev.ContactRegained), self._note_node_returned),
            ev.AttemptLaunched: self._check_launch,
            ev.AttemptClosed: self._check_attempt_closing,
            ev.FaultStruck: self._forget_losses_of_ended_scheduler,
        }

    def _check_node_is_up(self, event: ev.AttemptEvent) -> None:
        node = self.run_state.nodes[self.run_state.attempts[event.attempt].launch.node]
        if self._just_lost:
            self._check_earlier_losses(event)
        if node.is_down_or_paused:
            self.times += 1
            if event.at_ms > node.since_ms:
                raise self.violation(event, f"it is {node.machine}", node)

    def _note_node_lost(self, event: ev.NodeLost | ev.ContactLost) -> None:
        self._check_earlier_losses(event)
        given = (event.node, _scheduler_concerned(event))
        self._just_lost[given] = event.at_ms
        if isinstance(event, ev.ContactLost):
            if given in self._out_of_contact:
                raise self.violation(event, "it has been given up by it already")
            self._out_of_contact.add(given)

    def _note_node_returned(self, event: ev.NodeReturned | ev.ContactRegained) -> None:
        given = (event.node, _scheduler_concerned(event))
        self._check_no_attempts_left(event, given)
        self._out_of_contact.discard(given)

    def _forget_losses_of_ended_scheduler(self, event: ev.FaultStruck) -> None:
        """A scheduler that ends forgets the nodes it gave up, and knows none when it begins."""
        if isinstance(event.fault, faults.SchedulerFault):
            gone = event.fault.scheduler
            self._out_of_contact = {each for each in self._out_of_contact if each[1] != gone}

    def _check_launch(self, event: ev.AttemptLaunched) -> None:
        node, given = (
            self.run_state.nodes[event.node],
            (event.node, scheduler_of_attempt(event.attempt)),
        )
        if not self._just_lost and not node.is_lost and given not in self._out_of_contact:
            return
        self._check_earlier_losses(event)
        self._check_no_attempts_left(event, given)
        self.times += 1
        if node.is_lost:
            raise self.violation(event, "the node is lost", node)
        if given in self._out_of_contact:
            raise self.violation(event, f"scheduler {given[1]} has given the node up", node)

    def _check_attempt_closing(self, event: ev.AttemptClosed) -> None:
        if not self._just_lost:
            return
        self._check_earlier_losses(event)
        number = self.run_state.attempts[event.attempt].launch.node
        given = (number, scheduler_of_attempt(event.attempt))
        if self.run_state.nodes[number].is_lost or given in self._out_of_contact:
            self.times += 1
            if event.outcome is not Outcome.KILLED:
                raise self.violation(event, "what is lost with a node is killed", number)

    def _check_earlier_losses(self, event: ev.Event) -> None:
        """After the instant of its loss a node has no attempts."""
        for given in [g for g, at_ms in self._just_lost.items() if at_ms < event.at_ms]:
            self._check_no_attempts_left(event, given)

    def _check_no_attempts_left(self, event: ev.Event, given: _GivenUpNode) -> None:
        if self._just_lost.pop(given, None) is None:
            return
        self.times += 1
        number, scheduler = given
        for attempt in self.run_state.attempts.values():
            launch = attempt.launch
            of_it = launch.node == number and scheduler_of_attempt(launch.attempt) == scheduler
            if of_it and attempt.closed is None:
                raise self.violation(event, f"node-{number} is lost and has attempts", attempt)


def _scheduler_concerned(event: ev.NodeEvent) -> int:
    return event.scheduler if isinstance(event, ev.ContactLost | ev.ContactRegained) else 0
