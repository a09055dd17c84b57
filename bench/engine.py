"""Messages a second: this kernel beside SimPy, on one and the same protocol.

`bench.protocol` has the actors; here are the engines that host them.  On this kernel every player
is an actor: a Trio task under `run_on_trio`, a plain object under `run_direct`; digest, ties and
supersteps are kept as always.  On SimPy every player is a process with a Store for its mailbox,
and a message with a delay is a Timeout that puts it there: no process a message, which is the
faster of the two usual ways.

The engines take turns, the medians are compared, and the runs are checked to be the same work:
equal numbers of messages delivered, of heartbeats, and of tasks finished.  A bare `heapq` loop of
as many entries is the limit of any engine that keeps its future in a heap.
"""

import argparse
import gc
import heapq
from collections.abc import Callable, Generator
from statistics import median
from time import process_time

import msgspec
import simpy
from msgspec.structs import replace

from bench.protocol import Cast, Player, Size
from callboard.actors.kernel.actor import Actor
from callboard.actors.kernel.drivers import run_direct, run_on_trio
from callboard.actors.kernel.kernel import Kernel
from callboard.scheduler.model import Millis

GRIDS_AND_MARKS: tuple[tuple[Millis, float], ...] = ((1, 3.0), (100, 4.5))
"""The grids of the nodes' first heartbeats, and how many times SimPy's rate is wanted on each."""


class Work(msgspec.Struct, frozen=True):
    """What a run did; equal for every engine."""

    messages: int
    heartbeats: int
    tasks: int


class Hosted(Actor):
    """A player as an actor of this kernel."""

    def __init__(self, player: Player) -> None:
        super().__init__(player.address, f"{type(player).__name__} {player.address}")
        player.send = self.send
        self.receive = player.receive  # type: ignore[method-assign]
        self._begin = player.begin

    def join(self, kernel: Kernel) -> None:
        super().join(kernel)
        self._begin()


class SimPyStage:
    """SimPy's side: a Store and a process for every player."""

    def __init__(self, cast: Cast) -> None:
        self.messages = 0
        self._env = simpy.Environment()
        self._put: dict[int, Callable[[msgspec.Struct], object]] = {}
        self._put_late: dict[int, Callable[[simpy.Event], None]] = {}
        for player in cast:
            self._host(player)
        for player in cast:
            player.begin()

    def run(self, until_ms: Millis) -> None:
        """Play everything up to and including `until_ms`."""
        self._env.run(until=until_ms + 1)

    def send(
        self,
        to: int,
        message: msgspec.Struct,
        cause: int,  # noqa: ARG002
        delay_ms: Millis = 0,
    ) -> None:
        """Put a message into a mailbox, now or after a Timeout."""
        if delay_ms:
            timeout = self._env.timeout(delay_ms, message)
            timeout.callbacks.append(self._put_late[to])
        else:
            self._put[to](message)

    def _host(self, player: Player) -> None:
        store = simpy.Store(self._env)
        put = store.put

        def put_late(timeout: simpy.Event) -> None:
            put(timeout.value)

        self._put[player.address] = put
        self._put_late[player.address] = put_late
        player.send = self.send
        self._env.process(self._live(store, player.receive))

    def _live(
        self, store: simpy.Store, receive: Callable[[msgspec.Struct], None]
    ) -> Generator[simpy.Event, msgspec.Struct, None]:
        while True:
            message = yield store.get()
            self.messages += 1
            receive(message)


def on_kernel(host: Callable[[Kernel], None]) -> "Engine":
    """This kernel under one of its hosts."""

    def engine(cast: Cast, until_ms: Millis) -> int:
        kernel = Kernel(until_ms=until_ms)
        for player in cast:
            kernel.admit_actor(Hosted(player))
        host(kernel)
        kernel.digest()
        return kernel.messages

    return engine


def on_simpy(cast: Cast, until_ms: Millis) -> int:
    """SimPy."""
    stage = SimPyStage(cast)
    stage.run(until_ms)
    return stage.messages


