"""A cluster without heartbeats for tests of orders: a slot that falls free is filled at once.

It plays an order on the plain view, with jobs of maps whose lengths are given one by one, and
tells it the same facts as the master would, progress too if asked for.  So the figures of papers
that draw ideal machines come out to the millisecond.
"""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from callboard.scheduler.decisions import Launch
from callboard.scheduler.facts import Closed, JobArrived, JobLeft, Launched, NodeJoined, Progressed
from callboard.scheduler.model import MAPS, JobId, Priority, SlotKind, Stage
from callboard.scheduler.policy import Order, Policy
from callboard.scheduler.reasons import Why
from tests.support.view import FakeCluster, FakeJob, FakeNode, FakeOffer

MAP = SlotKind.MAP


@dataclass
class Work(FakeJob):
    """A job of maps with known lengths, in the order of their launch."""

    lengths: Sequence[int] = ()
    done: int = 0

    def total(self, stage: Stage) -> int:
        return len(self.lengths) if stage == MAPS else 0

    def finished(self, stage: Stage) -> int:
        return self.done if stage == MAPS else 0


def work(job: JobId, *lengths: int, at_ms: int = 0, priority: Priority = Priority.NORMAL) -> Work:
    """A job of maps of these lengths in ms."""
    return Work(
        job,
        [len(lengths), 0],
        submitted_ms=at_ms,
        priority=priority,
        homes=frozenset({0}),
        lengths=lengths,
    )


class FixedOracle:
    """An oracle that says what a test tells it to, or else the truth."""

    def __init__(
        self, jobs: Sequence[Work], believed: Mapping[JobId, int] | None = None, z: float = 0.0
    ) -> None:
        self._sizes = {job.job: sum(job.lengths) for job in jobs} | dict(believed or {})
        self._z = z

    def size_ms(self, job: JobId, stage: Stage) -> int:
        return self._sizes[job] if stage == MAPS else 0

    def mean_task_ms(self, job: JobId, stage: Stage, on: str) -> float:  # noqa: ARG002
        return 0.0

    def requested_task_ms(self, job: JobId) -> int | None:  # noqa: ARG002
        return None

    def normal(self, job: JobId, stage: Stage) -> float:  # noqa: ARG002
        return self._z


class _OneNode(FakeCluster):
    """Its number of waiting maps is kept: counting them at each decision took most of the time."""

    waiting = 0

    def pending(self, kind: SlotKind) -> int:
        return self.waiting if kind is MAP else 0


@dataclass
class Machine:
    """Some slots on one node, an order, and what came of it."""

    order: Order
    jobs: Sequence[Work]
    slots: int = 1
    believed: Mapping[JobId, int] | None = None
    tells_progress_at: Sequence[int] = ()
    ends: dict[JobId, int] = field(default_factory=dict)
    launches: list[tuple[int, JobId, Why]] = field(default_factory=list)

    def play(self) -> "Machine":
        """Run all jobs to their end."""
        self.policy = Policy(self.order)
        if self.policy.wants_oracle:
            self.policy.set_oracle(FixedOracle(self.jobs, self.believed))
        self.node = FakeNode(0, (self.slots, 0))
        self.cluster = _OneNode([self.node], [])
        self.policy.observe(NodeJoined(0), self.cluster)
        self._running: list[tuple[int, int, Work, int]] = []
        self._attempts = 0
        self._jobs = {job.job: job for job in self.jobs}
        coming = sorted(self.jobs, key=lambda job: (job.submitted_ms, job.job))
        heartbeats = sorted(self.tells_progress_at)
        while coming or self._running or heartbeats:
            ahead = [job.submitted_ms for job in coming[:1]]
            ahead += [self._running[0][0]] if self._running else []
            self.cluster.now_ms = min(ahead + heartbeats[:1])
            while self._running and self._running[0][0] == self.cluster.now_ms:
                self._end(*heapq.heappop(self._running))
            while coming and coming[0].submitted_ms == self.cluster.now_ms:
                self._arrive(coming.pop(0))
            if heartbeats and heartbeats[0] == self.cluster.now_ms:
                heartbeats.pop(0)
                self._tell_progress()
            self._fill()
        assert self.cluster.waiting == 0
        return self

    def response_ms(self) -> dict[JobId, int]:
        """How long each job took."""
        return {job.job: self.ends[job.job] - job.submitted_ms for job in self.jobs}

    def mean_ms(self) -> float:
        """The mean response time."""
        return sum(self.response_ms().values()) / len(self.jobs)

    def _arrive(self, job: Work) -> None:
        self.cluster._jobs[job.job] = job
        self.cluster.waiting += job.pending_[MAP]
        self.policy.observe(JobArrived(job.job), self.cluster)
        self._leave_if_done(job)

    def _fill(self) -> None:
        while (launch := self.policy.decide(FakeOffer(self.node), self.cluster)) is not None:
            assert isinstance(launch, Launch)
            job = self._jobs[launch.job]
            length = job.lengths[len(job.lengths) - job.pending_[MAP]]
            job.pending_[MAP] -= 1
            self.cluster.waiting -= 1
            job.running_[MAP] += 1
            self.node.running_[MAP] += 1
            self._attempts += 1
            now = self.cluster.now_ms
            heapq.heappush(self._running, (now + length, self._attempts, job, now))
            self.launches.append((now, job.job, launch.why))
            self.policy.observe(Launched(job.job, MAPS, self._attempts, 0), self.cluster)

    def _end(self, at_ms: int, attempt: int, job: Work, started_ms: int) -> None:
        job.running_[MAP] -= 1
        job.done += 1
        self.node.running_[MAP] -= 1
        ran_ms = at_ms - started_ms
        self.policy.observe(Closed(job.job, MAPS, attempt, 0, True, ran_ms), self.cluster)
        self._leave_if_done(job)

    def _leave_if_done(self, job: Work) -> None:
        if job.done == len(job.lengths):
            self.ends[job.job] = self.cluster.now_ms
            del self.cluster._jobs[job.job]
            self.policy.observe(JobLeft(job.job), self.cluster)

    def _tell_progress(self) -> None:
        for end_ms, attempt, job, started_ms in sorted(self._running, key=lambda run: run[1]):
            ran_ms = self.cluster.now_ms - started_ms
            share = ran_ms / (end_ms - started_ms)
            fact = Progressed(job.job, MAPS, attempt, share, ran_ms)
            self.policy.observe(fact, self.cluster)
