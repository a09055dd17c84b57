"""Who has the state of a cell: knows whose claims there are, and watches the nodes for all.

It asks nodes that have had a fault as schedulers do, gives up those that stay silent, and tells the
schedulers, so that none has to find out for itself; nothing more is claimed of such a node until it
answers again.  What was claimed there each scheduler gives back when it gives the node up too.
What a scheduler had claimed that is gone is free again at once.
"""

from collections import Counter
from collections.abc import Sequence

from callboard.actors.books.node_contacts import ContactHolder, LookForNodes, NodeContacts
from callboard.actors.kernel.address import scheduler_address
from callboard.actors.omega.cell_messages import (
    CellChanges,
    Commit,
    Committed,
    NodeGivenUp,
    Release,
    Sync,
)
from callboard.actors.omega.cell_state import CellState, Conflicts, Transaction
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary import messages as msg
from callboard.actors.world import World
from callboard.scheduler.model import Millis, NodeId
from callboard.scheduler.resources import Vector

CELL_HOLDER = scheduler_address(0)


class CellHolder(ContactHolder):
    """`schedulers` are the addresses of those that it tells of nodes."""

    def __init__(self, name: str, world: World, schedulers: Sequence[int]) -> None:
        super().__init__(CELL_HOLDER, name)
        self.cell = CellState(world.resources[1], shut=world.absent)
        self.contacts = NodeContacts(self, world)
        self._schedulers = schedulers
        self._latency_ms = world.cluster.latency_ms
        self._claimed: dict[int, Counter[tuple[NodeId, Vector]]] = {}
        """What is claimed where, by the address of the scheduler whose it is."""
        self._is_asked = False
        """Whether a scheduler has asked for nodes since they were looked at last."""

    # Claims.

    def record_claim(self, scheduler: int, node: NodeId, demand: Vector) -> None:
        """A claim is this scheduler's."""
        self._claimed.setdefault(scheduler, Counter())[node, demand] += 1

    def on_release(self, release: Release) -> None:
        """A claim is over."""
        node, demand = release.node, release.demand
        self._claimed[release.scheduler][node, demand] -= 1
        self.cell.release(node, demand)

    def on_scheduler_gone(self, gone: msg.SchedulerGone) -> None:
        """All that it had is free; its nodes end what ran there, and begin nothing before."""
        for (node, demand), count in self._claimed.pop(gone.scheduler, Counter()).items():
            for _ in range(count):
                self.cell.release(node, demand)

    # Nodes.

    def on_look_for_nodes(self, look: LookForNodes) -> None:
        self._is_asked = False
        super().on_look_for_nodes(look)

    def watch_nodes_on_request(self) -> None:
        """A scheduler has asked for nodes: see which are there."""
        self._is_asked = True
        self.contacts.look_if_wanted()

    @property
    def wants_nodes(self) -> bool:
        return self._is_asked or any(each.total() for each in self._claimed.values())

    def lose_contact(self, node: NodeId, heard_ms: Millis, *, again: bool) -> int:
        """A node is given up: no more of it is claimed, and all schedulers give it up."""
        lost = ev.ContactLost(self.now_ms, node, 0, heard_ms, again, cause=self.cause)
        event, life = self.note(lost), self.contacts.life_of(node) + again
        self.cell.shut(node)
        for each in self._schedulers:
            told = NodeGivenUp(node, life, heard_ms, again)
            self.send(each, told, event, self._latency_ms)
        return event

    def regain_contact(self, node: NodeId) -> None:
        self.note(ev.ContactRegained(self.now_ms, node, 0, cause=self.cause))
        self.cell.open(node)


class CellKeeper(CellHolder):
    """Keeps the state for schedulers with copies: tells them what has changed, and commits claims.
    It decides between those that have thought at the same time, and never thinks itself.
    """

    def __init__(
        self,
        world: World,
        schedulers: Sequence[int],
        conflicts: Conflicts,
        transaction: Transaction,
    ) -> None:
        super().__init__("cell keeper", world, schedulers)
        self._conflicts = conflicts
        self._transaction = transaction

    def on_sync(self, sync: Sync) -> None:
        changes = self.cell.changed_since(sync.changes)
        told = CellChanges(len(self.cell.changes), changes, sync.life)
        self.send(sync.scheduler, told, self.cause, self._latency_ms)
        self.watch_nodes_on_request()

    def on_commit(self, commit: Commit) -> None:
        """Commit what does not conflict; which claims those are is the scheduler's to launch."""
        found = self.cell.commit(commit.claims, commit.demand, self._conflicts, self._transaction)
        for node in found.committed:
            self.record_claim(commit.scheduler, node, commit.demand)
        told = Committed(*found, commit.life)
        self.send(commit.scheduler, told, self.cause, self._latency_ms)
