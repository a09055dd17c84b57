"""A slot: runs one attempt at a time, and alone knows how long it really takes.

A map is one phase. A reduce is a shuffle, which cannot end before the job's last map has, and then
the rest. A suspended attempt is handed to the node as a checkpoint; a slot that gets it goes on
where it stopped, and asks for map outputs again if it was in its shuffle, since they may have
become ready meanwhile, or been lost. While the machine stands still, and when it becomes slower,
what is left of the phase is put off.

A map without a readable replica of its input looks every three seconds, as HDFS's clients do, and
has failed when it has waited too long. A launch that is stuck (the machine cannot make its folders,
or start a process) stays so until the master gives it up (rule H8). An attempt that hangs has
failed when it has made no progress for ten minutes, Hadoop's `mapred.task.timeout` (rule T7;
Hadoop's TaskTracker looks once a heartbeat, this one at the very moment); a shuffle that waits for
map outputs does not hang, since Hadoop's copiers report all the time.
"""

from msgspec.structs import replace

from callboard.actors.blocks import Blocks
from callboard.actors.kernel.address import job_address, node_address, slot_address
from callboard.actors.kernel.message import NO_CAUSE
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import messages as msg
from callboard.actors.vocabulary.events import NodeFacts, Outcome, Stall
from callboard.actors.vocabulary.lifecycle import AttemptChange, AttemptState
from callboard.actors.worker.attempt import RunningAttempt
from callboard.actors.worker.copier import TRY_MS, Copier
from callboard.actors.worker.durations import Durations
from callboard.actors.worker.machine import Machine
from callboard.actors.worker.progress import Phase
from callboard.scheduler.model import MAPS, REDUCES, AttemptId, Millis, NodeId

_AWAITING_INPUT = AttemptState.AWAITING_INPUT
_END_SHUFFLE = AttemptChange.END_SHUFFLE
_FAIL = AttemptChange.FAIL
_HANGING = AttemptState.HANGING
_KILL = AttemptChange.KILL
_KILLED = Outcome.KILLED
_SHUFFLING = AttemptState.SHUFFLING
_START_MAP = AttemptChange.START_MAP
_START_REDUCE = AttemptChange.START_REDUCE
_SUCCEED = AttemptChange.SUCCEED
_SUCCEEDED = Outcome.SUCCEEDED

RETRY_INPUT_MS: Millis = 3000  # how long HDFS's client waits before it asks for replicas again
_STALLS = {
    AttemptState.MAP_STUCK: Stall.NOT_BEGUN,
    AttemptState.REDUCE_STUCK: Stall.NOT_BEGUN,
    AttemptState.AWAITING_INPUT: Stall.NO_INPUT,
}


