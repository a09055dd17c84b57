"""A node (Hadoop's TaskTracker): beats, starts and stops attempts, reports how they end.

When it beats is told in `actors.worker.tracker`; here is what it does with its slots.

**Suspended attempts.**  What a slot hands back of an attempt that must give way stays in the
node's memory, and what the node says of it rides on the next beat as an attempt's end does.  It
goes on in any free slot of its kind, on this node only; killed meanwhile, it needs no slot.

**Map outputs** stay on the node that made them, for reduces anywhere to fetch, until it crashes or
begins anew.
"""

import heapq
from typing import NamedTuple

import msgspec

from callboard.actors.kernel.address import slot_address
from callboard.actors.vocabulary.events import AttemptEnded, NodeFacts, Outcome
from callboard.actors.vocabulary.faults import Fault
from callboard.actors.vocabulary.messages import (
    AttemptCheckpointed,
    AttemptFinished,
    AttemptProgress,
    Checkpoint,
    ElidedReplyDue,
    EndReport,
    Fetch,
    Fetched,
    FetchFailure,
    HeartbeatDue,
    HeartbeatReply,
    KillTask,
    LaunchTask,
    NotBegun,
    PhaseBegan,
    ProgressTold,
    Reinitialize,
    ResumeAttempt,
    ResumeTask,
    RetryHeartbeat,
    SuspendTask,
    SuspensionReport,
    TrackedLaunch,
    TrackingReply,
    TrackProgress,
    tracked,
)
from callboard.actors.worker.clock import Clock
from callboard.actors.worker.tracker import Tracker
from callboard.scheduler.model import AttemptId, JobId, Millis, TaskKind


class ProgressClock(NamedTuple):
    """A followed attempt: since when it runs, how long it was in its shuffle, and since when it has
    been in a phase whose length can be told, which the shuffle is not.
    """

    attempt: AttemptId
    started_ms: Millis
    phase_ms: Millis | None = None
    length_ms: Millis = 0
    done: float = 0.0
    shuffled_ms: Millis = 0

    def progress(self, now_ms: Millis, clock: Clock) -> AttemptProgress:
        """What a beat sent now says of it; times are by the machine's clock."""
        times = measured(clock, now_ms, now_ms - self.started_ms, self.shuffled_ms)
        if self.phase_ms is None:
            return AttemptProgress(self.attempt, times[0], times[0], 0.0)
        share = min((now_ms - self.phase_ms) / self.length_ms, 1.0) if self.length_ms else 0.0
        done = self.done + (1 - self.done) * share
        return AttemptProgress(self.attempt, *times, done)

    def in_phase(self, began: PhaseBegan, now_ms: Millis) -> "ProgressClock":
        """The same in a phase that began, or went on, now."""
        shuffled_ms = now_ms - self.started_ms if self.phase_ms is None else self.shuffled_ms
        return ProgressClock(
            self.attempt, self.started_ms, now_ms, began.length_ms, began.done, shuffled_ms
        )

    def later(self, by_ms: Millis) -> "ProgressClock":
        """The same with all its times so much later: it was suspended as long."""
        phase_ms = None if self.phase_ms is None else self.phase_ms + by_ms
        return self._replace(started_ms=self.started_ms + by_ms, phase_ms=phase_ms)


def measured(
    clock: Clock, now_ms: Millis, ran_ms: Millis, shuffled_ms: Millis
) -> tuple[Millis, Millis]:
    """How long an attempt ran up to now, and was in its shuffle first, by a machine's clock."""
    began_ms = now_ms - ran_ms
    return clock.own_ms(began_ms, now_ms), clock.own_ms(began_ms, began_ms + shuffled_ms)


class SuspendedAttempt(NamedTuple):
    """What the node keeps of a suspended attempt; `going` if it is followed."""

    rest: Checkpoint
    since_ms: Millis
    going: ProgressClock | None


