"""What a decision costs, by order and by how many jobs have something to launch.

A full cluster of 600 nodes × 4 map slots.  In every round a task ends, which is told (`Closed`);
its node offers the slot, and so does the node that has longest had one free, if any; what is
launched is told (`Launched`), and to a locality rule whom each offer passed over (`OfferAnswered`).
A job whose last task has been launched is followed by a new one, so that the number of jobs with
something to launch stays; it leaves with its last end.  Jobs have 3 to 3,000 tasks by a Pareto law,
data on 3 nodes a task, and users, pools and priorities in turn.

The figure is the processor time of the rounds over the number of decisions in them, facts
included: the median of many short spells, in which the numbers of jobs take turns, since the
machine may be shared.  Beside it stands what an order's `claims` for all jobs take, which a
preemption rule asks for at its checks and no slot waits for.
"""

import argparse
from collections import deque
from statistics import median
from time import process_time

from callboard.actors.kernel.streams import Stream
from callboard.scheduler.decisions import Launch
from callboard.scheduler.entitlements import EntitlingOrder
from callboard.scheduler.facts import (
    Closed,
    JobArrived,
    JobLeft,
    Launched,
    NodeJoined,
    OfferAnswered,
)
from callboard.scheduler.model import MAPS, JobId, Locality, NodeId, Priority, SlotKind, Stage
from callboard.scheduler.policy import Policy, PolicySpecError
from callboard.scheduler.registry.parts import make_policy
from callboard.scheduler.registry.shipped import ORDERS
from tests.support.view import FakeCluster, FakeJob, FakeNode, FakeOffer

NODES, RACKS, MAP_SLOTS, REDUCE_SLOTS = 600, 20, 4, 2
SMALLEST, LARGEST = 3, 3000
ROUND_MS = 8
"""2,400 slots, a task's end every 8 ms: tasks of some 20 s."""

JOBS = (10, 100, 1000, 10_000)
RATIO_OF = (10_000, 100)
MARK = 3.0
MARKED = ("fifo", "fair", "hfsp", "psbs")
"""The orders for which 10,000 jobs are wanted to cost at most `MARK` times what 100 do."""

DRAWS = Stream(1, "bench")
MAP = SlotKind.MAP


class Job(FakeJob):
    """A job of maps whose data is on some nodes; racks go by number.  How many is drawn by the
    Pareto law if it is not said.
    """

    def __init__(self, number: JobId, now_ms: int, tasks: int | None = None) -> None:
        if tasks is None:
            tasks = min(int(SMALLEST / (1 - DRAWS.uniform(number))), LARGEST)
        homes = frozenset(DRAWS.below(NODES, number, n) for n in range(3 * tasks))
        super().__init__(
            number,
            [tasks, 0],
            submitted_ms=now_ms,
            priority=list(Priority)[number % 5],
            homes=homes,
            racks=frozenset(node % RACKS for node in homes),
            user=f"user{number % 7}",
            pool=f"dept{number % 4}/pool{number % 20}",
        )
        self.done = 0
        self.tasks = tasks

    def total(self, stage: Stage) -> int:
        return self.tasks if stage == MAPS else 0

    def finished(self, stage: Stage) -> int:
        return self.done if stage == MAPS else 0

    def nearest(self, kind: SlotKind, node: NodeId) -> Locality | None:
        if not self.pending_[kind]:
            return None
        if node in self.homes:
            return Locality.NODE
        return Locality.RACK if node % RACKS in self.racks else Locality.OFF_RACK


class Hall(FakeCluster):
    """The cluster, with sums that are kept: to count them is not the order's business."""

    sums = 0

    def slots(self, kind: SlotKind) -> int:
        return NODES * (MAP_SLOTS if kind is MAP else REDUCE_SLOTS)

    def running(self, kind: SlotKind) -> int:
        return NODES * MAP_SLOTS - 1 if kind is MAP else 0

    def pending(self, kind: SlotKind) -> int:
        return self.sums if kind is MAP else 0

    unfinished = pending

    def tasks_counted_for_padding(self, kind: SlotKind) -> int:  # noqa: ARG002
        return 0


