"""A job's tasks: what waits, runs, is done and has failed, and where the outputs lie."""

from __future__ import annotations

import numpy as np

from callboard.actors.books.attempts import BookedAttempt
from callboard.actors.books.members import Members
from callboard.actors.books.pending_tasks import NodesWithSlots, PendingMaps, PendingReduces
from callboard.actors.kernel.message import NO_CAUSE
from callboard.actors.topology import Topology
from callboard.actors.vocabulary import messages as msg
from callboard.actors.vocabulary.lifecycle import (
    BOOKED_JOB,
    BookedJobChange,
    BookedJobState,
    step,
)
from callboard.scheduler import model
from callboard.scheduler.model import MAP, REDUCE, Locality, Stage

ATTEMPTS_MAX = 4  # mapred.*.max.attempts: this many failures of a task end the job
TRACKER_FAILURES_MAX = 4  # mapred.max.tracker.failures: the job then blacklists the node,
BLACKLISTING_SHARE = 0.25  # unless it would with this share of all (CLUSTER_BLACKLIST_PERCENT)

StageTask = tuple[Stage, model.TaskIndex]
"""A task of a job."""

Output = tuple[model.TaskIndex, model.AttemptId]
"""A finished map, and the attempt that has left its output."""


class JobSums:
    """What all jobs of a scheduler add up to, by kind of slot."""

    def __init__(self) -> None:
        self.pending = [0, 0]
        """Tasks that wait for their first attempt, or for another."""
        self.suspended = [0, 0]
        """Attempts that their nodes hold suspended."""
        self.unfinished = [0, 0]
        self.padded = [0, 0]
        """Tasks of jobs that have reduces (`ClusterView.padded`)."""