Engine = Callable[[Cast, Millis], int]
"""Plays a cast up to an instant; answers how many messages were delivered."""

TRIO, DIRECT, SIMPY = "this kernel, Trio", "this kernel, direct", "SimPy 4.1"
ENGINES: dict[str, Engine] = {
    TRIO: on_kernel(run_on_trio),
    DIRECT: on_kernel(run_direct),
    SIMPY: on_simpy,
}


def timed(engine: Engine, size: Size) -> tuple[Work, float]:
    """One run and its seconds of processor time, making the actors included."""
    gc.collect()
    began = process_time()
    cast = Cast(size)
    messages = engine(cast, size.horizon_ms)
    seconds = process_time() - began
    return Work(messages, cast.master.heartbeats, cast.finished), seconds


def timed_heap(entries: int, pending: int) -> float:
    """Seconds for a bare heap of `pending` entries to take in and give out `entries`."""
    gc.collect()
    heap = [(number % 3_000, number, None) for number in range(pending)]
    heapq.heapify(heap)
    push, pop = heapq.heappush, heapq.heappop
    began = process_time()
    for number in range(pending, pending + entries):
        time, _, payload = pop(heap)
        push(heap, (time + 1 + number % 3_000, number, payload))
    return process_time() - began


def measure(size: Size, reps: int) -> tuple[Work, dict[str, float]]:
    """The work, and messages a second by engine: medians of runs that took turns."""
    work: Work | None = None
    seconds: dict[str, list[float]] = {name: [] for name in ENGINES}
    for _ in range(reps):
        for name, engine in ENGINES.items():
            done, took = timed(engine, size)
            assert work is None or done == work, f"{name} did other work: {done}, not {work}"
            work = done
            seconds[name].append(took)
    assert work is not None
    assert work.tasks == size.tasks, f"only {work.tasks} of {size.tasks} tasks have finished"
    return work, {name: work.messages / median(took) for name, took in seconds.items()}


def report(size: Size, mark: float, reps: int) -> bool:
    """Measure and print one grid; whether the mark was reached."""
    work, rates = measure(size, reps)
    pending = size.nodes * (size.slots + 1)
    heap = work.messages / median(timed_heap(work.messages, pending) for _ in range(reps))
    heartbeats = (
        f"heartbeats begin on {'every ms' if size.grid_ms == 1 else f'a {size.grid_ms} ms grid'}"
    )
    print(f"{heartbeats}: {work.messages:,} messages, {work.messages / work.tasks:.1f} a task")
    for name, rate in {**rates, "bare heapq": heap}.items():
        print(f"  {name:<20} {rate:>10,.0f} messages/s {rate / rates[SIMPY]:>6.2f} × SimPy")
    reached = rates[TRIO] >= mark * rates[SIMPY]
    print(f"  wanted under Trio: {mark:.1f} × SimPy: {'reached' if reached else 'MISSED'}\n")
    return reached


def main() -> None:
    size, reps = _options()
    print(
        f"{size.nodes} nodes × {size.slots} slots, {size.jobs} jobs, {size.tasks:,} tasks;"
        f" medians of {reps} runs of each engine, taking turns\n",
        flush=True,
    )
    for grid_ms, mark in GRIDS_AND_MARKS:
        report(replace(size, grid_ms=grid_ms), mark, reps)


def _options() -> tuple[Size, int]:
    plain = Size()
    parser = argparse.ArgumentParser(prog="python -m bench.engine", description=__doc__)
    for name in ("nodes", "slots", "jobs", "tasks"):
        parser.add_argument(f"--{name}", type=int, default=getattr(plain, name))
    parser.add_argument("--reps", type=int, default=5, help="runs of each engine (default: 5)")
    given = parser.parse_args()
    return Size(given.nodes, given.slots, given.jobs, given.tasks), given.reps


if __name__ == "__main__":
    main()
