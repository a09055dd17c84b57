"""A whole recorded day on one machine: Facebook's of 2009 or 2010, on 600 nodes × (4 + 2) slots.

Each policy is played in a process of its own, so that every peak of memory is one run's, and just
as the command line plays it: on the Trio host, with somebody who looks on, with all figures.  The
seconds are all of it: reading the trace, making the actors, playing, computing the figures.  The
marks compare tasks a second of processor time with what a bare `heapq` takes in and gives out in a
second, before and after the run in the same process: so they hold on any machine.

Nodes elide the heartbeats that could change nothing.  What that saves is told by arithmetic: a
node that sends all of them sends one in every interval and round trip, and a heartbeat is three
messages (the timer, the heartbeat, the reply).  `--all-heartbeats` measures it instead, best with
`--jobs`, and compares the figures of the two runs.
"""

import argparse
import resource
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter, process_time

import msgspec
from msgspec.structs import replace

from bench.engine import timed_heap
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.onlooker import Onlooker
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.simulation import run_simulation
from callboard.journal.figures.summary import Summary
from callboard.scenarios import scenario_file as scenarios
from callboard.scenarios.scenario_file import Scenario

ROOT = Path(__file__).resolve().parents[1]
TRACES = Path("..", "shared", "traces")
"""Where the traces are, seen from the project's folder."""

TRACE = TRACES / "FB-2009_samples_24_times_1hr_0.tsv"
DAYS = {"2009": TRACE, "2010": TRACES / "FB-2010_samples_24_times_1hr_0.tsv"}

MARKS = {"fifo": 0.0110, "fair": 0.0100, "hfsp+delay": 0.0080, "fair+delay": 0.0080}
"""Wanted tasks a second by policy, as a share of the bare heap's events a second."""

OTHER_MARK = 0.0070
PEAK_MIB = 500
HEAP_EVENTS = 1_000_000
HEAP_PENDING = 4_200  # as many timers as there are nodes and slots
MESSAGES_A_HEARTBEAT = 3
STEPS_A_LOOK = 1024
"""A kernel is looked at once in that many supersteps."""


class Order(msgspec.Struct, frozen=True):
    """What is to be played: a trace, under one policy, on a cluster that the settings describe."""

    trace: str
    policy: str
    settings: tuple[str, ...]
    all_heartbeats: bool = False

    def scenario(self) -> Scenario:
        """The trace as a scenario."""
        send = "all" if self.all_heartbeats else "needed"
        return scenarios.load_scenario(
            self.trace, [*self.settings, f"cluster.heartbeat.send={send}"]
        )


class Cost(msgspec.Struct, frozen=True):
    """What came of it, and at what cost.

    `seconds` are by the wall clock, `playing` those of them in the kernel.
    `processor` are those that a processor was busy with it; `heap_events` is how many events a
    second the bare heap made of such seconds.
    """

    summary: Summary
    supersteps: int
    seconds: float
    playing: float
    processor: float
    heap_events: float
    peak_mib: float

    @property
    def tasks(self) -> int:
        """How many tasks the jobs had."""
        return self.summary.tasks.maps + self.summary.tasks.reduces

    @property
    def messages(self) -> int:
        """How many messages were delivered."""
        return self.summary.messages or 0

    @property
    def ratio(self) -> float:
        """Tasks a second over the bare heap's events a second."""
        return self.tasks / self.processor / self.heap_events


class SuperstepCounter(Onlooker):
    """Counts supersteps, by the thousand."""

    def __init__(self) -> None:
        self.supersteps = 0

    def on_progress(self, kernel: Kernel) -> None:  # noqa: ARG002
        self.supersteps += STEPS_A_LOOK


def replay(order: Order) -> Cost:
    """Play the trace; for a fresh process, whose peak of memory is then the run's."""
    heap_seconds = timed_heap(HEAP_EVENTS, HEAP_PENDING)
    began, began_processor, onlooker = perf_counter(), process_time(), SuperstepCounter()
    result = run_simulation(RunSpec.of(order.scenario(), order.policy), watcher=onlooker)
    seconds, processor = perf_counter() - began, process_time() - began_processor
    heap_seconds += timed_heap(HEAP_EVENTS, HEAP_PENDING)
    return Cost(
        result.summary,
        onlooker.supersteps,
        seconds=seconds,
        playing=result.wall_seconds,
        processor=processor,
        heap_events=2 * HEAP_EVENTS / heap_seconds,
        peak_mib=_peak_mib(),
    )


