"""What a decision costs orders by size, at 10 to 10,000 runnable jobs on 600 nodes of 4 map slots.

One round is what a heartbeat with one free slot brings: a task ends (a fact), the order decides,
the launch is told (a fact), and the clock goes on by 5 ms.  Every job that runs out of tasks
leaves and another one comes, so their number stays.  Sizes are Pareto-like over three decades.
The figure is the microseconds of a whole round, facts included.
"""

import argparse
from collections.abc import Callable
from time import perf_counter

from actors.streams import Stream
from scheduler.decisions import Launch
from scheduler.facts import Closed, JobArrived, JobLeft, Launched, NodeJoined
from scheduler.model import TaskKind
from scheduler.orders.fifo import Fifo
from scheduler.orders.hfsp import Hfsp
from scheduler.orders.size_based import Las, Ps, Sjf, Srpt
from scheduler.orders.virtual import FspFifo, FspPs, Psbs
from scheduler.policy import Order, Policy
from tests.support.view import FakeCluster, FakeJob, FakeNode, FakeOffer

MAP = TaskKind.MAP
ORDERS: tuple[Callable[[], Order], ...] = (Fifo, Srpt, Sjf, Las, Ps, FspFifo, FspPs, Psbs, Hfsp)

IN_FLIGHT = 20
"""How many launched tasks have not ended."""


class Hall(FakeCluster):
    """A full cluster of 2,400 map slots; sums are kept, since counting them is not the order's."""

    def slots(self, kind: TaskKind) -> int:
        return 2400 if kind is MAP else 0

    def running(self, kind: TaskKind) -> int:
        return 2399 if kind is MAP else 0

    def pending(self, kind: TaskKind) -> int:
        return 10**6 if kind is MAP else 0

    def unfinished(self, kind: TaskKind) -> int:
        return 10**6 if kind is MAP else 0

    def padded(self, kind: TaskKind) -> int:  # noqa: ARG002
        return 0


class Bench:
    """One order, so many jobs."""

    def __init__(self, order: Order, jobs: int) -> None:
        self.policy = Policy(order)
        self.node = FakeNode(0, (4, 0), [3, 0])
        self.hall = Hall([self.node], [])
        self.draws = Stream(1, "bench")
        self.attempts = self.last = 0
        self.open: list[tuple[int, int]] = []
        self.policy.observe(NodeJoined(0), self.hall)
        for _ in range(jobs):
            self.arrive()

    def arrive(self) -> None:
        """One more job."""
        self.last += 1
        tasks = min(int(3 / (1 - self.draws.uniform(self.last))), 3000)
        job = FakeJob(self.last, [tasks, 0], submitted_ms=self.hall.now_ms, homes=frozenset({0}))
        self.hall._jobs[self.last] = job
        self.policy.observe(JobArrived(self.last), self.hall)

    def round(self) -> None:
        """A task ends, a slot is filled."""
        self.hall.now_ms += 5
        if len(self.open) >= IN_FLIGHT:
            self.close(*self.open.pop(0))
        launch = self.policy.decide(FakeOffer(self.node), self.hall)
        if launch is None:  # few jobs, all of whose tasks run
            return
        assert isinstance(launch, Launch)
        job = self.hall.job(launch.job)
        job.pending_[MAP] -= 1
        job.running_[MAP] += 1
        self.attempts += 1
        self.open.append((job.job, self.attempts))
        self.policy.observe(Launched(job.job, MAP, self.attempts, 0), self.hall)

    def close(self, number: int, attempt: int) -> None:
        """The job's task ends, and the job with its last."""
        job = self.hall.job(number)
        job.running_[MAP] -= 1
        ran_ms = 10_000 + self.draws.below(20_000, number)
        self.policy.observe(Closed(number, MAP, attempt, 0, True, ran_ms), self.hall)
        if not job.pending_[MAP] and not job.running_[MAP]:
            del self.hall._jobs[number]
            self.policy.observe(JobLeft(number), self.hall)
            self.arrive()


def us_a_round(make: Callable[[], Order], jobs: int, rounds: int) -> float:
    """Microseconds a round, the best of three."""
    best = float("inf")
    for _ in range(3):
        bench = Bench(make(), jobs)
        for _ in range(200):
            bench.round()
        began = perf_counter()
        for _ in range(rounds):
            bench.round()
        best = min(best, (perf_counter() - began) / rounds * 1e6)
    return best


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3000)
    rounds = parser.parse_args().rounds
    counts = (10, 100, 1000, 10_000)
    print("| order |" + "".join(f" {n:,} jobs |" for n in counts) + " 10,000 / 100 |")
    print("|---|" + "---:|" * 5)
    for make in ORDERS:
        cost = [us_a_round(make, n, rounds) for n in counts]
        cells = "".join(f" {us:.0f} |" for us in cost)
        print(f"| {make.name} |{cells} {cost[3] / cost[1]:.2f} |", flush=True)  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