class Bench:
    """One policy on the full cluster, with jobs that have something to launch, of that many tasks
    each or of unequal numbers.
    """

    def __init__(self, policy: Policy, jobs: int, tasks: int | None = None) -> None:
        self.policy = policy
        self.tasks = tasks
        self.nodes = [FakeNode(n, (MAP_SLOTS, REDUCE_SLOTS), rack=n % RACKS) for n in range(NODES)]
        self.hall = Hall(self.nodes, [])
        self.decisions = self.launches = self.arrived = 0
        self.open: deque[tuple[JobId, int, FakeNode]] = deque()
        self.free: deque[FakeNode] = deque()
        for node in self.nodes:
            self.policy.observe(NodeJoined(node.node), self.hall)
        for _ in range(jobs):
            self.arrive()
        for node in self.nodes * MAP_SLOTS:
            self.offer(node)

    def arrive(self) -> None:
        """One more job."""
        job = Job(self.arrived, self.hall.now_ms, self.tasks)
        self.arrived += 1
        self.hall._jobs[job.job] = job
        self.hall.sums += job.tasks
        self.policy.observe(JobArrived(job.job), self.hall)

    def round(self) -> None:
        """A task ends; its slot is offered, and one that has been free."""
        self.hall.now_ms += ROUND_MS
        waiting = self.free.popleft() if self.free else None
        if self.open:
            self.offer(self.close(*self.open.popleft()))
        if waiting is not None:
            self.offer(waiting)

    def offer(self, node: FakeNode) -> None:
        """A heartbeat that asks for one task."""
        passed: list[JobId] = []
        launch = self.policy.decide(FakeOffer(node), self.hall, passed)
        self.decisions += 1
        assert launch is None or isinstance(launch, Launch), "nothing is suspended or copied here"
        if launch is None:
            self.free.append(node)
        else:
            self.launch(launch.job, node)
            passed = [job for job in passed if job != launch.job]
        if self.policy.hears_offers:
            self.policy.observe(OfferAnswered(node.node, tuple(passed)), self.hall)

    def launch(self, number: JobId, node: FakeNode) -> None:
        """Book a launch and tell of it."""
        job = self.hall.job(number)
        level = job.nearest(MAP, node.node)
        assert level is not None
        self.launches += 1
        self.hall.sums -= 1
        job.pending_[MAP] -= 1
        job.running_[MAP] += 1
        node.running_[MAP] += 1
        self.open.append((number, self.launches, node))
        self.policy.observe(Launched(number, MAPS, self.launches, node.node, level), self.hall)
        if not job.pending_[MAP]:
            self.arrive()

    def close(self, number: JobId, attempt: int, node: FakeNode) -> FakeNode:
        """A job's task ends, and the job with its last."""
        job = self.hall.job(number)
        assert isinstance(job, Job)
        job.done += 1
        job.running_[MAP] -= 1
        node.running_[MAP] -= 1
        ran_ms = 10_000 + DRAWS.below(20_000, number)
        self.policy.observe(Closed(number, MAPS, attempt, node.node, True, ran_ms), self.hall)
        if job.done == job.tasks:
            del self.hall._jobs[number]
            self.policy.observe(JobLeft(number), self.hall)
        return node

    def us_a_decision(self, rounds: int) -> float:
        """Microseconds of processor time a decision, over that many rounds."""
        decisions, began = self.decisions, process_time()
        for _ in range(rounds):
            self.round()
        return 1e6 * (process_time() - began) / (self.decisions - decisions)

    def us_of_claims(self) -> float | None:
        """Microseconds that everybody's claims take; None from an order that has none."""
        order = self.policy.order
        if not isinstance(order, EntitlingOrder):
            return None
        took = []
        for _ in range(5):
            began = process_time()
            order.entitlements(MAP, self.hall, "pool")
            took.append(1e6 * (process_time() - began))
        return median(took)


def measure(spec: str, jobs: tuple[int, ...], spells: int, rounds: int) -> list[tuple[float, str]]:
    """For each number of jobs: microseconds a decision, and those of all claims as text."""
    benches = [Bench(make_policy(spec), n) for n in jobs]
    found: list[list[float]] = [[] for _ in benches]
    for _ in range(spells):
        for bench, times in zip(benches, found, strict=True):
            times.append(bench.us_a_decision(rounds))
    claims = [bench.us_of_claims() for bench in benches]
    texts = ["" if us is None else f"{us / 1000:.1f} ms" for us in claims]
    return list(zip(map(median, found), texts, strict=True))


def report(spec: str, jobs: tuple[int, ...], spells: int, rounds: int) -> None:
    """Measure one policy and print its row."""
    found = dict(zip(jobs, measure(spec, jobs, spells, rounds), strict=True))
    cells = "".join(f"{found[n][0]:>12.1f}" for n in jobs)
    verdict = ""
    if set(RATIO_OF) <= found.keys():
        ratio = found[RATIO_OF[0]][0] / found[RATIO_OF[1]][0]
        verdict = f"{ratio:>14.2f}"
        if spec in MARKED:
            verdict += " reached" if ratio <= MARK else " MISSED"
    print(f"{spec:<22}{cells}{found[max(jobs)][1]:>12}{verdict}", flush=True)


def main() -> None:
    given = _options()
    jobs = tuple(sorted(set(given.jobs)))
    specs = given.orders or [f"{name}{rule}" for name in ORDERS for rule in ("", "+delay")]
    for spec in specs:
        _check(spec)
    ratio = f"{RATIO_OF[0]:,} / {RATIO_OF[1]}" if set(RATIO_OF) <= set(jobs) else ""
    print(
        f"µs of processor time a decision, facts included; {NODES} nodes × {MAP_SLOTS} map slots;\n"
        f"medians of {given.spells} spells of {given.rounds} rounds; wanted of"
        f" {', '.join(MARKED)}: ratio at most {MARK:g}\n\n"
        f"{'jobs to launch from':<22}{''.join(f'{n:>12,}' for n in jobs)}{'all claims':>12}"
        f"{ratio:>14}",
        flush=True,
    )
    for spec in specs:
        report(spec, jobs, given.spells, given.rounds)


def _check(spec: str) -> None:
    try:
        policy = make_policy(spec)
    except PolicySpecError as error:
        raise SystemExit(str(error)) from None
    if policy.wants_oracle:
        raise SystemExit(f"`{spec}` goes by true sizes, and the jobs here have none")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.scheduling", description=__doc__)
    parser.add_argument("--orders", nargs="+", metavar="POLICY", help="default: all, and +delay")
    parser.add_argument("--jobs", nargs="+", type=int, default=JOBS, help="default: 10 to 10,000")
    parser.add_argument("--spells", type=int, default=9, help="of each number (default: 9)")
    parser.add_argument("--rounds", type=int, default=300, help="in a spell (default: 300)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
