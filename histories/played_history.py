"""A run as a history: a reader of its events, as others are of files.

What it tells of an attempt, Hadoop 1's JobTracker would have written down: when it began and ended
in its slot, and how, once the master has booked that.
"""

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.events import Outcome
from callboard.histories.model.cluster_history import (
    Ending,
    HistoryJob,
    HistoryTask,
    HostNames,
    HostNumber,
    PlayedAttempt,
)
from callboard.scheduler.model import (
    MAPS,
    SETUP,
    STAGE_NAMES,
    AttemptId,
    JobId,
    Millis,
    NodeId,
)

RESTART_STEP = 1000
"""By so much the numbers of attempts jump with each restart of a master (Hadoop)."""

_ENDINGS: dict[Outcome, Ending] = {
    Outcome.SUCCEEDED: "succeeded",
    Outcome.FAILED: "failed",
    Outcome.KILLED: "killed",
}


class PlayedHistory:
    """All jobs of a run, by their numbers, as its events tell them.  `latency_ms` is how long a
    message takes: a task has ended when those whom it concerns can have heard that it is booked.
    """

    def __init__(self, started: ev.RunStarted, latency_ms: Millis) -> None:
        self.started = started
        self.hosts = HostNames()
        self.jobs: dict[JobId, HistoryJob] = {}
        self._latency_ms = latency_ms
        # Either part sorts as the numbers do.
        self._paths = {
            each.node: f"/rack-{each.rack:09}/node-{each.node:09}" for each in started.nodes
        }
        self._events = 0
        self._open: dict[AttemptId, tuple[HistoryTask, PlayedAttempt]] = {}

    def host_number(self, node: NodeId) -> HostNumber:
        """A node's number among the hosts."""
        return self.hosts.number(self._paths[node])

    def knows_attempt(self, attempt: AttemptId) -> bool:
        """Whether it was ever launched."""
        return attempt in self._open

    def observe(self, event: ev.AnyEvent) -> None:
        """Take the next event in; that nothing is told before it began is checked by others."""
        self._events += 1
        match event:
            case ev.AttemptLaunched():
                self._note_launch(event)
            case ev.AttemptEvent() if event.attempt in self._open:
                self._note_attempt_event(event, *self._open[event.attempt])
            case ev.JobSubmitted():
                self.jobs[event.job] = _submitted_job(event)
            case ev.JobInitialised():
                self.jobs[event.job].launch_ms = event.at_ms
            case ev.JobFinished():
                job = self.jobs[event.job]
                job.finish_ms, job.ending = event.at_ms, _ENDINGS[event.outcome]
            case ev.MapOutputsLost():
                for number in event.attempts:
                    self._note_lost_output(event.at_ms, *self._open[number])
            case ev.RunEnded(reason="complete"):
                self._end_open_attempts(event.at_ms)

    def _note_launch(self, event: ev.AttemptLaunched) -> None:
        job, stage = self.jobs[event.job], event.stage
        found = HistoryTask(start_ms=event.at_ms)
        if stage >= SETUP:
            found.purpose = stage
            task = job.others.setdefault(STAGE_NAMES[stage], found)
        else:
            tasks = job.maps if stage == MAPS else job.reduces
            task = tasks.setdefault(event.task, found)
        number, taken = event.number, {each.name for each in task.launches}
        while str(number) in taken:
            number += RESTART_STEP
        attempt = PlayedAttempt(name=str(number), node=event.node, event=self._events)
        task.launches += (attempt,)
        self._open[event.attempt] = task, attempt

    def _note_attempt_event(
        self, event: ev.AttemptEvent, task: HistoryTask, attempt: PlayedAttempt
    ) -> None:
        match event:
            case ev.AttemptStarted():
                attempt.start_ms, attempt.host = event.at_ms, self.host_number(attempt.node)
                task.attempts.append(attempt)
            case ev.ShuffleEnded():
                attempt.fetched_ms = event.at_ms
            case ev.AttemptEnded():
                attempt.ended_ms = event.at_ms
                _set_attempt_end(attempt)
            case ev.AttemptClosed():
                attempt.booked_ms, attempt.outcome = event.at_ms, _ENDINGS[event.outcome]
                _set_attempt_end(attempt)
                if task.last_success is attempt:
                    task.finish_ms = event.at_ms + self._latency_ms

    def _note_lost_output(self, at_ms: Millis, task: HistoryTask, attempt: PlayedAttempt) -> None:
        if attempt.ending != "succeeded":
            return
        attempt.finish_ms, attempt.ending = at_ms, "killed"
        if task.last_success is attempt:
            task.finish_ms = None

    def _end_open_attempts(self, at_ms: Millis) -> None:
        """A run is over with its last job: what ran then gives way, and nobody hears of it."""
        for _, attempt in self._open.values():
            if attempt.start_ms is not None and attempt.ended_ms is None:
                attempt.ended_ms = attempt.booked_ms = at_ms
                attempt.outcome = "killed"
                _set_attempt_end(attempt)


def _submitted_job(event: ev.JobSubmitted) -> HistoryJob:
    """A job that comes, called by its number, which is its own.  One that takes no time to be
    initialised is launched then, as Hadoop calls that.
    """
    return HistoryJob(
        f"job-{event.job}",
        submit_ms=event.at_ms,
        launch_ms=event.at_ms,
        user=event.user,
        queue=event.pool,
        priority=event.priority,
        maps_told=event.maps,
        reduces_told=event.reduces,
        title=event.name,
    )


def _set_attempt_end(attempt: PlayedAttempt) -> None:
    """It has an end once it really ended and that is booked, whichever comes first."""
    if attempt.ended_ms is not None and attempt.outcome != "unknown":
        attempt.shuffled_ms = attempt.fetched_ms
        attempt.finish_ms, attempt.ending = attempt.ended_ms, attempt.outcome