def fresh(order: Order) -> Cost:
    """`replay` in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(replay, order).result()


def report(order: Order, cost: Cost, *, marked: bool) -> None:
    """Print one run's figures, beside the marks if it is a run that they are meant for."""
    mark = MARKS.get(order.policy, OTHER_MARK)
    fast = f", wanted {mark:.4f}{_verdict(cost.ratio, mark)}" if marked else ""
    small = _verdict(PEAK_MIB, cost.peak_mib) if marked else ""
    jobs = cost.summary.jobs
    heartbeats = "every heartbeat sent" if order.all_heartbeats else "heartbeats as needed"
    print(f"{order.policy}, {heartbeats}: {jobs.completed:,} of {jobs.submitted:,} jobs completed")
    print(f"  {cost.seconds:>9.1f} s, {cost.playing:.1f} of them in the kernel", end=" ")
    print(f"({cost.processor:.1f} s of processor time)")
    print(f"  {cost.tasks / cost.processor:>9,.0f} tasks/s of {cost.tasks:,}", end=": ")
    print(f"{cost.ratio:.4f} of the bare heap's {cost.heap_events:,.0f} events/s{fast}")
    print(f"  {cost.messages / cost.seconds:>9,.0f} messages/s of {cost.messages:,}")
    print(f"  {cost.supersteps / cost.seconds:>9,.0f} supersteps/s of about {cost.supersteps:,}")
    print(f"  {cost.peak_mib:>9,.0f} MiB at most{small}", flush=True)


def _verdict(more: float, less: float) -> str:
    """What stands beside a figure that has a mark; `more` is to be at least `less`."""
    return " (the mark is reached)" if more >= less else " (the mark is MISSED)"


def report_saving(order: Order, cost: Cost) -> None:
    """Print by arithmetic what all heartbeats would have been."""
    cluster = order.scenario().cluster
    period_ms = cluster.heartbeat.period_ms(cluster.nodes) + 2 * cluster.latency_ms
    heartbeats = int(cluster.nodes * cost.summary.virtual_seconds * 1000 / period_ms)
    messages = MESSAGES_A_HEARTBEAT * heartbeats
    print(f"  all heartbeats would be {heartbeats:,}, in {messages:,} messages:", end=" ")
    print(f"{messages / cost.messages:.1f} times all that were delivered")


def compare_paired(needed: Cost, all_sent: Cost) -> None:
    """Print what eliding heartbeats has saved, and whether anything else differs."""
    print(f"  eliding heartbeats: {all_sent.messages / needed.messages:.1f} times fewer messages,")
    print(f"  {all_sent.playing / needed.playing:.1f} times faster;", end=" ")
    same = _told(needed.summary) == _told(all_sent.summary)
    print("every figure is the same" if same else "the figures DIFFER", flush=True)


def _told(summary: Summary) -> Summary:
    """The figures that tell of the cluster and not of the messages that played it."""
    return replace(summary, digest=None, messages=None, ties=None)


def _peak_mib() -> float:
    """The most memory that this process has held."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def main() -> None:
    given = _options()
    trace = given.trace or ROOT / DAYS[given.day]
    if not trace.is_file():
        print(f"no trace to replay: there is no file {_shown(trace)}")
        return
    names = ("nodes", "racks", "map_slots", "reduce_slots")
    settings = [f"cluster.{name}={getattr(given, name)}" for name in names]
    if given.jobs is not None:
        settings.append(f"workload.jobs={given.jobs}")
    print(f"{trace.name} on {given.nodes} nodes", end=" ")
    print(f"× ({given.map_slots} + {given.reduce_slots}) slots\n", flush=True)
    for policy in given.policy or ("fifo", "fair"):
        order = Order(str(trace), policy, tuple(settings))
        cost = fresh(order)
        report(order, cost, marked=given.jobs is None)
        report_saving(order, cost)
        if given.all_heartbeats:
            everything = replace(order, all_heartbeats=True)
            all_sent = fresh(everything)
            report(everything, all_sent, marked=False)
            compare_paired(cost, all_sent)


def _shown(trace: Path) -> Path:
    """A path as a person would give it."""
    return next((day for day in DAYS.values() if trace == ROOT / day), trace)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.replay", description=__doc__)
    parser.add_argument("trace", nargs="?", type=Path, help="a SWIM trace instead of a day")
    parser.add_argument("--day", choices=DAYS, default="2009", help=f"of {TRACES} (default: 2009)")
    for name, number in (("nodes", 600), ("racks", 20), ("map-slots", 4), ("reduce-slots", 2)):
        parser.add_argument(f"--{name}", type=int, default=number, help=f"default: {number}")
    parser.add_argument("--jobs", type=int, help="only the first that many jobs")
    parser.add_argument("--policy", action="append", help="default: fifo, then fair")
    parser.add_argument("--all-heartbeats", action="store_true", help="also send every heartbeat")
    return parser.parse_args()


if __name__ == "__main__":
    main()
