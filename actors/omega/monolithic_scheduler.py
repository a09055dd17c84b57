"""The only scheduler of its cell: nobody else claims anything, so it has the live state."""

from callboard.actors.omega.cell_messages import ThoughtOver
from callboard.actors.omega.cell_state import CellState, CommitResult
from callboard.actors.omega.first_fit import CandidateDraws
from callboard.actors.omega.think_params import ThinkParams
from callboard.actors.omega.thinking import ThinkingScheduler, Thought
from callboard.actors.world import World
from callboard.scheduler.model import NodeId
from callboard.scheduler.reasons import Reason, Why
from callboard.scheduler.resources import Vector


class MonolithicScheduler(ThinkingScheduler):
    """Thinks, and places on what is free when the thought is over."""

    why = Why(Reason.FIRST_FIT, "monolithic")

    def __init__(
        self, number: int, world: World, params: ThinkParams, draws: CandidateDraws
    ) -> None:
        super().__init__(number, world, params, draws)
        self.cell = CellState(world.resources[1], shut=self.contacts.lost)
        self._thought: Thought | None = None

    def serve(self) -> None:
        if self._thought is None:
            self._thought = self.next_thought()
            if self._thought is not None:
                self.note_thought_begun(self._thought, self.now_ms)
                self.timer(ThoughtOver(self.life), self._thought.ms, self._thought.of.event)

    def on_thought_over(self, _: ThoughtOver) -> None:
        thought, self._thought = self._thought, None
        assert thought is not None, "no thought was going on"
        stage = thought.of
        tasks = min(thought.tasks, self.unplaced_tasks(stage))
        claims = self.first_fit.claim_nodes(self.cell, stage.demand, tasks, stage.job)
        nodes = tuple(node for node, _ in claims)
        self.count_attempt(stage, len(nodes))
        event = self.conclude(thought, CommitResult(nodes, ()))
        self.pause_or_drop_stage(stage, event)
        self.serve()

    def release(self, node: NodeId, demand: Vector) -> None:
        self.cell.release(node, demand)

    def node_lost(self, node: NodeId, cause: int) -> None:
        super().node_lost(node, cause)
        self.cell.shut(node)

    def node_back(self, node: NodeId, cause: int) -> None:
        super().node_back(node, cause)
        self.cell.open(node)
