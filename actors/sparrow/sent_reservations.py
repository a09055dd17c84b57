"""Where a scheduler's reservations wait, as far as it knows: at nodes that have not asked yet."""

from collections import Counter
from collections.abc import Mapping

from callboard.actors.books.frontend import JobStage
from callboard.actors.books.voice import Voice
from callboard.actors.kernel.address import node_address
from callboard.actors.sparrow.probe_messages import CancelTaskReservations, GetTask
from callboard.scheduler.model import JobId, Millis, NodeId, Stage


class SentReservations:
    """A count for each node and stage; `batch` says how often nodes were drawn for a stage."""

    def __init__(self, voice: Voice, latency_ms: Millis) -> None:
        self._voice = voice
        self._latency_ms = latency_ms
        self._waiting: dict[JobStage, Counter[NodeId]] = {}
        self._outstanding: Counter[JobStage] = Counter()
        self._batches: Counter[JobStage] = Counter()

    def next_batch(self, job: JobId, stage: Stage) -> int:
        """How often this was asked before."""
        self._batches[job, stage] += 1
        return self._batches[job, stage] - 1

    def add(self, job: JobId, stage: Stage, sent: Mapping[NodeId, int]) -> None:
        """So many are sent to, or kept by, each of these nodes."""
        self._waiting.setdefault((job, stage), Counter()).update(sent)
        self._outstanding[job, stage] += sum(sent.values())

    def waiting(self, job: JobId, stage: Stage) -> Mapping[NodeId, int]:
        """How many wait where."""
        return self._waiting.get((job, stage), {})

    def outstanding(self, job: JobId, stage: Stage) -> int:
        """How many wait anywhere, be it that another node has stolen them."""
        return self._outstanding[job, stage]

    def remove(self, job: JobId, stage: Stage, node: NodeId, count: int = 1) -> None:
        """So many wait there no more, be it that they were to be taken back."""
        self._outstanding[job, stage] = max(self._outstanding[job, stage] - count, 0)
        waiting = self._waiting.get((job, stage))
        if waiting is not None and node in waiting:
            waiting[node] -= count
            if waiting[node] <= 0:
                del waiting[node]

    def count_question(self, ask: GetTask) -> None:
        """A node has asked."""
        self.remove(ask.job, ask.stage, ask.node)

    def cancel(self, job: JobId, stage: Stage, cause: int) -> None:
        """Take back those of a stage whose nodes have not asked."""
        del self._outstanding[job, stage]
        for node in self._waiting.pop((job, stage), ()):
            cancel = CancelTaskReservations(job, stage)
            self._voice.send(node_address(node), cancel, cause, self._latency_ms)

    def stages(self, job: JobId) -> list[Stage]:
        """The job's stages of which any were sent."""
        return [stage for number, stage in self._batches if number == job]

    def forget(self, job: JobId) -> None:
        """The job has ended."""
        for stage in self.stages(job):
            del self._batches[job, stage]
            del self._outstanding[job, stage]
            self._waiting.pop((job, stage), None)