class BookedJob:
    """A submitted job that has not ended (`scheduler.view.JobView`)."""

    def __init__(
        self,
        job: model.JobId,
        profile: msg.JobProfile,
        now_ms: model.Millis,
        submission: int,
        *,
        racks: Topology,
        members: Members,
        sums: JobSums,
    ) -> None:
        self.job = job
        self.submission = submission  # its place in the order in which jobs were submitted
        self.submitted_ms = now_ms
        self.user = profile.user
        self.pool = profile.pool
        self.priority = profile.priority
        self.state = BookedJobState.PREPARING
        self.cause = [NO_CAUSE, NO_CAUSE]
        """What made its maps and its reduces pending."""
        self.retry_causes: dict[StageTask, int] = {}
        """What made single tasks pending again."""
        self.tries: dict[StageTask, int] = {}
        """The number of the latest attempt of tasks that had several."""
        self.attempts: dict[model.AttemptId, BookedAttempt] = {}
        """Those that run or are held suspended, in the order of launch."""
        self.lost = [0, 0]
        """Tasks whose attempt came to nothing and that the job has not asked for again yet."""
        self.spare = [0, 0]
        """Running attempts beyond one for each task that is not done."""
        self.beaten: dict[StageTask, BookedAttempt] = {}
        """Attempts that are open although the other one of their task has succeeded."""
        self.outputs: dict[model.NodeId, list[Output]] = {}
        """Where the outputs of its finished maps lie; kept only for reduces that will want them."""
        self.faults: dict[model.NodeId, int] = {}
        """How many of its attempts failed on a node, and how often a node was lost with some."""
        self._failures: dict[StageTask, int] = {}
        self._racks = racks
        self._members = members
        self._sums = sums
        self._total = profile.tasks
        self._running = [0, 0]
        self._suspended = [0, 0]
        self._finished = [0, 0]
        self._held: dict[tuple[model.SlotKind, model.NodeId], list[BookedAttempt]] = {}
        self._work: dict[Stage, msg.AnyWork] = {}
        self._reduces = PendingReduces(self._total[REDUCE], self._hosts_of(REDUCE))
        maps = PendingMaps(0, _NOWHERE, racks, self._hosts_of(MAP))
        self.tasks: tuple[PendingMaps, PendingReduces] = (maps, self._reduces)

    def change(self, change: BookedJobChange) -> None:
        self.state = step(BOOKED_JOB, self.state, change, f"job {self.job}")

    # The view.

    def total(self, kind: model.SlotKind) -> int:
        return self._total[kind]

    def pending(self, kind: model.SlotKind) -> int:
        return self.tasks[kind].left + self._suspended[kind]

    def suspended(self, kind: model.SlotKind) -> int:
        return self._suspended[kind]

    def resumable(self, kind: model.SlotKind, node: model.NodeId) -> model.AttemptId | None:
        held = self._held.get((kind, node), ())
        return min((entry.attempt for entry in held if not entry.killing), default=None)

    def running(self, kind: model.SlotKind) -> int:
        return self._running[kind]

    def finished(self, kind: model.SlotKind) -> int:
        return self._finished[kind]

    def nearest(self, kind: model.SlotKind, node: model.NodeId) -> Locality | None:
        if self.faults and self.blacklists(node):
            return None
        return self.tasks[kind].nearest(node)

    # What waits.

    def open(self, order: msg.SubmitStage, cause: int) -> None:
        """A stage may run from now on: its tasks wait."""
        kind = model.slot_kind(order.stage)
        self.cause[kind] = cause
        self.set_work(order)
        if kind is MAP:
            self._open_maps(order)
        else:
            self._reduces.open()
            self.change(BookedJobChange.OPEN_REDUCES)
        self._sums.pending[kind] += self._total[kind]
        self._sums.unfinished[kind] += self._total[kind]

    def _open_maps(self, order: msg.SubmitStage) -> None:
        shape = (self._total[MAP], order.replication)
        replicas = np.frombuffer(order.replicas, dtype="<i4").reshape(shape)
        maps = PendingMaps(self._total[MAP], replicas, self._racks, self._hosts_of(MAP))
        self.tasks = (maps, self._reduces)
        self.change(BookedJobChange.OPEN_MAPS)
        self._pad(1)

    def take(self, kind: model.SlotKind, node: model.NodeId) -> tuple[model.TaskIndex, Locality]:
        """The nearest pending task of this kind is launched on the node."""
        self._sums.pending[kind] -= 1
        return self.tasks[kind].take(node)

    def give_back(self, stage: Stage, task: model.TaskIndex, cause: int) -> None:
        """A task whose attempt came to nothing is pending again."""
        kind = model.slot_kind(stage)
        self.retry_causes[stage, task] = cause
        self.tries_again(stage, task)
        self.tasks[kind].give_back(task)
        self.lost[kind] -= 1
        self._sums.pending[kind] += 1

    def withdraw(self) -> None:
        """The job is to end: nothing of it is pending any more."""
        for kind in model.KINDS:
            tasks = self.tasks[kind]
            self._sums.pending[kind] -= tasks.left
            self.lost[kind] += tasks.left
            tasks.left = 0

    def end(self) -> None:
        """It has ended, and stays in the books until nothing of it runs any more."""
        self.change(BookedJobChange.END)
        self.drop_outputs()

    def leave(self) -> None:
        """It leaves the books."""
        self.change(BookedJobChange.LEAVE)
        for kind in filter(self.opened, model.KINDS):
            self._sums.unfinished[kind] -= self._total[kind] - self._finished[kind]
        if self.opened(MAP):
            self._pad(-1)

    def _pad(self, sign: int) -> None:
        if self._total[REDUCE]:
            for kind in model.KINDS:
                self._sums.padded[kind] += sign * self._total[kind]

    # Outputs of its finished maps.

    def finish(self, attempt: BookedAttempt) -> None:
        """A task is done; a map leaves its output where it ran."""
        kind, node = attempt.kind, attempt.node
        self._finished[kind] += 1
        self._sums.unfinished[kind] -= 1
        if kind is MAP and self._total[REDUCE] and self.state is not BookedJobState.ENDING:
            self.outputs.setdefault(node, []).append((attempt.task, attempt.attempt))
            self._members[node].with_outputs[self.job] = self

    def take_back(self, node: model.NodeId) -> list[Output]:
        """Take back the finished maps whose outputs on a node are lost."""
        outputs = self.outputs.pop(node, [])
        if outputs:
            del self._members[node].with_outputs[self.job]
        self._finished[MAP] -= len(outputs)
        self.lost[MAP] += len(outputs)
        self._sums.unfinished[MAP] += len(outputs)
        return outputs

    def drop_outputs(self) -> None:
        """Nobody will want the outputs of its maps any more."""
        for node in self.outputs:
            del self._members[node].with_outputs[self.job]
        self.outputs.clear()

    # What runs, and what has come of it.

    def opened(self, kind: model.SlotKind) -> bool:
        """Whether its tasks of this kind have been submitted: reduces from slowstart on."""
        return Stage(kind) in self._work

    def set_work(self, order: msg.SubmitStage) -> None:
        """Keep what a stage's tasks are to do, which is passed on to slots and not read here."""
        self._work[order.stage] = order.work

    def order(self, entry: BookedAttempt) -> msg.LaunchTask:
        """What the node is told of an attempt that is launched there."""
        what = (entry.attempt, self.job, entry.stage, entry.kind, entry.task, entry.number)
        work = self._work[entry.stage]
        return msg.LaunchTask(*what, entry.level, work, entry.tracked, entry.event)

    def made_pending(self, entry: BookedAttempt) -> int:
        """The event that made the task pending which is launched now."""
        cause = self.cause[entry.kind]
        if not self.retry_causes:
            return cause
        return self.retry_causes.pop((entry.stage, entry.task), cause)

    def tries_again(self, stage: Stage, task: model.TaskIndex) -> None:
        """The next attempt of the task is another one."""
        self.tries[stage, task] = self.tries.get((stage, task), 0) + 1

    def fail(self, stage: Stage, task: model.TaskIndex) -> bool:
        """Count a failed attempt of a task; whether the task has failed too often, so that the job
        will end (TaskInProgress.isFailed).  Then a beaten attempt of it is for nothing, too.
        """
        failures = self._failures[stage, task] = self._failures.get((stage, task), 0) + 1
        beaten = self.beaten.get((stage, task))
        if beaten is not None:
            beaten.doomed = failures >= ATTEMPTS_MAX
        return failures >= ATTEMPTS_MAX

    def is_exhausted(self, stage: Stage, task: model.TaskIndex) -> bool:
        """Whether the task has failed too often."""
        return self._failures.get((stage, task), 0) >= ATTEMPTS_MAX

    def count_running(self, attempt: BookedAttempt, more: int) -> None:
        self._running[attempt.kind] += more

    def count_suspended(self, attempt: BookedAttempt, more: int) -> None:
        self._suspended[attempt.kind] += more
        self._sums.suspended[attempt.kind] += more
        held = self._held.setdefault((attempt.kind, attempt.node), [])
        (held.append if more > 0 else held.remove)(attempt)

    # Nodes that it avoids.

    def blame(self, node: model.NodeId) -> None:
        """Count a fault of the node's."""
        self.faults[node] = self.faults.get(node, 0) + 1

    def blacklists(self, node: model.NodeId) -> bool:
        """Whether the job avoids the node (JobInProgress.shouldRunOnTaskTracker).  In Hadoop it
        does so too where no other node has slots for its tasks, and waits for ever.
        """
        if self.faults.get(node, 0) < TRACKER_FAILURES_MAX:
            return False
        failing = self.failing_nodes()
        few = len(failing) < BLACKLISTING_SHARE * len(self._members)
        kinds = [kind for kind in model.KINDS if self._total[kind]]
        return few and all(self._has_slots_beside(failing, kind) for kind in kinds)

    def failing_nodes(self) -> list[model.NodeId]:
        """Where too many of its attempts failed, whether it blacklists them or not."""
        return [node for node, faults in self.faults.items() if faults >= TRACKER_FAILURES_MAX]

    def _has_slots_beside(self, failing: list[model.NodeId], kind: model.SlotKind) -> bool:
        return any(each.slots(kind) and each.node not in failing for each in self._members.values())

    def _hosts_of(self, kind: model.SlotKind) -> NodesWithSlots:
        """The nodes that may run such tasks: those that the job blacklists may not."""
        return lambda: (
            each.node
            for each in self._members.values()
            if each.slots(kind) and not (self.faults and self.blacklists(each.node))
        )


_NOWHERE = np.empty((0, 1), dtype="<i4")
"""The replicas of no maps."""
