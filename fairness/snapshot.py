"""A cluster that stands still: jobs that wait, slots that are free, and what the order says that
everybody is due.  For what can be said of shares without playing anything (F6 to F9).
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import msgspec

from callboard.actors.config import Tasks
from callboard.actors.job_spec import JobSpec
from callboard.scenarios.oracle import WorkloadOracle
from callboard.scheduler.entitlements import EntitlingOrder
from callboard.scheduler.facts import JobArrived
from callboard.scheduler.model import AttemptId, JobId, Locality, Millis, NodeId, Priority, TaskKind
from callboard.scheduler.policy import Policy
from callboard.scheduler.view import AttemptView, JobView, NodeView


class SnapshotJob:
    """A job of which all maps wait; its reduces may not run yet."""

    def __init__(self, spec: JobSpec) -> None:
        self.job: JobId = spec.job
        self.submitted_ms: Millis = spec.submit_ms
        self.user = spec.user
        self.pool = spec.pool
        self.priority: Priority = spec.priority
        self._maps = spec.maps

    def total(self, kind: TaskKind) -> int:
        return self._maps if kind is TaskKind.MAP else 0

    pending = total

    def suspended(self, kind: TaskKind) -> int:  # noqa: ARG002
        return 0

    running = finished = suspended

    def resumable(self, kind: TaskKind, node: NodeId) -> AttemptId | None:  # noqa: ARG002
        return None

    def nearest(self, kind: TaskKind, node: NodeId) -> Locality | None:  # noqa: ARG002
        return Locality.NODE if self.total(kind) else None


class SnapshotCluster:
    """So many map slots, and jobs that have come."""

    nodes = 1
    heartbeat_ms: Millis = 3000

    def __init__(self, slots: int) -> None:
        self.now_ms: Millis = 0
        self._slots = slots
        self._jobs: dict[JobId, SnapshotJob] = {}

    def arrive(self, spec: JobSpec) -> None:
        """A job more."""
        self.now_ms = max(self.now_ms, spec.submit_ms)
        self._jobs[spec.job] = SnapshotJob(spec)

    def slots(self, kind: TaskKind) -> int:
        return self._slots if kind is TaskKind.MAP else 0

    def running(self, kind: TaskKind) -> int:  # noqa: ARG002
        return 0

    def pending(self, kind: TaskKind) -> int:
        return sum(job.pending(kind) for job in self._jobs.values())

    unfinished = pending
    padded = running

    def node(self, node: NodeId) -> NodeView | None:  # noqa: ARG002
        return None

    def job(self, job: JobId) -> JobView:
        return self._jobs[job]

    def jobs(self) -> Iterable[JobView]:
        return self._jobs.values()

    def attempts(self) -> Iterable[AttemptView]:
        return ()

    def attempt(self, attempt: AttemptId) -> AttemptView | None:  # noqa: ARG002
        return None


def fair_shares(policy: Policy, jobs: Sequence[JobSpec], slots: int) -> Mapping[JobId, Fraction]:
    """What each job is due of so many map slots when all have come and none runs.

    `policy` is a fresh one, whose order offers claims; all come at once.
    """
    assert isinstance(policy.order, EntitlingOrder)
    cluster = SnapshotCluster(slots)
    if policy.wants_oracle:
        policy.set_oracle(WorkloadOracle(jobs, Tasks(), 1))
    for spec in jobs:
        cluster.arrive(msgspec.structs.replace(spec, submit_ms=0))
        policy.order.observe(JobArrived(spec.job), cluster)
    claims = policy.order.entitlements(TaskKind.MAP, cluster, "job")
    due = {job: claim.share for claim in claims for job in claim.jobs}
    return {spec.job: due.get(spec.job, Fraction(0)) for spec in jobs}
