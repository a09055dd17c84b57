"""What the events of a run have said so far, kept so that every rule can be checked in O(1).

This is nobody's belief: truth (what slots, nodes and the injector tell) and belief (what the
master tells) stand side by side.  Rules look at it *before* an event is taken in.  Attempts are
forgotten when both sides are done with them, tasks with their jobs.
"""

from collections import deque
from collections.abc import Callable
from typing import Any

from actors.events import (
    AnyEvent,
    AttemptClosed,
    AttemptEnded,
    AttemptLaunched,
    AttemptResumed,
    AttemptStarted,
    AttemptSuspended,
    FaultStruck,
    JobFinished,
    JobResubmitted,
    JobSubmitted,
    KillOrdered,
    MapsUndone,
    NodeFacts,
    NodeLost,
    NodeReturned,
    Outcome,
    ResumeOrdered,
    RunStarted,
    ShuffleEnded,
    SuspendOrdered,
)
from actors.faults import (
    Crash,
    MasterFault,
    NodeFault,
    Pause,
    PauseMaster,
    Restart,
    RestartMaster,
    Resume,
    ResumeMaster,
)
from scheduler.model import AttemptId, JobId, Millis, NodeId, TaskIndex, TaskKind

NEVER: Millis = -1

FORGOTTEN_MAX = 64
"""So many attempts that are over are remembered, for the sentences of a violation."""


class Task:
    """One task; `valid` is the attempt whose success counts, 0 if none does; `alive` counts its
    open attempts that no success of another has beaten.
    """

    __slots__ = ("alive", "failed", "killed", "launched", "open", "succeeded", "valid")

    def __init__(self) -> None:
        self.launched = 0
        self.failed = 0
        self.killed = 0
        self.succeeded = False  # ever
        self.valid: AttemptId = 0
        self.alive = 0
        self.open: list[Attempt] = []

    def __str__(self) -> str:
        open_ = ", ".join(str(each.launch.attempt) for each in self.open) or "none"
        return (
            f"the task: {self.launched} attempts launched, {self.failed} failed, {self.killed}"
            f" killed, open {open_}, success {self.valid or 'none'}"
        )


class Job:
    """One job: by kind of task, how many are done (`valid`), how many have an attempt alive
    (`busy`), and how many attempts are open.
    """

    __slots__ = (
        "busy",
        "complete_ms",
        "finished",
        "finished_ms",
        "most_maps",
        "open",
        "outputs",
        "submitted",
        "tasks",
        "undone_ms",
        "undone_now",
        "valid",
    )

    def __init__(self, submitted: JobSubmitted) -> None:
        self.submitted = submitted
        self.finished: Outcome | None = None
        self.finished_ms: Millis = NEVER
        self.tasks: tuple[dict[TaskIndex, Task], ...] = ({}, {})
        self.valid = [0, 0]
        self.busy = [0, 0]
        self.open = [0, 0]
        self.most_maps = 0
        """The most maps that were ever done at once: slowstart looks at this."""
        self.complete_ms: Millis = NEVER
        """When all maps were last done, if they are not."""
        self.outputs: dict[AttemptId, tuple[TaskIndex, NodeId]] = {}
        self.undone_ms: Millis = NEVER
        self.undone_now = 0
        """How many tasks were undone at that instant."""

    def total(self, kind: TaskKind) -> int:
        """How many tasks of the kind it has."""
        return self.submitted.reduces if kind else self.submitted.maps

    def task(self, kind: TaskKind, index: TaskIndex) -> Task:
        """The task of this number."""
        tasks = self.tasks[kind]
        found = tasks.get(index)
        if found is None:
            found = tasks[index] = Task()
        return found

    def __str__(self) -> str:
        parts = [
            f"{self.valid[kind]} of {self.total(kind)} {name} done, {self.busy[kind]} being run in"
            f" {self.open[kind]} attempts"
            for kind, name in ((TaskKind.MAP, "maps"), (TaskKind.REDUCE, "reduces"))
        ]
        ended = f", {self.finished}" if self.finished else ""
        return f"job-{self.submitted.job}: {'; '.join(parts)}{ended}"


class Attempt:
    """One attempt: what really became of it, what was ordered, and what was booked."""

    __slots__ = (
        "beaten",
        "closed",
        "ended",
        "ended_ms",
        "job",
        "killing",
        "launch",
        "place",
        "resuming",
        "shuffled",
        "started_ms",
        "suspended",
        "suspended_ms",
        "suspending",
        "task",
    )

    def __init__(self, launch: AttemptLaunched, job: Job, task: Task) -> None:
        self.launch = launch
        self.job = job
        self.task = task
        self.started_ms: Millis = NEVER
        self.place: int | None = None  # the slot that it holds
        self.shuffled = False
        self.suspended = False
        self.suspended_ms: Millis = NEVER  # since when, or when last
        self.ended: Outcome | None = None
        self.ended_ms: Millis = NEVER
        self.closed: Outcome | None = None
        self.beaten = False  # another attempt has done the task
        self.killing = False
        self.suspending = False  # ordered to be suspended, and not to go on since
        self.resuming = False  # ordered to go on, and has not yet

    def __str__(self) -> str:
        state = "launched"
        if self.ended is not None:
            state = f"{self.ended} at {self.ended_ms} ms"
        elif self.suspended:
            state = "suspended"
        elif self.place is not None:
            state = f"running in slot {self.place}"
        orders = [word for word in ("killing", "suspending", "resuming") if getattr(self, word)]
        told = "".join(f", {word}" for word in orders)
        booked = f", booked as {self.closed}" if self.closed else ""
        launch = self.launch
        return f"attempt {launch.attempt} on node-{launch.node}: {state}{told}{booked}"


