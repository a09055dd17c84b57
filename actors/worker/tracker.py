"""The beating half of a node: when it beats, which beats it leaves out, and what becomes of a beat
that nobody answers.

**When it beats.**  The next beat is timed from the return of the last one (rule H3), so without
anything special the beats come every interval + round trip.  With out-of-band heartbeats an
attempt's end brings the next beat forward to at once: Hadoop divides the interval by a million
for every attempt that has ended (rule H4, the damper's default).

**Beats left out.**  Where the scenario says `send = "needed"`, a node that has nothing to say does
not beat.  It keeps the time all the same: its beats would fall on a grid that both it and the
master know, so the master can act at the very instant at which an unsent beat would have arrived
(`actors.elided_heartbeats`), and the node, when it has something to say again, falls in with the
grid.  Every beat that says something is really sent.  Where the policy follows an attempt, every
beat of its node tells how far it is.

**When something happens to it.**  From the first fault on it leaves no beat out, and tells the
master when the last one that it did would have arrived (`HeartbeatsResumed`): silence then means
what it does in a real cluster.  A beat without an answer is sent again, the very same one (rule
H5).  A node that was given up for lost is told to begin anew (rule T4), and one that starts again
after a crash does so by itself (rule T5): what ran on it is forgotten, and its next beat joins.
"""

from abc import abstractmethod

from callboard.actors.kernel.address import MASTER, node_address
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.network import Link
from callboard.actors.vocabulary.events import NodeFacts
from callboard.actors.vocabulary.faults import Disturb, Fault, Flaky, Hang, Jumble, Separate, Slow
from callboard.actors.vocabulary.messages import (
    AttemptProgress,
    ElidedReplyDue,
    EndReport,
    FetchFailure,
    Heartbeat,
    HeartbeatDue,
    HeartbeatReply,
    HeartbeatsResumed,
    NotBegun,
    ProgressHeartbeat,
    RetryHeartbeat,
    SuspensionReport,
)
from callboard.actors.worker.machine import Machine
from callboard.scheduler.model import Millis


