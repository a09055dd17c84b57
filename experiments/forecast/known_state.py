"""What is known of a run at an instant, and no more: which jobs have come and gone, which tasks
have ended, and for how long others have run.
"""

from collections.abc import Sequence

import msgspec

from callboard.actors.config import node_facts
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.events import AnyEvent, Outcome
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.simulation import Simulation
from callboard.scheduler.model import MAPS, SETUP, STAGES, AttemptId, JobId, Locality, Millis, Stage

TaskKey = tuple[JobId, Stage, int]


class RunningTask(msgspec.Struct, frozen=True):
    """Since when its oldest attempt works on a node of this `speed`; a map with its input at this
    `level`, a reduce since `shuffled_ms` without its shuffle, None while it shuffles.
    """

    since_ms: Millis
    speed: float
    level: Locality
    shuffled_ms: Millis | None = None


class KnownState(msgspec.Struct, frozen=True):
    """What is known at `at_ms`: which jobs have come, when they ended that have, which tasks have
    ended and which run; `maps_done_ms` is when the last map of a job ended, if all have.
    """

    at_ms: Millis
    submitted: frozenset[JobId]
    finished_ms: dict[JobId, Millis]
    ended: frozenset[TaskKey]
    running: dict[TaskKey, RunningTask]
    maps_done_ms: dict[JobId, Millis]

    @property
    def in_system(self) -> list[JobId]:
        """The jobs that have come and not gone, by number."""
        return sorted(self.submitted - self.finished_ms.keys())

    def ended_tasks(self, job: JobId, stage: Stage, tasks: int) -> list[int]:
        """Those of a job's tasks that have ended."""
        return [task for task in range(tasks) if (job, stage, task) in self.ended]


class _Watcher:
    """Follows a run, and keeps what is known at given instants, in the order of time."""

    def __init__(self, spec: RunSpec, instants: Sequence[Millis]) -> None:
        self.states: list[KnownState] = []
        self._instants = list(instants)
        self._speeds = [facts.speed for facts in node_facts(spec.scenario.cluster)]
        self._maps = {job.job: job.maps for job in spec.jobs}
        self._launched: dict[AttemptId, ev.AttemptLaunched] = {}
        self._submitted: set[JobId] = set()
        self._finished_ms: dict[JobId, Millis] = {}
        self._ended: dict[TaskKey, Millis] = {}
        self._running: dict[AttemptId, RunningTask] = {}

    def observe(self, event: AnyEvent) -> None:
        while self._instants and event.at_ms > self._instants[0]:
            self.keep_known_state()
        match event:
            case ev.JobSubmitted():
                self._submitted.add(event.job)
            case ev.JobFinished():
                self._finished_ms[event.job] = event.at_ms
            case ev.AttemptLaunched() if event.stage < SETUP:
                self._launched[event.attempt] = event
            case ev.AttemptStarted(attempt=attempt) if attempt in self._launched:
                node, level = event.node, self._launched[attempt].level
                self._running[attempt] = RunningTask(event.at_ms, self._speeds[node], level)
            case ev.ShuffleEnded(attempt=attempt) if attempt in self._running:
                running = self._running[attempt]
                self._running[attempt] = msgspec.structs.replace(running, shuffled_ms=event.at_ms)
            case ev.AttemptEnded(attempt=attempt) if attempt in self._launched:
                self._running.pop(attempt, None)
                if event.outcome is Outcome.SUCCEEDED:
                    self._ended.setdefault(self._task_of_attempt(attempt), event.at_ms)
            case ev.MapOutputsLost():
                for attempt in event.attempts:
                    self._ended.pop(self._task_of_attempt(attempt), None)

    @property
    def awaits_instant(self) -> bool:
        """Whether an instant is still to come."""
        return bool(self._instants)

    def _task_of_attempt(self, attempt: AttemptId) -> TaskKey:
        launch = self._launched[attempt]
        return launch.job, launch.stage, launch.task

    def keep_known_state(self) -> None:
        """Keep what is known at the next instant."""
        running: dict[TaskKey, RunningTask] = {}
        for attempt in sorted(self._running, reverse=True):  # the oldest last: it counts
            if self._task_of_attempt(attempt) not in self._ended:
                running[self._task_of_attempt(attempt)] = self._running[attempt]
        done: dict[JobId, Millis] = {}
        for job in self._submitted - self._finished_ms.keys():
            ended = [self._ended.get((job, MAPS, task)) for task in range(self._maps[job])]
            known = [at_ms for at_ms in ended if at_ms is not None]
            if len(known) == len(ended):
                done[job] = max(known, default=0)
        state = KnownState(
            self._instants.pop(0),
            frozenset(self._submitted),
            dict(self._finished_ms),
            frozenset(self._ended),
            running,
            done,
        )
        self.states.append(state)

    def keep_remaining_states(self) -> None:
        """The run has ended before these instants."""
        while self._instants:
            self.keep_known_state()


def known_states(spec: RunSpec, instants: Sequence[Millis]) -> list[KnownState]:
    """Play the spec: what is known at each instant, in the order of time."""
    watcher = _Watcher(spec, sorted(instants))
    simulation = Simulation(spec, [watcher.observe])
    for _ in simulation.supersteps():
        if not watcher.awaits_instant:
            break
    watcher.keep_remaining_states()
    return watcher.states


def stages_of(maps: int, reduces: int) -> list[tuple[Stage, int]]:
    """A job's stages that have tasks, and how many."""
    return [each for each in zip(STAGES, (maps, reduces), strict=True) if each[1]]
