"""The compiled twin: how fast it plays a trace, and whether it plays as the actors do.

    python -m bench.twin TRACE                  tasks a second under each policy
    python -m bench.twin TRACE --against        and every attempt of it beside the actors'
    python -m bench.twin --worlds 2000          drawn worlds, attempt by attempt

Each policy is played `--reps` times; the median of the processor time counts, beside that of a bare
`heapq` loop in the same process which takes in and gives out as many entries as there are tasks.
`NUMBA_BOUNDSCHECK=1` with a `NUMBA_CACHE_DIR` of its own has every index checked.
"""

import argparse
import sys
from statistics import median
from time import process_time

import msgspec

from bench.engine import timed_heap
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.twin_play import compiled_loop, twin_of
from callboard.scheduler.model import Millis
from tests.support.twin_worlds import disagreement_of_engines, draw_twin_world

POLICIES = (
    *("fifo", "fair", "fair+delay(node=5,rack=5)", "srpt", "hfsp+delay", "fair+kill"),
    'fair(pool_by="pool",pools={default={min_maps=200,min_reduces=100},other={weight=2.0}})',
)
_HEAP_ENTRIES = 10_000
"""Pending entries of the bare heap: about as many as there are slots and nodes."""


def timed(spec: RunSpec) -> tuple[int, Millis, float]:
    """Play it: how many tasks, until when, and the seconds of processor time, tables included."""
    began = process_time()
    run = twin_of(spec, compiled_loop())
    run.play()
    return run.launched, run.now_ms, process_time() - began


def measure(spec: RunSpec, policy: str, reps: int, *, against: bool) -> None:
    spec = msgspec.structs.replace(spec, policy=policy)
    runs = [timed(spec) for _ in range(reps)]
    tasks, now_ms, _ = runs[0]
    seconds = median(took for _, _, took in runs)
    heap = median(timed_heap(tasks, _HEAP_ENTRIES) for _ in range(reps))
    print(
        f"{policy:<28} {tasks:>10,} tasks {now_ms / 3_600_000:>5.1f} h {seconds:>7.3f} s"
        f" {tasks / seconds:>10,.0f} tasks/s {heap / seconds:>6.2f} × heapq",
        flush=True,
    )
    if against:
        found = disagreement_of_engines(spec, compiled_loop())
        print(f"  {found or 'every attempt as the actors play it'}", flush=True)


def compare_worlds(first: int, worlds: int) -> int:
    """Play drawn worlds by both; how many differ."""
    different = 0
    for seed in range(first, first + worlds):
        found = disagreement_of_engines(draw_twin_world(seed), compiled_loop())
        if found is not None:
            different += 1
            print(f"world {seed}: {found}", flush=True)
    print(f"{worlds:,} worlds from {first} on: {different} different")
    return different


def main() -> None:
    options = _options()
    if options.worlds:
        sys.exit(compare_worlds(options.first, options.worlds) > 0)
    given = {"--nodes": str(options.nodes)}
    spec = load_run(options.trace, [f"seed={options.seed}"], given)
    twin_of(msgspec.structs.replace(spec, policy="fifo"), compiled_loop()).load()
    for policy in options.policy or POLICIES:
        measure(spec, policy, options.reps, against=options.against)


def _options() -> argparse.Namespace:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="python -m bench.twin", description=__doc__, formatter_class=raw
    )
    parser.add_argument(
        "trace", nargs="?", default="facebook-morning", help="a scenario or a trace"
    )
    parser.add_argument("--nodes", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--policy", action="append", help="instead of these")
    parser.add_argument("--reps", type=int, default=3, help="how often each is played (default: 3)")
    parser.add_argument("--against", action="store_true", help="compare every attempt")
    parser.add_argument("--worlds", type=int, default=0, help="compare so many drawn worlds")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    return parser.parse_args()


if __name__ == "__main__":
    main()