class Tracker(Machine):
    """A node as the master knows it: by its beats."""

    def __init__(
        self,
        facts: NodeFacts,
        *,
        first_heartbeat_ms: Millis,
        latency_ms: Millis,
        out_of_band: bool,
        send_all: bool,
        retry_ms: Millis,
        seed: int,
    ) -> None:
        super().__init__(node_address(facts.node), f"node {facts.node}")
        self._facts = facts
        self._latency_ms = latency_ms
        self._round_trip_ms = 2 * latency_ms
        self._out_of_band = out_of_band
        self._send_all = send_all
        self._retry_ms = retry_ms
        self._seed = seed
        self._reports: list[EndReport | SuspensionReport | FetchFailure | NotBegun] = []
        self._life = 0
        self._response = 0
        self._joined = False
        self._awaiting_reply = False
        self._heartbeating = False
        self._left_out_ms: Millis = -1  # when the last beat left out would arrive
        self._answered_ms: Millis = 0  # when it was, if its answer was under way on waking
        self._heartbeats = 0
        self._last_heartbeat: Heartbeat | None = None
        self._uplink: Link | None = None
        self._plan = 0
        self._interval_ms: Millis = 0
        self._next_heartbeat_ms: Millis = first_heartbeat_ms

    def join(self, kernel: Kernel) -> None:
        super().join(kernel)
        if not self.halted:
            self._plan_heartbeat(self._next_heartbeat_ms)

    # What a node says and does.

    @abstractmethod
    def follows(self) -> bool:
        """Whether every beat has to tell how far some attempts are."""

    @abstractmethod
    def progress(self) -> tuple[AttemptProgress, ...]:
        """How far they are."""

    @abstractmethod
    def obey(self, reply: HeartbeatReply) -> None:
        """Do what the master says."""

    # Beats and their answers.

    def on_heartbeat_due(self, beat: HeartbeatDue) -> None:
        """Tell the master what ended since the last beat."""
        if beat.plan != self._plan:
            return
        joins = None if self._joined else self._facts
        what = (self._facts.node, self._response, tuple(self._reports), joins, self._life)
        heartbeat = Heartbeat(*what)
        if self.follows():
            heartbeat = ProgressHeartbeat(*what, self.progress())
        self._reports.clear()
        self._joined = True
        self._awaiting_reply = True
        self._heartbeats += 1
        self._send_heartbeat(heartbeat)

    def on_reply(self, reply: HeartbeatReply) -> None:
        """Do what the master says, and plan the next beat from now (rule H3)."""
        if reply.life != self._life or reply.response <= self._response:
            return  # meant for who I was, or a copy
        self._response = reply.response
        self._interval_ms = reply.interval_ms
        self.obey(reply)
        if self._awaiting_reply:
            self._awaiting_reply = False
            self._plan_after_reply()
        elif self.follows() and not self._reports:
            self._find_grid()
            self._plan_heartbeat(self._next_heartbeat_ms)

    def on_retry_heartbeat(self, again: RetryHeartbeat) -> None:
        """Send a beat again whose answer has not come (rule H5)."""
        if self._awaiting_reply and again.beat == self._heartbeats:
            assert self._last_heartbeat is not None
            self._send_heartbeat(self._last_heartbeat)

    def on_elided_reply_due(self) -> None:
        """The reply to a beat left out would come; a beat sent waits for its own."""
        if not self._awaiting_reply:
            self._plan_after_reply()

    def say(self, report: EndReport | SuspensionReport | FetchFailure | NotBegun) -> None:
        """Remember what to say, and see to it that it will be said."""
        self._reports.append(report)
        if self._awaiting_reply or len(self._reports) > 1:
            return  # the beat that will tell it is planned, or the reply will plan it
        if not self._send_all:
            self._fall_in()
        elif self._out_of_band and self.now_ms >= self._answered_ms:
            self._plan_heartbeat(self.now_ms)

    def _send_heartbeat(self, heartbeat: Heartbeat) -> None:
        """Send it over whatever the link is like; once awake, see to it that it is answered."""
        self._last_heartbeat = heartbeat
        if self._uplink is None:
            self.send(MASTER, heartbeat, self._latency_ms)
        else:
            for delay_ms, each in self._uplink.carry(heartbeat):
                self.send(MASTER, each, delay_ms)
        if self._heartbeating:
            self._await_reply()

    def _await_reply(self) -> None:
        """See to it that the beat goes out again if nothing comes back (rule H5)."""
        self.timer(RetryHeartbeat(self._heartbeats), self._clock.real_ms(self._retry_ms))

    def _plan_after_reply(self) -> None:
        """Plan the beat that follows a reply received now."""
        next_ms = self.now_ms + self._clock.real_ms(self._interval_ms)
        self._next_heartbeat_ms = next_ms
        if self._out_of_band and self._reports:
            next_ms = self.now_ms
        if self._send_all or self._reports or self.follows():
            self._plan_heartbeat(next_ms)

    def _plan_heartbeat(self, at_ms: Millis) -> None:
        """Beat at `at_ms`, and not when any earlier plan said."""
        self._plan += 1
        self.timer(HeartbeatDue(self._plan), at_ms - self.now_ms)

    # Beats left out.

    def _fall_in(self) -> None:
        """Having left beats out, find the grid again and plan the first beat after now.

        A beat due at this very instant has gone already: beats are due in an instant's first
        round, and what a slot says comes in a later one.
        """
        if self._find_grid():
            reply_ms = self._next_heartbeat_ms - self._interval_ms
            if self._out_of_band and self.now_ms < reply_ms:
                self.timer(ElidedReplyDue(), reply_ms - self.now_ms)
                return
        self._plan_heartbeat(self.now_ms if self._out_of_band else self._next_heartbeat_ms)

    def _find_grid(self) -> bool:
        """Make the next beat the grid's first one after now; whether any had been left out."""
        if self._next_heartbeat_ms > self.now_ms:
            return False
        period_ms = self._interval_ms + self._round_trip_ms
        missed = (self.now_ms - self._next_heartbeat_ms) // period_ms + 1
        self._next_heartbeat_ms += missed * period_ms
        self._left_out_ms = self._next_heartbeat_ms - period_ms + self._latency_ms
        return True

    def _wake(self) -> None:
        """From now on send every beat; those that were left out have had their effect."""
        if self._heartbeating:
            return
        self._heartbeating = True
        if not self._send_all:
            self._send_all = True
            self._end_silence()
        if self._awaiting_reply:
            self._await_reply()
        self.send(MASTER, HeartbeatsResumed(self._facts.node, self._left_out_ms))

    def _end_silence(self) -> None:
        """Plan the first beat after now if none is; send one left out that would be under way."""
        if not self._joined or self._awaiting_reply:
            return
        if not self._reports and not self.follows():
            self._find_grid()
            self._plan_heartbeat(self._next_heartbeat_ms)
        if self._left_out_ms < 0:
            return
        arrives_ms = self._left_out_ms
        reply_ms = arrives_ms + self._latency_ms
        if self.now_ms < arrives_ms:
            self._left_out_ms -= self._interval_ms + self._round_trip_ms
            self._awaiting_reply = True
            self._last_heartbeat = Heartbeat(self._facts.node, self._response, (), None, self._life)
            self.send(MASTER, self._last_heartbeat, arrives_ms - self.now_ms)
        elif self.now_ms < reply_ms:
            self._answered_ms = reply_ms
            self.timer(ElidedReplyDue(), reply_ms - self.now_ms)

    # What happens to the machine.

    def on_fault(self, fault: Fault) -> None:
        """Leave no beat out from now on, and bear it."""
        if not isinstance(fault, Slow | Separate | Flaky | Hang):
            self._wake()
        if isinstance(fault, Disturb):
            if self._uplink is None:
                self._uplink = Link(self._seed, f"up/{self._facts.node}", self._latency_ms)
            self._uplink.way = fault.up
            self._uplink.held_share = fault.up_held if isinstance(fault, Jumble) else 0.0
        super().on_fault(fault)

    def crash(self) -> None:
        self._plan += 1  # nothing planned will happen

    def restart(self) -> None:
        self._begin_life()

    def _begin_life(self) -> None:
        """Be a node that the master has never heard of, and say so at once."""
        self._reports.clear()
        self._life += 1
        self._response = 0
        self._joined = False
        self._awaiting_reply = False
        self._plan_heartbeat(self.now_ms)
