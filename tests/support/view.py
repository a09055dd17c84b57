"""A plain view for tests of policies: what the master would believe, written down."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from hypothesis import strategies as st

from callboard.scheduler.decisions import Kill, Launch
from callboard.scheduler.facts import (
    Closed,
    JobArrived,
    JobLeft,
    Launched,
    NodeJoined,
    OfferAnswered,
    TasksPending,
)
from callboard.scheduler.model import (
    KINDS,
    REDUCES,
    AttemptId,
    JobId,
    Locality,
    NodeId,
    Priority,
    SlotKind,
    Stage,
    stage_on,
)
from callboard.scheduler.policy import Order, Policy
from callboard.scheduler.view import AttemptView, JobView, NodeView


@dataclass
class FakeJob:
    """A job with that many pending and running maps and reduces.

    Its maps lie on the nodes `homes`; the nodes `racks` stand in a rack with them.
    """

    job: JobId
    pending_: list[int]
    running_: list[int] = field(default_factory=lambda: [0, 0])
    submitted_ms: int = 0
    priority: Priority = Priority.NORMAL
    homes: frozenset[NodeId] = frozenset()
    racks: frozenset[NodeId] = frozenset()
    reduces: int = 0
    user: str = "user"
    pool: str = ""
    suspended_: int = 0

    def total(self, stage: Stage) -> int:
        return self.pending_[stage] + self.running_[stage]

    def pending(self, kind: SlotKind) -> int:
        return self.pending_[kind]

    def running(self, kind: SlotKind) -> int:
        return self.running_[kind]

    def finished(self, stage: Stage) -> int:  # noqa: ARG002
        return 0

    def suspended(self, kind: SlotKind) -> int:
        """All its suspended tasks are maps."""
        return 0 if kind else self.suspended_

    def resumable(self, kind: SlotKind, node: NodeId) -> None:  # noqa: ARG002
        return None

    def nearest(self, kind: SlotKind, node: NodeId) -> Locality | None:
        if not self.pending_[kind]:
            return None
        if node in self.homes:
            return Locality.NODE
        return Locality.RACK if node in self.racks else Locality.OFF_RACK


@dataclass
class FakeNode:
    """A node and what it runs."""

    node: NodeId
    slots_: tuple[int, int]
    running_: list[int] = field(default_factory=lambda: [0, 0])
    rack: int = 0
    speed: float = 1.0
    node_type: str = ""

    def slots(self, kind: SlotKind) -> int:
        return self.slots_[kind]

    def running(self, kind: SlotKind) -> int:
        return self.running_[kind]

    def suspended(self, kind: SlotKind) -> int:  # noqa: ARG002
        return 0


@dataclass
class FakeOffer:
    """One heartbeat of a node."""

    node: FakeNode
    given_: list[int] = field(default_factory=lambda: [0, 0])
    given_off_rack: int = 0

    def free(self, kind: SlotKind) -> int:
        return self.node.slots(kind) - self.node.running(kind)

    def given(self, kind: SlotKind) -> int:
        return self.given_[kind]


@dataclass
class FakeAttempt:
    """An attempt that runs."""

    attempt: AttemptId
    job: JobId
    kind: SlotKind
    node: NodeId
    launched_ms: int = 0
    task: int = 0
    killing: bool = False
    suspending: bool = False
    suspended_ms: int | None = None

    progress: float = 0.0
    ran_ms: int = 0
    shuffled_ms: int = 0
    number: int = 0
    original: AttemptId = 0
    alone: bool = True

    @property
    def stage(self) -> Stage:
        return stage_on(self.kind)

    @property
    def holds_slot(self) -> bool:
        return self.suspended_ms is None


class FakeCluster:
    """Nodes and jobs; the sums are counted, never kept."""

    def __init__(self, nodes: list[FakeNode], jobs: list[FakeJob]) -> None:
        self.now_ms = 0
        self.heartbeat_ms = 3000
        self.attempts_: dict[AttemptId, FakeAttempt] = {}
        self.last_attempt: AttemptId = 0
        self._nodes = nodes
        self._jobs = {job.job: job for job in jobs}

    @property
    def nodes(self) -> int:
        return len(self._nodes)

    @property
    def members(self) -> Mapping[NodeId, NodeView]:
        return {each.node: each for each in self._nodes}

    def slots(self, kind: SlotKind) -> int:
        return sum(node.slots(kind) for node in self._nodes)

    def running(self, kind: SlotKind) -> int:
        return sum(node.running(kind) for node in self._nodes)

    def pending(self, kind: SlotKind) -> int:
        return sum(job.pending(kind) for job in self._jobs.values())

    def unfinished(self, kind: SlotKind) -> int:
        return sum(job.total(stage_on(kind)) for job in self._jobs.values())

    def tasks_counted_for_padding(self, kind: SlotKind) -> int:
        return sum(job.total(stage_on(kind)) for job in self._jobs.values() if job.reduces)

    def job(self, job: JobId) -> FakeJob:
        return self._jobs[job]

    def jobs(self) -> Iterable[JobView]:
        return self._jobs.values()

    def attempts(self) -> Iterable[AttemptView]:
        return self.attempts_.values()

    def attempt(self, attempt: AttemptId) -> AttemptView | None:
        return self.attempts_.get(attempt)

    def node(self, node: NodeId) -> FakeNode:
        return next(each for each in self._nodes if each.node == node)

    def add(self, job: FakeJob, policy: Policy) -> None:
        """A job comes; the policy hears of it."""
        self._jobs[job.job] = job
        _tell_of(job, policy, self)

    def leave(self, job: JobId, policy: Policy) -> None:
        """A job with nothing running goes."""
        del self._jobs[job]
        policy.observe(JobLeft(job), self)


def informed(policy: Policy, cluster: FakeCluster) -> Policy:
    """The policy, having heard of every node, every job and its reduces."""
    for node in cluster._nodes:
        policy.observe(NodeJoined(node.node), cluster)
    for job in cluster.jobs():
        _tell_of(job, policy, cluster)
    return policy


def _tell_of(job: JobView, policy: Policy, cluster: FakeCluster) -> None:
    policy.observe(JobArrived(job.job), cluster)
    if job.pending(SlotKind.REDUCE):
        policy.observe(TasksPending(job.job, REDUCES), cluster)


def heartbeat(policy: Policy, cluster: FakeCluster, node: FakeNode) -> list[Launch]:
    """One heartbeat of `node`: decisions booked one by one, as the master does."""
    offer = FakeOffer(node)
    launches: list[Launch] = []
    passed: list[JobId] = []
    while (launch := policy.decide(offer, cluster, passed)) is not None:
        assert policy.decide(offer, cluster) == launch, "decide is pure"
        assert isinstance(launch, Launch)
        job = cluster.job(launch.job)
        level = job.nearest(launch.kind, node.node)
        assert level is not None
        if launch.kind is SlotKind.MAP and level is Locality.OFF_RACK:
            offer.given_off_rack += 1
        job.pending_[launch.kind] -= 1
        job.running_[launch.kind] += 1
        node.running_[launch.kind] += 1
        offer.given_[launch.kind] += 1
        launches.append(launch)
        cluster.last_attempt += 1
        number = cluster.last_attempt
        cluster.attempts_[number] = FakeAttempt(
            number, launch.job, launch.kind, node.node, cluster.now_ms
        )
        policy.observe(
            Launched(launch.job, stage_on(launch.kind), number, node.node, level), cluster
        )
    served = {launch.job for launch in launches if launch.kind is SlotKind.MAP}
    skipped = tuple(job for job in dict.fromkeys(passed) if job not in served)
    policy.observe(OfferAnswered(node.node, skipped), cluster)
    return launches


def heartbeats(policy: Policy, cluster: FakeCluster) -> list[JobId]:
    """A heartbeat of every node, and which jobs were served, in turn."""
    return [launch.job for node in cluster._nodes for launch in heartbeat(policy, cluster, node)]


def close(policy: Policy, cluster: FakeCluster, number: AttemptId, *, succeeded: bool) -> None:
    """An attempt has ended; if it did not succeed its task is pending again."""
    attempt = cluster.attempts_.pop(number)
    job, kind = cluster.job(attempt.job), attempt.kind
    job.running_[kind] -= 1
    cluster.node(attempt.node).running_[kind] -= 1
    policy.observe(Closed(attempt.job, attempt.stage, number, attempt.node, succeeded), cluster)
    if not succeeded:
        job.pending_[kind] += 1
        policy.observe(TasksPending(attempt.job, attempt.stage), cluster)


Move = tuple[int, int]
MOVES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 99)), max_size=60)
"""What happens next, and to which node, attempt or job."""


def make_move(move: Move, policy: Policy, cluster: FakeCluster, coming: list[FakeJob]) -> None:
    """A heartbeat, an end, a loss or a departure; an arrival where there is nothing else to do."""
    what, which = move
    open_, nodes = list(cluster.attempts_), cluster._nodes
    idle = [j.job for j in cluster.jobs() if not any(j.running(k) + j.pending(k) for k in KINDS)]
    if what <= 1:
        heartbeat(policy, cluster, nodes[which % len(nodes)])
    elif what <= 3 and open_:
        close(policy, cluster, open_[which % len(open_)], succeeded=what == 2)
    elif what == 4 and idle:
        cluster.leave(idle[which % len(idle)], policy)
    elif coming:
        cluster.add(coming.pop(0), policy)


def queued(
    order: Order, kind: SlotKind, cluster: FakeCluster, node: NodeId = 0
) -> list[tuple[JobId, float]]:
    """The order's queue for a node: (job, score), first one first."""
    offer = FakeOffer(cluster.node(node))
    return [(each.job.job, each.score) for each in order.queue(kind, offer, cluster)]


def preempted_until(policy: Policy, cluster: FakeCluster, until_ms: int) -> list[Kill]:
    """Ask the preemption rule at its ticks up to `until_ms`; every victim is marked."""
    kills: list[Kill] = []
    assert policy.interval_ms is not None
    while cluster.now_ms + policy.interval_ms <= until_ms:
        cluster.now_ms += policy.interval_ms
        for kill in policy.preempt(cluster):
            assert isinstance(kill, Kill)
            assert not cluster.attempts_[kill.attempt].killing, "nobody is killed twice"
            cluster.attempts_[kill.attempt].killing = True
            kills.append(kill)
    return kills
