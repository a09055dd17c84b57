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

**When something happens to it.**  From the first fault on it leaves no beat out, and tells the
master when the last one that it did would have arrived (`Awake`): silence then means what it
does in a real cluster.  A beat without an answer is sent again, the very same one (rule H5).  A
node that was given up for lost is told to begin anew (rule T4), and one that starts again after a
crash does so by itself (rule T5): what ran on it is forgotten, and its next beat joins.
"""

import heapq
from typing import NamedTuple

import msgspec

from actors.address import MASTER, node_address, slot_address
from actors.events import NodeFacts
from actors.faults import Disturb, Fault, Separate, Slow
from actors.kernel import Kernel
from actors.machine import Machine
from actors.messages import (
    AttemptOver,
    Awake,
    Beat,
    BeatAgain,
    BeatEnded,
    BeginAnew,
    Fetch,
    Fetched,
    FetchFailure,
    FollowedLaunch,
    Heartbeat,
    HeartbeatReply,
    KillTask,
    LaunchTask,
    PhaseBegan,
    Progress,
    ProgressHeartbeat,
    Report,
)
from actors.network import Link
from scheduler.model import AttemptId, JobId, Millis, TaskKind


class Going(NamedTuple):
    """A followed attempt: since when it runs, how long it was in its shuffle, and since when it has
    been in a phase whose length can be told, which the shuffle is not.
    """

    attempt: AttemptId
    started_ms: Millis
    phase_ms: Millis | None = None
    length_ms: Millis = 0
    done: float = 0.0
    shuffled_ms: Millis = 0

    def progress(self, now_ms: Millis) -> Progress:
        """What a beat sent now says of it."""
        ran_ms = now_ms - self.started_ms
        if self.phase_ms is None:
            return Progress(self.attempt, ran_ms, ran_ms, 0.0)
        share = min((now_ms - self.phase_ms) / self.length_ms, 1.0) if self.length_ms else 0.0
        done = self.done + (1 - self.done) * share
        return Progress(self.attempt, ran_ms, self.shuffled_ms, done)


class Node(Machine):
    """One worker machine and its slots."""

    def __init__(
        self,
        facts: NodeFacts,
        *,
        first_beat_ms: Millis,
        latency_ms: Millis,
        out_of_band: bool,
        send_all: bool,
        retry_ms: Millis,
        keeps_outputs: bool,
        seed: int,
    ) -> None:
        super().__init__(node_address(facts.node), f"node {facts.node}")
        self._facts = facts
        self._latency_ms = latency_ms
        self._round_trip_ms = 2 * latency_ms
        self._out_of_band = out_of_band
        self._send_all = send_all
        self._retry_ms = retry_ms
        self._keeps_outputs = keeps_outputs
        self._going: dict[AttemptId, Going] = {}
        self._free = self._all_free()
        self._held: dict[AttemptId, int] = {}
        self._outputs: set[JobId] = set()
        self._orphans: set[AttemptId] = set()
        self._reports: list[Report | FetchFailure] = []
        self._life = 0
        self._response = 0
        self._joined = False
        self._awaiting_reply = False
        self._awake = False
        self._left_out_ms: Millis = -1  # when the last beat left out would arrive
        self._answered_ms: Millis = 0  # when it was, if its answer was under way on waking
        self._beats = 0
        self._last_beat: Heartbeat | None = None
        self._uplink: Link | None = None
        self._seed = seed
        self._plan = 0
        self._interval_ms: Millis = 0
        self._next_beat_ms: Millis = first_beat_ms

    def join(self, kernel: Kernel) -> None:
        super().join(kernel)
        self._plan_beat(self._next_beat_ms)

    def receive(self, message: msgspec.Struct) -> None:
        if self.halted and self.absorbs(message):
            return
        match message:
            case Beat():
                self.on_beat(message)
            case HeartbeatReply():
                self.on_reply(message)
            case PhaseBegan():
                self.on_phase_began(message)
            case AttemptOver():
                self.on_attempt_over(message)
            case BeatEnded():
                self.on_beat_ended()
            case BeatAgain():
                self.on_beat_again(message)
            case BeginAnew():
                self.on_begin_anew(message)
            case Fetch():
                self.on_fetch(message)
            case FetchFailure():
                self._report(message)
            case Fault():
                self.on_fault(message)
            case _:
                raise AssertionError(f"a node has no answer to {message!r}")

    def on_beat(self, beat: Beat) -> None:
        """Tell the master what ended since the last beat."""
        if beat.plan != self._plan:
            return
        joins = None if self._joined else self._facts
        reports = tuple(self._reports)
        what = (self._facts.node, self._response, reports, joins, self._life)
        heartbeat = Heartbeat(*what)
        if self._going:
            progress = tuple(going.progress(self.now_ms) for going in self._going.values())
            heartbeat = ProgressHeartbeat(*what, progress)
        self._reports.clear()
        self._joined = True
        self._awaiting_reply = True
        self._beats += 1
        self._send_beat(heartbeat)

    def on_reply(self, reply: HeartbeatReply) -> None:
        """Do what the master says, and plan the next beat from now (rule H3)."""
        if reply.life != self._life or reply.response <= self._response:
            return  # meant for who I was, or a copy
        self._response = reply.response
        self._interval_ms = reply.interval_ms
        for kill in reply.kills:
            self._kill(kill)
        for launch in reply.launches:
            self._launch(launch)
        if self._awaiting_reply:
            self._awaiting_reply = False
            self._beat_after_reply()
        elif self._going and not self._reports:
            self._find_grid()
            self._plan_beat(self._next_beat_ms)

    def on_phase_began(self, began: PhaseBegan) -> None:
        """Note what progress can be told from."""
        going = self._going.get(began.attempt)
        if going is None:
            return  # of an earlier life
        if going.phase_ms is None:
            going = going._replace(shuffled_ms=self.now_ms - going.started_ms)
        self._going[began.attempt] = going._replace(
            phase_ms=self.now_ms, length_ms=began.length_ms, done=began.done
        )

    def on_attempt_over(self, over: AttemptOver) -> None:
        """Free the slot; the news rides on the next beat, unless it is of an earlier life."""
        kind = TaskKind.MAP if over.slot < self._facts.map_slots else TaskKind.REDUCE
        heapq.heappush(self._free[kind], over.slot)
        del self._held[over.report.attempt]
        self._going.pop(over.report.attempt, None)
        if over.output_of is not None and self._keeps_outputs:
            self._outputs.add(over.output_of)
        if over.report.attempt in self._orphans:
            self._orphans.remove(over.report.attempt)
        else:
            self._report(over.report)

    def on_beat_again(self, again: BeatAgain) -> None:
        """Send a beat again whose answer has not come (rule H5)."""
        if self._awaiting_reply and again.beat == self._beats:
            assert self._last_beat is not None
            self._send_beat(self._last_beat)

    def on_beat_ended(self) -> None:
        """The reply to a beat left out would come; a beat sent waits for its own."""
        if not self._awaiting_reply:
            self._beat_after_reply()

    def on_fetch(self, fetch: Fetch) -> None:
        """Hand over what the job's maps have left here; without it there is no answer."""
        if fetch.job in self._outputs and fetch.node not in self._apart:
            answer = Fetched(fetch.attempt, self._facts.node)
            self.send(fetch.slot_address, answer, self._latency_ms)

    def on_begin_anew(self, order: BeginAnew) -> None:
        """The master has given this life up: drop what runs, and join again (rule T4)."""
        if order.life != self._life:
            return
        self._orphans.update(self._held)
        for attempt, slot in self._held.items():
            self.send(slot_address(self._facts.node, slot), KillTask(attempt))
        self._begin_life()

    def on_fault(self, fault: Fault) -> None:
        """Leave no beat out from now on, and bear it."""
        if not isinstance(fault, Slow | Separate):
            self._wake()
        if isinstance(fault, Disturb):
            if self._uplink is None:
                self._uplink = Link(self._seed, f"up/{self._facts.node}", self._latency_ms)
            self._uplink.way = fault.up
        super().on_fault(fault)

    def crash(self) -> None:
        self._held.clear()
        self._orphans.clear()
        self._free = self._all_free()
        self._plan += 1  # nothing planned will happen

    def restart(self) -> None:
        self._begin_life()

    def _begin_life(self) -> None:
        """Be a node that the master has never heard of, and say so at once."""
        self._reports.clear()
        self._going.clear()
        self._outputs.clear()
        self._life += 1
        self._response = 0
        self._joined = False
        self._awaiting_reply = False
        self._plan_beat(self.now_ms)

    def _wake(self) -> None:
        """From now on send every beat; those that were left out have had their effect."""
        if self._awake:
            return
        self._awake = True
        if not self._send_all:
            self._send_all = True
            self._end_silence()
        if self._awaiting_reply:
            self._await_reply()
        self.send(MASTER, Awake(self._facts.node, self._left_out_ms))

    def _end_silence(self) -> None:
        """Plan the first beat after now if none is; send one left out that would be under way."""
        if not self._joined or self._awaiting_reply:
            return
        if not self._reports and not self._going:
            self._find_grid()
            self._plan_beat(self._next_beat_ms)
        if self._left_out_ms < 0:
            return
        arrives_ms = self._left_out_ms
        reply_ms = arrives_ms + self._latency_ms
        if self.now_ms < arrives_ms:
            self._left_out_ms -= self._interval_ms + self._round_trip_ms
            self._awaiting_reply = True
            self._last_beat = Heartbeat(self._facts.node, self._response, (), None, self._life)
            self.send(MASTER, self._last_beat, arrives_ms - self.now_ms)
        elif self.now_ms < reply_ms:
            self._answered_ms = reply_ms
            self.timer(BeatEnded(), reply_ms - self.now_ms)

    def _send_beat(self, heartbeat: Heartbeat) -> None:
        """Send it over whatever the link is like; once awake, see to it that it is answered."""
        self._last_beat = heartbeat
        if self._uplink is None:
            self.send(MASTER, heartbeat, self._latency_ms)
        else:
            for delay_ms in self._uplink.deliveries():
                self.send(MASTER, heartbeat, delay_ms)
        if self._awake:
            self._await_reply()

    def _await_reply(self) -> None:
        """See to it that the beat goes out again if nothing comes back (rule H5)."""
        self.timer(BeatAgain(self._beats), self._retry_ms)

    def _all_free(self) -> tuple[list[int], list[int]]:
        """The slots of an empty node, by kind."""
        maps, reduces = self._facts.map_slots, self._facts.reduce_slots
        return list(range(maps)), list(range(maps, maps + reduces))

    def _launch(self, launch: LaunchTask) -> None:
        """Give the attempt to the lowest free slot of its kind."""
        slot = heapq.heappop(self._free[launch.kind])
        self._held[launch.attempt] = slot
        if isinstance(launch, FollowedLaunch):
            self._going[launch.attempt] = Going(launch.attempt, self.now_ms)
        self.send(slot_address(self._facts.node, slot), launch)

    def _kill(self, kill: KillTask) -> None:
        """Pass the order on; an attempt that ended meanwhile is past killing."""
        slot = self._held.get(kill.attempt)
        if slot is not None:
            self.send(slot_address(self._facts.node, slot), kill)

    def _report(self, report: Report | FetchFailure) -> None:
        """Remember what to say, and see to it that it will be said."""
        self._reports.append(report)
        if self._awaiting_reply or len(self._reports) > 1:
            return  # the beat that will tell it is planned, or the reply will plan it
        if not self._send_all:
            self._fall_in()
        elif self._out_of_band and self.now_ms >= self._answered_ms:
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
        self._left_out_ms = self._next_beat_ms - period_ms + self._latency_ms
        return True

    def _plan_beat(self, at_ms: Millis) -> None:
        """Beat at `at_ms`, and not when any earlier plan said."""
        self._plan += 1
        self.timer(Beat(self._plan), at_ms - self.now_ms)

    def waits_for(self) -> str | None:
        attempts = "1 attempt" if len(self._held) == 1 else f"{len(self._held)} attempts"
        return f"{self.name} runs {attempts}" if self._held else None
