"""Which nodes belong to the cluster and may be given work: joining, silence, loss, bad nodes."""

from collections.abc import Callable

from callboard.actors.books.bookings import Bookings
from callboard.actors.books.ledger import Ledger
from callboard.actors.books.members import BookedNode
from callboard.actors.books.voice import Voice
from callboard.actors.central.heartbeat_messages import BlacklistReview, ExpiryCheck, Heartbeat
from callboard.actors.central.heartbeats import MasterHeartbeats, Talk
from callboard.actors.central.preemptor import Preemptor
from callboard.actors.config import Cluster
from callboard.actors.kernel.message import NO_CAUSE
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.faults import Drain
from callboard.scheduler import facts
from callboard.scheduler.model import Millis, NodeId
from callboard.scheduler.reasons import Reason

# Under mapred.jobtracker.blacklist are fault-bucket-width and fault-timeout-window, 180 minutes.
BUCKET_MS: Millis = 15 * 60_000
BUCKETS = 12
BLACKLISTS_MAX = 4  # mapred.max.tracker.blacklists: a node with that many faults may be blacklisted
ABOVE_AVERAGE = 1.5  # 1 + AVERAGE_BLACKLIST_THRESHOLD: it must have more than so often the mean
BLACKLISTED_SHARE = 0.5  # MAX_BLACKLIST_PERCENT: with so much of the cluster, no other node is


