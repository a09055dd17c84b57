"""Which blocks of input can be read: those with a replica on a machine that is up.

No actor: the injector says when a machine goes down and comes back, slots ask when they begin a
map. What happens at an instant is seen from the next one on, so nothing depends on the order within
it. A disk survives its machine's restart, and nothing is replicated anew. What the placement puts
on a node that is off from the start lies elsewhere too, until the node has joined.
"""

from typing import NamedTuple

from callboard.actors.placement import Placement
from callboard.scheduler.model import JobId, Millis, NodeId, TaskIndex


class _State(NamedTuple):
    """Whether a machine is down since an instant, and whether it was before."""

    since_ms: Millis
    down: bool
    was_down: bool


class Blocks:
    """All blocks of all jobs' inputs."""

    def __init__(self, placement: Placement) -> None:
        self._placement = placement
        self._states: dict[NodeId, _State] = {}

    def set_down(self, node: NodeId, down: bool, now_ms: Millis) -> None:
        state = self._states.get(node, _State(-1, False, False))
        if now_ms > 0 and state.down is not down:
            before = state.was_down if state.since_ms == now_ms else state.down
            self._states[node] = _State(now_ms, down, before)

    def readable(self, job: JobId, block: TaskIndex, now_ms: Millis) -> bool:
        """Whether some replica of a job's block is there."""
        if not self._states:
            return True
        replicas = self._placement.place_block(job, block)
        return not replicas or not all(self._is_down(node, now_ms) for node in replicas)

    def _is_down(self, node: NodeId, now_ms: Millis) -> bool:
        state = self._states.get(node)
        if state is None:
            return False
        return state.down if state.since_ms < now_ms else state.was_down
