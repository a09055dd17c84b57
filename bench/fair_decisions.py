"""Microseconds a decision of Fair, by how many jobs have pending tasks.

The jobs stay runnable throughout: a slot is given, and the oldest attempt ends, again and again,
so that each decision is one `decide` and the two facts that come of it.  Input is local to every
node and the view is as cheap as can be, so what is measured is the order.
"""

import argparse
import time
from collections import deque

from scheduler.decisions import Launch
from scheduler.facts import Closed, JobArrived, Launched
from scheduler.model import JobId, Locality, NodeId, Priority, TaskKind
from scheduler.orders.fair import Fair
from scheduler.orders.pools import PoolParams
from scheduler.policy import Policy

NODES, SLOTS, POOLS = 600, 2, 20
MAP = TaskKind.MAP


class BenchJob:
    """A job with tasks enough."""

    def __init__(self, number: JobId) -> None:
        self.job = number
        self.submitted_ms = 1000 * number
        self.user = f"user{number % 7}"
        self.pool = f"dept{number % 4}/pool{number % POOLS}"
        self.priority = list(Priority)[number % 5]
        self.ran = 0

    def total(self, kind: TaskKind) -> int:  # noqa: ARG002
        return 1_000_000

    def pending(self, kind: TaskKind) -> int:
        return 1000 if kind is MAP else 0

    def running(self, kind: TaskKind) -> int:
        return self.ran if kind is MAP else 0

    def finished(self, kind: TaskKind) -> int:  # noqa: ARG002
        return 0

    def nearest(self, kind: TaskKind, node: NodeId) -> Locality:  # noqa: ARG002
        return Locality.NODE


class BenchNode:
    """The one node that offers: always with a free map slot."""

    node, rack, speed = 0, 0, 1.0

    def slots(self, kind: TaskKind) -> int:  # noqa: ARG002
        return SLOTS

    def running(self, kind: TaskKind) -> int:
        return 0 if kind is MAP else SLOTS


class BenchOffer:
    """Its heartbeat."""

    node = BenchNode()
    given_off_rack = 0

    def free(self, kind: TaskKind) -> int:
        return SLOTS if kind is MAP else 0

    def given(self, kind: TaskKind) -> int:  # noqa: ARG002
        return 0


class BenchCluster:
    """So many jobs on 600 nodes."""

    now_ms, nodes = 0, NODES

    def __init__(self, jobs: int) -> None:
        self.all = [BenchJob(number) for number in range(jobs)]

    def slots(self, kind: TaskKind) -> int:  # noqa: ARG002
        return NODES * SLOTS

    def running(self, kind: TaskKind) -> int:  # noqa: ARG002
        return NODES * SLOTS - 1

    def pending(self, kind: TaskKind) -> int:
        return 1000 * len(self.all) if kind is MAP else 0

    unfinished = padded = pending

    def job(self, job: JobId) -> BenchJob:
        return self.all[job]

    def jobs(self) -> list[BenchJob]:
        return self.all

    def attempts(self) -> list[object]:
        return []


def microseconds(params: Fair.Params, jobs: int, decisions: int) -> tuple[float, float]:
    """One decision with its facts, and one look at everybody's shares (which no slot waits for)."""
    cluster, order = BenchCluster(jobs), Fair(params)
    policy, offer = Policy(order), BenchOffer()
    view: object = cluster
    for job in cluster.all:
        policy.observe(JobArrived(job.job), view)  # type: ignore[arg-type]
    running: deque[tuple[int, JobId]] = deque()
    begun = 0.0
    for number in range(decisions + 3 * NODES):
        if number == 3 * NODES:
            begun = time.perf_counter()
        launch = policy.decide(offer, view)  # type: ignore[arg-type]
        assert isinstance(launch, Launch)
        cluster.all[launch.job].ran += 1
        policy.observe(Launched(launch.job, MAP, number, 0), view)  # type: ignore[arg-type]
        running.append((number, launch.job))
        if len(running) >= NODES * SLOTS:
            attempt, job_id = running.popleft()
            cluster.all[job_id].ran -= 1
            policy.observe(Closed(job_id, MAP, attempt, 0, True), view)  # type: ignore[arg-type]
    took = time.perf_counter() - begun
    begun = time.perf_counter()
    order.claims(MAP, view, "pool")  # type: ignore[arg-type]
    return 1e6 * took / decisions, 1e6 * (time.perf_counter() - begun)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.fair_decisions", description=__doc__)
    parser.add_argument("--decisions", type=int, default=20_000)
    decisions = parser.parse_args().decisions
    pools = {f"dept{n}": PoolParams(weight=1.0 + n, min_maps=50 * n) for n in range(4)}
    kinds = {"jobs as equals": Fair.Params(), "20 pools in 4": Fair.Params(pools=pools)}
    print(f"{'':<16} {'jobs':>7} {'µs a decision':>14} {'µs for all shares':>18}")
    for name, params in kinds.items():
        for jobs in (10, 100, 1000, 10_000):
            best = [min(x) for x in zip(*(microseconds(params, jobs, decisions) for _ in range(3)))]  # noqa: B905
            print(f"{name:<16} {jobs:>7,} {best[0]:>14.1f} {best[1]:>18,.0f}", flush=True)


if __name__ == "__main__":
    main()
