"""A slot: runs one attempt at a time, and alone knows how long it really takes.

A map is one phase.  A reduce is a shuffle, which cannot end before the job's last map has, and
then the rest; it holds its slot all the while.  The task's noise is one draw at (job, task),
so the same task is equally long under every policy, and on its second attempt.
"""

from typing import NamedTuple

import msgspec

from actors.address import job_address, node_address, slot_address
from actors.config import Tasks
from actors.copier import TRY_MS, Copier
from actors.events import AttemptEnded, AttemptStarted, Outcome, ShuffleEnded
from actors.faults import Fault
from actors.machine import Machine
from actors.messages import (
    AttemptOver,
    Fetch,
    FetchAgain,
    Fetched,
    FetchFailure,
    FetchOutputs,
    FollowedLaunch,
    KillTask,
    LaunchTask,
    MapWork,
    OutputsObsolete,
    OutputsReady,
    PhaseBegan,
    PhaseOver,
    ReduceWork,
    Report,
    TryOver,
)
from actors.streams import Stream
from scheduler.model import AttemptId, JobId, Millis, NodeId, TaskIndex, TaskKind

SHUFFLE_SHARE = 1 / 3
"""A reduce's progress when its shuffle has ended (Hadoop: copy, sort and reduce, a third each)."""


class Rest(NamedTuple):
    """What is left of a phase in ms, None for one whose length is not known yet, and the
    attempt's progress so far.
    """

    ms: Millis | None = None
    done: float = 0.0

    def times(self, ratio: float) -> "Rest":
        """So many times as long."""
        return self if self.ms is None else Rest(round(self.ms * ratio), self.done)


class Phase(NamedTuple):
    """A phase of the running attempt that will end at `ends_ms`; `done` is the attempt's progress
    at its beginning.
    """

    began_ms: Millis
    ends_ms: Millis
    done: float

    @property
    def timed(self) -> bool:
        """Whether it is known when it will end."""
        return self.ends_ms >= 0

    def rest(self, now_ms: Millis) -> Rest:
        """What is left of it now."""
        if not self.timed:
            return NO_REST
        left_ms = self.ends_ms - now_ms
        share = 1 - left_ms / (self.ends_ms - self.began_ms) if left_ms else 1.0
        return Rest(left_ms, self.done + (1 - self.done) * share)


NO_REST = Rest()
NO_PHASE = Phase(0, -1, 0.0)
"""A reduce waits for its job's maps."""


def real_ms(
    noise: Stream, sigma: float, job: JobId, kind: TaskKind, task: TaskIndex, nominal_ms: float
) -> Millis:
    """The real length of a part of a task nominally so long; `noise` is the stream "duration"."""
    column = 2 * task + (kind is TaskKind.REDUCE)
    return round(nominal_ms * noise.lognormal(sigma, job, column))