class Node(Tracker):
    """One worker machine and its slots."""

    def __init__(
        self,
        facts: NodeFacts,
        *,
        first_heartbeat_ms: Millis,
        latency_ms: Millis,
        out_of_band: bool,
        send_all: bool,
        retry_ms: Millis,
        keeps_outputs: bool,
        seed: int,
    ) -> None:
        super().__init__(
            facts,
            first_heartbeat_ms=first_heartbeat_ms,
            latency_ms=latency_ms,
            out_of_band=out_of_band,
            send_all=send_all,
            retry_ms=retry_ms,
            seed=seed,
        )
        self._keeps_outputs = keeps_outputs
        self._outputs: set[JobId] = set()
        self._going: dict[AttemptId, ProgressClock] = {}
        self._asked: set[AttemptId] = set()  # to be followed, but its slot has not answered
        self._free = self._all_free()
        self._held: dict[AttemptId, int] = {}
        self._orphans: set[AttemptId] = set()  # held, but of an earlier life
        self._suspended: dict[AttemptId, SuspendedAttempt] = {}

    def receive(self, message: msgspec.Struct) -> None:
        if self.halted and self.absorbs(message):
            return
        match message:
            case HeartbeatDue():
                self.on_heartbeat_due(message)
            case HeartbeatReply():
                self.on_reply(message)
            case PhaseBegan():
                self.on_phase_began(message)
            case ProgressTold():
                self.on_progress_told(message)
            case AttemptFinished():
                self.on_attempt_finished(message)
            case AttemptCheckpointed():
                self.on_attempt_checkpointed(message)
            case ElidedReplyDue():
                self.on_elided_reply_due()
            case RetryHeartbeat():
                self.on_retry_heartbeat(message)
            case Reinitialize():
                self.on_reinitialize(message)
            case Fetch():
                self.on_fetch(message)
            case FetchFailure():
                self.say(message)
            case NotBegun():
                self.on_not_begun(message)
            case Fault():
                self.on_fault(message)
            case _:
                raise AssertionError(f"a node has no answer to {message!r}")

    # What slots say.

    def on_phase_began(self, began: PhaseBegan) -> None:
        """Note what progress can be told from."""
        going = self._going.get(began.attempt)
        if going is not None:  # and not of an earlier life
            self._going[began.attempt] = going.in_phase(began, self.now_ms)

    def on_progress_told(self, way: ProgressTold) -> None:
        """Follow an attempt that runs already."""
        if way.attempt in self._asked:  # and not of an earlier life
            self._asked.remove(way.attempt)
            self._going[way.attempt] = _going(way, self.now_ms)

    def on_not_begun(self, told: NotBegun) -> None:
        """Pass it on, unless it is of an earlier life."""
        if told.attempt not in self._orphans:
            self.say(told)

    def on_attempt_finished(self, over: AttemptFinished) -> None:
        """Free the slot; the news rides on the next beat, unless it is of an earlier life."""
        attempt = over.report.attempt
        self._release(over.slot, attempt)
        self._going.pop(attempt, None)
        self._asked.discard(attempt)
        if attempt in self._orphans:
            self._orphans.remove(attempt)
            return
        if over.output_of is not None and self._keeps_outputs:
            self._outputs.add(over.output_of)
        self.say(self._by_clock(over.report))

    def on_attempt_checkpointed(self, halted: AttemptCheckpointed) -> None:
        """Keep the attempt and free its slot; the news rides on the next beat."""
        rest = halted.rest
        attempt = rest.launch.attempt
        self._release(halted.slot, attempt)
        memory = SuspendedAttempt(rest, self.now_ms, self._going.pop(attempt, None))
        if attempt in self._orphans:
            self._orphans.remove(attempt)
            self._drop(attempt, memory)
            return
        self._suspended[attempt] = memory
        times = measured(self._clock, self.now_ms, rest.ran_ms, rest.shuffled_ms)
        self.say(SuspensionReport(attempt, *times))

    def on_fetch(self, fetch: Fetch) -> None:
        """Hand over what the job's maps have left here; without it there is no answer."""
        if fetch.job in self._outputs and fetch.node not in self._apart:
            answer = Fetched(fetch.attempt, self._facts.node)
            self.send(fetch.slot_address, answer, self._latency_ms)

    # What the master says.

    def on_reinitialize(self, order: Reinitialize) -> None:
        """The master has given this life up: drop what runs, and join again (rule T4)."""
        if order.life != self._life:
            return
        self._orphans.update(self._held)
        for attempt in self._held:
            self._pass_on(KillTask(attempt))
        self._begin_life()

    def obey(self, reply: HeartbeatReply) -> None:
        if isinstance(reply, TrackingReply):
            for attempt in reply.follows:
                self._follow(attempt)
        for kill in reply.kills:
            self._kill(kill)
        for suspend in reply.suspends:
            self._pass_on(suspend)
        for launch in reply.launches:
            if isinstance(launch, ResumeTask):
                self._resume(launch)
            else:
                self._launch(launch)

    def follows(self) -> bool:
        return bool(self._going or self._asked)

    def progress(self) -> tuple[AttemptProgress, ...]:
        going, clock = self._going.values(), self._clock
        return tuple(each.progress(self.now_ms, clock) for each in going)

    def crash(self) -> None:
        super().crash()
        self._held.clear()
        self._orphans.clear()
        self._free = self._all_free()
        self._forget()

    def waits_for(self) -> str | None:
        attempts = "1 attempt" if len(self._held) == 1 else f"{len(self._held)} attempts"
        if not self._suspended:
            return f"{self.name} runs {attempts}" if self._held else None
        return f"{self.name} runs {attempts} and holds {len(self._suspended)} suspended"

    def _begin_life(self) -> None:
        self._forget()
        super()._begin_life()

    def _forget(self) -> None:
        """What is kept of attempts that have no slot is gone."""
        for attempt, memory in self._suspended.items():
            self._drop(attempt, memory)
        self._suspended.clear()
        self._going.clear()
        self._asked.clear()
        self._outputs.clear()

    def _launch(self, launch: LaunchTask) -> None:
        """Give the attempt to the lowest free slot of its kind."""
        slot = heapq.heappop(self._free[launch.kind])
        self._held[launch.attempt] = slot
        if isinstance(launch, TrackedLaunch):
            self._going[launch.attempt] = ProgressClock(launch.attempt, self.now_ms)
        self.send(slot_address(self._facts.node, slot), launch)

    def _resume(self, resume: ResumeTask) -> None:
        """Give what is left of the attempt to the lowest free slot of its kind."""
        rest, since_ms, going = self._suspended.pop(resume.attempt)
        slot = heapq.heappop(self._free[rest.launch.kind])
        self._held[resume.attempt] = slot
        if going is not None:
            self._going[resume.attempt] = going.later(self.now_ms - since_ms)
        self.send(slot_address(self._facts.node, slot), ResumeAttempt(rest))

    def _follow(self, attempt: AttemptId) -> None:
        """Follow an attempt from now on; one that ended meanwhile is past it."""
        memory = self._suspended.get(attempt)
        if memory is not None:
            rest = msgspec.structs.replace(memory.rest, launch=tracked(memory.rest.launch))
            left_ms = rest.left_ms if rest.fetched is None else None
            way = ProgressTold(attempt, rest.ran_ms, rest.shuffled_ms, left_ms, rest.done)
            self._suspended[attempt] = SuspendedAttempt(
                rest, memory.since_ms, _going(way, memory.since_ms)
            )
        elif attempt in self._held:
            self._asked.add(attempt)
            self._pass_on(TrackProgress(attempt))

    def _kill(self, kill: KillTask) -> None:
        """Pass the order on, or drop an attempt that is suspended."""
        memory = self._suspended.pop(kill.attempt, None)
        if memory is None:
            self._pass_on(kill)
            return
        self._drop(kill.attempt, memory)
        rest = memory.rest
        report = EndReport(kill.attempt, Outcome.KILLED, rest.ran_ms, rest.shuffled_ms)
        self.say(self._by_clock(report))

    def _by_clock(self, report: EndReport) -> EndReport:
        """The report with its times as the machine has measured them."""
        if self._clock.right:
            return report
        times = measured(self._clock, self.now_ms, report.ran_ms, report.shuffled_ms)
        return EndReport(report.attempt, report.outcome, *times)

    def _drop(self, attempt: AttemptId, memory: SuspendedAttempt) -> None:
        """Here ends a suspended attempt."""
        rest = memory.rest
        times = rest.started_ms, self.now_ms - rest.started_ms - rest.ran_ms
        self.note(AttemptEnded(self.now_ms, attempt, Outcome.KILLED, *times))

    def _pass_on(self, order: KillTask | SuspendTask | TrackProgress) -> None:
        """Tell the attempt's slot; an attempt that ended meanwhile is past it."""
        slot = self._held.get(order.attempt)
        if slot is not None:
            self.send(slot_address(self._facts.node, slot), order)

    def _release(self, slot: int, attempt: AttemptId) -> None:
        """The slot is free again."""
        kind = TaskKind.MAP if slot < self._facts.map_slots else TaskKind.REDUCE
        heapq.heappush(self._free[kind], slot)
        del self._held[attempt]

    def _all_free(self) -> tuple[list[int], list[int]]:
        """The slots of an empty node, by kind."""
        maps, reduces = self._facts.map_slots, self._facts.reduce_slots
        return list(range(maps)), list(range(maps, maps + reduces))


def _going(way: ProgressTold, now_ms: Millis) -> ProgressClock:
    """What is to be known of an attempt that was so far at this moment."""
    phase_ms = None if way.left_ms is None else now_ms
    started_ms = now_ms - way.ran_ms
    return ProgressClock(
        way.attempt, started_ms, phase_ms, way.left_ms or 0, way.done, way.shuffled_ms
    )