class NodeBlacklist:
    """The list of bad nodes across jobs: Hadoop's JobTracker.FaultyTrackersInfo.

    A job that succeeds although it had come to blacklist a node counts one fault of the node. A
    node with many faults of late, and many more than others, is listed, unless half of the cluster
    is, until its faults are long ago or its machine has started again (markTrackerHealthy). What
    being listed means depends on the version of Hadoop (`actors.config.Profile`).
    """

    def __init__(self) -> None:
        self.blacklisted: dict[NodeId, None] = {}
        self._faults: dict[NodeId, list[int]] = {}

    def add(self, node: NodeId, now_ms: Millis) -> None:
        self._faults.setdefault(node, []).append(now_ms // BUCKET_MS)

    def faults(self, node: NodeId, now_ms: Millis) -> int:
        """How many of a node's faults still count."""
        oldest = now_ms // BUCKET_MS - BUCKETS
        return sum(bucket > oldest for bucket in self._faults.get(node, ()))

    def exceeds(self, node: NodeId, now_ms: Millis, nodes: int) -> bool:
        """Whether a node should be blacklisted, in a cluster of `nodes`."""
        faults = self.faults(node, now_ms)
        if faults < BLACKLISTS_MAX or len(self.blacklisted) >= BLACKLISTED_SHARE * nodes:
            return False
        every = sum(self.faults(each, now_ms) for each in self._faults)
        return faults * nodes > ABOVE_AVERAGE * every

    def listed_until_ms(self, node: NodeId) -> Millis:
        """When enough of a node's faults will have expired to take it off the list."""
        return (sorted(self._faults[node])[-BLACKLISTS_MAX] + BUCKETS) * BUCKET_MS

    def clear(self, node: NodeId) -> None:
        self._faults.pop(node, None)
        self.blacklisted.pop(node, None)


class Membership:
    """Who is there by `heartbeats`, and who is in service.

    `expect` is told until when nothing can be expected of a node that is out of service.
    """

    def __init__(
        self,
        cluster: Cluster,
        heartbeats: MasterHeartbeats,
        voice: Voice,
        expect: Callable[[Millis], None],
    ) -> None:
        self._expiry_ms = cluster.heartbeat.expiry_ms
        self._removes_bad_nodes = cluster.removes_bad_nodes
        self._heartbeats = heartbeats
        self._voice = voice
        self._expect = expect
        self._drained: dict[NodeId, bool] = {}  # as the operator says
        self._told: dict[NodeId, int] = {}  # which of its lives a node was told to give up
        self._lives: dict[NodeId, int] = {}
        self._former_lives: dict[NodeId, int] = {}  # those that joined before a restart
        self._lost_by: dict[NodeId, int] = {}  # the event by which a node is given up

    def open_books(self, ledger: Ledger, bookings: Bookings, preemptor: Preemptor) -> None:
        """Begin with these books."""
        self._ledger = ledger
        self._bookings = bookings
        self._preemptor = preemptor
        self._blacklist = NodeBlacklist()

    def on_master_restart(self, known: list[NodeId], cause: int) -> None:
        """The master has started again: nodes that it knew have to begin anew too."""
        self._former_lives |= self._lives
        self._lives = {}
        self._lost_by = dict.fromkeys(known, cause)

    # Nodes that join.

    def admit(self, heartbeat: Heartbeat, cause: int) -> Talk | None:
        """Let a node join; None for a life that is over or was given up (rule T4)."""
        number, life = heartbeat.node, heartbeat.life
        talk = self._heartbeats.talk(number)
        if talk is not None and life < talk.life:
            return None
        last = self._lives.get(number, self._former_lives.get(number, -1))
        if heartbeat.joins is None or life <= last:
            self._heartbeats.reinitialize(number, life, self._lost_by.get(number, NO_CAUSE))
            self._told[number] = life
            return None
        if talk is not None:  # it restarted before its silence was noticed (rule T5)
            cause = self._lose(talk, cause, again=True)
        if number in self._lives:
            cause = self._voice.note(ev.NodeReturned(self._ledger.now_ms, number, cause=cause))
        self._lives[number] = life
        talk = self._heartbeats.join(self._ledger.members.join_node(heartbeat.joins), life)
        self._voice.tell_policy(facts.NodeJoined(number), cause)
        if self._told.get(number) != life - 1:  # it was not asked to: its machine restarted
            cause = self._take_off_blacklist(number, cause)
        self._apply_drain_and_blacklist(number, cause)
        return talk

    # Nodes and launches that are given up.

    def check_expiry(self) -> None:
        """Give up nodes (rule T1) and launches (rule H8) after an expiry without a sign of them."""
        now_ms, not_begun = self._ledger.now_ms, self._bookings.not_begun
        for number in sorted(self._heartbeats.heartbeating):
            talk = self._heartbeats.talk(number)
            if talk is not None and now_ms - talk.heard_ms > self._expiry_ms:
                self._lose(talk, NO_CAUSE)
        for attempt, told in list(not_begun.items()):
            entry = self._ledger.attempt(attempt)
            if entry is None or entry.killing:
                del not_begun[attempt]
            elif now_ms - entry.launched_ms > self._expiry_ms:
                self._preemptor.expire_launch(entry, told)
                del not_begun[attempt]
        self.await_expiry_check()

    def await_expiry_check(self) -> None:
        """The checker wakes three times an expiry, counted from the start."""
        every_ms = max(self._expiry_ms // 3, 1)
        wait_ms = every_ms - self._ledger.now_ms % every_ms
        self._voice.send(self._voice.address, ExpiryCheck(), NO_CAUSE, wait_ms)

    def _lose(self, talk: Talk, cause: int, *, again: bool = False) -> int:
        """Give up a node: kill what ran there, run maps again that reduces need (rule T2); the
        number of the event.
        """
        member, now_ms = talk.member, self._ledger.now_ms
        node = member.node
        gone = ev.NodeLost(now_ms, node, talk.heard_ms, again, cause=cause)
        lost = self._lost_by[node] = self._voice.note(gone)
        self._bookings.lose_node(member, lost)
        self._heartbeats.part(node)
        self._voice.tell_policy(facts.NodeGone(node), lost)
        return lost

    # Nodes that are out of service.

    def take_operator_order(self, drain: Drain, cause: int) -> None:
        """Take a node out of service, or back, also one that joins later."""
        self._drained[drain.node] = drain.out
        self._apply_drain_and_blacklist(drain.node, cause)

    def hold_against(self, node: NodeId, cause: int) -> None:
        """A job has succeeded that had come to blacklist the node: a fault of the node's."""
        blacklist, now_ms = self._blacklist, self._ledger.now_ms
        blacklist.add(node, now_ms)
        if node in blacklist.blacklisted:
            return
        if blacklist.exceeds(node, now_ms, self._ledger.nodes):
            blacklist.blacklisted[node] = None
            what = (now_ms, node, blacklist.faults(node, now_ms), self._removes_bad_nodes)
            listed = self._voice.note(ev.NodeBlacklisted(*what, cause=cause))
            self._await_review(node)
            self._apply_drain_and_blacklist(node, listed)

    def review_blacklisting(self, node: NodeId) -> None:
        """Take a node off the list of bad ones, unless it has had faults since."""
        if node in self._blacklist.blacklisted:
            if self._blacklist.listed_until_ms(node) > self._ledger.now_ms:
                self._await_review(node)
            else:
                self._take_off_blacklist(node, NO_CAUSE)

    @property
    def awaits_bad_nodes(self) -> bool:
        """Whether a node is out of service for its faults: it will come back."""
        return self._removes_bad_nodes and bool(self._blacklist.blacklisted)

    def _await_review(self, node: NodeId) -> None:
        at_ms = self._blacklist.listed_until_ms(node)
        wait_ms = at_ms - self._ledger.now_ms
        self._voice.send(self._voice.address, BlacklistReview(node), NO_CAUSE, wait_ms)
        if self._removes_bad_nodes:  # jobs may have no other node
            self._expect(at_ms)

    def _take_off_blacklist(self, node: NodeId, cause: int) -> int:
        """Take a node off the list; the event, or `cause` if it was not there."""
        blacklisted = node in self._blacklist.blacklisted
        self._blacklist.clear(node)
        if blacklisted:
            cleared = ev.NodeUnblacklisted(self._ledger.now_ms, node, cause=cause)
            cause = self._voice.note(cleared)
            self._apply_drain_and_blacklist(node, cause)
        return cause

    def _apply_drain_and_blacklist(self, node: NodeId, cause: int) -> None:
        """Take a node out of service, or back, as its operator and the list of bad nodes say."""
        member = self._ledger.node(node)
        bad = self._removes_bad_nodes and node in self._blacklist.blacklisted
        out = bad or self._drained.get(node, False)
        if member is not None and member.drained != out:
            self._drain_or_restore(member, out, cause)

    def _drain_or_restore(self, member: BookedNode, out: bool, cause: int) -> None:
        """Take a node out of service, or back; what it holds suspended has to begin elsewhere."""
        node = member.node
        self._ledger.members.drain_or_restore_node(member, out)
        self._voice.tell_policy(facts.NodeDrained(node) if out else facts.NodeJoined(node), cause)
        for entry in list(member.attempts.values()) if out else ():
            if not entry.holds_slot:
                self._preemptor.kill_if_running(entry, Reason.NODE_DRAINED, cause)
        if self._heartbeats.leaves_out_heartbeats(node):
            self._heartbeats.index_free_slots(member)
