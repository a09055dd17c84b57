"""A slot: runs one attempt at a time, and alone knows how long it really takes.

A map is one phase.  A reduce is a shuffle, which cannot end before the job's last map has, and
then the rest; it holds its slot all the while.

Two things make a task longer than its job's others.  The *task's* noise is one draw at (job,
task): there is more to do in it, so it is equally long under every policy, and on its second
attempt.  The *attempt's* bad luck is one draw at (job, task, number): the machine does badly this
time, and another attempt draws again.  Only of the second, and of slow nodes, can a copy get rid.

When an attempt is suspended the slot hands what is left of it back to its node and forgets it; a
slot of that node that gets it goes on where it stopped, and asks for map outputs again if it
was waiting for them, since they may have become ready meanwhile.
"""

import msgspec

from actors.actor import Actor
from actors.address import job_address, node_address, slot_address
from actors.config import Tasks
from actors.events import (
    AttemptEnded,
    AttemptResumed,
    AttemptStarted,
    AttemptSuspended,
    NodeFacts,
    Outcome,
    ShuffleEnded,
)
from actors.jobs import factor_on
from actors.messages import (
    AttemptHalted,
    AttemptOver,
    FetchOutputs,
    FollowedLaunch,
    GoOn,
    KillTask,
    LaunchTask,
    MapWork,
    OutputsReady,
    PhaseBegan,
    PhaseOver,
    ReduceWork,
    Report,
    Rest,
    SuspendTask,
)
from actors.streams import Stream
from scheduler.model import JobId, Millis, TaskIndex, TaskKind

SHUFFLE_SHARE = 1 / 3
"""A reduce's progress when its shuffle has ended (Hadoop: copy, sort and reduce, a third each)."""


_NUMBERS = 1 << 20
"""More attempts than any task has: where the draws of the next task begin."""


def real_ms(
    noise: Stream, sigma: float, job: JobId, kind: TaskKind, task: TaskIndex, nominal_ms: float
) -> Millis:
    """The real length of a part of a task nominally so long; `noise` is the stream "duration"."""
    column = 2 * task + (kind is TaskKind.REDUCE)
    return round(nominal_ms * noise.lognormal(sigma, job, column))


