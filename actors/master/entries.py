"""The entries in the master's books: policies see them as views, only the ledger writes them."""

from collections.abc import Mapping

import msgspec
import numpy as np

from callboard.actors.job import ATTEMPTS_MAX
from callboard.actors.kernel.actor import NO_CAUSE
from callboard.actors.master.pending_tasks import NodesWithSlots, PendingMaps, PendingReduces
from callboard.actors.topology import Topology
from callboard.actors.vocabulary import messages as msg
from callboard.actors.vocabulary.events import NodeFacts
from callboard.actors.vocabulary.lifecycle import (
    BEING_KILLED,
    BOOKED_ATTEMPT,
    BOOKED_JOB,
    BOOKED_NODE,
    BookedChange,
    BookedJobChange,
    BookedJobState,
    BookedNodeChange,
    BookedNodeState,
    BookedState,
    step,
)
from callboard.scheduler import model
from callboard.scheduler.model import KINDS, MAP, REDUCE, Locality

_MAPPING = BookedJobState.MAPPING
_OFF_RACK = Locality.OFF_RACK
_OUT_OF_SERVICE = BookedNodeState.OUT_OF_SERVICE
_SUSPENDING = BookedState.SUSPENDING
_UNKNOWN = BookedNodeState.UNKNOWN

TRACKER_FAILURES_MAX = 4  # mapred.max.tracker.failures: the job then blacklists the node,
BLACKLISTING_SHARE = 0.25  # unless it would with this share of all (CLUSTER_BLACKLIST_PERCENT)

_BEING_KILLED = frozenset(BEING_KILLED)
_CLOSED = frozenset({BookedState.SUCCEEDED, BookedState.FAILED, BookedState.KILLED})