class Node:
    """One node: its machine (`halted_ms` since when it does nothing), and what it is believed."""

    __slots__ = ("down", "facts", "halted", "halted_ms", "lost", "lost_ms", "open", "slots")

    def __init__(self, facts: NodeFacts) -> None:
        self.facts = facts
        self.slots: dict[int, AttemptId] = {}
        self.down = False
        self.halted = False
        self.halted_ms: Millis = NEVER  # or when last
        self.lost = False
        self.lost_ms: Millis = NEVER
        self.open = 0

    def __str__(self) -> str:
        held = ", ".join(f"{slot}: {attempt}" for slot, attempt in sorted(self.slots.items()))
        machine = "down" if self.down else "standing still" if self.halted else "up"
        believed = "lost" if self.lost else "there"
        return (
            f"node-{self.facts.node}: {machine}, believed {believed}, {self.open} open attempts,"
            f" slots held {{{held}}}"
        )


class Book:
    """All of it.  `touched` are the jobs that events have spoken of since it was last emptied."""

    def __init__(self) -> None:
        self.last_ms: Millis = 0
        self.paused = False
        """Whether the master stands still."""
        self.resumed_ms: Millis = NEVER
        """When it last went on: at that instant it acts on what it should have known before."""
        self.restarted_ms: Millis = NEVER
        """When it last began anew."""
        self._restarts = False
        self.last_attempt: AttemptId = 0
        self.nodes: dict[NodeId, Node] = {}
        self.jobs: dict[JobId, Job] = {}
        self.attempts: dict[AttemptId, Attempt] = {}
        self.touched: dict[JobId, Job] = {}
        self.forgotten: deque[AttemptLaunched] = deque(maxlen=FORGOTTEN_MAX)
        self.take: dict[type[AnyEvent], Callable[[Any], None]] = {
            RunStarted: self._run_started,
            JobSubmitted: self._job_submitted,
            AttemptLaunched: self._launched,
            AttemptStarted: self._started,
            ShuffleEnded: self._shuffled,
            AttemptSuspended: self._suspended,
            AttemptResumed: self._resumed,
            AttemptEnded: self._ended,
            AttemptClosed: self._closed,
            KillOrdered: self._kill_ordered,
            SuspendOrdered: self._suspend_ordered,
            ResumeOrdered: self._resume_ordered,
            FaultStruck: self._struck,
            NodeLost: self._lost,
            NodeReturned: self._returned,
            MapsUndone: self._undone,
            JobResubmitted: self._resubmitted,
            JobFinished: self._job_finished,
        }

    def _run_started(self, event: RunStarted) -> None:
        self.nodes = {facts.node: Node(facts) for facts in event.nodes}

    def _job_submitted(self, event: JobSubmitted) -> None:
        self.touched[event.job] = self.jobs[event.job] = Job(event)

    def _launched(self, event: AttemptLaunched) -> None:
        kind = event.kind
        job = self.touched[event.job] = self.jobs[event.job]
        task = job.task(kind, event.task)
        attempt = self.attempts[event.attempt] = Attempt(event, job, task)
        self.last_attempt = event.attempt
        self.nodes[event.node].open += 1
        task.launched += 1
        job.open[kind] += 1
        if not task.alive:
            job.busy[kind] += 1
        task.alive += 1
        task.open.append(attempt)

    def _started(self, event: AttemptStarted) -> None:
        attempt = self.attempts[event.attempt]
        attempt.started_ms = event.at_ms
        self._hold(attempt, event.slot)

    def _shuffled(self, event: ShuffleEnded) -> None:
        self.attempts[event.attempt].shuffled = True

    def _suspended(self, event: AttemptSuspended) -> None:
        attempt = self.attempts[event.attempt]
        self._release(attempt)
        attempt.suspended = True
        attempt.suspended_ms = event.at_ms

    def _resumed(self, event: AttemptResumed) -> None:
        attempt = self.attempts[event.attempt]
        attempt.suspended = attempt.resuming = False
        self._hold(attempt, event.slot)

    def _ended(self, event: AttemptEnded) -> None:
        attempt = self.attempts[event.attempt]
        if attempt.place is not None:
            self._release(attempt)
        attempt.suspended = False
        attempt.ended, attempt.ended_ms = event.outcome, event.at_ms
        if attempt.closed is not None:
            self._forget(attempt)

    def _closed(self, event: AttemptClosed) -> None:
        attempt = self.attempts[event.attempt]
        launch, job, task = attempt.launch, attempt.job, attempt.task
        kind = launch.kind
        self.touched[launch.job] = job
        attempt.closed = event.outcome
        self.nodes[launch.node].open -= 1
        job.open[kind] -= 1
        task.open.remove(attempt)
        was_busy = task.alive > 0
        task.alive -= not attempt.beaten
        if event.outcome is Outcome.SUCCEEDED:
            task.valid, task.succeeded = event.attempt, True
            for each in task.open:
                each.beaten = True
            task.alive = 0
            job.valid[kind] += 1
            if not kind:
                job.most_maps = max(job.most_maps, job.valid[0])
                if job.submitted.reduces:
                    job.outputs[event.attempt] = launch.task, launch.node
        elif event.outcome is Outcome.FAILED:
            task.failed += 1
        else:
            task.killed += 1
        if was_busy and not task.alive:
            job.busy[kind] -= 1
        if attempt.ended is not None:
            self._forget(attempt)

    def _kill_ordered(self, event: KillOrdered) -> None:
        self.attempts[event.attempt].killing = True

    def _suspend_ordered(self, event: SuspendOrdered) -> None:
        self.attempts[event.attempt].suspending = True

    def _resume_ordered(self, event: ResumeOrdered) -> None:
        attempt = self.attempts[event.attempt]
        attempt.suspending, attempt.resuming = False, True

    def _struck(self, event: FaultStruck) -> None:
        """As `actors.machine` bears it: what makes no sense does nothing."""
        fault = event.fault
        if isinstance(fault, MasterFault):
            self._strike_master(fault, event.at_ms)
        if not isinstance(fault, NodeFault):
            return
        node = self.nodes[fault.node]
        match fault:
            case Crash() if not node.down:
                node.down = node.halted = True
                node.halted_ms = event.at_ms
            case Restart() if node.down:
                node.down = node.halted = False
            case Pause() if not node.halted:
                node.halted, node.halted_ms = True, event.at_ms
            case Resume() if node.halted and not node.down:
                node.halted = False
            case _:
                pass

    def _strike_master(self, fault: MasterFault, at_ms: Millis) -> None:
        """When it begins anew the master books whatever is open as killed and knows of no loss; in
        a pause it does that when it goes on.
        """
        match fault:
            case PauseMaster():
                self.paused = True
            case ResumeMaster() if self.paused:
                self.paused, self.resumed_ms = False, at_ms
            case _:
                pass
        if isinstance(fault, RestartMaster):
            self._restarts = True
        if self._restarts and not self.paused:
            self._restarts, self.restarted_ms = False, at_ms
            for node in self.nodes.values():
                node.lost = False

    def _resubmitted(self, event: JobResubmitted) -> None:
        """All of it runs again; attempts that go on are of a job that is over."""
        self.touched[event.job] = self.jobs[event.job] = Job(self.jobs[event.job].submitted)

    def _lost(self, event: NodeLost) -> None:
        node = self.nodes[event.node]
        node.lost, node.lost_ms = True, event.at_ms

    def _returned(self, event: NodeReturned) -> None:
        self.nodes[event.node].lost = False

    def _undone(self, event: MapsUndone) -> None:
        job = self.touched[event.job] = self.jobs[event.job]
        if job.valid[0] == job.submitted.maps:
            job.complete_ms = event.at_ms
        if job.undone_ms != event.at_ms:
            job.undone_ms, job.undone_now = event.at_ms, 0
        job.undone_now += len(event.attempts)
        job.valid[0] -= len(event.attempts)
        for attempt in event.attempts:
            index, _ = job.outputs.pop(attempt)
            task = job.tasks[0][index]
            task.valid = 0
            if event.outcome is Outcome.FAILED:
                task.failed += 1
            else:
                task.killed += 1

    def _job_finished(self, event: JobFinished) -> None:
        job = self.touched[event.job] = self.jobs[event.job]
        job.finished, job.finished_ms = event.outcome, event.at_ms

    def _hold(self, attempt: Attempt, slot: int) -> None:
        attempt.place = slot
        self.nodes[attempt.launch.node].slots[slot] = attempt.launch.attempt

    def _release(self, attempt: Attempt) -> None:
        assert attempt.place is not None
        del self.nodes[attempt.launch.node].slots[attempt.place]
        attempt.place = None

    def _forget(self, attempt: Attempt) -> None:
        """Truth and belief are both done with it."""
        launch = attempt.launch
        del self.attempts[launch.attempt]
        self.forgotten.append(launch)

    def leave(self, job: Job) -> None:
        """Drop what is kept of a job that has left; that it was there is remembered."""
        if job.tasks[0] or job.tasks[1]:
            job.tasks = ({}, {})
            job.outputs.clear()

    def launches(self) -> dict[AttemptId, AttemptLaunched]:
        """The launches of the attempts that are still spoken of, and of the latest others."""
        known = {launch.attempt: launch for launch in self.forgotten}
        return known | {number: each.launch for number, each in self.attempts.items()}
