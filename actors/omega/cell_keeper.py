"""Who keeps the shared state of a cell: tells schedulers what has changed, and commits claims."""

from collections.abc import Sequence

from callboard.actors.omega.cell_holder import CellHolder
from callboard.actors.omega.cell_messages import CellChanges, Commit, Committed, Sync
from callboard.actors.omega.cell_state import Conflicts, Transaction
from callboard.actors.world import World


class CellKeeper(CellHolder):
    """Decides between schedulers that have thought at the same time; it never thinks itself."""

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
        changes = self.cell.since(sync.changes)
        told = CellChanges(len(self.cell.changes), changes, sync.life)
        self.send(sync.scheduler, told, self.cause, self._latency_ms)
        self.look_for_schedulers()

    def on_commit(self, commit: Commit) -> None:
        """Commit what does not conflict; which claims those are is the scheduler's to launch."""
        found = self.cell.commit(commit.claims, commit.demand, self._conflicts, self._transaction)
        for node in found.committed:
            self.hold(commit.scheduler, node, commit.demand)
        told = Committed(*found, commit.life)
        self.send(commit.scheduler, told, self.cause, self._latency_ms)
