"""The master's books: what it believes of nodes, jobs and attempts.  Entries have the attributes of
the policy's views (`scheduler.view`), so nothing is copied for a decision.
"""

from collections.abc import Iterable

from callboard.actors.master.entries import AttemptEntry, JobEntry, NodeEntry
from callboard.actors.topology import Topology
from callboard.actors.vocabulary.events import NodeFacts
from callboard.actors.vocabulary.lifecycle import (
    BookedChange,
    BookedJobChange,
    BookedJobState,
    BookedNodeChange,
    BookedState,
)
from callboard.actors.vocabulary.messages import SubmitJob
from callboard.scheduler import model
from callboard.scheduler.model import KINDS, MAP, REDUCE

_ENDING = BookedJobState.ENDING
_FAILED = BookedState.FAILED
_SUCCEEDED = BookedState.SUCCEEDED


class Ledger:
    """All of the master's books."""

    def __init__(self, racks: int | Topology, heartbeat_ms: model.Millis) -> None:
        self.now_ms: model.Millis = 0
        self.heartbeat_ms = heartbeat_ms
        self._racks = Topology(racks) if isinstance(racks, int) else racks
        self._nodes: dict[model.NodeId, NodeEntry] = {}
        self._jobs: dict[model.JobId, JobEntry] = {}
        self._attempts: dict[model.AttemptId, AttemptEntry] = {}
        self._last_attempt: model.AttemptId = 0
        self._submitted = 0
        self._announced: dict[model.JobId, tuple[model.Millis, int]] = {}
        """Jobs that are being set up: when each was submitted, and as which."""
        self._slots = [0, 0]
        self._running = [0, 0]
        self._auxiliary = [0, 0]
        """Slots that setup and cleanup tasks hold, among the running."""
        self._pending = [0, 0]
        self._suspended = [0, 0]
        self._unfinished = [0, 0]
        self._padded = [0, 0]

    def successor(self) -> "Ledger":
        """Empty books, whose attempts are numbered from well after these (Hadoop: 1000)."""
        for node in self._nodes.values():
            node.change(BookedNodeChange.FORGET)
        empty = Ledger(self._racks, self.heartbeat_ms)
        empty.now_ms = self.now_ms
        empty._last_attempt = self._last_attempt + 1000
        return empty

    # The view.

    @property
    def nodes(self) -> int:
        return len(self._nodes)

    def slots(self, kind: model.TaskKind) -> int:
        return self._slots[kind]

    def running(self, kind: model.TaskKind) -> int:
        return self._running[kind]

    def pending(self, kind: model.TaskKind) -> int:
        return self._pending[kind] + self._suspended[kind]

    def unfinished(self, kind: model.TaskKind) -> int:
        return self._unfinished[kind]

    def padded(self, kind: model.TaskKind) -> int:
        return self._padded[kind]

    def job(self, job: model.JobId) -> JobEntry:
        return self._jobs[job]

    def jobs(self) -> Iterable[JobEntry]:
        return self._jobs.values()

    def attempts(self) -> Iterable[AttemptEntry]:
        return self._attempts.values()

    # The master's own questions.

    def node(self, node: model.NodeId) -> NodeEntry | None:
        return self._nodes.get(node)

    def members(self) -> Iterable[NodeEntry]:
        """All nodes that have joined and are not lost."""
        return self._nodes.values()

    def attempt(self, attempt: model.AttemptId) -> AttemptEntry | None:
        return self._attempts.get(attempt)

    def has_pending(self, job: model.JobId, kind: model.TaskKind) -> bool:
        entry = self._jobs.get(job)
        return entry is not None and entry.tasks[kind].left > 0

    def kinds_pending(self) -> tuple[model.TaskKind, ...]:
        maps, reduces = self._pending
        if not reduces:
            return KINDS[:1] if maps else ()
        return KINDS if maps else KINDS[1:]

    def could_gain(self, node: NodeEntry) -> bool:
        """Whether the node has a free slot of a kind for which anything is pending."""
        maps, reduces = self._pending
        if (maps and node.free(MAP)) or (reduces and node.free(REDUCE)):
            return True
        return node.could_resume()

    def has_attempts(self, job: model.JobId) -> bool:
        return bool(self._jobs[job].attempts)

    def attempts_of(self, job: model.JobId) -> list[AttemptEntry]:
        """What of the job is believed to run or to be held suspended, in the order of launch."""
        return list(self._jobs[job].attempts.values())

    # The master's entries.

    def join(self, facts: NodeFacts, life: int = 0) -> NodeEntry:
        entry = NodeEntry(facts, life)
        self._nodes[facts.node] = entry
        for kind in KINDS:
            self._slots[kind] += entry.slots(kind)
        return entry

    def part(self, node: NodeEntry) -> None:
        """A node is gone; nothing runs there any more."""
        del self._nodes[node.node]
        for kind in KINDS:
            assert not node.running(kind), f"node {node.node} leaves with attempts"
            self._slots[kind] -= node.slots(kind)
        node.change(BookedNodeChange.LOSE)

    def drain(self, node: NodeEntry, out: bool) -> None:
        for kind in KINDS:
            self._slots[kind] -= node.slots(kind)
        node.change(BookedNodeChange.DRAIN if out else BookedNodeChange.RETURN_TO_SERVICE)
        for kind in KINDS:
            self._slots[kind] += node.slots(kind)

    def attempts_on(self, node: NodeEntry) -> list[AttemptEntry]:
        """What is believed to run or to be held suspended on a node, in the order of launch."""
        return list(node.attempts.values())

    def undo_maps(
        self, node: NodeEntry
    ) -> list[tuple[model.JobId, list[tuple[model.TaskIndex, model.AttemptId]]]]:
        """Take back the finished maps whose outputs on a node will be wanted, by job in the order
        of submission (rule T2).
        """
        having = sorted(node.with_outputs.values(), key=lambda entry: entry.submission)
        return [(entry.job, self.undo_maps_of(entry.job, node.node)) for entry in having]

    def fail_maps_of(
        self, job: model.JobId, node: model.NodeId
    ) -> list[tuple[model.TaskIndex, model.AttemptId]]:
        """Take back a job's finished maps whose outputs on a node cannot be fetched (rule T6)."""
        outputs, entry = self.undo_maps_of(job, node), self._jobs[job]
        for task, _ in outputs:
            beaten = entry.beaten.get((MAP, task))
            if entry.fail(MAP, task) and beaten is not None:
                beaten.doomed = True
        return outputs

    def undo_maps_of(
        self, job: model.JobId, node: model.NodeId
    ) -> list[tuple[model.TaskIndex, model.AttemptId]]:
        entry = self._jobs[job]
        outputs = entry.outputs.pop(node, [])
        if outputs:
            del self._nodes[node].with_outputs[job]
        entry._finished[MAP] -= len(outputs)
        entry.lost[MAP] += len(outputs)
        self._unfinished[MAP] += len(outputs)
        return outputs

    def here(self, job: model.JobId) -> bool:
        """Whether the job has been submitted and has not ended."""
        return job in self._jobs

    def announce(self, job: model.JobId) -> None:
        """A job has been submitted that is set up before its tasks may run."""
        self._submitted += 1
        self._announced[job] = (self.now_ms, self._submitted)

    def announced(self) -> list[model.JobId]:
        """The jobs that are being set up."""
        return list(self._announced)

    def is_known(self, job: model.JobId) -> bool:
        """Whether the job has been announced or submitted, and has not ended."""
        return job in self._announced or job in self._jobs

    def submit(self, order: SubmitJob, cause: int) -> None:
        if order.job not in self._announced:
            self.announce(order.job)
        at_ms, submission = self._announced.pop(order.job)
        entry = JobEntry(order, cause, at_ms, self._racks, self._nodes, submission)
        self._jobs[order.job] = entry
        self._pending[MAP] += order.maps
        self._unfinished[MAP] += order.maps
        if order.reduces:
            self._padded[MAP] += order.maps
            self._padded[REDUCE] += order.reduces

    def open_reduces(self, job: model.JobId, cause: int) -> None:
        entry = self._jobs[job]
        entry.change(BookedJobChange.OPEN_REDUCES)
        entry.cause[REDUCE] = cause
        entry.reduces.open()
        self._pending[REDUCE] += entry.total(REDUCE)
        self._unfinished[REDUCE] += entry.total(REDUCE)

    def give_back(
        self, job: model.JobId, kind: model.TaskKind, task: model.TaskIndex, cause: int
    ) -> None:
        """A task whose attempt came to nothing is pending again."""
        entry = self._jobs[job]
        entry.retry_causes[kind, task] = cause
        entry.tries[kind, task] = entry.tries.get((kind, task), 0) + 1
        entry.tasks[kind].give_back(task)
        entry.lost[kind] -= 1
        self._pending[kind] += 1

    def launch(self, job: model.JobId, kind: model.TaskKind, node: NodeEntry) -> AttemptEntry:
        """Book the job's nearest pending task on the node."""
        task, level = self._jobs[job].tasks[kind].take(node.node)
        self._pending[kind] -= 1
        attempt = self._open(job, kind, task, node, level)
        attempt.older = self._jobs[job].beaten.get((kind, task))
        return attempt

    def copy(self, original: AttemptEntry, node: NodeEntry) -> AttemptEntry:
        """Book a second attempt of a running task on the node."""
        assert original.alone, "S4: a task has at most two attempts at a time"
        job, kind, task = original.job, original.kind, original.task
        entry = self._jobs[job]
        entry.tries[kind, task] = entry.tries.get((kind, task), 0) + 1
        entry.spare[kind] += 1
        level = entry.tasks[kind].level(task, node.node)
        copy = self._open(job, kind, task, node, level, original.attempt)
        copy.sibling, original.sibling = original, copy
        return copy

    def _open(
        self,
        job: model.JobId,
        kind: model.TaskKind,
        task: model.TaskIndex,
        node: NodeEntry,
        level: model.Locality,
        original: model.AttemptId = 0,
    ) -> AttemptEntry:
        entry = self._jobs[job]
        assert node._free[kind] > 0, f"node {node.node} has no free slot of {kind!r}"
        self._last_attempt += 1
        number = self._last_attempt
        tried = entry.tries.get((kind, task), 0)
        attempt = AttemptEntry(
            number, job, kind, task, tried, node.node, level, self.now_ms, original
        )
        self._attempts[number] = entry.attempts[number] = node.attempts[number] = attempt
        self._count_running(attempt, 1)
        return attempt

    def close(self, attempt: AttemptEntry, change: BookedChange) -> AttemptEntry | None:
        """Book an attempt's end; the other one of its task, beaten if this one has succeeded."""
        attempt.change(change)
        succeeded = attempt.state is _SUCCEEDED
        failed = attempt.state is _FAILED
        entry, node, kind = self._jobs[attempt.job], self._nodes[attempt.node], attempt.kind
        number = attempt.attempt
        del self._attempts[number], entry.attempts[number], node.attempts[number]
        if attempt.suspended_ms is None:
            self._count_running(attempt, -1)
        else:
            self._count_suspended(attempt, -1)
        sibling, attempt.sibling = attempt.sibling, None
        if sibling is not None:
            sibling.sibling = None
            if succeeded:
                sibling.beaten = True
                entry.beaten[kind, sibling.task] = sibling
        if attempt.beaten:
            del entry.beaten[kind, attempt.task]
        if failed:
            doomed = entry.fail(kind, attempt.task)
            for other in (sibling, attempt.older):
                if other is not None:
                    other.doomed = doomed
            entry.tasks[kind].again.avoid(attempt.task, attempt.node)
            self.blame(attempt.job, attempt.node)
        if succeeded:
            entry._finished[kind] += 1
            self._unfinished[kind] -= 1
            if kind is MAP and entry.total(REDUCE) and entry.state is not _ENDING:
                entry.outputs.setdefault(attempt.node, []).append((attempt.task, number))
                node.with_outputs[attempt.job] = entry
        elif sibling is not None or attempt.beaten:
            entry.spare[kind] -= 1
        else:
            entry.lost[kind] += 1
        return sibling

    def suspend(self, attempt: AttemptEntry) -> None:
        """An attempt has given up its slot and is held by its node."""
        attempt.change(BookedChange.REPORT_SUSPENDED)
        attempt.suspended_ms = self.now_ms
        self._count_running(attempt, -1)
        self._count_suspended(attempt, 1)

    def resume(self, attempt: AttemptEntry) -> None:
        attempt.change(BookedChange.ORDER_RESUME)
        attempt.suspended_ms = None
        self._count_suspended(attempt, -1)
        self._count_running(attempt, 1)

    def _count_running(self, attempt: AttemptEntry, more: int) -> None:
        kind = attempt.kind
        self._running[kind] += more
        self._jobs[attempt.job]._running[kind] += more
        self._nodes[attempt.node].count_running(kind, more)

    def _count_suspended(self, attempt: AttemptEntry, more: int) -> None:
        job = self._jobs[attempt.job]
        for sums in (self, job, self._nodes[attempt.node]):
            sums._suspended[attempt.kind] += more
        held = job._held.setdefault((attempt.kind, attempt.node), [])
        (held.append if more > 0 else held.remove)(attempt)

    def take_slot(self, node: NodeEntry, kind: model.TaskKind) -> model.AttemptId:
        """A free slot of the node is held by what is no task of a policy's; its number."""
        assert node._free[kind] > 0, f"node {node.node} has no free slot of {kind!r}"
        self._last_attempt += 1
        self._count_auxiliary(node, kind, 1)
        return self._last_attempt

    def free_slot(self, node: NodeEntry, kind: model.TaskKind) -> None:
        """The slot is free again."""
        self._count_auxiliary(node, kind, -1)

    def _count_auxiliary(self, node: NodeEntry, kind: model.TaskKind, more: int) -> None:
        self._auxiliary[kind] += more
        self._running[kind] += more
        node.count_running(kind, more)

    def blame(self, job: model.JobId, node: model.NodeId) -> None:
        faults = self._jobs[job].faults
        faults[node] = faults.get(node, 0) + 1

    def end(self, job: model.JobId) -> None:
        """A job has ended.  It stays in the books until nothing of it runs any more."""
        entry = self._jobs[job]
        entry.change(BookedJobChange.END)
        self.drop_outputs(job)

    def drop_outputs(self, job: model.JobId) -> None:
        """Nobody will want the outputs of the job's maps any more."""
        outputs = self._jobs[job].outputs
        for node in outputs:
            del self._nodes[node].with_outputs[job]
        outputs.clear()

    def forget_announced(self, job: model.JobId) -> None:
        """A job has ended before its tasks could run."""
        self._announced.pop(job, None)

    def withdraw(self, job: model.JobId) -> None:
        """The job is to end: nothing of it is pending any more."""
        entry = self._jobs[job]
        for kind in KINDS:
            tasks = entry.tasks[kind]
            self._pending[kind] -= tasks.left
            entry.lost[kind] += tasks.left
            tasks.left = 0

    def leave(self, job: model.JobId) -> None:
        self._jobs[job].change(BookedJobChange.LEAVE)
        entry = self._jobs.pop(job)
        for kind in KINDS:
            if entry.opened(kind):
                self._unfinished[kind] -= entry.total(kind) - entry.finished(kind)
        if entry.total(REDUCE):
            for kind in KINDS:
                self._padded[kind] -= entry.total(kind)
