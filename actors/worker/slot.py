"""A slot: runs one attempt at a time, and alone knows how long it really takes.

A map is one phase.  A reduce is a shuffle, which cannot end before the job's last map has, and
then the rest; it holds its slot all the while.  `actors.worker.durations` says how long phases are.

When an attempt is suspended the slot hands what is left of it back to its node and forgets it; a
slot of that node that gets it goes on where it stopped, and asks for map outputs again if it
was in its shuffle, since they may have become ready meanwhile, or been lost.

While its machine stands still, and when it becomes slower, what is left of the phase is put off.

An attempt may take its slot and not begin.  A map of whose input no replica is to be had looks
every three seconds, as HDFS's clients do, and has failed when it has waited for too long.  A launch
that is stuck (the machine cannot make its folders, or start a process) stays so until the master
gives it up (rule H8).

An attempt that hangs stays in its phase and comes no further.  Its node kills it when it has made
no progress for ten minutes, Hadoop's `mapred.task.timeout`, and it has failed (rule T7; Hadoop's
TaskTracker looks once a heartbeat, this one at the very moment).  A shuffle that waits for map
outputs does not count as hanging, since Hadoop's copiers report all the time.
"""

import msgspec

from callboard.actors.blocks import Blocks
from callboard.actors.kernel.address import job_address, node_address, slot_address
from callboard.actors.vocabulary.events import (
    AttemptEnded,
    AttemptResumed,
    AttemptStalled,
    AttemptStarted,
    AttemptSuspended,
    NodeFacts,
    Outcome,
    ShuffleEnded,
    Stall,
    StallEnded,
)
from callboard.actors.vocabulary.faults import Fault
from callboard.actors.vocabulary.messages import (
    AttemptCheckpointed,
    AttemptFinished,
    Checkpoint,
    EndReport,
    Fetch,
    Fetched,
    FetchFailure,
    FetchOutputs,
    FetchOutputsAgain,
    FetchTimeout,
    InjectedFailure,
    KillTask,
    LaunchTask,
    MapWork,
    NotBegun,
    OutputsObsolete,
    OutputsReady,
    PhaseBegan,
    PhaseOver,
    ProgressTold,
    ReduceWork,
    ResumeAttempt,
    RetryFetch,
    RetryInput,
    SuspendTask,
    TrackedLaunch,
    TrackProgress,
    tracked,
)
from callboard.actors.worker.copier import TRY_MS, Copier
from callboard.actors.worker.durations import Durations
from callboard.actors.worker.machine import Machine
from callboard.actors.worker.progress import Phase
from callboard.scheduler.model import AttemptId, Millis, NodeId, TaskKind

SHUFFLE_SHARE = 1 / 3
"""A reduce's progress when its shuffle has ended (Hadoop: copy, sort and reduce, a third each)."""

LOOK_EVERY_MS: Millis = 3000
"""How long HDFS's client waits before it asks for a block's replicas again."""


