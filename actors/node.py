"""A node (Hadoop's TaskTracker): beats, starts and stops attempts, reports how they end.

**When it beats.**  The next beat is timed from the return of the last one (rule H3), so without
anything special the beats come every interval + round trip.  With out-of-band heartbeats an
attempt's end brings the next beat forward to at once: Hadoop divides the interval by a million
for every attempt that has ended (rule H4, the damper's default).

**Beats left out.**  Where the scenario says `send = "needed"`, a node that has nothing to say does
not beat.  It keeps the time all the same: its beats would fall on a grid that both it and the
master know, so the master can act at the very instant at which an unsent beat would have arrived
(`actors.roster`), and the node, when it has something to say again, falls in with the grid.
Every beat that says something is really sent.  Where the policy follows an attempt, every beat of
its node tells how far it is.

**Suspended attempts.**  What a slot hands back of an attempt that must give way stays in the
node's memory, and what the node says of it rides on the next beat as an attempt's end does.  It
goes on in any free slot of its kind, on this node only; killed meanwhile, it needs no slot.
"""

import heapq
from typing import NamedTuple

import msgspec

from actors.actor import Actor
from actors.address import MASTER, node_address, slot_address
from actors.events import AttemptEnded, NodeFacts, Outcome
from actors.kernel import Kernel
from actors.messages import (
    AttemptHalted,
    AttemptOver,
    Beat,
    BeatEnded,
    FollowedLaunch,
    GoOn,
    Halted,
    Heartbeat,
    HeartbeatReply,
    KillTask,
    LaunchTask,
    PhaseBegan,
    Progress,
    ProgressHeartbeat,
    Report,
    Rest,
    ResumeTask,
    SuspendTask,
)
from scheduler.model import AttemptId, Millis, TaskKind


class Going(NamedTuple):
    """A followed attempt: since when it runs, and since when it has been in a phase whose length
    can be told, which a reduce's shuffle is not.
    """

    attempt: AttemptId
    started_ms: Millis
    phase_ms: Millis | None = None
    length_ms: Millis = 0
    done: float = 0.0

    def progress(self, now_ms: Millis) -> Progress:
        """What a beat sent now says of it."""
        ran_ms = now_ms - self.started_ms
        if self.phase_ms is None:
            return Progress(self.attempt, ran_ms, ran_ms, 0.0)
        share = min((now_ms - self.phase_ms) / self.length_ms, 1.0) if self.length_ms else 0.0
        done = self.done + (1 - self.done) * share
        return Progress(self.attempt, ran_ms, self.phase_ms - self.started_ms, done)

    def later(self, by_ms: Millis) -> "Going":
        """The same with all its times so much later: it was suspended as long."""
        phase_ms = None if self.phase_ms is None else self.phase_ms + by_ms
        return self._replace(started_ms=self.started_ms + by_ms, phase_ms=phase_ms)


class Memory(NamedTuple):
    """What the node keeps of a suspended attempt; `going` if it is followed."""

    rest: Rest
    since_ms: Millis
    going: Going | None