class JobEntry:
    """A submitted job that has not ended."""

    def __init__(
        self,
        order: msg.SubmitJob,
        cause: int,
        now_ms: model.Millis,
        racks: Topology,
        nodes: Mapping[model.NodeId, "NodeEntry"],
        submission: int,
    ) -> None:
        self._nodes = nodes
        self.submission = submission  # its place in the order in which jobs were submitted
        self.state = _MAPPING
        self.cause = [cause, NO_CAUSE]  # what made its maps and its reduces pending
        self.retry_causes: dict[tuple[model.TaskKind, model.TaskIndex], int] = {}  # and single ones
        replicas = np.frombuffer(order.replicas, dtype="<i4").reshape(order.maps, order.replication)
        self.job = order.job
        self.submitted_ms = now_ms
        self.user = order.user
        self.pool = order.pool
        self.priority = order.priority
        self.tries: dict[tuple[model.TaskKind, model.TaskIndex], int] = {}
        """The number of the latest attempt of tasks that had several."""
        self._total = (order.maps, order.reduces)
        maps = PendingMaps(order.maps, replicas, racks, self._hosts_of(MAP))
        self.reduces = PendingReduces(order.reduces, self._hosts_of(REDUCE))
        self.tasks: tuple[PendingMaps, PendingReduces] = (maps, self.reduces)
        self.attempts: dict[model.AttemptId, AttemptEntry] = {}
        """Those that run or are held suspended, in the order of launch."""
        self._running = [0, 0]
        self._suspended = [0, 0]
        self._held: dict[tuple[model.TaskKind, model.NodeId], list[AttemptEntry]] = {}
        self._finished = [0, 0]
        self.lost = [0, 0]
        """Tasks whose attempt came to nothing and that the job has not asked for again yet."""
        self.faults: dict[model.NodeId, int] = {}
        """How many of its attempts failed on a node, and how often a node was lost with some."""
        self._failures: dict[tuple[model.TaskKind, model.TaskIndex], int] = {}
        self.spare = [0, 0]  # running attempts beyond one for each task that is not done
        self.beaten: dict[tuple[model.TaskKind, model.TaskIndex], AttemptEntry] = {}
        """Attempts that are open although the other one of their task has succeeded."""
        self.outputs: dict[model.NodeId, list[tuple[model.TaskIndex, model.AttemptId]]] = {}
        """Where the outputs of its finished maps lie; kept only for reduces that will want them."""
        self._work = (order.map_work, order.reduce_work)

    def change(self, change: BookedJobChange) -> None:
        self.state = step(BOOKED_JOB, self.state, change, f"job {self.job}")

    def total(self, kind: model.TaskKind) -> int:
        return self._total[kind]

    def pending(self, kind: model.TaskKind) -> int:
        return self.tasks[kind].left + self._suspended[kind]

    def suspended(self, kind: model.TaskKind) -> int:
        return self._suspended[kind]

    def resumable(self, kind: model.TaskKind, node: model.NodeId) -> model.AttemptId | None:
        held = self._held.get((kind, node), ())
        return min((entry.attempt for entry in held if not entry.killing), default=None)

    def running(self, kind: model.TaskKind) -> int:
        return self._running[kind]

    def finished(self, kind: model.TaskKind) -> int:
        return self._finished[kind]

    def nearest(self, kind: model.TaskKind, node: model.NodeId) -> Locality | None:
        if self.faults and self.blacklists(node):
            return None
        return self.tasks[kind].nearest(node)

    def blacklists(self, node: model.NodeId) -> bool:
        """Whether the job avoids the node (JobInProgress.shouldRunOnTaskTracker).  In Hadoop it
        does so too where no other node has slots for its tasks, and waits for ever.
        """
        if self.faults.get(node, 0) < TRACKER_FAILURES_MAX:
            return False
        failing = self.failing_nodes()
        few = len(failing) < BLACKLISTING_SHARE * len(self._nodes)
        kinds = [kind for kind in model.KINDS if self._total[kind]]
        return few and all(self._has_slots_beside(failing, kind) for kind in kinds)

    def _has_slots_beside(self, failing: list[model.NodeId], kind: model.TaskKind) -> bool:
        nodes = self._nodes.values()
        return any(node.slots(kind) and node.node not in failing for node in nodes)

    def failing_nodes(self) -> list[model.NodeId]:
        """Where too many of its attempts failed, whether it blacklists them or not."""
        return [node for node, faults in self.faults.items() if faults >= TRACKER_FAILURES_MAX]

    def fail(self, kind: model.TaskKind, task: model.TaskIndex) -> bool:
        """Count a failed attempt of a task; whether the task has failed too often, so that the job
        will end (TaskInProgress.isFailed).
        """
        failures = self._failures[kind, task] = self._failures.get((kind, task), 0) + 1
        return failures >= ATTEMPTS_MAX

    def _hosts_of(self, kind: model.TaskKind) -> NodesWithSlots:
        """The nodes that may run such tasks: those that the job blacklists may not."""
        return lambda: (
            node.node
            for node in self._nodes.values()
            if node.slots(kind) and not (self.faults and self.blacklists(node.node))
        )

    def opened(self, kind: model.TaskKind) -> bool:
        """Whether tasks of this kind may run: maps at once, reduces from slowstart on."""
        return kind is MAP or self.reduces.opened

    def work(self, kind: model.TaskKind) -> msg.MapWork | msg.ReduceWork:
        """The order for a task, passed on to the slot and not read here."""
        return self._work[kind]


