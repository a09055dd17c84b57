"""A plain view for tests of policies: what the master would believe, written down."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from scheduler.decisions import Launch
from scheduler.facts import JobArrived, Launched, TasksPending
from scheduler.model import JobId, Locality, NodeId, Priority, TaskKind
from scheduler.policy import Policy
from scheduler.view import AttemptView, JobView


@dataclass
class FakeJob:
    """A job with so many pending and running maps and reduces; its maps lie on `homes`."""

    job: JobId
    pending_: list[int]
    running_: list[int] = field(default_factory=lambda: [0, 0])
    submitted_ms: int = 0
    priority: Priority = Priority.NORMAL
    homes: frozenset[NodeId] = frozenset()
    reduces: int = 0
    user: str = "user"
    pool: str = ""

    def total(self, kind: TaskKind) -> int:
        return self.pending_[kind] + self.running_[kind]

    def pending(self, kind: TaskKind) -> int:
        return self.pending_[kind]

    def running(self, kind: TaskKind) -> int:
        return self.running_[kind]

    def finished(self, kind: TaskKind) -> int:  # noqa: ARG002
        return 0

    def nearest(self, kind: TaskKind, node: NodeId) -> Locality | None:
        if not self.pending_[kind]:
            return None
        return Locality.NODE if node in self.homes else Locality.OFF_RACK


@dataclass
class FakeNode:
    """A node and what it runs."""

    node: NodeId
    slots_: tuple[int, int]
    running_: list[int] = field(default_factory=lambda: [0, 0])
    rack: int = 0
    speed: float = 1.0

    def slots(self, kind: TaskKind) -> int:
        return self.slots_[kind]

    def running(self, kind: TaskKind) -> int:
        return self.running_[kind]


@dataclass
class FakeOffer:
    """One heartbeat of a node."""

    node: FakeNode
    given_: list[int] = field(default_factory=lambda: [0, 0])
    given_off_rack: int = 0

    def free(self, kind: TaskKind) -> int:
        return self.node.slots(kind) - self.node.running(kind)

    def given(self, kind: TaskKind) -> int:
        return self.given_[kind]


class FakeCluster:
    """Nodes and jobs; the sums are counted, never kept."""

    def __init__(self, nodes: list[FakeNode], jobs: list[FakeJob]) -> None:
        self.now_ms = 0
        self._nodes = nodes
        self._jobs = {job.job: job for job in jobs}

    @property
    def nodes(self) -> int:
        return len(self._nodes)

    def slots(self, kind: TaskKind) -> int:
        return sum(node.slots(kind) for node in self._nodes)

    def running(self, kind: TaskKind) -> int:
        return sum(node.running(kind) for node in self._nodes)

    def pending(self, kind: TaskKind) -> int:
        return sum(job.pending(kind) for job in self._jobs.values())

    def unfinished(self, kind: TaskKind) -> int:
        return sum(job.total(kind) for job in self._jobs.values())

    def padded(self, kind: TaskKind) -> int:
        return sum(job.total(kind) for job in self._jobs.values() if job.reduces)

    def job(self, job: JobId) -> FakeJob:
        return self._jobs[job]

    def jobs(self) -> Iterable[JobView]:
        return self._jobs.values()

    def attempts(self) -> Iterable[AttemptView]:
        return ()


def told(policy: Policy, cluster: FakeCluster) -> Policy:
    """The policy, having heard of every job and of its reduces."""
    for job in cluster.jobs():
        policy.observe(JobArrived(job.job), cluster)
        if job.pending(TaskKind.REDUCE):
            policy.observe(TasksPending(job.job, TaskKind.REDUCE), cluster)
    return policy


def beat(policy: Policy, cluster: FakeCluster, node: FakeNode) -> list[Launch]:
    """One heartbeat of `node`: decisions booked one by one, as the master does."""
    offer = FakeOffer(node)
    launches: list[Launch] = []
    while (launch := policy.decide(offer, cluster)) is not None:
        assert policy.decide(offer, cluster) == launch, "decide is pure"
        job = cluster.job(launch.job)
        if launch.kind is TaskKind.MAP and job.nearest(launch.kind, node.node) is not Locality.NODE:
            offer.given_off_rack += 1
        job.pending_[launch.kind] -= 1
        job.running_[launch.kind] += 1
        node.running_[launch.kind] += 1
        offer.given_[launch.kind] += 1
        launches.append(launch)
        policy.observe(Launched(launch.job, launch.kind, len(launches), node.node), cluster)
    return launches
