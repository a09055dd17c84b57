"""What grows with the size of a world, and how: one command, one table, one picture.

Four things are measured, each at sizes a power of ten apart, so that the growth can be read off:

- a whole run: µs a task by the number of nodes, with as many tasks a node, the building of the
  world left out;
- decisions: µs a task by the number of jobs that wait, all of equal numbers of tasks, for every
  order with and without delay scheduling, on the full cluster of `bench.scheduling`;
- single events: ms that the master takes for a node lost, a job killed and a job's arrival, by how
  many jobs are alive, with ten attempts for each;
- memory: bytes for each further idle actor (`bench.idle`).

`growth` is the exponent: cost ~ size^growth between the smallest size and the largest; 0 is none.
Seconds are of processor time, the least of several takes for runs and decisions and the median for
single events.  The picture, in logarithms of both, needs matplotlib (the extra `ideal`).
"""

import argparse
import gc
from collections.abc import Callable, Iterator, Sequence
from math import ceil, floor, log, log10
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import msgspec
import numpy as np

from bench import idle
from bench.scheduling import Bench
from callboard.actors.assembly import assemble
from callboard.actors.central import heartbeat_messages as hb
from callboard.actors.central.central import Central
from callboard.actors.central.master import Master
from callboard.actors.config import Cluster, Heartbeats, Tasks
from callboard.actors.job_spec import JobSpec
from callboard.actors.kernel.drivers import run_direct
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.vocabulary import messages as msg
from callboard.actors.vocabulary.events import NodeFacts, Outcome
from callboard.actors.world import World
from callboard.scheduler.model import MAP, MAPS, JobId, NodeId, Priority
from callboard.scheduler.registry.parts import make_policy
from callboard.scheduler.registry.shipped import ORDERS
from tests.support.outbox import Outbox

PICTURE = Path(__file__).parents[1] / "docs" / "figures" / "scaling.svg"
POLICIES = ("fifo", "fair", "hfsp")

NODES, NODES_QUICK = (600, 2_000, 10_000), (200, 600)
WAITING, WAITING_QUICK = (100, 1_000, 10_000), (100, 1_000)
ALIVE, ALIVE_QUICK = (100, 1_000, 10_000), (100, 1_000)
IDLE, IDLE_QUICK = (10_000, 50_000), (5_000, 20_000)

EVENT_MS = 1.0
"""A single event is wanted within this time at the largest size."""

TASKS_A_WAITING_JOB = 20
SLOTS = 10
"""On each node of the master that single events are delivered to; there is a node for each job."""

RUN, DECISION, EVENT = "µs a task, by nodes", "µs a task, by waiting jobs", "ms, by jobs alive"


class Line(msgspec.Struct, frozen=True):
    """What something costs at several sizes."""

    panel: str
    name: str
    sizes: tuple[int, ...]
    costs: tuple[float, ...]

    @property
    def growth(self) -> float:
        """The exponent between the first size and the last."""
        return log(self.costs[-1] / self.costs[0]) / log(self.sizes[-1] / self.sizes[0])


def runs(sizes: Sequence[int], takes: int) -> Iterator[Line]:
    """A whole run of each policy on clusters of these sizes."""
    for policy in POLICIES:
        costs = [min(us_a_task(policy, nodes) for _ in range(takes)) for nodes in sizes]
        yield Line(RUN, policy, tuple(sizes), tuple(costs))


