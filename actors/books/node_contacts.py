"""A scheduler's side of its contacts with nodes, of which it may lose some (`actors.contact`).

Nodes that may have fallen silent are asked as often as they would send heartbeats to a master, and
one that has not answered for as long as a master would wait (`expiry_ms`) is given up.  One that is
given up is asked on: when it answers there is contact again.  A node that has begun a new life is
given up too, at once, since it knows nothing of what was said before.
"""

from abc import abstractmethod
from collections.abc import Iterable

from callboard.actors.contact import Contact, Framed, SayAgain
from callboard.actors.kernel.actor import Actor
from callboard.actors.kernel.address import node_address
from callboard.actors.kernel.message import NO_CAUSE, Message
from callboard.actors.network import Link
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.events import AnyEvent
from callboard.actors.world import World
from callboard.scheduler.model import Millis, NodeId


class LookForNodes(Message, frozen=True):
    """Scheduler to itself: see which nodes are silent."""


class ContactHolder(Actor[AnyEvent]):
    """Whoever watches nodes: a scheduler of several, or who has the state of a cell."""

    contacts: "NodeContacts"

    def on_silencing_fault(self, fault: faults.Crash | faults.PauseNode | faults.Disturb) -> None:
        self.contacts.note_fault(fault)

    def on_framed(self, frame: Framed) -> None:
        """Answer what a node has said."""
        for each in self.contacts.hear_frame(frame):
            if each.said is not None:
                self.receive_held_back([(each.cause, each.said)])

    def on_say_again(self, again: SayAgain) -> None:
        self.contacts.say_again(again)

    def on_look_for_nodes(self, _: LookForNodes) -> None:
        self.contacts.look_for_silent_nodes()

    @property
    @abstractmethod
    def wants_nodes(self) -> bool:
        """Whether it has any job."""

    @abstractmethod
    def lose_contact(self, node: NodeId, heard_ms: Millis, *, again: bool) -> int:
        """A node is given up, or has begun anew; the event."""

    @abstractmethod
    def regain_contact(self, node: NodeId) -> None:
        """A node that was given up is there."""


class _OfNode:
    """One contact: when the node was heard of last, and since when it owes an answer."""

    def __init__(self, node: NodeId, contact: Contact, now_ms: Millis) -> None:
        self.node = node
        self.contact = contact
        self.heard_ms = now_ms
        self.asked_ms: Millis | None = None
        self.is_new = False
        """Whether the node may not know of this session."""