class Slot(Machine):
    """One map or reduce slot of a node; `slot` counts the node's map slots first."""

    __slots__ = (
        "_attempt",
        "_blocks",
        "_durations",
        "_latency_ms",
        "_node",
        "_node_address",
        "_slot",
        "_timed",
    )

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
        self._node_address = node_address(node)
        self._slot = slot
        self._latency_ms = latency_ms
        self._durations = durations
        self._blocks = blocks
        self._attempt: RunningAttempt | None = None
        self._timed = 0

    # From launch to end.

    def on_launch_task(self, launch: msg.LaunchTask) -> None:
        assert self._attempt is None, f"{self.name} is busy (S1)"
        now_ms, number = self._kernel.now_ms, launch.attempt
        attempt = self._attempt = RunningAttempt(launch, now_ms)
        attempt.change_state(_START_REDUCE if launch.stage == REDUCES else _START_MAP)
        started = ev.AttemptStarted(now_ms, number, self._node, self._slot, cause=self.cause)
        self._note_event(attempt, started)
        if isinstance(launch.work, msg.PlainWork):
            whole_ms = self._slowed_ms(self._durations.of_plain(launch.work))
            self._begin_phase(attempt, whole_ms)
            return
        attempt.injected = self._durations.injected_failure(launch, self._ailments)
        self._begin_attempt(attempt)

    def on_phase_over(self, over: msg.PhaseOver) -> None:
        attempt = self._attempt
        if attempt is None or over.timed != self._timed:
            return
        if attempt.copier is not None:
            self._on_shuffle_over(attempt, attempt.copier)
        elif attempt.injected is None:
            self._end_attempt(attempt, _SUCCEED)
        elif attempt.injected.hangs and attempt.state is not _HANGING:
            self._hang(attempt)
        else:
            self._end_attempt(attempt, _KILL if attempt.injected.killed else _FAIL)

    def _on_shuffle_over(self, attempt: RunningAttempt, copier: Copier) -> None:
        if copier.awaited:
            attempt.phase = None
            return
        launch = attempt.launch
        assert isinstance(launch.work, msg.ReduceWork)
        attempt.change_state(_END_SHUFFLE)
        attempt.shuffled_ms = attempt.ran_ms(self.now_ms)
        attempt.copier = None
        self._note_event(attempt, ev.ShuffleEnded(self.now_ms, launch.attempt, cause=self.cause))
        rest_ms = self._durations.of_rest(launch, launch.work)
        self._begin_phase(attempt, self._slowed_ms(rest_ms))

    def on_retry_input(self, retry: msg.RetryInput) -> None:
        attempt = self._attempt
        if attempt is None or retry.timed != self._timed or attempt.deadline_ms is None:
            return
        if self._input_is_readable(attempt):
            attempt.change_state(AttemptChange.FIND_INPUT)
            attempt.deadline_ms = None
            found = ev.StallEnded(self.now_ms, attempt.launch.attempt, cause=attempt.event)
            self._note_event(attempt, found)
            self._begin_map_or_shuffle(attempt)
        elif self.now_ms >= attempt.deadline_ms:
            self._end_attempt(attempt, _FAIL)
        else:
            self._retry_input_later(attempt, attempt.deadline_ms)

    def on_kill_task(self, kill: msg.KillTask) -> None:
        attempt = self._running_attempt(kill.attempt)
        if attempt is not None:
            self._end_attempt(attempt, _KILL)

    def on_track_progress(self, order: msg.TrackProgress) -> None:
        """Tell how far the attempt is, and of every phase from now on."""
        attempt = self._running_attempt(order.attempt)
        if attempt is None:
            return
        attempt.launch = replace(attempt.launch, tracked=True)
        left_ms, done, phase = None, 0.0, attempt.phase
        if phase is None and attempt.launch.stage == MAPS:
            left_ms = 0
        elif phase is not None and attempt.copier is None:
            done = phase.progress(self.now_ms)
            left_ms = phase._replace(began_ms=self.now_ms, done=done).length_if_completed_ms()
        ran = (attempt.ran_ms(self.now_ms), attempt.shuffled_for_ms(self.now_ms))
        told = msg.ProgressTold(order.attempt, *ran, left_ms, done)
        self.send(self._node_address, told, self.cause)

    # Fetching map outputs.

    def on_outputs_ready(self, ready: msg.OutputsReady) -> None:
        """Let the shuffle take its time, and fetch from every host that is named."""
        found = self._shuffling_attempt(ready.attempt)
        if found is None:
            return
        attempt, copier = found
        launch = attempt.launch
        assert isinstance(launch.work, msg.ReduceWork)
        if attempt.phase is None:
            whole_ms = self._slowed_ms(self._durations.of_shuffle(launch, launch.work))
            last_ms = self._slowed_ms(self._durations.of_shuffle_tail(launch, launch.work))
            fetched_ms = whole_ms - attempt.ran_ms(self.now_ms)
            length_ms = max(fetched_ms, last_ms, 2 * self._latency_ms + 1)
            self._time_phase(attempt, length_ms, self.cause)
        for host in copier.hosts_to_ask(ready.hosts):
            self._fetch_from_host(launch, host)

    def on_fetched(self, fetched: msg.Fetched) -> None:
        """A host has answered; the last to do so may have kept the shuffle from ending."""
        found = self._shuffling_attempt(fetched.attempt)
        if found is None or fetched.host in self._unreachable:
            return
        attempt, copier = found
        if copier.note_answer(fetched.host) and not copier.awaited and attempt.phase is None:
            launch = attempt.launch
            assert isinstance(launch.work, msg.ReduceWork)
            tail_ms = self._slowed_ms(self._durations.of_shuffle_tail(launch, launch.work))
            self._time_phase(attempt, tail_ms, self.cause)

    def on_fetch_timeout(self, over: msg.FetchTimeout) -> None:
        """Nobody answered: try again after a pause, and tell the master now and then."""
        found = self._shuffling_attempt(over.attempt)
        if found is None or over.host not in found[1].awaited:
            return
        attempt, copier = found
        pause_ms, tell = copier.note_failure(over.host)
        if copier.gives_up(over.host):
            self._end_attempt(attempt, _FAIL)
            return
        again = msg.RetryFetch(over.attempt, over.host)
        self.timer(again, self.clock.real_wait_ms(pause_ms), self.cause)
        if tell:
            failure = msg.FetchFailure(attempt.launch.job, over.host, attempt.event)
            self.send(self._node_address, failure, self.cause)

    def on_retry_fetch(self, again: msg.RetryFetch) -> None:
        found = self._shuffling_attempt(again.attempt)
        if found is not None and again.host in found[1].awaited:
            self._fetch_from_host(found[0].launch, again.host)

    def on_outputs_obsolete(self, obsolete: msg.OutputsObsolete) -> None:
        """A map output that was to be fetched is gone: wait until all are there again."""
        found = self._shuffling_attempt(obsolete.attempt)
        if found is not None:
            attempt, copier = found
            attempt.phase = attempt.put_off = None
            self._timed += 1
            copier.awaited.clear()

    def _running_attempt(self, attempt: AttemptId) -> RunningAttempt | None:
        running = self._attempt
        return running if running is not None and running.launch.attempt == attempt else None

    def _shuffling_attempt(self, attempt: AttemptId) -> tuple[RunningAttempt, Copier] | None:
        running = self._running_attempt(attempt)
        copier = None if running is None else running.copier
        return None if running is None or copier is None else (running, copier)

    def _ask_job_for_outputs(
        self, launch: msg.LaunchTask, cause: int, *, fetching: bool = False
    ) -> None:
        ask = msg.FetchOutputs(self.address, launch.attempt, fetching)
        self.send(job_address(launch.job), ask, cause, self._latency_ms)

    def _fetch_from_host(self, launch: msg.LaunchTask, host: NodeId) -> None:
        if host not in self._unreachable:
            fetch = msg.Fetch(self.address, self._node, launch.attempt, launch.job)
            self.send(node_address(host), fetch, self.cause, self._latency_ms)
        try_ms = self.clock.real_wait_ms(TRY_MS) + 2 * self._latency_ms
        self.timer(msg.FetchTimeout(launch.attempt, host), try_ms, self.cause)

    # Giving way and going on.

    def on_suspend_task(self, suspend: msg.SuspendTask) -> None:
        attempt = self._running_attempt(suspend.attempt)
        if attempt is None:
            return
        saved = attempt.checkpoint(self.now_ms, self._slowness)
        attempt.change_state(AttemptChange.SUSPEND)
        self._free_slot()
        suspended = ev.AttemptSuspended(self.now_ms, suspend.attempt, cause=self.cause)
        self._note_event(attempt, suspended)
        told = msg.AttemptCheckpointed(self._slot, saved)
        self.send(self._node_address, told, attempt.event)

    def on_resume_attempt(self, order: msg.ResumeAttempt) -> None:
        assert self._attempt is None, f"{self.name} is busy (S1)"
        saved = order.checkpoint
        attempt = self._attempt = RunningAttempt.resumed(saved, self.now_ms)
        place = (saved.launch.attempt, self._node, self._slot)
        self._note_event(attempt, ev.AttemptResumed(self.now_ms, *place, cause=self.cause))
        left_ms = saved.left_ms
        if saved.state in _STALLS:
            self._begin_attempt(attempt)
            return
        if attempt.state is _HANGING:
            left_ms = self.clock.real_wait_ms(self._durations.tasks.timeout_ms)
            attempt.deadline_ms = self.now_ms + left_ms
        elif left_ms is not None:
            left_ms = round(left_ms * self._slowness / saved.slowness)
        if attempt.state is _SHUFFLING:
            attempt.copier = Copier(saved.fetched)
            self._ask_job_for_outputs(saved.launch, attempt.event, fetching=left_ms is not None)
            if left_ms is not None:  # asking takes two round trips
                left_ms = max(left_ms, 4 * self._latency_ms + 1)
        if left_ms is not None:
            self._time_phase(attempt, left_ms, attempt.event, saved.done)

    # What happens to the machine.

    def crash(self) -> None:
        """What ran is gone, and no actor is told."""
        attempt = self._attempt
        if attempt is not None:
            attempt.change_state(_KILL)
            self._free_slot()
            self._note_end(attempt, _KILLED, self.cause)

    def pause(self) -> None:
        attempt = self._attempt
        if attempt is not None:
            attempt.put_off, attempt.phase = attempt.left_of_phase(self.now_ms), None
        self._timed += 1

    def resume(self) -> None:
        attempt = self._attempt
        if attempt is None:
            return
        put_off, attempt.put_off = attempt.put_off, None
        if put_off is not None:
            left_ms, done = put_off
            if attempt.deadline_ms is not None:  # the clock has run on
                left_ms = max(attempt.deadline_ms - self.now_ms, 0)
            self._time_phase(attempt, left_ms, self.cause, done)
        if attempt.state is _AWAITING_INPUT:
            self.timer(msg.RetryInput(self._timed), 0, self.cause)

    def slow(self, ratio: float) -> None:
        """What is left of the running phase takes longer too, or shorter."""
        attempt = self._attempt
        if attempt is None or attempt.deadline_ms is not None:
            return
        left = attempt.left_of_phase(self.now_ms)
        if left is not None:
            self._time_phase(attempt, round(left[0] * ratio), self.cause, left[1])
        elif attempt.put_off is not None:
            left_ms, done = attempt.put_off
            attempt.put_off = (round(left_ms * ratio), done)

    def waiting_reason(self) -> str | None:
        attempt = self._attempt
        if attempt is None or attempt.state not in _STALLS:
            return None
        what = f"{self.name} holds attempt {attempt.launch.attempt} of job {attempt.launch.job}"
        return f"{what}: {_STALLS[attempt.state]}"

    def at_work(self) -> bool:
        """A reduce that waits for its job's last map is not: that map must run somewhere else."""
        attempt = self._attempt
        return attempt is not None and (attempt.phase is not None or attempt.state in _STALLS)

    # The phases of an attempt.

    def _note_event(self, attempt: RunningAttempt, event: ev.AnyEvent) -> None:
        """Tell what the attempt did; what follows is brought about by that."""
        attempt.event = self.note(event)

    def _slowed_ms(self, ms: Millis) -> Millis:
        return round(ms * self._slowness)

    def _begin_attempt(self, attempt: RunningAttempt) -> None:
        ailments = self._ailments
        if ailments.sticking and self._durations.is_launch_stuck(attempt.launch, ailments.sticking):
            self._stall_attempt(attempt, AttemptChange.STICK, 0.0, self._ailments.sticking_since)
            stuck = msg.NotBegun(attempt.launch.attempt, attempt.event)
            self.send(self._node_address, stuck, attempt.event)
        elif self._input_is_readable(attempt):
            self._begin_map_or_shuffle(attempt)
        else:
            wait_ms = self.clock.real_wait_ms(self._durations.tasks.input_wait_ms)
            attempt.deadline_ms = self.now_ms + wait_ms
            self._stall_attempt(attempt, AttemptChange.MISS_INPUT, 0.0, NO_CAUSE)
            self._retry_input_later(attempt, attempt.deadline_ms)

    def _begin_map_or_shuffle(self, attempt: RunningAttempt) -> None:
        launch = attempt.launch
        if isinstance(launch.work, msg.MapWork):
            length_ms = self._slowed_ms(self._durations.of_map(launch, launch.work))
            self._begin_phase(attempt, length_ms)
        else:
            attempt.copier = Copier()
            self._ask_job_for_outputs(launch, attempt.event)

    def _stall_attempt(
        self, attempt: RunningAttempt, change: AttemptChange, done: float, blame: int
    ) -> None:
        """Make no progress from now on; `blame` is the fault that brought it about, if any."""
        attempt.change_state(change)
        why = _STALLS.get(attempt.state, Stall.HANGS)
        cause = attempt.event if blame == NO_CAUSE else blame
        launch = attempt.launch
        self._note_event(
            attempt, ev.AttemptStalled(self.now_ms, launch.attempt, done, why, cause=cause)
        )
        if launch.tracked and launch.stage == MAPS and why is not Stall.HANGS:
            self.send(self._node_address, msg.PhaseBegan(launch.attempt, 0), attempt.event)

    def _input_is_readable(self, attempt: RunningAttempt) -> bool:
        launch = attempt.launch
        is_map = launch.stage == MAPS
        return not is_map or self._blocks.readable(launch.job, launch.task, self._kernel.now_ms)

    def _retry_input_later(self, attempt: RunningAttempt, deadline_ms: Millis) -> None:
        self._timed += 1
        wait_ms = min(self.clock.real_wait_ms(RETRY_INPUT_MS), deadline_ms - self.now_ms)
        self.timer(msg.RetryInput(self._timed), wait_ms, attempt.event)

    def _begin_phase(self, attempt: RunningAttempt, length_ms: Millis) -> None:
        """Time the next phase, which is no shuffle: to its end, or to where the attempt fails."""
        if attempt.injected is not None:
            length_ms = round(length_ms * attempt.injected.at)
        self._time_phase(attempt, length_ms, attempt.event, attempt.progress_at_work_start)

    def _hang(self, attempt: RunningAttempt) -> None:
        assert attempt.injected is not None
        done = attempt.progress_at_phase_end
        timeout_ms = self.clock.real_wait_ms(self._durations.tasks.timeout_ms)
        attempt.deadline_ms = self.now_ms + timeout_ms
        self._stall_attempt(attempt, AttemptChange.HANG, done, attempt.injected.cause)
        self._time_phase(attempt, timeout_ms, attempt.event, done)

    def _time_phase(
        self, attempt: RunningAttempt, length_ms: Millis, cause: int, done: float = 0.0
    ) -> None:
        """Time a phase from now, instead of any before; `done` is the progress at this moment."""
        now_ms = self._kernel.now_ms
        phase = attempt.phase = Phase(
            now_ms, now_ms + length_ms, done, attempt.progress_at_phase_end
        )
        self._timed += 1
        self.timer(msg.PhaseOver(self._timed), length_ms, cause)
        launch = attempt.launch
        if launch.tracked and attempt.copier is None:
            began = msg.PhaseBegan(launch.attempt, phase.length_if_completed_ms(), done)
            self.send(self._node_address, began, cause)

    def _end_attempt(self, attempt: RunningAttempt, change: AttemptChange) -> None:
        launch, cause, now_ms = attempt.launch, attempt.event, self._kernel.now_ms
        if change is _KILL:
            cause = self.cause
        elif change is _FAIL and attempt.injected is not None:
            cause = cause if attempt.injected.cause == NO_CAUSE else attempt.injected.cause
        ran_ms = attempt.ran_ms(now_ms)
        shuffled_ms = attempt.shuffled_ms if attempt.copier is None else ran_ms
        attempt.change_state(change)
        outcome = ev.OUTCOMES[attempt.state]
        self._free_slot()
        self._note_end(attempt, outcome, cause)
        report = msg.EndReport(launch.attempt, outcome, ran_ms, shuffled_ms, attempt.event)
        stored = launch.stage == MAPS and outcome is _SUCCEEDED
        over = msg.AttemptFinished(self._slot, report, launch.job if stored else None)
        self.send(self._node_address, over, attempt.event)

    def _note_end(self, attempt: RunningAttempt, outcome: Outcome, cause: int) -> None:
        number, began_ms = attempt.launch.attempt, attempt.started_ms
        ended = ev.AttemptEnded(
            self._kernel.now_ms, number, outcome, began_ms, attempt.suspended_ms, cause=cause
        )
        self._note_event(attempt, ended)

    def _free_slot(self) -> None:
        """Be free; a timer that still runs is ignored."""
        self._attempt = None
        self._timed += 1
