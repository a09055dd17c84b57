"""Heartbeats and their replies: both sides of the dialogue of the central master and its nodes.

A node's heartbeat tells what has happened on it; the reply brings work and orders, and says when
the next is due (rules H1 to H6 of `docs/rules.md`).  Either side numbers replies: a heartbeat that
comes twice gets the stored reply again (rule H5), a reply that comes twice is dropped.  A node that
was given up is told to begin anew (rule T4), and one that starts again after a crash does so by
itself (rule T5): each such *life* has its number.

Where a scenario says `send = "needed"`, a node that has nothing to say does not send its heartbeat,
and the master does not send a reply that says nothing.  The journal is the same, with fewer
messages (FB-2009: 1.7 million instead of 26).

**Why it is exact.**

1. *Both know the time.* Interval and latency are constant, so heartbeats fall on a grid that the
node (`HeartbeatSchedule`) and the master (`IdleNodeIndex`) keep: one every interval + round trip.

2. *What a node has to say is really sent*, on the grid. It arrives where the elided heartbeat would
have, since the master's own timer for that is posted right behind the node (`Actor.timer_behind`).
A node with a tracked attempt always has something to say.

3. *A heartbeat that says nothing can only bring the node work, or an order.* So the master acts at
the instant at which one would arrive (`MasterHeartbeats.await_useful`), as long as an order waits
for the node or something is pending that it has a free slot for, be it an attempt that it holds
suspended.

4. *Nothing becomes pending in an instant's first round*, when heartbeats arrive: jobs live beside
the master and answer it in later rounds. So the master need not decide on an instant again.

5. *A reply without an order only says when the next heartbeat is due*, which the node knows. Both
count it, so that the numbers of replies (rule H5) are the same. The first of a life is always sent.

6. *Silence means nothing only while nothing can happen.* From the first fault that could delay or
lose a message on, a node sends every heartbeat, and tells the master when the last that it left out
would have arrived (`HeartbeatsResumed`). One under way then, or its reply, is made good; one that
was sent and has not arrived yet is answered in any case.
"""

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum

from callboard.actors.books.ledger import Ledger
from callboard.actors.books.members import BookedNode
from callboard.actors.books.voice import Voice
from callboard.actors.central import heartbeat_messages as msg
from callboard.actors.central.heartbeat_schedule import HeartbeatSchedule
from callboard.actors.central.idle_nodes import IdleNodeIndex
from callboard.actors.config import Cluster
from callboard.actors.kernel.address import node_address
from callboard.actors.kernel.message import NO_CAUSE
from callboard.actors.network import Link
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.events import NodeFacts
from callboard.actors.vocabulary.lifecycle import step
from callboard.actors.vocabulary.messages import (
    AnyReport,
    AttemptProgress,
    KillTask,
    LaunchTask,
    ResumeTask,
    SuspendTask,
)
from callboard.actors.worker.dialogue import Dialogue
from callboard.scheduler.model import AttemptId, Millis, NodeId, SlotKind

# The node's side.

_NO_EFFECT_ON_THE_LINK = (faults.Slow, faults.Partition, faults.Flaky, faults.Hang)
"""Faults that can neither delay nor lose a heartbeat."""


class HeartbeatState(StrEnum):
    """Where a node is in its dialogue with the master."""

    OFF = "off"
    SILENT = "silent"
    PLANNED = "heartbeat planned"
    AWAITING = "awaiting the reply"


class HeartbeatChange(StrEnum):
    """What leads on: `SEND_ELIDING` is sending one whose reply is left out if it says nothing,
    `FIND_ONE_UNDER_WAY` that a fault strikes while one is on its way that must be answered now.
    """

    BEGIN_LIFE = "begin life"
    PLAN = "plan a heartbeat"
    SEND = "send it"
    SEND_ELIDING = "send it, eliding"
    FIND_ONE_UNDER_WAY = "find one under way"
    HEAR_REPLY = "hear the reply"
    END_LIFE = "end life"