def us_a_task(policy: str, nodes: int) -> float:
    """Microseconds a task in a run on that many nodes, of 4.4 tasks each within ten minutes."""
    jobs = [
        JobSpec(
            job=number,
            name=f"j{number}",
            submit_ms=number * 600_000 * 10 // nodes,
            maps=40,
            map_ms=60_000,
            reduces=4,
            shuffle_ms=10_000,
            reduce_ms=30_000,
        )
        for number in range(nodes // 10)
    ]
    kernel, cluster = Kernel(), Cluster(nodes=nodes, racks=20, map_slots=4, reduce_slots=2)
    world = World(cluster, Tasks(), jobs, seed=1)
    assemble(kernel, world, Central(make_policy(policy), make_policy))
    gc.collect()
    began = process_time()
    run_direct(kernel)
    return 1e6 * (process_time() - began) / sum(job.maps + job.reduces for job in jobs)


def decisions(sizes: Sequence[int], takes: int, specs: Sequence[str]) -> Iterator[Line]:
    """Decisions of each policy; the sizes take turns."""
    for spec in specs:
        benches = [Bench(make_policy(spec), jobs, TASKS_A_WAITING_JOB) for jobs in sizes]
        costs: list[list[float]] = [[] for _ in benches]
        for _ in range(takes):
            for bench, found in zip(benches, costs, strict=True):
                found.append(us_a_launch(bench, rounds=300))
        yield Line(DECISION, spec, tuple(sizes), tuple(min(found) for found in costs))


def us_a_launch(bench: Bench, rounds: int) -> float:
    """Microseconds for a task: its launch, its end, and the offers that found nothing."""
    launches, began = bench.launches, process_time()
    for _ in range(rounds):
        bench.round()
    return 1e6 * (process_time() - began) / max(bench.launches - launches, 1)


class BusyMaster:
    """A real master with nothing around it: every slot is taken, and jobs wait for more."""

    def __init__(self, policy: str, jobs: int) -> None:
        rules = Heartbeats(send="all")  # the nodes are not there to leave any out
        cluster = Cluster(nodes=jobs, racks=20, map_slots=SLOTS, reduce_slots=1, heartbeat=rules)
        self._master = Master(cluster, jobs, make_policy(policy), 1, make_policy)
        self._outbox = Outbox(self._master)
        self._nodes = self._jobs = jobs
        self._expiry_ms = cluster.heartbeat.expiry_ms
        for job in range(jobs):
            self.deliver(self.submission(job))
        for node in range(jobs):
            facts = NodeFacts(node, node % 20, SLOTS, 1, 1.0)
            self.deliver(hb.Heartbeat(node, 0, (), facts))
            self.fill(node)
        for node in range(jobs):  # so that jobs have outputs there
            self.end_one(node)

    def deliver(self, message: msgspec.Struct) -> float:
        """The milliseconds that the master takes for a message."""
        began = perf_counter()
        self._outbox.deliver(self._master, message)
        return 1e3 * (perf_counter() - began)

    def submission(self, job: JobId) -> msg.SubmitStage:
        """A job of two more maps than there are slots for each, on three nodes a map."""
        maps = SLOTS + 2
        homes = (np.arange(3 * maps, dtype="<i4") * 7919 + job) % self._nodes
        profile = msg.JobProfile(f"user{job % 7}", "", Priority.NORMAL, (maps, 1))
        blocks = (3, homes.astype("<i4").tobytes())
        return msg.SubmitStage(job, profile, MAPS, msg.MapWork(60_000), *blocks)

    def fill(self, node: NodeId) -> None:
        """The node asks until it is full: FIFO gives away one off-rack map a heartbeat."""
        while self._master.ledger.members[node].free(MAP):
            self.deliver(hb.Heartbeat(node, self._response(node), ()))

    def end_one(self, node: NodeId) -> None:
        """The node's first attempt succeeds, and something else is launched in its place."""
        first = next(iter(self._master.ledger.members[node].attempts))
        report = msg.EndReport(first, Outcome.SUCCEEDED, 60_000, 0, cause=0)
        self.deliver(hb.Heartbeat(node, self._response(node), (report,)))

    def _response(self, node: NodeId) -> int:
        """The number of the node's last reply."""
        talk = self._master.heartbeats.talk(node)
        assert talk is not None
        return talk.reply.response

    def lose_a_node(self, take: int) -> float:
        """Its silence is noticed."""
        node = take * self._nodes // 100
        self.deliver(hb.HeartbeatsResumed(node, self._outbox.now_ms))
        self._outbox.now_ms += 2 * self._expiry_ms
        return self.deliver(hb.ExpiryCheck())

    def kill_a_job(self, take: int) -> float:
        """Its user has killed it."""
        return self.deliver(msg.JobDone(take * self._jobs // 100, Outcome.KILLED))

    def one_more_job(self, take: int) -> float:
        """A job arrives while all slots are taken."""
        return self.deliver(self.submission(self._jobs + take))


EVENTS: dict[str, Callable[[BusyMaster, int], float]] = {
    "arrival": BusyMaster.one_more_job,
    "job killed": BusyMaster.kill_a_job,
    "node lost": BusyMaster.lose_a_node,
}


def events(sizes: Sequence[int], takes: int) -> Iterator[Line]:
    """Single events, each many times over on one busy master of every size."""
    for policy in POLICIES:
        found: dict[str, list[float]] = {name: [] for name in EVENTS}
        for jobs in sizes:
            master = BusyMaster(policy, jobs)
            gc.collect()
            gc.freeze()  # a collection of all that is alive is not the event's cost
            for name, happen in EVENTS.items():
                found[name].append(median(happen(master, take) for take in range(takes)))
            gc.unfreeze()
        for name, costs in found.items():
            yield Line(EVENT, f"{name}, {policy}", tuple(sizes), tuple(costs))


def report_memory(sizes: Sequence[int]) -> None:
    """Print what each further idle actor costs between two numbers of them."""
    few, many = sizes
    print(f"bytes an idle actor, by {few:,} and {many:,}")
    for kind in idle.KINDS:
        less, more = (idle.fresh(kind, actors, traced=False).peak for actors in (few, many))
        share = (more - less) / (many - few)
        verdict = "reached" if share <= 1024 * idle.MARK_KIB else "MISSED"
        print(f"  {kind:<20}{share:>10,.0f}   wanted {1024 * idle.MARK_KIB:,.0f}: {verdict}")


def report(lines: Iterator[Line]) -> list[Line]:
    """Print the lines of one panel as they come."""
    found: list[Line] = []
    for line in lines:
        if not found:
            print(f"\n{line.panel:<26}{''.join(f'{n:>10,}' for n in line.sizes)}    growth")
        found.append(line)
        digits = 3 if line.panel == EVENT else 1
        cells = "".join(f"{cost:>10,.{digits}f}" for cost in line.costs)
        verdict = ""
        if line.panel == EVENT:
            verdict = "  reached" if line.costs[-1] <= EVENT_MS else "  MISSED"
        print(f"  {line.name:<24}{cells}{line.growth:>10.2f}{verdict}", flush=True)
    return found


COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8b6508", "#4b6a88")
"""Okabe and Ito's, which the colour-blind tell apart, as in the figures of the ideal machine."""

PICTURE_SETTINGS = {
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "callboard",
}


def draw(lines: Sequence[Line], path: Path) -> None:
    """Draw all panels on a white card, which can be read on a light page and on a dark one.

    Raises `ImportError` without matplotlib.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    panels = list(dict.fromkeys(line.panel for line in lines))
    with rc_context(PICTURE_SETTINGS):
        figure = Figure(figsize=(4.3 * len(panels), 4.8), layout="constrained")
        figure.set_facecolor("white")
        cards = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, panel in zip(cards, panels, strict=True):
            _panel(axes, panel, [line for line in lines if line.panel == panel])
        figure.savefig(path, metadata={"Date": None})


def _panel(axes: Any, panel: str, lines: Sequence[Line]) -> None:
    """One line for each order or event; dashed with delay scheduling."""
    heads = list(dict.fromkeys(_head(line) for line in lines))
    for line in lines:
        head = heads.index(_head(line))
        axes.loglog(
            line.sizes,
            line.costs,
            color=COLOURS[head % len(COLOURS)],
            linestyle="dashed" if "+delay" in line.name else "solid",
            marker="os^Dv"[head // len(COLOURS) if panel == DECISION else _turn(line, lines)],
            markersize=4,
            linewidth=1.2,
            label=line.name if panel != DECISION or "+delay" not in line.name else None,
        )
    if panel == EVENT:
        axes.axhline(
            EVENT_MS, color="#7a7a7a", linestyle="dotted", label=f"wanted: {EVENT_MS:g} ms"
        )
    axes.set_title(panel + (" (dashed: +delay)" if panel == DECISION else ""), loc="left")
    costs = [cost for line in lines for cost in line.costs]
    axes.set_ylim(10 ** floor(log10(min(costs))), 10 ** ceil(log10(max(costs))))  # whole decades
    axes.set_xticks(lines[0].sizes)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:,g}")
        axis.set_minor_formatter("")
    axes.grid(which="major", linewidth=0.5, color="#dddddd")
    axes.legend(
        fontsize=7,
        ncols=3 if panel == EVENT else 4,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.07),
    )


def _head(line: Line) -> str:
    """What lines of one colour have in common."""
    return line.name.removesuffix("+delay").split(", ")[0]


def _turn(line: Line, lines: Sequence[Line]) -> int:
    """Which of the lines of its colour it is."""
    return [each.name for each in lines if _head(each) == _head(line)].index(line.name)


def main() -> None:
    given = _options()
    quick = given.quick
    takes = 2
    orders = POLICIES if quick else tuple(ORDERS)
    specs = [f"{name}{rule}" for name in orders for rule in ("", "+delay")]
    report_memory(IDLE_QUICK if quick else IDLE)  # first: a child's peak is at least its parent's
    lines = report(runs(NODES_QUICK if quick else NODES, takes))
    lines += report(decisions(WAITING_QUICK if quick else WAITING, 3 * takes, specs))
    lines += report(events(ALIVE_QUICK if quick else ALIVE, 10 if quick else 30))
    if given.picture is None:
        return
    try:
        draw(lines, given.picture)
    except ImportError:
        print("\nno picture: matplotlib is missing (pip install 'callboard[ideal]')")
    else:
        print(f"\ndrawn: {given.picture}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.scaling",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, three orders")
    parser.add_argument(
        "--picture", type=Path, nargs="?", const=PICTURE, metavar="SVG", help="also draw it (there)"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