class Slot(Machine):
    """One map or reduce slot of a node; `slot` counts the node's map slots first."""

    def __init__(
        self, node: NodeId, slot: int, *, speed: float, latency_ms: Millis, tasks: Tasks, seed: int
    ) -> None:
        super().__init__(slot_address(node, slot), f"slot {slot} of node {node}")
        self._node = node
        self._slot = slot
        self._speed = speed
        self._latency_ms = latency_ms
        self._tasks = tasks
        self._noise = Stream(seed, "duration")
        self._running: LaunchTask | None = None
        self._started_ms: Millis = 0
        self._shuffled_ms: Millis = 0
        self._shuffling = False
        self._slowness = 1.0
        self._copier = Copier()
        self._phase = NO_PHASE
        self._put_off = NO_REST

    def receive(self, message: msgspec.Struct) -> None:
        if self.halted and self.absorbs(message):
            return
        match message:
            case LaunchTask():
                self.on_launch(message)
            case OutputsReady():
                self.on_outputs_ready(message)
            case PhaseOver():
                self.on_phase_over(message)
            case KillTask():
                self.on_kill(message)
            case OutputsObsolete():
                self.on_outputs_obsolete(message)
            case Fetched():
                self.on_fetched(message)
            case TryOver():
                self.on_try_over(message)
            case FetchAgain():
                self.on_fetch_again(message)
            case Fault():
                self.on_fault(message)
            case _:
                raise AssertionError(f"a slot has no answer to {message!r}")

    def on_launch(self, launch: LaunchTask) -> None:
        assert self._running is None, f"{self.name} is busy with {self._running!r} (S1)"
        self._running = launch
        self._started_ms = self._shuffled_ms = self.now_ms
        self.note(AttemptStarted(self.now_ms, launch.attempt, self._node, self._slot))
        if isinstance(launch.work, MapWork):
            factor = self._tasks.locality_factor(launch.level) / self._speed
            self._begin_phase(launch, launch.work.ms * factor)
        else:
            self._shuffling = True
            self._phase = NO_PHASE
            self._copier = Copier()
            request = FetchOutputs(self.address, launch.attempt)
            self.send(job_address(launch.job), request, self._latency_ms)

    def on_outputs_ready(self, ready: OutputsReady) -> None:
        launch = self._running
        if launch is None or launch.attempt != ready.attempt:
            return
        assert isinstance(launch.work, ReduceWork)
        fetched_ms = self._started_ms + self._drawn(launch, launch.work.shuffle_ms) - self.now_ms
        last_ms = self._drawn(launch, launch.work.tail_ms)
        round_trip_ms = 2 * self._latency_ms
        self._time_phase(launch, max(fetched_ms, last_ms, round_trip_ms + 1))
        for host in self._copier.ask(ready.hosts):
            self._fetch(launch, host)

    def on_fetched(self, fetched: Fetched) -> None:
        """A host has answered; the last to do so may have kept the shuffle from ending."""
        launch = self._shuffling_for(fetched.attempt)
        if launch is None or fetched.host in self._apart:
            return
        late = self._copier.answered(fetched.host) and not self._phase.timed
        if late and not self._copier.awaited:
            assert isinstance(launch.work, ReduceWork)
            self._time_phase(launch, self._drawn(launch, launch.work.tail_ms))

    def on_try_over(self, over: TryOver) -> None:
        """Nobody answered: try again after a pause, and tell the master now and then."""
        launch = self._shuffling_for(over.attempt)
        if launch is None or over.host not in self._copier.awaited:
            return
        pause_ms, tell = self._copier.failed(over.host)
        self.timer(FetchAgain(over.attempt, over.host), pause_ms)
        if tell:
            self.send(node_address(self._node), FetchFailure(launch.job, over.host))

    def on_fetch_again(self, again: FetchAgain) -> None:
        """The pause after a failed try is over."""
        launch = self._shuffling_for(again.attempt)
        if launch is not None and again.host in self._copier.awaited:
            self._fetch(launch, again.host)

    def _shuffling_for(self, attempt: AttemptId) -> LaunchTask | None:
        """The running reduce, if it is this one and fetches."""
        launch = self._running
        if launch is None or launch.attempt != attempt or not self._shuffling:
            return None
        return launch

    def _fetch(self, launch: LaunchTask, host: NodeId) -> None:
        """Ask a host for the outputs that it has."""
        if host not in self._apart:
            fetch = Fetch(self.address, self._node, launch.attempt, launch.job)
            self.send(node_address(host), fetch, self._latency_ms)
        self.timer(TryOver(launch.attempt, host), TRY_MS + 2 * self._latency_ms)

    def on_outputs_obsolete(self, obsolete: OutputsObsolete) -> None:
        """A map output that was to be fetched is gone: wait until all are there again."""
        if self._shuffling_for(obsolete.attempt) is not None:
            self._phase = NO_PHASE
            self._copier.awaited.clear()

    def on_phase_over(self, over: PhaseOver) -> None:
        launch = self._running
        if launch is None or launch.attempt != over.attempt or self._phase.ends_ms != self.now_ms:
            return  # the attempt has ended, or its phase has been put off
        if self._shuffling and self._copier.awaited:
            self._phase = NO_PHASE  # until the last host has answered
        elif self._shuffling:
            assert isinstance(launch.work, ReduceWork)
            self._shuffling = False
            self._shuffled_ms = self.now_ms
            self.note(ShuffleEnded(self.now_ms, launch.attempt))
            self._begin_phase(launch, launch.work.reduce_ms / self._speed)
        else:
            self._end(launch, Outcome.SUCCEEDED)

    def on_kill(self, kill: KillTask) -> None:
        if self._running is not None and self._running.attempt == kill.attempt:
            self._end(self._running, Outcome.KILLED)

    def crash(self) -> None:
        """What ran is gone, and nobody is told."""
        if self._running is not None:
            ended = AttemptEnded(
                self.now_ms, self._running.attempt, Outcome.KILLED, self._started_ms
            )
            self._running = None
            self._shuffling = False
            self.note(ended)

    def pause(self) -> None:
        self._put_off = self._rest()
        self._phase = NO_PHASE

    def resume(self) -> None:
        self._go_on(self._put_off)

    def slow(self, factor: float) -> None:
        """What is left of the running phase takes longer too, or shorter."""
        ratio, self._slowness = factor / self._slowness, factor
        if self.halted:
            self._put_off = self._put_off.times(ratio)
        else:
            self._go_on(self._rest().times(ratio))

    def at_work(self) -> bool:
        """A reduce that waits for its job's last map is not: that map must run somewhere else."""
        return self._running is not None and self._phase.timed

    def _begin_phase(self, launch: LaunchTask, nominal_ms: float) -> None:
        """Let the attempt's next phase take its time."""
        done = SHUFFLE_SHARE if launch.kind is TaskKind.REDUCE else 0.0
        self._time_phase(launch, self._drawn(launch, nominal_ms), done)

    def _time_phase(self, launch: LaunchTask, length_ms: Millis, done: float = 0.0) -> None:
        """Let the phase end so long from now; `done` is the attempt's progress at this moment."""
        self._phase = Phase(self.now_ms, self.now_ms + length_ms, done)
        self.timer(PhaseOver(launch.attempt), length_ms)
        if isinstance(launch, FollowedLaunch) and not self._shuffling:
            self.send(node_address(self._node), PhaseBegan(launch.attempt, length_ms, done))

    def _rest(self) -> Rest:
        """What is left of the running phase."""
        return NO_REST if self._running is None else self._phase.rest(self.now_ms)

    def _go_on(self, rest: Rest) -> None:
        """Let what was left of the phase take its time from now."""
        if self._running is not None and rest.ms is not None:
            self._time_phase(self._running, rest.ms, rest.done)

    def _drawn(self, launch: LaunchTask, nominal_ms: float) -> Millis:
        """The real length of something nominally so long: the task's noise and the machine's
        present slowness are in it.
        """
        return real_ms(
            self._noise,
            self._tasks.sigma,
            launch.job,
            launch.kind,
            launch.task,
            nominal_ms * self._slowness,
        )

    def _end(self, launch: LaunchTask, outcome: Outcome) -> None:
        shuffled_to_ms = self.now_ms if self._shuffling else self._shuffled_ms
        self._running = None
        self._shuffling = False
        self.note(AttemptEnded(self.now_ms, launch.attempt, outcome, self._started_ms))
        ran_ms = self.now_ms - self._started_ms
        report = Report(launch.attempt, outcome, ran_ms, shuffled_to_ms - self._started_ms)
        stored = launch.kind is TaskKind.MAP and outcome is Outcome.SUCCEEDED
        over = AttemptOver(self._slot, report, launch.job if stored else None)
        self.send(node_address(self._node), over)