class NodeEntry:
    """A node that has joined."""

    def __init__(self, facts: NodeFacts, life: int = 0) -> None:
        self.life = life
        self.node = facts.node
        self.rack = facts.rack
        self.speed = facts.speed
        self.node_type = facts.node_type
        self.heard_ms: model.Millis = -1
        self.reply = msg.HeartbeatReply(0, 0, life=life)
        self.kills: list[msg.KillTask] = []
        self.suspends: list[msg.SuspendTask] = []
        self.tracks: list[model.AttemptId] = []
        self.freed: tuple[list[int], list[int]] = ([], [])
        """The events that freed slots which have not been taken since, by kind, oldest first."""
        self.state = _UNKNOWN
        self.drained = False
        self._slots = (facts.map_slots, facts.reduce_slots)
        self._running = [0, 0]
        self._suspended = [0, 0]
        self._free = [0, 0]  # kept, since it is what is asked for most often
        self.change(BookedNodeChange.JOIN)
        self.attempts: dict[model.AttemptId, AttemptEntry] = {}
        """Those that run or are held suspended here, in the order of launch."""
        self.with_outputs: dict[model.JobId, JobEntry] = {}
        """The jobs that have outputs of finished maps here (see `JobEntry.outputs`)."""

    def change(self, change: BookedNodeChange) -> None:
        self.state = step(BOOKED_NODE, self.state, change, f"node {self.node}")
        self.drained = self.state is _OUT_OF_SERVICE
        for kind in KINDS:
            self._free[kind] = 0 if self.drained else self._slots[kind] - self._running[kind]

    def slots(self, kind: model.TaskKind) -> int:
        return 0 if self.drained else self._slots[kind]

    def running(self, kind: model.TaskKind) -> int:
        return self._running[kind]

    def suspended(self, kind: model.TaskKind) -> int:
        return self._suspended[kind]

    def count_running(self, kind: model.TaskKind, more: int) -> None:
        self._running[kind] += more
        if not self.drained:
            self._free[kind] -= more

    @property
    def has_orders(self) -> bool:
        """Whether an order beside launches waits for the next reply."""
        return bool(self.kills or self.suspends or self.tracks)

    def could_resume(self) -> bool:
        (maps, reduces), (free_maps, free_reduces) = self._suspended, self._free
        return (maps > 0 and free_maps > 0) or (reduces > 0 and free_reduces > 0)

    def free(self, kind: model.TaskKind) -> int:
        """Slots of this kind that nothing has been promised."""
        return self._free[kind]


class AttemptEntry(msgspec.Struct, eq=False):
    """An attempt that was launched and has not been closed."""

    attempt: model.AttemptId
    job: model.JobId
    kind: model.TaskKind
    task: model.TaskIndex
    number: int
    node: model.NodeId
    level: Locality
    launched_ms: model.Millis
    original: model.AttemptId = 0
    event: int = NO_CAUSE  # of its launch
    tracked: bool = False
    state: BookedState = BookedState.LAUNCHED
    killing: bool = False
    suspending: bool = False
    suspended_ms: model.Millis | None = None
    progress: float = 0.0
    ran_ms: model.Millis = 0
    shuffled_ms: model.Millis = 0
    sibling: "AttemptEntry | None" = None
    """The other attempt of its task, while both run and neither has succeeded."""
    older: "AttemptEntry | None" = None
    """What was beaten and open when this one began, since the output of the winner was lost."""
    beaten: bool = False  # its sibling has succeeded
    doomed: bool = False  # its task has failed too often

    def change(self, change: BookedChange) -> None:
        after = BOOKED_ATTEMPT.get((self.state, change))
        state = self.state = after or step(BOOKED_ATTEMPT, self.state, change, self)
        self.killing = state in _BEING_KILLED
        self.suspending = state is _SUSPENDING

    @property
    def alone(self) -> bool:
        if self.suspending or self.suspended_ms is not None:
            return False
        if self.older is not None and self.older.state not in _CLOSED:
            return False  # on a node that is silent, as a rule
        return self.sibling is None and not self.beaten and not self.doomed

    def __str__(self) -> str:
        return f"attempt {self.attempt}"


class OfferEntry:
    """A heartbeat that asks for work, and what it has been given so far."""

    __slots__ = ("_given", "given_off_rack", "node")

    def __init__(self, node: NodeEntry) -> None:
        self.node = node
        self.given_off_rack = 0
        self._given = [0, 0]

    def free(self, kind: model.TaskKind) -> int:
        return self.node._free[kind]

    def given(self, kind: model.TaskKind) -> int:
        return self._given[kind]

    def give(self, kind: model.TaskKind, level: Locality) -> None:
        """Count a launch; a retried map is node-local anywhere (`JobView.nearest`)."""
        self._given[kind] += 1
        if kind is MAP and level is _OFF_RACK:
            self.given_off_rack += 1
