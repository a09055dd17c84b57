"""Which nodes are probed and which are asked for work: drawn at random, with replacement."""

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np

from callboard.actors.kernel.streams import Stream
from callboard.scheduler.model import JobId, NodeId, SlotKind, Stage


class ProbeDraws:
    """Draws by (job, stage, batch), and by (node, kind of slot) and how often it has drawn."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def probed(
        self, job: JobId, stage: Stage, batch: int, count: int, among: Sequence[NodeId]
    ) -> list[NodeId]:
        """The nodes of that many probes."""
        stream = Stream(self._seed, f"short probes/{stage}/{batch}")
        places = (stream.bits_row(job, count) >> np.uint64(32)) * np.uint64(len(among))
        return [among[place] for place in (places >> np.uint64(32)).tolist()]

    def victim(
        self, thief: NodeId, kind: SlotKind, drawn: int, among: Sequence[NodeId]
    ) -> NodeId | None:
        """Which of these nodes, in ascending order, a node asks for work: another one, if any."""
        own = bisect_left(among, thief)
        has_own = thief in among[own : own + 1]
        if len(among) == has_own:
            return None
        stream = Stream(self._seed, f"steal/{kind:d}")
        place = stream.below(len(among) - has_own, thief, drawn)
        return among[place + (has_own and place >= own)]