_H, _HC = HeartbeatState, HeartbeatChange
_ON = (_H.SILENT, _H.PLANNED, _H.AWAITING)

HEARTBEATS: Mapping[tuple[HeartbeatState, HeartbeatChange], HeartbeatState] = {
    **{(state, _HC.BEGIN_LIFE): _H.SILENT for state in _H},
    **{(state, _HC.END_LIFE): _H.OFF for state in _ON},
    (_H.SILENT, _HC.PLAN): _H.PLANNED,
    (_H.PLANNED, _HC.PLAN): _H.PLANNED,
    (_H.PLANNED, _HC.SEND): _H.AWAITING,
    (_H.PLANNED, _HC.SEND_ELIDING): _H.SILENT,
    (_H.SILENT, _HC.FIND_ONE_UNDER_WAY): _H.AWAITING,
    (_H.PLANNED, _HC.FIND_ONE_UNDER_WAY): _H.AWAITING,
    (_H.AWAITING, _HC.HEAR_REPLY): _H.SILENT,
}
"""A silent node leaves its heartbeats out.  A plan replaces any earlier one."""

_AWAITING = HeartbeatState.AWAITING
_PLAN = HeartbeatChange.PLAN
_SEND, _SEND_ELIDING = HeartbeatChange.SEND, HeartbeatChange.SEND_ELIDING


