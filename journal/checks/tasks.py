"""Tasks: how often they succeed, how attempts come and go, and what a shuffle needs (S2 to S5)."""

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from math import ceil
from typing import TypeVar

from callboard.actors.config import ATTEMPTS_MAX
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.events import Outcome
from callboard.actors.vocabulary.lifecycle import IllegalTransition
from callboard.journal import run_changes
from callboard.journal.checks.rule import Handlers, Rule, RunFacts
from callboard.journal.run_records import NEVER, AttemptRecord
from callboard.scheduler.model import MAPS, REDUCES, SETUP, scheduler_of_attempt

_E = TypeVar("_E", bound=ev.Event)
_T = TypeVar("_T")


class Successes(Rule):
    """S2.  A map may succeed again after its output was lost; outputs that are lost at the very
    instant of the job's end no longer matter to it.
    """

    id = "S2"
    says = "a task has at most one valid success, and a job that succeeded one of every task"

    def handlers(self) -> Handlers:
        return {
            ev.AttemptClosed: self._check_attempt_closing,
            ev.MapOutputsLost: self._check_lost_outputs,
            ev.JobFinished: self._check_job_end,
        }

    def _check_attempt_closing(self, event: ev.AttemptClosed) -> None:
        if event.outcome is not Outcome.SUCCEEDED:
            return
        self.times += 1
        attempt = self.run_state.attempts[event.attempt]
        if attempt.unseen:
            return
        task = self.tasks.task(attempt.launch)
        if task.valid:
            raise self.violation(event, "its task has succeeded already", attempt, task)

    def _check_lost_outputs(self, event: ev.MapOutputsLost) -> None:
        job = self.tasks.jobs[event.job]
        for attempt in event.attempts:
            self.times += 1
            index, node = job.outputs[attempt]
            task = job.tasks[MAPS][index]
            if node != event.node or task.valid != attempt:
                raise self.violation(event, f"attempt {attempt} is no success there", task)

    def _check_job_end(self, event: ev.JobFinished) -> None:
        if event.outcome is not Outcome.SUCCEEDED:
            return
        self.times += 1
        job, tasks = self.run_state.jobs[event.job], self.tasks.jobs[event.job]
        undone = tasks.undone_now if tasks.undone_ms == event.at_ms else 0
        done = {stage: phase.done for stage, phase in job.phases.items()}
        if (done[MAPS] + undone, done[REDUCES]) != (job.submission.maps, job.submission.reduces):
            raise self.violation(event, "not every task of it has succeeded", job)


class Lifecycles(Rule):
    """S3.  Attempts, really and in the books, jobs and nodes go by `actors.vocabulary.lifecycle`.
    A master does not launch tasks that it knows to be done, or to be of a finished job.
    """

    id = "S3"
    says = "only the allowed transitions, and none from an end"

    def handlers(self) -> Handlers:
        return {
            **dict.fromkeys(run_changes.REAL_EVENTS, self._check_real_transition),
            **dict.fromkeys(run_changes.BOOKED_EVENTS, self._check_booked_transition),
            **dict.fromkeys(
                (ev.JobSubmitted, ev.JobResubmitted, ev.JobFinished), self._check_job_transition
            ),
            **dict.fromkeys((ev.NodeLost, ev.NodeReturned), self._check_node_transition),
            ev.AttemptLaunched: self._check_launch,
        }

    def _check_real_transition(self, event: ev.AttemptEvent) -> None:
        self._check_transition(
            event, run_changes.attempt_state_after, self._remembered_attempt(event)
        )

    def _check_booked_transition(self, event: ev.AttemptEvent) -> None:
        self._check_transition(
            event, run_changes.booked_state_after, self._remembered_attempt(event)
        )

    def _check_job_transition(self, event: ev.JobEvent) -> None:
        self._check_transition(
            event, run_changes.job_state_after, self.run_state.jobs.get(event.job)
        )

    def _check_node_transition(self, event: ev.NodeEvent) -> None:
        after = partial(run_changes.node_state_after, restarted_ms=self.run_state.restarted_ms)
        self._check_transition(event, after, self.run_state.nodes[event.node])

    def _remembered_attempt(self, event: ev.AttemptEvent) -> AttemptRecord:
        attempt = self.run_state.attempts.get(event.attempt)
        if attempt is None:
            raise self.violation(event, f"attempt {event.attempt} has ended and is booked")
        return attempt

    def _check_transition(self, event: _E, after: Callable[[_E, _T], StrEnum], subject: _T) -> None:
        self.times += 1
        try:
            after(event, subject)
        except IllegalTransition as illegal:
            what = f"it is {illegal.state}: no {illegal.change} from there"
            about = () if subject is None else (subject,)
            raise self.violation(event, what, *about) from None

    def _check_launch(self, event: ev.AttemptLaunched) -> None:
        self.times += 1
        job = self.run_state.jobs[event.job]
        if job.finished is not None:
            known_ms = max(job.finished.at_ms, self.run_state.resumed_ms)
            if event.at_ms > known_ms:
                raise self.violation(event, "the job has finished", job)
        if event.stage >= SETUP:
            return
        task = self.tasks.task(event)
        if task.valid:
            raise self.violation(event, "the task is done", task)


