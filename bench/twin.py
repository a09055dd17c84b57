"""How fast the compiled twin plays a trace; `trials.twin` says whether it plays as the actors do.

    python -m bench.twin TRACE                   tasks a second under each policy
    python -m bench.twin TRACE --journal         with journals

Each policy is played `--reps` times; the median of the processor time counts, beside that of a bare
`heapq` loop in the same process which takes in and gives out as many entries as there are tasks.
"""

import argparse
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time

import msgspec

from bench.engine import timed_heap
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.twin_play import compiled_loop, run_by_twin, twin_of
from callboard.scheduler.model import Millis

POLICIES = (
    *("fifo", "fair", "fair+delay(node=5,rack=5)", "srpt", "hfsp+delay", "fair+kill"),
    'fair(pool_by="pool",pools={default={min_maps=200,min_reduces=100},other={weight=2.0}})',
)
_HEAP_ENTRIES = 10_000
"""Pending entries of the bare heap: about as many as there are slots and nodes."""


def timed(spec: RunSpec, *, journal: bool) -> tuple[int, Millis, float]:
    """Play it: how many tasks, until when, and the seconds of processor time, tables included."""
    with TemporaryDirectory() as folder:
        began = process_time()
        if journal:
            found = run_by_twin(spec, journal=Path(folder, "twin.journal")).summary
            took = process_time() - began
            return found.attempts.launched, round(found.virtual_seconds * 1000), took
        run = twin_of(spec, compiled_loop())
        run.play()
        return run.launched_attempt_count, run.now_ms, process_time() - began


def measure(spec: RunSpec, policy: str, reps: int, *, journal: bool) -> None:
    spec = msgspec.structs.replace(spec, policy=policy)
    runs = [timed(spec, journal=journal) for _ in range(reps)]
    tasks, now_ms, _ = runs[0]
    seconds = median(took for _, _, took in runs)
    heap = median(timed_heap(tasks, _HEAP_ENTRIES) for _ in range(reps))
    print(
        f"{policy:<28} {tasks:>10,} tasks {now_ms / 3_600_000:>5.1f} h {seconds:>7.3f} s"
        f" {tasks / seconds:>10,.0f} tasks/s {heap / seconds:>6.2f} × heapq",
        flush=True,
    )


def main() -> None:
    parser = trace_arguments("python -m bench.twin", __doc__)
    reps = "how often each is played (default: 3)"
    parser.add_argument("--reps", type=int, default=3, help=reps)
    options = parser.parse_args()
    spec = trace_run(options)
    twin_of(msgspec.structs.replace(spec, policy="fifo"), compiled_loop()).compile_loop()
    for policy in options.policy or POLICIES:
        measure(spec, policy, options.reps, journal=options.journal)


def trace_run(options: argparse.Namespace) -> RunSpec:
    """The trace as it was asked for."""
    return load_run(options.trace, [f"seed={options.seed}"], {"--nodes": str(options.nodes)})


def trace_arguments(prog: str, about: str | None) -> argparse.ArgumentParser:
    """Which trace is played, and under which policies; `trials.twin` asks for more."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog=prog, description=about, formatter_class=raw)
    add = parser.add_argument
    add("trace", nargs="?", default="facebook-morning", help="a scenario or a trace")
    add("--nodes", type=int, default=600)
    add("--seed", type=int, default=1)
    add("--policy", action="append", help="instead of these")
    add("--journal", action="store_true", help="with journals")
    return parser


if __name__ == "__main__":
    main()