class NodeHeartbeats(Dialogue):
    """A node's side: tells what has happened with the next heartbeat, and obeys the replies."""

    __slots__ = (
        "_elided_response",
        "_heartbeats",
        "_joined",
        "_last_heartbeat",
        "_latency_ms",
        "_life",
        "_plan",
        "_reports",
        "_response",
        "_retry_ms",
        "_schedule",
        "_seed",
        "_sends_all",
        "_uplink",
        "state",
    )

    def __init__(
        self, schedule: HeartbeatSchedule, *, latency_ms: Millis, retry_ms: Millis, seed: int
    ) -> None:
        self.state = HeartbeatState.OFF
        self._schedule = schedule
        self._latency_ms = latency_ms
        self._retry_ms = retry_ms
        self._seed = seed
        self._reports: list[AnyReport] = []
        self._life = 0
        self._response = 0
        self._elided_response = 0
        self._joined = False
        self._sends_all = False  # since a fault
        self._heartbeats = 0
        self._last_heartbeat: msg.Heartbeat | None = None
        self._plan = 0
        self._uplink: Link | None = None

    # Lives.

    def begin(self) -> None:
        """Join with the first heartbeat that is due."""
        self._change_state(HeartbeatChange.BEGIN_LIFE)
        self._plan_heartbeat(self._schedule.next_ms - self._node.now_ms)

    def begin_life(self, cause: int) -> None:
        """Be a node that the master has never heard of, and say so at once."""
        self._change_state(HeartbeatChange.BEGIN_LIFE)
        self._reports.clear()
        self._life += 1
        self._response = self._elided_response = 0
        self._joined = False
        self._plan_heartbeat(0, cause)

    def end_life(self) -> None:
        self._change_state(HeartbeatChange.END_LIFE)
        self._plan += 1  # nothing planned will happen

    def on_reinitialize(self, order: msg.Reinitialize) -> None:
        """The master has given this life up: drop what runs, and join again (rule T4)."""
        if order.life == self._life:
            self._node.drop_all_attempts(self._node.cause)
            self.begin_life(self._node.cause)

    # Heartbeats and their replies.

    def on_heartbeat_due(self, due: msg.HeartbeatDue) -> None:
        if due.plan != self._plan:
            return
        node, schedule = self._node, self._schedule
        joins = None if self._joined else node.facts
        reports = tuple(self._reports)
        self._reports.clear()
        self._joined = True
        self._heartbeats += 1
        elides = schedule.elides and joins is None
        self.state = HEARTBEATS[self.state, _SEND_ELIDING if elides else _SEND]
        self._send_heartbeat(self._new_heartbeat(reports, joins, node.progress()))
        if elides:
            self._elided_response = self._response + 1
            now_ms = node.now_ms
            schedule.note_sent(now_ms)
            if node.tracks:
                self._plan_heartbeat(schedule.next_ms - now_ms)

    def on_heartbeat_reply(self, reply: msg.HeartbeatReply) -> None:
        """Do what the master says, and plan the next heartbeat from now (rule H3)."""
        if reply.life != self._life or reply.response <= self._response:
            return  # meant for an earlier life, or a repetition
        node = self._node
        self._response = reply.response
        self._schedule.interval_ms = reply.interval_ms
        tracked = node.tracks
        self._obey_orders(reply)
        if self.state is _AWAITING:
            self._change_state(HeartbeatChange.HEAR_REPLY)
            self._plan_after_reply()
        elif not self._reports and not tracked and node.tracks:
            now_ms = node.now_ms
            self._schedule.skip_to(now_ms)
            self._plan_heartbeat(self._schedule.next_ms - now_ms)

    def _obey_orders(self, reply: msg.HeartbeatReply) -> None:
        node = self._node
        for attempt in reply.tracks:
            node.track(attempt)
        for kill in reply.kills:
            node.kill(kill)
        for suspend in reply.suspends:
            node.suspend(suspend)
        for launch in reply.launches:
            if isinstance(launch, LaunchTask):
                node.launch(launch)
            else:
                node.resume_attempt(launch)

    def on_elided_reply_due(self, _: msg.ElidedReplyDue) -> None:
        """A reply that is left out would come; where one is waited for, it will plan the next."""
        if self.state is not _AWAITING:
            self._plan_after_reply()

    def on_retry_heartbeat(self, retry: msg.RetryHeartbeat) -> None:
        if self.state is _AWAITING and retry.heartbeat == self._heartbeats:
            assert self._last_heartbeat is not None
            self._send_heartbeat(self._last_heartbeat)

    def report(self, report: AnyReport) -> None:
        """Have the next heartbeat tell it; out of band that is due at once (rule H4)."""
        self._reports.append(report)
        if self.state is _AWAITING or len(self._reports) > 1:
            return  # the heartbeat that will tell it is planned, or the reply will plan it
        now_ms = self._node.now_ms
        due = self._schedule.to_report(now_ms)
        if due is None:
            return
        if due.reply:
            self._node.timer(msg.ElidedReplyDue(), due.at_ms - now_ms, NO_CAUSE)
        else:
            self._plan_heartbeat(due.at_ms - now_ms)

    def _new_heartbeat(
        self,
        reports: tuple[AnyReport, ...] = (),
        joins: NodeFacts | None = None,
        progress: tuple[AttemptProgress, ...] = (),
    ) -> msg.Heartbeat:
        """A new one, by the number of the last reply, that came or was left out."""
        response = self._response = max(self._response, self._elided_response)
        node = self._node.facts.node
        return msg.Heartbeat(node, response, reports, joins, self._life, progress)

    def _send_heartbeat(self, heartbeat: msg.Heartbeat) -> None:
        """Send it as the link allows; since a fault, send it again if it is not answered."""
        self._last_heartbeat = heartbeat
        node, cause = self._node, self._node.cause
        if self._uplink is None:
            node.send(msg.MASTER, heartbeat, cause, self._latency_ms)
        else:
            for delay_ms, each in self._uplink.draw_deliveries(heartbeat):
                node.send(msg.MASTER, each, cause, delay_ms)
        if self._sends_all:
            self._await_reply(cause)

    def _await_reply(self, cause: int) -> None:
        retry_ms = self._node.clock.real_wait_ms(self._retry_ms)
        self._node.timer(msg.RetryHeartbeat(self._heartbeats), retry_ms, cause)

    def _plan_after_reply(self) -> None:
        schedule, reports = self._schedule, bool(self._reports)
        now_ms, wait_ms = self._node.now_ms, self._node.clock.real_wait_ms(schedule.interval_ms)
        next_ms = schedule.after_reply(now_ms, wait_ms, reports=reports)
        if not schedule.elides or reports or self._node.tracks:
            self._plan_heartbeat(next_ms - now_ms)

    def _plan_heartbeat(self, wait_ms: Millis, cause: int = NO_CAUSE) -> None:
        """Send a heartbeat in `wait_ms`, and not when any earlier plan said; `cause` is what began
        the node's life, of the first.
        """
        self.state = HEARTBEATS[self.state, _PLAN]
        self._plan += 1
        self._node.timer(msg.HeartbeatDue(self._plan), wait_ms, cause)

    def _change_state(self, change: HeartbeatChange) -> None:
        after = HEARTBEATS.get((self.state, change))
        self.state = after or step(HEARTBEATS, self.state, change, "a node's dialogue")

    # Faults.

    def take_in_fault(self, fault: faults.NodeFault | faults.MasterFault) -> None:
        if not isinstance(fault, _NO_EFFECT_ON_THE_LINK):
            self._stop_eliding()
        if isinstance(fault, faults.Disturb):
            if self._uplink is None:
                self._uplink = Link(self._seed, f"up/{fault.node}", self._latency_ms)
            self._uplink.conditions = fault.up

    def _stop_eliding(self) -> None:
        """From now on send every heartbeat; those that were left out have had their effect."""
        if self._sends_all:
            return
        self._sends_all = True
        if self._schedule.elides:
            self._schedule.elides = False
            if self._joined and self.state is not _AWAITING:
                self._end_silence()
        if self.state is _AWAITING:
            self._await_reply(self._node.cause)
        node = self._node.facts.node
        resumed = msg.HeartbeatsResumed(node, self._schedule.left_out_ms)
        self._node.send(msg.MASTER, resumed, self._node.cause)

    def _end_silence(self) -> None:
        """Plan a heartbeat if none is planned; send an elided one that would be under way.  One
        that is under way will be answered.
        """
        node, schedule = self._node, self._schedule
        if schedule.is_under_way(node.now_ms):
            self._enter_awaiting_state()
            return
        if not self._reports and not node.tracks:
            schedule.skip_to(node.now_ms)
            self._plan_heartbeat(schedule.next_ms - node.now_ms)
        under_way = schedule.under_way(node.now_ms)
        if under_way is None:
            return
        wait_ms = under_way.at_ms - node.now_ms
        if under_way.reply:
            node.timer(msg.ElidedReplyDue(), wait_ms, NO_CAUSE)
            return
        self._enter_awaiting_state()
        self._last_heartbeat = self._new_heartbeat()
        node.send(msg.MASTER, self._last_heartbeat, NO_CAUSE, wait_ms)

    def _enter_awaiting_state(self) -> None:
        """Its reply plans the next heartbeat, and may be lost."""
        self._plan += 1
        self._change_state(HeartbeatChange.FIND_ONE_UNDER_WAY)


