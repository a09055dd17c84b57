"""What is known of one task, job, attempt or node by the events (`journal.run_state`).

As a string each says what it is like, for a person who has to understand a violation.
"""

from callboard.actors.vocabulary.events import (
    AttemptLaunched,
    JobSubmitted,
    NodeFacts,
    Outcome,
    Stall,
)
from callboard.scheduler.model import AttemptId, Millis, NodeId, TaskIndex, TaskKind

NEVER: Millis = -1


class TaskRecord:
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
        self.open: list[AttemptRecord] = []

    def __str__(self) -> str:
        open_ = ", ".join(str(each.launch.attempt) for each in self.open) or "none"
        return (
            f"the task: {self.launched} attempts launched, {self.failed} failed, {self.killed}"
            f" killed, open {open_}, success {self.valid or 'none'}"
        )


class JobRecord:
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
        self.tasks: tuple[dict[TaskIndex, TaskRecord], ...] = ({}, {})
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

    def task(self, kind: TaskKind, index: TaskIndex) -> TaskRecord:
        """The task of this number."""
        tasks = self.tasks[kind]
        found = tasks.get(index)
        if found is None:
            found = tasks[index] = TaskRecord()
        return found

    def __str__(self) -> str:
        parts = [
            f"{self.valid[kind]} of {self.total(kind)} {name} done, {self.busy[kind]} being run in"
            f" {self.open[kind]} attempts"
            for kind, name in ((TaskKind.MAP, "maps"), (TaskKind.REDUCE, "reduces"))
        ]
        ended = f", {self.finished}" if self.finished else ""
        return f"job-{self.submitted.job}: {'; '.join(parts)}{ended}"


class AttemptRecord:
    """One attempt: what really became of it, what was ordered, and what was booked."""

    __slots__ = (
        "beaten",
        "closed",
        "ended",
        "ended_ms",
        "expired",
        "job",
        "killing",
        "launch",
        "place",
        "resuming",
        "shuffled",
        "stalled",
        "started_ms",
        "suspended",
        "suspended_ms",
        "suspending",
        "task",
    )

    def __init__(self, launch: AttemptLaunched, job: JobRecord, task: TaskRecord) -> None:
        self.launch = launch
        self.job = job
        self.task = task
        self.started_ms: Millis = NEVER
        self.place: int | None = None  # the slot that it holds
        self.shuffled = False
        self.stalled: Stall | None = None
        self.expired = False  # the master has given its launch up
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


class NodeRecord:
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