class Slot(Machine):
    """One map or reduce slot of a node; `slot` counts the node's map slots first."""

    def __init__(
        self,
        facts: NodeFacts,
        slot: int,
        *,
        latency_ms: Millis,
        durations: Durations,
        blocks: Blocks,
    ) -> None:
        node = facts.node
        super().__init__(slot_address(node, slot), f"slot {slot} of node {node}")
        self._node = node
        self._slot = slot
        self._latency_ms = latency_ms
        self._durations = durations
        self._blocks = blocks
        self._slowness = 1.0
        self._running: LaunchTask | None = None
        self._started_ms: Millis = 0
        self._suspended_ms: Millis = 0  # in all, of the present attempt
        self._shuffled_ms: Millis = 0  # how long it had run when its shuffle ended
        self._injected: InjectedFailure | None = None  # if the present attempt is not to succeed
        self._deadline_ms: Millis | None = None  # when it has failed, if it hangs or waits so long
        self._waits: Stall | None = None  # why the present attempt has not begun
        self._copier: Copier | None = None  # while it shuffles
        self._phase: Phase | None = None  # None while it waits for map outputs, and while halted
        self._put_off: tuple[Millis, float] | None = None  # what was left when it was halted
        self._timed = 0

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
            case RetryInput():
                self.on_retry_input(message)
            case KillTask():
                self.on_kill(message)
            case SuspendTask():
                self.on_suspend(message)
            case ResumeAttempt():
                self.on_resume_attempt(message)
            case TrackProgress():
                self.on_track_progress(message)
            case Fetched():
                self.on_fetched(message)
            case FetchTimeout():
                self.on_fetch_timeout(message)
            case RetryFetch():
                self.on_retry_fetch(message)
            case OutputsObsolete():
                self.on_outputs_obsolete(message)
            case Fault():
                self.on_fault(message)
            case _:
                raise AssertionError(f"a slot has no answer to {message!r}")

    def on_launch(self, launch: LaunchTask) -> None:
        assert self._running is None, f"{self.name} is busy with {self._running!r} (S1)"
        self._running = launch
        self._started_ms = self.now_ms
        self._suspended_ms = self._shuffled_ms = 0
        self._injected = self._durations.injected(launch, self._failing, self._hanging)
        self.note(AttemptStarted(self.now_ms, launch.attempt, self._node, self._slot))
        self._begin(launch)

    def on_phase_over(self, over: PhaseOver) -> None:
        launch = self._running
        if launch is None or over.timed != self._timed:
            return
        if self._copier is None:
            if self._injected is not None and self._injected.hangs and not self._injected.hung:
                self._hang(launch, self._injected)
            else:
                self._end(launch, Outcome.SUCCEEDED if self._injected is None else Outcome.FAILED)
        elif self._copier.awaited:
            self._phase = None  # until the last host has answered
        else:
            assert isinstance(launch.work, ReduceWork)
            self._copier = None
            self._shuffled_ms = self._ran_ms()
            self.note(ShuffleEnded(self.now_ms, launch.attempt))
            self._begin_phase(launch, self._stretched(self._durations.of_rest(launch, launch.work)))

    def on_retry_input(self, look: RetryInput) -> None:
        """Begin if the input is there now; give it up if that takes too long."""
        launch = self._running
        if launch is None or look.timed != self._timed or self._deadline_ms is None:
            return
        if self._readable(launch):
            self.note(StallEnded(self.now_ms, launch.attempt))
            self._waits = self._deadline_ms = None
            self._work(launch)
        elif self.now_ms >= self._deadline_ms:
            self._end(launch, Outcome.FAILED)
        else:
            self._look_later(self._deadline_ms)

    def on_kill(self, kill: KillTask) -> None:
        if self._running is not None and self._running.attempt == kill.attempt:
            self._end(self._running, Outcome.KILLED)

    def on_track_progress(self, order: TrackProgress) -> None:
        """Tell how far the attempt is, and of every phase from now on."""
        launch, phase = self._running, self._phase
        if launch is None or launch.attempt != order.attempt:
            return
        self._running = tracked(launch)
        left_ms, done = None, 0.0
        if self._waits is not None:
            left_ms = 0
        elif phase is not None and self._copier is None:
            done = phase.progress(self.now_ms)
            left_ms = phase._replace(began_ms=self.now_ms, done=done).whole_ms()
        ran = (self._ran_ms(), self._shuffled_for_ms())
        self.send(node_address(self._node), ProgressTold(launch.attempt, *ran, left_ms, done))

    # Fetching map outputs.

    def on_outputs_ready(self, ready: OutputsReady) -> None:
        """Let the shuffle take its time, and fetch from every host that is named."""
        found = self._fetching(ready.attempt)
        if found is None:
            return
        launch, copier = found
        assert isinstance(launch.work, ReduceWork)
        if self._phase is None:
            whole_ms = self._stretched(self._durations.of_shuffle(launch, launch.work))
            last_ms = self._stretched(self._durations.of_tail(launch, launch.work))
            fetched_ms = whole_ms - self._ran_ms()
            self._time_phase(launch, max(fetched_ms, last_ms, 2 * self._latency_ms + 1))
        for host in copier.ask(ready.hosts):
            self._fetch(launch, host)

    def on_fetched(self, fetched: Fetched) -> None:
        """A host has answered; the last to do so may have kept the shuffle from ending."""
        found = self._fetching(fetched.attempt)
        if found is None or fetched.host in self._apart:
            return
        launch, copier = found
        if copier.answered(fetched.host) and not copier.awaited and self._phase is None:
            assert isinstance(launch.work, ReduceWork)
            tail_ms = self._stretched(self._durations.of_tail(launch, launch.work))
            self._time_phase(launch, tail_ms)

    def on_fetch_timeout(self, over: FetchTimeout) -> None:
        """Nobody answered: try again after a pause, and tell the master now and then."""
        found = self._fetching(over.attempt)
        if found is None or over.host not in found[1].awaited:
            return
        launch, copier = found
        pause_ms, tell = copier.failed(over.host)
        if copier.gives_up(over.host):
            self._end(launch, Outcome.FAILED)
            return
        self.timer(RetryFetch(over.attempt, over.host), self._clock.real_ms(pause_ms))
        if tell:
            self.send(node_address(self._node), FetchFailure(launch.job, over.host))

    def on_retry_fetch(self, again: RetryFetch) -> None:
        """The pause after a failed try is over."""
        found = self._fetching(again.attempt)
        if found is not None and again.host in found[1].awaited:
            self._fetch(found[0], again.host)

    def on_outputs_obsolete(self, obsolete: OutputsObsolete) -> None:
        """A map output that was to be fetched is gone: wait until all are there again."""
        found = self._fetching(obsolete.attempt)
        if found is not None:
            self._phase = self._put_off = None
            self._timed += 1
            found[1].awaited.clear()

    def _fetching(self, attempt: AttemptId) -> tuple[LaunchTask, Copier] | None:
        """The running reduce, if it is this one and in its shuffle."""
        launch, copier = self._running, self._copier
        if launch is None or launch.attempt != attempt or copier is None:
            return None
        return launch, copier

    def _ask_for_outputs(self, launch: LaunchTask, again: bool = False) -> None:
        request = FetchOutputsAgain if again else FetchOutputs
        ask = request(self.address, launch.attempt)
        self.send(job_address(launch.job), ask, self._latency_ms)

    def _fetch(self, launch: LaunchTask, host: NodeId) -> None:
        """Ask a host for the outputs that it has."""
        if host not in self._apart:
            fetch = Fetch(self.address, self._node, launch.attempt, launch.job)
            self.send(node_address(host), fetch, self._latency_ms)
        try_ms = self._clock.real_ms(TRY_MS) + 2 * self._latency_ms
        self.timer(FetchTimeout(launch.attempt, host), try_ms)

    # Giving way and going on.

    def on_suspend(self, suspend: SuspendTask) -> None:
        """Hand what is left of the attempt to the node and forget it."""
        launch, phase = self._running, self._phase
        if launch is None or launch.attempt != suspend.attempt:
            return
        rest = Checkpoint(
            launch=launch,
            started_ms=self._started_ms,
            ran_ms=self._ran_ms(),
            shuffled_ms=self._shuffled_for_ms(),
            left_ms=None if phase is None else phase.ends_ms - self.now_ms,
            done=0.0 if phase is None else phase.progress(self.now_ms),
            injected=self._injected,
            slowness=self._slowness,
            fetched=None if self._copier is None else self._copier.fetched(),
        )
        self._clear()
        self.note(AttemptSuspended(self.now_ms, launch.attempt))
        self.send(node_address(self._node), AttemptCheckpointed(self._slot, rest))

    def on_resume_attempt(self, order: ResumeAttempt) -> None:
        """Take up a suspended attempt where it stopped."""
        rest = order.rest
        assert self._running is None, f"{self.name} is busy with {self._running!r} (S1)"
        launch = self._running = rest.launch
        self._started_ms = rest.started_ms
        self._suspended_ms = self.now_ms - rest.started_ms - rest.ran_ms
        self._shuffled_ms = rest.shuffled_ms
        self._injected = rest.injected
        self.note(AttemptResumed(self.now_ms, launch.attempt, self._node, self._slot))
        left_ms = rest.left_ms
        if rest.injected is not None and rest.injected.hung:
            left_ms = self._clock.real_ms(self._durations.timeout_ms)
            self._deadline_ms = self.now_ms + left_ms
        elif left_ms is not None:
            left_ms = round(left_ms * self._slowness / rest.slowness)
        if rest.fetched is not None:
            self._copier = Copier(rest.fetched)
            self._ask_for_outputs(launch, again=left_ms is not None)
            if left_ms is not None:  # asking takes two round trips
                left_ms = max(left_ms, 4 * self._latency_ms + 1)
        if left_ms is not None:
            self._time_phase(launch, left_ms, rest.done)
        elif rest.fetched is None:  # it had not begun
            self._begin(launch)

    # What happens to the machine.

    def crash(self) -> None:
        """What ran is gone, and nobody is told."""
        launch = self._running
        if launch is not None:
            times = self._started_ms, self._suspended_ms
            self._clear()
            self.note(AttemptEnded(self.now_ms, launch.attempt, Outcome.KILLED, *times))

    def pause(self) -> None:
        self._put_off, self._phase = self._left(), None
        self._timed += 1

    def resume(self) -> None:
        put_off, self._put_off = self._put_off, None
        if put_off is not None and self._deadline_ms is not None:  # the clock has run on
            put_off = (max(self._deadline_ms - self.now_ms, 0), put_off[1])
        self._go_on(put_off)
        if self._waits is Stall.NO_INPUT:
            self.timer(RetryInput(self._timed), 0)

    def slow(self, factor: float) -> None:
        """What is left of the running phase takes longer too, or shorter."""
        ratio = factor / self._slowness
        self._slowness = factor
        if self._deadline_ms is not None:
            return
        left = self._put_off if self.halted else self._left()
        if left is not None:
            left = (round(left[0] * ratio), left[1])
        if self.halted:
            self._put_off = left
        else:
            self._go_on(left)

    def waits_for(self) -> str | None:
        launch = self._running
        if launch is None or self._waits is None:
            return None
        return f"{self.name} holds attempt {launch.attempt} of job {launch.job}: {self._waits}"

    def at_work(self) -> bool:
        """A reduce that waits for its job's last map is not: that map must run somewhere else."""
        return self._phase is not None or self._waits is not None

    # The phases of an attempt.

    def _stretched(self, ms: Millis) -> Millis:
        """What takes so long, as slow as the machine is now."""
        return round(ms * self._slowness)

    def _begin(self, launch: LaunchTask) -> None:
        """Begin the attempt's work, or say why not."""
        if self._durations.sticks(launch, self._sticking):
            self._wait(launch, Stall.NOT_BEGUN)
            self.send(node_address(self._node), NotBegun(launch.attempt))
        elif self._readable(launch):
            self._work(launch)
        else:
            wait_ms = self._clock.real_ms(self._durations.input_wait_ms)
            self._deadline_ms = self.now_ms + wait_ms
            self._wait(launch, Stall.NO_INPUT)
            self._look_later(self._deadline_ms)

    def _work(self, launch: LaunchTask) -> None:
        """Begin the attempt's first phase."""
        if isinstance(launch.work, MapWork):
            self._begin_phase(launch, self._stretched(self._durations.of_map(launch, launch.work)))
        else:
            self._copier = Copier()
            self._ask_for_outputs(launch)

    def _wait(self, launch: LaunchTask, why: Stall) -> None:
        """Hold the slot and do nothing."""
        self._waits = why
        self.note(AttemptStalled(self.now_ms, launch.attempt, 0.0, why))
        if isinstance(launch, TrackedLaunch):
            self.send(node_address(self._node), PhaseBegan(launch.attempt, 0))

    def _readable(self, launch: LaunchTask) -> bool:
        """Whether the attempt's input can be read; a reduce's comes from maps."""
        is_map = launch.kind is TaskKind.MAP
        return not is_map or self._blocks.readable(launch.job, launch.task, self.now_ms)

    def _look_later(self, deadline_ms: Millis) -> None:
        self._timed += 1
        wait_ms = min(self._clock.real_ms(LOOK_EVERY_MS), deadline_ms - self.now_ms)
        self.timer(RetryInput(self._timed), wait_ms)

    def _begin_phase(self, launch: LaunchTask, length_ms: Millis) -> None:
        """Let the attempt's next phase, which is no shuffle, take its time: to its end, or to where
        it fails.
        """
        if self._injected is not None:
            length_ms = round(length_ms * self._injected.at)
        self._time_phase(launch, length_ms, _before(launch))

    def _hang(self, launch: LaunchTask, injected: InjectedFailure) -> None:
        """Come no further, until it is noticed."""
        done = self._goal(launch)
        timeout_ms = self._clock.real_ms(self._durations.timeout_ms)
        self._injected = InjectedFailure(injected.at, hangs=True, hung=True)
        self._deadline_ms = self.now_ms + timeout_ms
        self.note(AttemptStalled(self.now_ms, launch.attempt, done, Stall.HANGS))
        self._time_phase(launch, timeout_ms, done)

    def _goal(self, launch: LaunchTask) -> float:
        """How far the present phase brings the attempt."""
        if self._injected is None or self._copier is not None:
            return 1.0
        before = _before(launch)
        return before + (1 - before) * self._injected.at

    def _time_phase(self, launch: LaunchTask, length_ms: Millis, done: float = 0.0) -> None:
        """The present phase ends so long from now, and not when any earlier timer says; `done` is
        the attempt's progress at this moment.
        """
        phase = Phase(self.now_ms, self.now_ms + length_ms, done, self._goal(launch))
        self._phase = phase
        self._timed += 1
        self.timer(PhaseOver(self._timed), length_ms)
        if isinstance(launch, TrackedLaunch) and self._copier is None:
            self.send(node_address(self._node), PhaseBegan(launch.attempt, phase.whole_ms(), done))

    def _left(self) -> tuple[Millis, float] | None:
        """What is left of the present phase, and the progress so far; None where none is timed."""
        if self._running is None or self._phase is None:
            return None
        return self._phase.ends_ms - self.now_ms, self._phase.progress(self.now_ms)

    def _go_on(self, left: tuple[Millis, float] | None) -> None:
        """Let what was left of the phase take its time from now."""
        if self._running is not None and left is not None:
            self._time_phase(self._running, *left)

    def _ran_ms(self) -> Millis:
        """How long the attempt has run so far, the time when it was suspended not counted."""
        return self.now_ms - self._started_ms - self._suspended_ms

    def _shuffled_for_ms(self) -> Millis:
        """How much of that was in its shuffle."""
        return self._ran_ms() if self._copier is not None else self._shuffled_ms

    def _end(self, launch: LaunchTask, outcome: Outcome) -> None:
        report = EndReport(launch.attempt, outcome, self._ran_ms(), self._shuffled_for_ms())
        times = self._started_ms, self._suspended_ms
        self._clear()
        self.note(AttemptEnded(self.now_ms, launch.attempt, outcome, *times))
        stored = launch.kind is TaskKind.MAP and outcome is Outcome.SUCCEEDED
        over = AttemptFinished(self._slot, report, launch.job if stored else None)
        self.send(node_address(self._node), over)

    def _clear(self) -> None:
        """Be free; a timer that still goes is for nobody."""
        self._running = None
        self._copier = None
        self._deadline_ms = self._waits = None
        self._phase = self._put_off = None
        self._timed += 1


def _before(launch: LaunchTask) -> float:
    """The attempt's progress when its own work begins: of a reduce, after its shuffle."""
    return SHUFFLE_SHARE if launch.kind is TaskKind.REDUCE else 0.0