class NodeContacts:
    """Those with nodes that have had a fault; all others hear what they are sent."""

    def __init__(self, holder: ContactHolder, world: World) -> None:
        heartbeat = world.cluster.heartbeat
        period_ms = heartbeat.period_ms(len(world.nodes))
        self._holder = holder
        self._expiry_ms = heartbeat.expiry_ms
        self._every_ms = max(min(period_ms, heartbeat.expiry_ms // 3), 1)
        self._latency_ms = world.cluster.latency_ms
        self._seed = world.seed
        self._is_looking = False
        self._by_address: dict[int, _OfNode] = {}
        self.lost: set[NodeId] = set(world.absent)
        """Those that are given up, or have never been there."""

    @property
    def watches_any_node(self) -> bool:
        """Whether any node has had a fault."""
        return bool(self._by_address)

    def watches_node(self, node: NodeId) -> bool:
        """Whether the node has had one."""
        return node_address(node) in self._by_address

    def tell_node(self, node: NodeId, message: Message, cause: int) -> None:
        """Have the node hear it."""
        to = node_address(node)
        found = self._by_address.get(to)
        if found is None:
            self._holder.send(to, message, cause, self._latency_ms)
        else:
            found.contact.say(message, cause)

    def within_reach(self, nodes: Iterable[NodeId]) -> list[NodeId]:
        """Those that are not given up."""
        return [node for node in nodes if node not in self.lost]

    def note_fault(self, fault: faults.NodeFault) -> None:
        """From now on the node may be silent.  What the fault is the scheduler does not know; the
        link itself does.
        """
        address, holder = node_address(fault.node), self._holder
        if address not in self._by_address:
            link = Link(self._seed, f"down/{address}/{holder.address}", self._latency_ms)
            contact = Contact(holder, address, link, self._latency_ms)
            self._by_address[address] = _OfNode(fault.node, contact, holder.now_ms)
            self.look_if_wanted()
        if isinstance(fault, faults.Disturb):
            self._by_address[address].contact.link.conditions = fault.down

    # What is heard.

    def hear_frame(self, frame: Framed) -> list[Framed]:
        """A frame has come: what is to be answered now."""
        found = self._by_address.get(frame.sender)
        if found is None or frame.life < found.contact.life:
            return []
        found.heard_ms, found.asked_ms = self._holder.now_ms, None
        contact = found.contact
        if frame.life > contact.life:
            self._begin_life(found, frame.life)
            return []
        if frame.session != contact.session:
            contact.ping()
            return []
        found.is_new = False
        self._regain_contact(found)
        return contact.hear(frame)

    def _begin_life(self, found: _OfNode, life: int) -> None:
        """The node has begun anew."""
        cause = self._holder.cause
        if found.node not in self.lost:
            cause = self._lose_contact(found, again=True)
        found.contact.begin_session(life, found.contact.session + 1, cause)
        self._regain_contact(found)

    def _regain_contact(self, found: _OfNode) -> None:
        if found.node in self.lost:
            self.lost.remove(found.node)
            self._holder.regain_contact(found.node)

    def say_again(self, again: SayAgain) -> None:
        """Nothing was confirmed for a while."""
        self._by_address[again.peer].contact.say_again(again)

    # What is not heard.

    def look_if_wanted(self) -> None:
        """Ask nodes again and again from now on, unless nobody needs one."""
        if self._is_looking or not self._by_address:
            return
        untold = (each.is_new and each.node not in self.lost for each in self._by_address.values())
        if self._holder.wants_nodes or any(untold):
            self._is_looking = True
            self._holder.timer(LookForNodes(), self._every_ms, NO_CAUSE)

    def look_for_silent_nodes(self) -> None:
        """Give up who has been silent for too long, and ask all."""
        now_ms, self._is_looking = self._holder.now_ms, False
        for found in self._by_address.values():
            silent = found.asked_ms is not None and now_ms - found.asked_ms > self._expiry_ms
            if silent and found.node not in self.lost:
                self._end_session(found, self._lose_contact(found, again=False))
            if found.asked_ms is None:
                found.asked_ms = now_ms
            if found.node in self.lost:
                found.contact.ping()
            elif found.contact.is_confirmed:
                found.contact.say(None, NO_CAUSE)
        self.look_if_wanted()

    def give_up(self, node: NodeId, life: int, heard_ms: Millis, *, again: bool) -> None:
        """A scheduler that heard of it last at `heard_ms`, in this life, has given the node up."""
        found = self._by_address[node_address(node)]
        knows = found.contact.life >= life if again else found.heard_ms > heard_ms
        if node not in self.lost and not knows:
            found.heard_ms = heard_ms
            self._end_session(found, self._lose_contact(found, again=again))
            self.look_if_wanted()

    def life_of(self, node: NodeId) -> int:
        """How often it has begun anew, as far as anybody has heard here."""
        return self._by_address[node_address(node)].contact.life

    def _lose_contact(self, found: _OfNode, *, again: bool) -> int:
        self.lost.add(found.node)
        return self._holder.lose_contact(found.node, found.heard_ms, again=again)

    def _end_session(self, found: _OfNode, cause: int) -> None:
        found.contact.begin_session(found.contact.life, found.contact.session + 1, cause)
        found.is_new = True

    def end_all_sessions(self, cause: int) -> None:
        """The scheduler's process has ended: its machine ends all sessions, and no node is known to
        be lost.
        """
        self.take_all_as_heard()
        for found in self._by_address.values():
            self._end_session(found, cause)
            found.contact.ping()
        self.look_if_wanted()

    def take_all_as_heard(self) -> None:
        """Take all nodes for heard of just now."""
        self.lost.clear()
        for found in self._by_address.values():
            found.heard_ms, found.asked_ms = self._holder.now_ms, None