class Node(Actor):
    """One worker machine and its slots."""

    def __init__(
        self,
        facts: NodeFacts,
        *,
        first_beat_ms: Millis,
        latency_ms: Millis,
        out_of_band: bool,
        send_all: bool,
    ) -> None:
        super().__init__(node_address(facts.node), f"node {facts.node}")
        self._facts = facts
        self._latency_ms = latency_ms
        self._round_trip_ms = 2 * latency_ms
        self._out_of_band = out_of_band
        self._send_all = send_all
        self._going: dict[AttemptId, Going] = {}
        self._free: tuple[list[int], list[int]] = (
            list(range(facts.map_slots)),
            list(range(facts.map_slots, facts.map_slots + facts.reduce_slots)),
        )
        self._held: dict[AttemptId, int] = {}
        self._suspended: dict[AttemptId, Memory] = {}
        self._reports: list[Report | Halted] = []
        self._response = 0
        self._joined = False
        self._awaiting_reply = False
        self._plan = 0
        self._interval_ms: Millis = 0
        self._next_beat_ms: Millis = first_beat_ms

    def join(self, kernel: Kernel) -> None:
        super().join(kernel)
        self._plan_beat(self._next_beat_ms)

    def receive(self, message: msgspec.Struct) -> None:
        match message:
            case Beat():
                self.on_beat(message)
            case HeartbeatReply():
                self.on_reply(message)
            case PhaseBegan():
                self.on_phase_began(message)
            case AttemptOver():
                self.on_attempt_over(message)
            case AttemptHalted():
                self.on_attempt_halted(message)
            case BeatEnded():
                self._beat_after_reply()
            case _:
                raise AssertionError(f"a node has no answer to {message!r}")

    def on_beat(self, beat: Beat) -> None:
        """Tell the master what ended since the last beat."""
        if beat.plan != self._plan:
            return
        joins = None if self._joined else self._facts
        heartbeat = Heartbeat(self._facts.node, self._response, tuple(self._reports), joins)
        if self._going:
            progress = tuple(going.progress(self.now_ms) for going in self._going.values())
            heartbeat = ProgressHeartbeat(
                heartbeat.node, heartbeat.response, heartbeat.reports, joins, progress
            )
        self._reports.clear()
        self._joined = True
        self._awaiting_reply = True
        self.send(MASTER, heartbeat, self._latency_ms)

    def on_reply(self, reply: HeartbeatReply) -> None:
        """Do what the master says, and plan the next beat from now (rule H3)."""
        self._response = reply.response
        self._interval_ms = reply.interval_ms
        for kill in reply.kills:
            self._kill(kill)
        for suspend in reply.suspends:
            self._pass_on(suspend)
        for launch in reply.launches:
            if isinstance(launch, ResumeTask):
                self._resume(launch)
            else:
                self._launch(launch)
        if self._awaiting_reply:
            self._awaiting_reply = False
            self._beat_after_reply()
        elif self._going and not self._reports:
            self._find_grid()
            self._plan_beat(self._next_beat_ms)

    def on_phase_began(self, began: PhaseBegan) -> None:
        """Note what progress can be told from."""
        going = self._going[began.attempt]
        self._going[began.attempt] = going._replace(
            phase_ms=self.now_ms, length_ms=began.length_ms, done=began.done
        )

    def on_attempt_over(self, over: AttemptOver) -> None:
        """Free the slot; the news rides on the next beat."""
        kind = TaskKind.MAP if over.slot < self._facts.map_slots else TaskKind.REDUCE
        heapq.heappush(self._free[kind], over.slot)
        del self._held[over.report.attempt]
        self._going.pop(over.report.attempt, None)
        self._report(over.report)

    def on_attempt_halted(self, halted: AttemptHalted) -> None:
        """Keep the attempt and free its slot; the news rides on the next beat."""
        rest = halted.rest
        attempt, kind = rest.launch.attempt, rest.launch.kind
        heapq.heappush(self._free[kind], halted.slot)
        del self._held[attempt]
        self._suspended[attempt] = Memory(rest, self.now_ms, self._going.pop(attempt, None))
        self._report(Halted(attempt, rest.ran_ms, rest.shuffled_ms))

    def _launch(self, launch: LaunchTask) -> None:
        """Give the attempt to the lowest free slot of its kind."""
        slot = heapq.heappop(self._free[launch.kind])
        self._held[launch.attempt] = slot
        if isinstance(launch, FollowedLaunch):
            self._going[launch.attempt] = Going(launch.attempt, self.now_ms)
        self.send(slot_address(self._facts.node, slot), launch)

    def _kill(self, kill: KillTask) -> None:
        """Pass the order on, or forget an attempt that is suspended."""
        memory = self._suspended.pop(kill.attempt, None)
        if memory is None:
            self._pass_on(kill)
            return
        rest = memory.rest
        suspended_ms = self.now_ms - rest.started_ms - rest.ran_ms
        times = rest.started_ms, suspended_ms
        self.note(AttemptEnded(self.now_ms, kill.attempt, Outcome.KILLED, *times))
        self._report(Report(kill.attempt, Outcome.KILLED, rest.ran_ms, rest.shuffled_ms))

    def _pass_on(self, order: KillTask | SuspendTask) -> None:
        """Tell the attempt's slot; an attempt that ended meanwhile is past it."""
        slot = self._held.get(order.attempt)
        if slot is not None:
            self.send(slot_address(self._facts.node, slot), order)

    def _resume(self, resume: ResumeTask) -> None:
        """Give what is left of the attempt to the lowest free slot of its kind."""
        rest, since_ms, going = self._suspended.pop(resume.attempt)
        slot = heapq.heappop(self._free[rest.launch.kind])
        self._held[resume.attempt] = slot
        if going is not None:
            self._going[resume.attempt] = going.later(self.now_ms - since_ms)
        self.send(slot_address(self._facts.node, slot), GoOn(rest))

    def _report(self, report: Report | Halted) -> None:
        """Remember what to say, and see to it that it will be said."""
        self._reports.append(report)
        if self._awaiting_reply or len(self._reports) > 1:
            return  # the beat that will tell it is planned, or the reply will plan it
        if not self._send_all:
            self._fall_in()
        elif self._out_of_band:
            self._plan_beat(self.now_ms)

    def _beat_after_reply(self) -> None:
        """Plan the beat that follows a reply received now."""
        next_ms = self.now_ms + self._interval_ms
        self._next_beat_ms = next_ms
        if self._out_of_band and self._reports:
            next_ms = self.now_ms
        if self._send_all or self._reports or self._going:
            self._plan_beat(next_ms)

    def _fall_in(self) -> None:
        """Having left beats out, find the grid again and plan the first beat after now.

        A beat due at this very instant has gone already: beats are due in an instant's first
        round, and what a slot says comes in a later one.
        """
        if self._find_grid():
            reply_ms = self._next_beat_ms - self._interval_ms
            if self._out_of_band and self.now_ms < reply_ms:
                self.timer(BeatEnded(), reply_ms - self.now_ms)
                return
        self._plan_beat(self.now_ms if self._out_of_band else self._next_beat_ms)

    def _find_grid(self) -> bool:
        """Make the next beat the grid's first one after now; whether any had been left out."""
        if self._next_beat_ms > self.now_ms:
            return False
        period_ms = self._interval_ms + self._round_trip_ms
        missed = (self.now_ms - self._next_beat_ms) // period_ms + 1
        self._next_beat_ms += missed * period_ms
        return True

    def _plan_beat(self, at_ms: Millis) -> None:
        """Beat at `at_ms`, and not when any earlier plan said."""
        self._plan += 1
        self.timer(Beat(self._plan), at_ms - self.now_ms)

    def waits_for(self) -> str | None:
        attempts = "1 attempt" if len(self._held) == 1 else f"{len(self._held)} attempts"
        if not self._suspended:
            return f"{self.name} runs {attempts}" if self._held else None
        return f"{self.name} runs {attempts} and holds {len(self._suspended)} suspended"
