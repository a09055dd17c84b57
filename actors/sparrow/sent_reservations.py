"""Where a scheduler's reservations wait, as far as it knows: at nodes that have not asked yet."""

from collections import Counter
from collections.abc import Callable, Mapping

from callboard.actors.books.frontend import JobStage
from callboard.actors.kernel.message import Message
from callboard.actors.sparrow.draws import Batches
from callboard.actors.sparrow.probe_messages import CancelTaskReservations, GetTask
from callboard.scheduler.model import JobId, NodeId, Stage

TellNode = Callable[[NodeId, Message, int], None]
"""Has a node hear something, by a cause."""


class SentReservations(Batches):
    """A count for each node and stage, of what was sent in all batches."""

    def __init__(self, tell_node: TellNode) -> None:
        super().__init__()
        self._tell_node = tell_node
        self._waiting: dict[JobStage, Counter[NodeId]] = {}
        self._outstanding: Counter[JobStage] = Counter()

    def add_sent(self, job: JobId, stage: Stage, sent: Mapping[NodeId, int]) -> None:
        """That many are sent to, or kept by, each of these nodes."""
        self._waiting.setdefault((job, stage), Counter()).update(sent)
        self._outstanding[job, stage] += sum(sent.values())

    def waiting(self, job: JobId, stage: Stage) -> Mapping[NodeId, int]:
        """How many wait where."""
        return self._waiting.get((job, stage), {})

    def total_outstanding(self, job: JobId, stage: Stage) -> int:
        """How many wait anywhere, be it that another node has stolen them."""
        return self._outstanding[job, stage]

    def remove(self, job: JobId, stage: Stage, node: NodeId, count: int = 1) -> None:
        """That many wait there no more, be it that they were to be taken back."""
        self._outstanding[job, stage] = max(self._outstanding[job, stage] - count, 0)
        waiting = self._waiting.get((job, stage))
        if waiting is not None and node in waiting:
            waiting[node] -= count
            if waiting[node] <= 0:
                del waiting[node]

    def count_question(self, ask: GetTask) -> None:
        """A node has asked."""
        self.remove(ask.job, ask.stage, ask.node)

    def cancel_stage(self, job: JobId, stage: Stage, cause: int) -> None:
        """Take back those of a stage whose nodes have not asked."""
        del self._outstanding[job, stage]
        for node in self._waiting.pop((job, stage), ()):
            self._tell_node(node, CancelTaskReservations(job, stage), cause)

    def lose_node(self, node: NodeId) -> dict[JobStage, int]:
        """Those that wait there will bring nothing: how many of each stage."""
        lost = {of: nodes[node] for of, nodes in self._waiting.items() if node in nodes}
        for (job, stage), count in lost.items():
            self.remove(job, stage, node, count)
        return lost

    def forget_job(self, job: JobId) -> None:
        for stage in self.stages(job):
            del self._outstanding[job, stage]
            self._waiting.pop((job, stage), None)
        super().forget_job(job)
