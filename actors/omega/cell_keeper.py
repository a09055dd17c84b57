"""Who keeps the shared state of a cell: tells schedulers what has changed, and commits claims."""

from callboard.actors.kernel.actor import Actor
from callboard.actors.kernel.address import scheduler_address
from callboard.actors.omega.cell_messages import CellChanges, Commit, Committed, Release, Sync
from callboard.actors.omega.cell_state import CellState, Conflicts, Transaction
from callboard.actors.vocabulary.events import AnyEvent
from callboard.actors.world import World

CELL_KEEPER = scheduler_address(0)


class CellKeeper(Actor[AnyEvent]):
    """Decides between schedulers that have thought at the same time; it never thinks itself."""

    def __init__(self, world: World, conflicts: Conflicts, transaction: Transaction) -> None:
        super().__init__(CELL_KEEPER, "cell keeper")
        self.cell = CellState(world.resources[1])
        self._conflicts = conflicts
        self._transaction = transaction
        self._latency_ms = world.cluster.latency_ms

    def on_sync(self, sync: Sync) -> None:
        told = CellChanges(len(self.cell.changes), self.cell.since(sync.changes))
        self.send(sync.scheduler, told, self.cause, self._latency_ms)

    def on_commit(self, commit: Commit) -> None:
        """Commit what does not conflict; which claims those are is the scheduler's to launch."""
        found = self.cell.commit(commit.claims, commit.demand, self._conflicts, self._transaction)
        self.send(commit.scheduler, Committed(*found), self.cause, self._latency_ms)

    def on_release(self, release: Release) -> None:
        self.cell.release(release.node, release.demand)