# The master's side.


class Talk:
    """The dialogue with one life of a node: what was said last, and what is still to be said."""

    __slots__ = ("heard_ms", "kills", "life", "member", "reply", "suspends", "tracks")

    def __init__(self, member: BookedNode, life: int) -> None:
        self.member = member
        self.life = life
        self.heard_ms: Millis = -1
        self.reply = msg.HeartbeatReply(0, 0, life=life)
        self.kills: list[KillTask] = []
        self.suspends: list[SuspendTask] = []
        self.tracks: list[AttemptId] = []

    @property
    def has_orders(self) -> bool:
        """Whether an order beside launches waits for the next reply."""
        return bool(self.kills or self.suspends or self.tracks)


Launches = tuple[LaunchTask | ResumeTask, ...]


class MasterHeartbeats:
    """The master's side: hears heartbeats, sent or not, and answers them.

    `answer_at` has the heartbeat answered that a node leaves out at an instant.
    """

    def __init__(
        self,
        cluster: Cluster,
        nodes: int,
        seed: int,
        voice: Voice,
        answer_at: Callable[[NodeId, Millis], None],
    ) -> None:
        self.interval_ms = cluster.heartbeat.period_ms(nodes)
        self._latency_ms = cluster.latency_ms
        self.eliding = elides_heartbeats(cluster)
        """Whether any node may leave heartbeats out."""
        self._seed = seed
        self._voice = voice
        self._answer_at = answer_at
        self._downlinks: dict[NodeId, Link] = {}
        self.heartbeating: set[NodeId] = set()
        """The nodes that send every heartbeat: their silence means loss."""

    def open_books(self, ledger: Ledger) -> None:
        """Know of no node, by these books."""
        self._ledger = ledger
        self._talks: dict[NodeId, Talk] = {}
        self.index = IdleNodeIndex(self.interval_ms + 2 * self._latency_ms)
        self._armed: tuple[Millis, list[NodeId]] = (-1, [])
        """The instant for which an answer was arranged last, and its nodes."""

    # Who is there.

    def talk(self, node: NodeId) -> Talk | None:
        """The dialogue with a node that has joined and is not lost."""
        return self._talks.get(node)

    def join(self, member: BookedNode, life: int) -> Talk:
        """A life of a node begins to speak."""
        talk = self._talks[member.node] = Talk(member, life)
        return talk

    def part(self, node: NodeId) -> None:
        """A node is lost."""
        del self._talks[node]
        self.index.forget_node(node)

    def leaves_out_heartbeats(self, node: NodeId) -> bool:
        """Whether the node leaves out heartbeats that say nothing."""
        return self.eliding and node not in self.heartbeating

    def note_heartbeats_resumed(self, resumed: msg.HeartbeatsResumed) -> None:
        """A node leaves no more heartbeats out: from now on its silence means something."""
        self.heartbeating.add(resumed.node)
        talk = self._talks.get(resumed.node)
        if talk is not None:
            self.index.forget_node(resumed.node)
            talk.heard_ms = max(talk.heard_ms, resumed.left_out_ms)

    # What is heard and answered.

    def answer_if_repeated(self, talk: Talk, heartbeat: msg.Heartbeat) -> bool:
        """Send the stored reply if the heartbeat has come before (rule H5); whether it has."""
        if heartbeat.response == talk.reply.response:
            talk.heard_ms = self._ledger.now_ms
            return False
        self._send_to_node(heartbeat.node, talk.reply, NO_CAUSE)
        return True

    def hear_left_out(self, node: NodeId) -> Talk | None:
        """The dialogue with a node whose heartbeat would arrive now; None if it is gone, really
        sends one, or its heartbeats have moved.
        """
        talk, now_ms = self._talks.get(node), self._ledger.now_ms
        if talk is None or node in self.heartbeating:
            return None
        if talk.heard_ms == now_ms or not self.index.would_arrive_now(node, now_ms):
            return None
        talk.heard_ms = now_ms
        return talk

    def answer(self, talk: Talk, heartbeat: msg.Heartbeat, launches: Launches) -> None:
        """Answer a heartbeat that was sent."""
        elides = self.leaves_out_heartbeats(heartbeat.node)
        if elides:
            self.index.note_heartbeat(heartbeat.node, self._ledger.now_ms)
            if heartbeat.reports or launches or heartbeat.joins is not None:
                self.index_free_slots(talk.member)  # else its slots are as it left them
        silent = elides and heartbeat.joins is None and not launches and not talk.has_orders
        self._send_reply(talk, launches, silent=silent)

    def answer_left_out(self, talk: Talk, launches: Launches) -> None:
        """Answer one that was left out, if there is something to say."""
        if launches:
            self.index_free_slots(talk.member)
        if launches or talk.has_orders:
            self._send_reply(talk, launches)

    def _send_reply(self, talk: Talk, launches: Launches, *, silent: bool = False) -> None:
        """Answer, and keep the answer in case it has to be repeated (rule H5).  One that says
        nothing to a node that elides counts, and is not sent.
        """
        kills: tuple[KillTask, ...] = ()
        suspends: tuple[SuspendTask, ...] = ()
        tracks: tuple[AttemptId, ...] = ()
        if talk.has_orders:
            kills, suspends, tracks = tuple(talk.kills), tuple(talk.suspends), tuple(talk.tracks)
            talk.kills.clear()
            talk.suspends.clear()
            talk.tracks.clear()
        number = talk.reply.response + 1
        reply = talk.reply = msg.HeartbeatReply(
            number, self.interval_ms, launches, kills, suspends, tracks, talk.life
        )
        if not silent:
            self._send_to_node(talk.member.node, reply, NO_CAUSE)

    def reinitialize(self, node: NodeId, life: int, cause: int) -> None:
        """Tell a life that was given up to begin anew (rule T4)."""
        self._send_to_node(node, msg.Reinitialize(life), cause)

    def _send_to_node(
        self, node: NodeId, message: msg.HeartbeatReply | msg.Reinitialize, cause: int
    ) -> None:
        link, to = self._downlinks.get(node), node_address(node)
        if link is None:
            self._voice.send(to, message, cause, self._latency_ms)
        else:
            for delay_ms, each in link.draw_deliveries(message):
                self._voice.send(to, each, cause, delay_ms)

    def disturb_link(self, fault: faults.Disturb) -> None:
        """The way to a node changes.  The master does not know, but its messages suffer."""
        link = self._downlinks.get(fault.node)
        if link is None:
            link = Link(self._seed, f"down/{fault.node}", self._latency_ms)
            self._downlinks[fault.node] = link
        link.conditions = fault.down

    # What is to be said, and when.

    def give_order(self, node: NodeId, order: KillTask | SuspendTask) -> None:
        """Have the next reply bring an order."""
        talk = self._talks[node]
        if isinstance(order, KillTask):
            talk.kills.append(order)
        else:
            talk.suspends.append(order)
        self._await_next_heartbeat(node)

    def track_attempt(self, node: NodeId, attempt: AttemptId) -> None:
        """Have the next reply ask for the progress of an attempt."""
        self._talks[node].tracks.append(attempt)
        self._await_next_heartbeat(node)

    def _await_next_heartbeat(self, node: NodeId) -> None:
        """Do not miss the node's next heartbeat, even if it is elided."""
        if self.leaves_out_heartbeats(node):
            self._answer_at(node, self.index.next_arrival(node, self._ledger.now_ms))

    def index_free_slots(self, member: BookedNode) -> None:
        """Keep what a silent node could take now."""
        maps, reduces = member.free_slots
        able = (maps > 0, reduces > 0, member.could_resume())
        self.index.set_able(member.node, able)

    def await_useful(self, kinds: Iterable[SlotKind]) -> None:
        """Arrange for the first instant at which a silent node could take one of `kinds`, or resume
        what it holds suspended.
        """
        useful = self.index.next_useful(self._ledger.now_ms, kinds)
        if useful is None or useful == self._armed:
            return
        (at_ms, nodes), (armed_ms, armed) = useful, self._armed
        self._armed = useful
        for node in nodes:
            if at_ms != armed_ms or node not in armed:
                self._answer_at(node, at_ms)

    def note_answered_ahead(self, talk: Talk, at_ms: Millis) -> None:
        """The heartbeat that a node leaves out at this instant has been answered, by nothing."""
        talk.heard_ms = at_ms
        self._armed = (at_ms, [talk.member.node])


def elides_heartbeats(cluster: Cluster) -> bool:
    """Whether the cluster's nodes leave out heartbeats that say nothing."""
    at_once = cluster.heartbeat.thinking_ms == 0  # else a heartbeat costs time, whatever it says
    return cluster.heartbeat.send == "needed" and cluster.latency_ms > 0 and at_once
