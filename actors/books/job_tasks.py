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
from callboard.scheduler.model import (
    MAP,
    MAPS,
    REDUCE,
    REDUCES,
    STAGES,
    Locality,
    Stage,
    slot_kind,
)

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
        """Tasks of jobs that have reduces (`ClusterView.tasks_counted_for_padding`)."""


class BookedJob:
    """A submitted job that has not ended (`scheduler.view.JobView`)."""

    __slots__ = (
        *("submission", "only_on", "state", "cause", "retry_causes"),
        *("tries", "attempts", "lost", "spare", "beaten", "outputs", "faults"),
        *("tasks",),
        *("_job", "_submitted_ms", "_user", "_pool", "_priority", "_max_attempts"),
        *("_failures", "_racks", "_members", "_sums", "_total", "_running"),
        *("_suspended", "_finished", "_held", "_work"),
    )

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
        self._job = job
        self.submission = submission  # its place in the order in which jobs were submitted
        self._submitted_ms = now_ms
        self._user = profile.user
        self._pool = profile.pool
        self._priority = profile.priority
        self.only_on = profile.only_on
        self._max_attempts = profile.max_attempts
        self.state = BookedJobState.PREPARING
        self.cause = dict.fromkeys(STAGES, NO_CAUSE)
        """What made a stage's tasks pending."""
        self.retry_causes: dict[StageTask, int] = {}
        """What made single tasks pending again."""
        self.tries: dict[StageTask, int] = {}
        """The number of the latest attempt of tasks that had several."""
        self.attempts: dict[model.AttemptId, BookedAttempt] = {}
        """Those that run or are held suspended, in the order of launch."""
        self.lost = dict.fromkeys(STAGES, 0)
        """Tasks whose attempt came to nothing and that the job has not asked for again yet."""
        self.spare = dict.fromkeys(STAGES, 0)
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
        self._total = dict(zip(STAGES, profile.tasks, strict=True))
        self._running = [0, 0]
        self._suspended = [0, 0]
        self._finished = dict.fromkeys(STAGES, 0)
        self._held: dict[tuple[model.SlotKind, model.NodeId], list[BookedAttempt]] = {}
        self._work: dict[Stage, msg.AnyWork] = {}
        maps = PendingMaps(0, _NOWHERE, racks, self._usable_hosts(MAP))
        reduces = PendingReduces(self._total[REDUCES], self._usable_hosts(REDUCE))
        self.tasks: dict[Stage, PendingMaps | PendingReduces] = {MAPS: maps, REDUCES: reduces}

    def change_state(self, change: BookedJobChange) -> None:
        self.state = step(BOOKED_JOB, self.state, change, f"job {self.job}")

    def move(self, pool: str) -> None:
        """Put it into another pool."""
        self._pool = pool

    def set_priority(self, priority: model.Priority) -> None:
        """Give it another priority."""
        self._priority = priority

    # The view, which policies cannot write to.

    @property
    def job(self) -> model.JobId:
        return self._job

    @property
    def submitted_ms(self) -> model.Millis:
        return self._submitted_ms

    @property
    def user(self) -> str:
        return self._user

    @property
    def pool(self) -> str:
        return self._pool

    @property
    def priority(self) -> model.Priority:
        return self._priority

    def total(self, stage: Stage) -> int:
        return self._total[stage]

    def pending(self, kind: model.SlotKind) -> int:
        return self.tasks[STAGES[kind]].left + self._suspended[kind]

    def suspended(self, kind: model.SlotKind) -> int:
        return self._suspended[kind]

    def resumable(self, kind: model.SlotKind, node: model.NodeId) -> model.AttemptId | None:
        held = self._held.get((kind, node), ())
        return min((entry.attempt for entry in held if not entry.killing), default=None)

    def running(self, kind: model.SlotKind) -> int:
        return self._running[kind]

    def finished(self, stage: Stage) -> int:
        return self._finished[stage]

    def nearest(self, kind: model.SlotKind, node: model.NodeId) -> Locality | None:
        if self.faults and self.blacklists(node):
            return None
        return self.tasks[STAGES[kind]].nearest(node)

    # What waits.

    def open_stage(self, order: msg.SubmitStage, cause: int) -> None:
        """A stage may run from now on: its tasks wait."""
        stage, kind = order.stage, slot_kind(order.stage)
        self.cause[stage] = cause
        self.keep_stage_work(order)
        if stage == MAPS:
            self._open_maps(order)
        else:
            reduces = self.tasks[stage]
            assert isinstance(reduces, PendingReduces)
            reduces.open()
            self.change_state(BookedJobChange.OPEN_REDUCES)
        self._sums.pending[kind] += self._total[stage]
        self._sums.unfinished[kind] += self._total[stage]

    def _open_maps(self, order: msg.SubmitStage) -> None:
        total = self._total[MAPS]
        replicas = np.frombuffer(order.replicas, dtype="<i4").reshape(total, order.replication)
        self.tasks[MAPS] = PendingMaps(total, replicas, self._racks, self._usable_hosts(MAP))
        self.change_state(BookedJobChange.OPEN_MAPS)
        self._count_tasks_for_padding(1)

    def take_for_node(
        self, stage: Stage, kind: model.SlotKind, node: model.NodeId
    ) -> tuple[model.TaskIndex, Locality]:
        """The nearest pending task of the stage is launched on the node."""
        self._sums.pending[kind] -= 1
        return self.tasks[stage].take_for_node(node)

    def give_back(self, stage: Stage, task: model.TaskIndex, cause: int) -> None:
        """A task whose attempt came to nothing is pending again."""
        self.retry_causes[stage, task] = cause
        self.count_retry(stage, task)
        self.tasks[stage].give_back(task)
        self.lost[stage] -= 1
        self._sums.pending[slot_kind(stage)] += 1

    def withdraw_tasks(self) -> None:
        """The job is to end: nothing of it is pending any more."""
        for stage, tasks in self.tasks.items():
            self._sums.pending[slot_kind(stage)] -= tasks.left
            self.lost[stage] += tasks.left
            tasks.left = 0

    def begin_ending(self) -> None:
        """It has ended, and stays in the books until nothing of it runs any more."""
        self.change_state(BookedJobChange.END)
        self.forget_outputs()

    def leave(self) -> None:
        """It leaves the books."""
        self.change_state(BookedJobChange.LEAVE)
        for stage in filter(self.opened, STAGES):
            undone = self._total[stage] - self._finished[stage]
            self._sums.unfinished[slot_kind(stage)] -= undone
        if self.opened(MAPS):
            self._count_tasks_for_padding(-1)

    def _count_tasks_for_padding(self, sign: int) -> None:
        if self._total[REDUCES]:
            for stage, total in self._total.items():
                self._sums.padded[slot_kind(stage)] += sign * total

    # Outputs of its finished maps.

    def finish(self, attempt: BookedAttempt) -> None:
        """A task is done; a map leaves its output where it ran."""
        stage, node = attempt.stage, attempt.node
        self._finished[stage] += 1
        self._sums.unfinished[attempt.kind] -= 1
        if stage == MAPS and self._total[REDUCES] and self.state is not BookedJobState.ENDING:
            self.outputs.setdefault(node, []).append((attempt.task, attempt.attempt))
            self._members[node].with_outputs[self.job] = self

    def take_back_lost_maps(self, node: model.NodeId) -> list[Output]:
        """Take back the finished maps whose outputs on a node are lost."""
        outputs = self.outputs.pop(node, [])
        if outputs:
            del self._members[node].with_outputs[self.job]
        self._finished[MAPS] -= len(outputs)
        self.lost[MAPS] += len(outputs)
        self._sums.unfinished[MAP] += len(outputs)
        return outputs

    def forget_outputs(self) -> None:
        """Nobody will want the outputs of its maps any more."""
        for node in self.outputs:
            del self._members[node].with_outputs[self.job]
        self.outputs.clear()

    # What runs, and what has come of it.

    def opened(self, stage: Stage) -> bool:
        """Whether the stage's tasks have been submitted: reduces from slowstart on."""
        return stage in self._work

    def keep_stage_work(self, order: msg.SubmitStage) -> None:
        """Keep what a stage's tasks are to do, which is passed on to slots and not read here."""
        self._work[order.stage] = order.work

    def launch_order(self, entry: BookedAttempt) -> msg.LaunchTask:
        """What the node is told of an attempt that is launched there."""
        return msg.LaunchTask(
            entry.attempt,
            self.job,
            entry.stage,
            entry.kind,
            entry.task,
            entry.number,
            entry.level,
            self._work[entry.stage],
            entry.tracked,
            entry.event,
        )

    def take_pending_cause(self, entry: BookedAttempt) -> int:
        """The event that made the task pending which is launched now."""
        cause = self.cause[entry.stage]
        if not self.retry_causes:
            return cause
        return self.retry_causes.pop((entry.stage, entry.task), cause)

    def count_retry(self, stage: Stage, task: model.TaskIndex) -> None:
        """The next attempt of the task is another one."""
        self.tries[stage, task] = self.tries.get((stage, task), 0) + 1

    def fail(self, stage: Stage, task: model.TaskIndex, node: model.NodeId) -> bool:
        """Count a failed attempt of a task against the task and the node, on which the task is not
        to run again (TaskInProgress.machinesWhereFailed); whether the task has failed too often, so
        that the job will end (TaskInProgress.isFailed).  Then a beaten attempt of it is for
        nothing, too.
        """
        self.tasks[stage].again.avoid(task, node)
        self.blame(node)
        failures = self._failures[stage, task] = self._failures.get((stage, task), 0) + 1
        beaten = self.beaten.get((stage, task))
        if beaten is not None:
            beaten.doomed = failures >= self._max_attempts
        return failures >= self._max_attempts

    def is_exhausted(self, stage: Stage, task: model.TaskIndex) -> bool:
        """Whether the task has failed too often."""
        return self._failures.get((stage, task), 0) >= self._max_attempts

    def count_running(self, attempt: BookedAttempt, more: int) -> None:
        self._running[attempt.kind] += more

    def count_suspended(self, attempt: BookedAttempt, more: int) -> None:
        self._suspended[attempt.kind] += more
        self._sums.suspended[attempt.kind] += more
        held = self._held.setdefault((attempt.kind, attempt.node), [])
        (held.append if more > 0 else held.remove)(attempt)

    # Nodes that it avoids.

    def allows_node_type(self, node_type: str) -> bool:
        """Whether its user lets its tasks run on nodes of this type."""
        return not self.only_on or node_type in self.only_on

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
        kinds = [slot_kind(stage) for stage in STAGES if self._total[stage]]
        return few and all(self._has_slots_beside(failing, kind) for kind in kinds)

    def failing_nodes(self) -> list[model.NodeId]:
        """Where too many of its attempts failed, whether it blacklists them or not."""
        return [node for node, faults in self.faults.items() if faults >= TRACKER_FAILURES_MAX]

    def _has_slots_beside(self, failing: list[model.NodeId], kind: model.SlotKind) -> bool:
        there = (each for each in self._members.values() if self.allows_node_type(each.node_type))
        return any(each.slots(kind) and each.node not in failing for each in there)

    def _usable_hosts(self, kind: model.SlotKind) -> NodesWithSlots:
        """The nodes that may run such tasks: those that it blacklists or may not use may not."""
        return lambda: (
            each.node
            for each in self._members.values()
            if each.slots(kind)
            and self.allows_node_type(each.node_type)
            and not (self.faults and self.blacklists(each.node))
        )


_NOWHERE = np.empty((0, 1), dtype="<i4")
"""The replicas of no maps."""
