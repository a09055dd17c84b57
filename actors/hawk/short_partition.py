"""Which nodes long tasks may go to: all but the first ones, which stay free for short tasks."""

from collections.abc import Sequence
from fractions import Fraction

from callboard.actors.vocabulary.events import NodeFacts
from callboard.scheduler.model import KINDS, NodeId, SlotKind


class ShortPartition:
    """The first `short` (a share, below 1) of the nodes are closed to long tasks, unless those are
    all that have slots of a kind.
    """

    def __init__(self, nodes: Sequence[NodeFacts], short: float) -> None:
        slots = [(each.map_slots, each.reduce_slots) for each in nodes]
        self._able = [
            [each.node for each, has in zip(nodes, slots, strict=True) if has[kind]]
            for kind in KINDS
        ]
        closed = {each.node for each in nodes[: int(Fraction(str(short)) * len(nodes))]}
        for able in self._able:
            if closed.issuperset(able):
                closed.difference_update(able)
        self._closed = closed
        self._open = [[node for node in able if node not in closed] for able in self._able]

    def nodes_with_slots(self, kind: SlotKind) -> Sequence[NodeId]:
        """The nodes that have slots of the kind."""
        return self._able[kind]

    def nodes_closed_to_long(self, kind: SlotKind) -> Sequence[NodeId]:
        """Those of them that no long task goes to."""
        return [node for node in self._able[kind] if node in self._closed]

    def nodes_open_to_long(self, kind: SlotKind) -> Sequence[NodeId]:
        """Those that long tasks may go to, in ascending order."""
        return self._open[kind]

    def is_open_to_long(self, node: NodeId) -> bool:
        """Whether long tasks may go there."""
        return node not in self._closed
