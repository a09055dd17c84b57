"""A run as other systems' histories tell one: jobs, their tasks, and the times of each attempt."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.events import Outcome
from callboard.scheduler.model import (
    KINDS,
    MAP,
    SETUP,
    AttemptId,
    JobId,
    Millis,
    NodeId,
    SlotKind,
    Stage,
)

RESTART_STEP = 1000
"""By so much the numbers of attempts jump with each restart of a master (Hadoop)."""


@dataclass(slots=True)
class PlayedAttempt:
    """An attempt that really ran; `booked_ms` is when the master learnt of its end."""

    number: int
    node: NodeId
    launched_ms: Millis
    started_ms: Millis | None = None
    shuffled_ms: Millis | None = None
    ended_ms: Millis | None = None
    booked_ms: Millis | None = None
    outcome: Outcome | None = None
    lost_ms: Millis | None = None
    """When it was booked as lost, having succeeded."""

    @property
    def succeeded(self) -> bool:
        return self.outcome is Outcome.SUCCEEDED


@dataclass(slots=True)
class PlayedTask:
    """A task of a stage, or what sets its job up or cleans up after it, and its attempts, in the
    order of their launches.
    """

    stage: Stage
    number: int
    attempts: list[PlayedAttempt] = field(default_factory=list)

    @property
    def best(self) -> PlayedAttempt | None:
        """The last that succeeded."""
        return next((each for each in reversed(self.attempts) if each.succeeded), None)


@dataclass(slots=True)
class PlayedJob:
    """A job, its maps and reduces that were ever launched, and its setup and cleanup.  It was
    `initialised` if that took time.
    """

    submitted: ev.JobSubmitted
    initialised: ev.JobInitialised | None = None
    finished: ev.JobFinished | None = None
    tasks: dict[tuple[Stage, int], PlayedTask] = field(default_factory=dict)
    unseen: dict[Stage, PlayedTask] = field(default_factory=dict)

    @property
    def launched_ms(self) -> Millis:
        """When it had been initialised, which Hadoop calls its launch."""
        return (self.initialised or self.submitted).at_ms

    def of(self, stage: Stage) -> list[PlayedTask]:
        """The stage's tasks that were ever launched, by number."""
        found = [task for task in self.tasks.values() if task.stage == stage]
        return sorted(found, key=lambda task: task.number)

    def every(self) -> Iterator[PlayedTask]:
        """All tasks, setup and cleanup too."""
        yield from self.unseen.values()
        yield from self.tasks.values()


class PlayedHistory:
    """All jobs of a run, by their numbers, as its events tell them.  `latency_ms` is how long a
    message takes.
    """

    def __init__(self, started: ev.RunStarted, latency_ms: Millis) -> None:
        self.started = started
        self.latency_ms = latency_ms
        self.jobs: dict[JobId, PlayedJob] = {}
        self._open: dict[AttemptId, PlayedAttempt] = {}

    def slots(self, kind: SlotKind) -> int:
        """All slots of a kind."""
        nodes = self.started.nodes
        return sum(node.map_slots if kind is MAP else node.reduce_slots for node in nodes)

    @property
    def all_slots(self) -> int:
        return sum(map(self.slots, KINDS))

    def knows(self, attempt: AttemptId) -> bool:
        """Whether it was ever launched."""
        return attempt in self._open

    def observe(self, event: ev.AnyEvent) -> None:
        """Take the next event in; that nothing is told before it began is checked by others."""
        match event:
            case ev.JobSubmitted():
                self.jobs[event.job] = PlayedJob(event)
            case ev.JobInitialised():
                self.jobs[event.job].initialised = event
            case ev.JobFinished():
                self.jobs[event.job].finished = event
            case ev.AttemptLaunched():
                self._launched(event)
            case ev.AttemptStarted() if event.attempt in self._open:
                self._open[event.attempt].started_ms = event.at_ms
            case ev.ShuffleEnded() if event.attempt in self._open:
                self._open[event.attempt].shuffled_ms = event.at_ms
            case ev.AttemptEnded() if event.attempt in self._open:
                self._open[event.attempt].ended_ms = event.at_ms
            case ev.AttemptClosed() if event.attempt in self._open:
                attempt = self._open[event.attempt]
                attempt.booked_ms, attempt.outcome = event.at_ms, event.outcome
            case ev.MapOutputsLost():
                for number in event.attempts:
                    self._open[number].lost_ms = event.at_ms
            case ev.RunEnded(reason="complete"):
                self._give_way(event.at_ms)

    def _give_way(self, at_ms: Millis) -> None:
        """A run is over with its last job: what ran then gives way, and nobody hears of it."""
        for attempt in self._open.values():
            if attempt.started_ms is not None and attempt.ended_ms is None:
                attempt.ended_ms = attempt.booked_ms = at_ms
                attempt.outcome = Outcome.KILLED

    def _launched(self, event: ev.AttemptLaunched) -> None:
        job, stage = self.jobs[event.job], event.stage
        found = PlayedTask(stage, event.task)
        if stage >= SETUP:
            task = job.unseen.setdefault(stage, found)
        else:
            task = job.tasks.setdefault((stage, event.task), found)
        number, taken = event.number, {each.number for each in task.attempts}
        while number in taken:
            number += RESTART_STEP
        attempt = self._open[event.attempt] = PlayedAttempt(number, event.node, event.at_ms)
        task.attempts.append(attempt)