class Slot(Actor):
    """One map or reduce slot of a node; `slot` counts the node's map slots first."""

    def __init__(
        self,
        facts: NodeFacts,
        slot: int,
        *,
        latency_ms: Millis,
        tasks: Tasks,
        seed: int,
    ) -> None:
        node = facts.node
        super().__init__(slot_address(node, slot), f"slot {slot} of node {node}")
        self._node = node
        self._slot = slot
        self._speed = facts.speed
        self._kind = facts.kind
        self._latency_ms = latency_ms
        self._tasks = tasks
        self._noise = Stream(seed, "duration")
        self._luck = Stream(seed, "straggler")
        self._running: LaunchTask | None = None
        self._started_ms: Millis = 0
        self._suspended_ms: Millis = 0  # in all, of the present attempt
        self._shuffled_ms: Millis = 0  # how long it had run when its shuffle ended
        self._shuffling = False
        self._phase_ends_ms: Millis | None = None  # None while it waits for map outputs
        self._timed = 0

    def receive(self, message: msgspec.Struct) -> None:
        match message:
            case LaunchTask():
                self.on_launch(message)
            case OutputsReady():
                self.on_outputs_ready(message)
            case PhaseOver():
                self.on_phase_over(message)
            case KillTask():
                self.on_kill(message)
            case SuspendTask():
                self.on_suspend(message)
            case GoOn():
                self.on_go_on(message)
            case _:
                raise AssertionError(f"a slot has no answer to {message!r}")

    def on_launch(self, launch: LaunchTask) -> None:
        assert self._running is None, f"{self.name} is busy with {self._running!r} (S1)"
        self._running = launch
        self._started_ms = self.now_ms
        self._suspended_ms = self._shuffled_ms = 0
        self._phase_ends_ms = None
        self.note(AttemptStarted(self.now_ms, launch.attempt, self._node, self._slot))
        if isinstance(launch.work, MapWork):
            work, locality = launch.work, self._tasks.locality_factor(launch.level)
            factor = locality * factor_on(self._kind, work.factors) / self._pace(launch)
            self._phase(launch, work.ms * factor)
        else:
            self._shuffling = True
            self._ask_for_outputs(launch)

    def on_outputs_ready(self, ready: OutputsReady) -> None:
        launch = self._running
        if launch is None or launch.attempt != ready.attempt or self._phase_ends_ms is not None:
            return
        assert isinstance(launch.work, ReduceWork)
        fetched_ms = self._drawn(launch, launch.work.shuffle_ms) - self._ran_ms()
        last_ms = self._drawn(launch, launch.work.tail_ms)
        self._time_phase(max(fetched_ms, last_ms))

    def on_phase_over(self, over: PhaseOver) -> None:
        launch = self._running
        if launch is None or over.timed != self._timed:
            return
        if self._shuffling:
            work = launch.work
            assert isinstance(work, ReduceWork)
            self._shuffling = False
            self._shuffled_ms = self._ran_ms()
            self.note(ShuffleEnded(self.now_ms, launch.attempt))
            factor = factor_on(self._kind, work.factors) / self._pace(launch)
            self._phase(launch, work.reduce_ms * factor)
        else:
            self._end(launch, Outcome.SUCCEEDED)

    def on_kill(self, kill: KillTask) -> None:
        if self._running is not None and self._running.attempt == kill.attempt:
            self._end(self._running, Outcome.KILLED)

    def on_suspend(self, suspend: SuspendTask) -> None:
        """Hand what is left of the attempt to the node and forget it."""
        launch, ends_ms = self._running, self._phase_ends_ms
        if launch is None or launch.attempt != suspend.attempt:
            return
        rest = Rest(
            launch=launch,
            started_ms=self._started_ms,
            ran_ms=self._ran_ms(),
            shuffled_ms=self._shuffled_for_ms(),
            shuffling=self._shuffling,
            left_ms=None if ends_ms is None else ends_ms - self.now_ms,
        )
        self._clear()
        self.note(AttemptSuspended(self.now_ms, launch.attempt))
        self.send(node_address(self._node), AttemptHalted(self._slot, rest))

    def on_go_on(self, order: GoOn) -> None:
        """Take up a suspended attempt where it stopped."""
        rest = order.rest
        assert self._running is None, f"{self.name} is busy with {self._running!r} (S1)"
        launch = self._running = rest.launch
        self._started_ms = rest.started_ms
        self._suspended_ms = self.now_ms - rest.started_ms - rest.ran_ms
        self._shuffled_ms = rest.shuffled_ms
        self._shuffling = rest.shuffling
        self.note(AttemptResumed(self.now_ms, launch.attempt, self._node, self._slot))
        if rest.left_ms is None:
            self._ask_for_outputs(launch)
        else:
            self._time_phase(rest.left_ms)

    def at_work(self) -> bool:
        """A reduce that waits for its job's last map is not: that map must run somewhere else."""
        return self._running is not None and self._phase_ends_ms is not None

    def _ran_ms(self) -> Millis:
        """How long the attempt has run so far, the time when it was suspended not counted."""
        return self.now_ms - self._started_ms - self._suspended_ms

    def _shuffled_for_ms(self) -> Millis:
        """How much of that was in its shuffle."""
        return self._ran_ms() if self._shuffling else self._shuffled_ms

    def _ask_for_outputs(self, launch: LaunchTask) -> None:
        request = FetchOutputs(self.address, launch.attempt)
        self.send(job_address(launch.job), request, self._latency_ms)

    def _phase(self, launch: LaunchTask, nominal_ms: float) -> None:
        """Let the attempt's next phase take its time."""
        length_ms = self._drawn(launch, nominal_ms)
        self._time_phase(length_ms)
        if isinstance(launch, FollowedLaunch):
            done = SHUFFLE_SHARE if launch.kind is TaskKind.REDUCE else 0.0
            began = PhaseBegan(launch.attempt, length_ms, done)
            self.send(node_address(self._node), began)

    def _time_phase(self, length_ms: Millis) -> None:
        """The present phase ends so long from now, and not when any earlier timer says."""
        self._phase_ends_ms = self.now_ms + length_ms
        self._timed += 1
        self.timer(PhaseOver(self._timed), length_ms)

    def _pace(self, launch: LaunchTask) -> float:
        """The speed at which this attempt works: the node's, or a part of it if it straggles."""
        if not self._tasks.straggler_share:
            return self._speed
        column = (2 * launch.task + (launch.kind is TaskKind.REDUCE)) * _NUMBERS + launch.number
        straggles = self._luck.uniform(launch.job, column) < self._tasks.straggler_share
        return self._speed / self._tasks.straggler_factor if straggles else self._speed

    def _drawn(self, launch: LaunchTask, nominal_ms: float) -> Millis:
        """The real length of something nominally so long: the task's noise is in it."""
        return real_ms(
            self._noise, self._tasks.sigma, launch.job, launch.kind, launch.task, nominal_ms
        )

    def _end(self, launch: LaunchTask, outcome: Outcome) -> None:
        report = Report(launch.attempt, outcome, self._ran_ms(), self._shuffled_for_ms())
        times = self._started_ms, self._suspended_ms
        self._clear()
        self.note(AttemptEnded(self.now_ms, launch.attempt, outcome, *times))
        self.send(node_address(self._node), AttemptOver(self._slot, report))

    def _clear(self) -> None:
        """Be free; a timer that still goes is for nobody."""
        self._running = None
        self._shuffling = False
        self._phase_ends_ms = None
        self._timed += 1
