"""What an actor costs that has nothing to do: memory of itself and of its parked Trio task.

Two kinds are measured.  A bare actor does nothing and never will.  An actor of an idle cluster is
a node of six slots, none of which was ever used, that has joined and fallen silent.  Ever more
are played up to the instant at which all are parked, each number in a process of its own, and
what more of them cost is shared out.  So the cost of an empty run does not count, and whatever
Trio, the kernel and the master keep for each actor does.
"""

import argparse
import gc
import resource
import sys
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from multiprocessing import get_context

import msgspec

from callboard.actors.assembly import assemble
from callboard.actors.central.central import Central
from callboard.actors.config import Cluster, Tasks
from callboard.actors.job_spec import JobSpec
from callboard.actors.kernel.actor import Actor
from callboard.actors.kernel.drivers import run_on_trio
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.kernel.message import NO_CAUSE, Message
from callboard.actors.world import World
from callboard.scheduler.model import Millis
from callboard.scheduler.registry.parts import make_policy

MARK_KIB = 2.5
SLOTS = 6

PARKED_MS: Millis = 600_000
"""By then every node has beaten and fallen silent."""

LATER = JobSpec(job=0, name="later", submit_ms=2 * PARKED_MS, maps=1, map_ms=1)
"""A job that is waited for; without one an idle cluster's run would be over at once."""


class Memory(msgspec.Struct, frozen=True):
    """Bytes: the process's peak, and what Python's objects hold (0 if that is not traced)."""

    peak: int
    objects: int


class Look(Message, frozen=True):
    """The surveyor to itself: all others are parked, look now."""


class Surveyor(Actor):
    """Takes note of the memory in use when everybody is parked, and ends the run."""

    def __init__(self) -> None:
        super().__init__(0, "surveyor")
        self.memory = Memory(0, 0)

    def join(self, kernel: Kernel) -> None:
        super().join(kernel)
        self.timer(Look(), PARKED_MS, NO_CAUSE)

    def receive(self, message: msgspec.Struct) -> None:  # noqa: ARG002
        gc.collect()
        self.memory = Memory(_peak_bytes(), tracemalloc.get_traced_memory()[0])
        self.end_run("complete")


class Idler(Actor):
    """Waits for mail that never comes."""

    def receive(self, message: msgspec.Struct) -> None:
        raise AssertionError(message)


def bare(kernel: Kernel, actors: int) -> None:
    """Admit that many bare actors."""
    for number in range(1, actors + 1):
        kernel.admit_actor(Idler(number, f"idler {number}"))


def cluster(kernel: Kernel, actors: int) -> None:
    """Admit that many nodes, and what else a cluster has; their slots come when they are used."""
    idle = Cluster(nodes=actors, map_slots=SLOTS - 2, reduce_slots=2)
    world = World(idle, Tasks(), [LATER], seed=1)
    assemble(kernel, world, Central(make_policy("fifo"), make_policy))


KINDS: dict[str, Callable[[Kernel, int], None]] = {"bare": bare, "cluster": cluster}


def idle(kind: str, actors: int, traced: bool) -> Memory:
    """The memory in use with that many parked actors; for a fresh process."""
    if traced:
        tracemalloc.start()
    kernel, surveyor = Kernel(), Surveyor()
    kernel.admit_actor(surveyor)
    KINDS[kind](kernel, actors)
    run_on_trio(kernel)
    return surveyor.memory


def _peak_bytes() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1 << 10)


def fresh(kind: str, actors: int, *, traced: bool) -> Memory:
    """`idle` in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(idle, kind, actors, traced).result()


def report(kind: str, numbers: list[int]) -> None:
    """Measure and print one kind of actor."""
    resident = [fresh(kind, number, traced=False).peak for number in numbers]
    objects = [fresh(kind, number, traced=True).objects for number in numbers]
    steps = zip(pairwise(numbers), pairwise(resident), pairwise(objects), strict=True)
    for (few, many), *measured in steps:
        shares = [(more - less) / (many - few) / 1024 for less, more in measured]
        verdict = "reached" if max(shares) < MARK_KIB else "MISSED"
        row = f"{kind:<10} {few:>7,} → {many:<7,} {shares[0]:>10.2f} {shares[1]:>10.2f}"
        print(f"{row}   {verdict}", flush=True)


def main() -> None:
    given = _options()
    print("KiB for each further idle actor under Trio")
    print(f"{'kind':<10} {'actors':^17} {'resident':>10} {'objects':>10}   under {MARK_KIB}")
    for kind in KINDS:
        report(kind, sorted(set(given.actors)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.idle", description=__doc__)
    parser.add_argument(
        "actors",
        nargs="*",
        type=int,
        default=[1_000, 10_000, 50_000],
        help="how many actors, at least two numbers (default: 1000 10000 50000)",
    )
    given = parser.parse_args()
    if len(set(given.actors)) < 2:
        parser.error("give at least two different numbers of actors")
    return given


if __name__ == "__main__":
    main()