class AttemptLimits(Rule):
    """S4.  A second attempt at the same time is a speculative attempt of the first, or the first is
    beaten.  Of a job that has ended more may fail before it is stopped; it ends at the instant of
    the fourth failure, though a second attempt's may be booked before the job has said so.
    """

    id = "S4"
    says = (
        "a task fails at most 4 times; its attempts are numbered, at most two at a time, at most 5"
        " and the killed in all"
    )

    def handlers(self) -> Handlers:
        return {
            ev.AttemptLaunched: self._check_launch,
            ev.AttemptClosed: self._check_attempt_closing,
            ev.MapOutputsLost: self._check_lost_outputs,
        }

    def _check_launch(self, event: ev.AttemptLaunched) -> None:
        self.times += 1
        if event.attempt <= self.run_state.last_attempts.get(
            scheduler_of_attempt(event.attempt), 0
        ):
            raise self.violation(event, f"attempt {event.attempt} is no new number")
        if event.stage >= SETUP:
            return
        task = self.tasks.task(event)
        if event.number != task.launched:
            raise self.violation(
                event, f"it is said to be attempt {event.number} of its task", task
            )
        if task.launched >= ATTEMPTS_MAX + 1 + task.killed:
            raise self.violation(event, "the task has had too many attempts", task)
        others = [self.run_state.attempts[number] for number in task.open]
        others = [each for each in others if not each.beaten]
        if [each.launch.attempt for each in others] != ([event.original] if event.original else []):
            raise self.violation(
                event,
                f"it is said to be the speculative attempt of {event.original}",
                task,
                *others,
            )
        if len(task.open) > 1:
            raise self.violation(event, "two attempts of the task run already", task)
        if event.original and others[0].launch.node == event.node:
            raise self.violation(event, "the task runs on this node already", *others)

    def _check_attempt_closing(self, event: ev.AttemptClosed) -> None:
        self.times += 1
        launch = self.run_state.attempts[event.attempt].launch
        if launch.stage >= SETUP:
            return
        task, ended = self.tasks.task(launch), self.run_state.jobs[launch.job].finished
        if event.outcome is not Outcome.FAILED or task.failed < ATTEMPTS_MAX:
            return
        if ended is None and task.failed_ms != event.at_ms:
            raise self.violation(event, "the task has failed too often", task)

    def _check_lost_outputs(self, event: ev.MapOutputsLost) -> None:
        job, finished = self.tasks.jobs[event.job], self.run_state.jobs[event.job].finished
        for attempt in event.attempts if event.outcome is Outcome.FAILED else ():
            self.times += 1
            index, _ = job.outputs[attempt]
            task = job.tasks[MAPS][index]
            if task.failed >= ATTEMPTS_MAX and finished is None:
                raise self.violation(event, "a map of it has failed too often", task)


class Shuffles(Rule):
    """S5.  A reduce hears after a latency that an output is lost, and may have fetched it by then;
    one that is given up, or whose job has ended, no longer hears.  Maps may be lost after
    slowstart.
    """

    id = "S5"
    says = "no reduce before slowstart, and no end of a shuffle without all map outputs"
    idle = "no job has reduces"

    def begin(self, run_facts: RunFacts) -> None:
        super().begin(run_facts)
        self._slowstart = 0.0 if run_facts.tasks is None else run_facts.tasks.slowstart
        self._latency_ms = run_facts.latency_ms

    def handlers(self) -> Handlers:
        return {ev.AttemptLaunched: self._check_launch, ev.ShuffleEnded: self._check_shuffle_end}

    def _check_launch(self, event: ev.AttemptLaunched) -> None:
        if event.stage != REDUCES:
            return
        self.times += 1
        job = self.run_state.jobs[event.job]
        most_maps = self.tasks.jobs[event.job].most_maps
        if most_maps < ceil(self._slowstart * job.submission.maps):
            raise self.violation(event, f"slowstart is {self._slowstart:g} of the maps", job)

    def _check_shuffle_end(self, event: ev.ShuffleEnded) -> None:
        self.times += 1
        attempt = self.run_state.attempts[event.attempt]
        number = attempt.launch.job
        job, complete_ms = self.run_state.jobs[number], self.tasks.jobs[number].complete_ms
        lack = job.submission.maps - job.phases[MAPS].done
        heard = complete_ms == NEVER or event.at_ms > complete_ms + self._latency_ms
        if lack and heard and job.finished is None and attempt.closed is None:
            raise self.violation(event, f"{lack} of the job's maps are not done", attempt, job)
