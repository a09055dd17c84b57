"""One of several schedulers that share a cell: it thinks about a copy, and commits what it claimed
there (optimistic concurrency, EuroSys 2013, §3.4).
"""

from callboard.actors.omega.cell_holder import CELL_HOLDER
from callboard.actors.omega.cell_messages import (
    CellChanges,
    Commit,
    Committed,
    Sync,
    ThoughtOver,
)
from callboard.actors.omega.cell_state import CellState, CommitResult
from callboard.actors.omega.first_fit import CandidateDraws
from callboard.actors.omega.think_params import ThinkParams
from callboard.actors.omega.thinking import ThinkingScheduler, Thought
from callboard.actors.world import World
from callboard.scheduler.reasons import Reason, Why


class OmegaScheduler(ThinkingScheduler):
    """Brings its copy up to date, thinks, places on the copy, and asks for a commit."""

    why = Why(Reason.FIRST_FIT, "omega")

    def __init__(
        self, number: int, world: World, params: ThinkParams, draws: CandidateDraws
    ) -> None:
        super().__init__(number, world, params, draws)
        self._resources = world.resources[1]
        self._reset_cell_copy()

    def _reset_cell_copy(self) -> None:
        self._copy = CellState(self._resources)
        self._changes = 0
        """How many changes of the cell the copy has in it."""
        self._thought: Thought | None = None

    def forget_all(self) -> None:
        super().forget_all()
        self._reset_cell_copy()

    def serve(self) -> None:
        if self._thought is None:
            self._thought = self.next_thought()
            if self._thought is not None:
                sync = Sync(self.address, self._changes, self.life)
                self.send(CELL_HOLDER, sync, self._thought.of.event, self._latency_ms)

    def on_cell_changes(self, told: CellChanges) -> None:
        """The copy is of now: think about it."""
        if told.life != self.life:
            return
        thought = self._current_thought()
        self._copy.update(told.nodes)
        self._changes = told.changes
        self.note_thought_begun(thought, self.now_ms)
        self.timer(ThoughtOver(self.life), thought.ms, self.cause)

    def on_thought_over(self, over: ThoughtOver) -> None:
        """Claim on a copy of the copy, which stays what the cell was when the thought began."""
        if over.life != self.life:
            return
        thought = self._current_thought()
        stage = thought.of
        tasks = min(thought.tasks, self.unplaced_tasks(stage))
        cell = self._copy.copy(shut=self.contacts.lost)
        claims = self.first_fit.claim_nodes(cell, stage.demand, tasks, stage.job)
        if claims:
            commit = Commit(self.address, stage.demand, tuple(claims), self.life)
            self.send(CELL_HOLDER, commit, self.cause, self._latency_ms)
        else:
            self._end_thought(thought, CommitResult((), ()))

    def on_committed(self, verdict: Committed) -> None:
        if verdict.life == self.life:
            self._end_thought(
                self._current_thought(), CommitResult(verdict.committed, verdict.conflicted)
            )

    def _current_thought(self) -> Thought:
        assert self._thought is not None, "no thought is going on"
        return self._thought

    def _end_thought(self, thought: Thought, verdict: CommitResult) -> None:
        self._thought = None
        self.count_attempt(thought.of, len(verdict.committed))
        event = self.conclude(thought, verdict)
        self.pause_or_drop_stage(thought.of, event)
        self.serve()
