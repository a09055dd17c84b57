"""How fast the ideal machine is: `python -m bench.ideal [TRACE]`.

Jobs a second for each discipline, with the compiled loops and with the very same loops as plain
Python, and the ratio; then how long a first call takes with nothing compiled, with the compiled
code on disk, and warm.  The released simulator handles 80,000 to 100,000 jobs a second a
discipline; its column takes the better figure.

Without a trace the workload is made up: Poisson arrivals, log-normal sizes whose logarithm has
standard deviation 2.5, load 0.9.  Estimates have errors of sigma 0.5 in both cases.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from callboard.scheduler.ideal import DISCIPLINES, simulate
from callboard.scheduler.ideal.disciplines import FloatRow
from callboard.scheduler.ideal.report_workload import estimates, sizes_from_bytes
from callboard.scheduler.numba_cache import numba_is_installed

RELEASED = 100_000
"""Jobs a second of the released simulator, at its best."""

REPEATS = 9


class Workload(NamedTuple):
    """What is simulated."""

    name: str
    arrivals: FloatRow
    sizes: FloatRow
    estimates: FloatRow


def made_up(jobs: int) -> Workload:
    """Many small jobs and a few huge ones, at load 0.9."""
    rng = np.random.default_rng(9)
    size = np.exp(2.5 * rng.standard_normal(jobs))
    arrivals = np.cumsum(rng.exponential(size.mean() / 0.9, jobs))
    return Workload("made-up workload", arrivals, size, estimates(size, 0.5, 0, 0))


def from_trace(path: Path) -> Workload:
    """A SWIM trace at the report's defaults."""
    from callboard.experiments.ideal_study.swim import load_trace

    trace = load_trace(path)
    size = sizes_from_bytes(
        trace.submit_s, trace.input_bytes, trace.shuffle_bytes, trace.output_bytes
    )
    return Workload(trace.name, trace.submit_s, size, estimates(size, 0.5, 0, 0))


def jobs_per_s(work: Workload, discipline: str, path: Any, repeats: int) -> float:
    """The median over the repeats, after one call to warm up."""
    took = []
    simulate(discipline, work.arrivals, work.sizes, work.estimates, path=path)
    for _ in range(repeats):
        start = time.perf_counter()
        simulate(discipline, work.arrivals, work.sizes, work.estimates, path=path)
        took.append(time.perf_counter() - start)
    return len(work.sizes) / statistics.median(took)


def speeds(work: Workload) -> None:
    print(f"{work.name}: {len(work.sizes):,} jobs, errors of sigma 0.5; jobs/s, medians")
    head = f"{'discipline':<12}{'plain':>12}{'compiled':>14}{'ratio':>8}{'x released':>12}"
    print(head)
    for name in DISCIPLINES:
        plain = jobs_per_s(work, name, "plain", 3)
        if not numba_is_installed():
            print(f"{name:<12}{plain:>12,.0f}{'(no numba)':>14}")
            continue
        fast = jobs_per_s(work, name, "compiled", REPEATS)
        print(
            f"{name:<12}{plain:>12,.0f}{fast:>14,.0f}{fast / plain:>8.0f}{fast / RELEASED:>12.0f}"
        )


FIRST_CALLS = """
import time
from callboard.scheduler.ideal import DISCIPLINES, simulate
start = time.perf_counter()
for name in DISCIPLINES:
    simulate(name, [0, 1], [2, 1], [1, 2])
print(time.perf_counter() - start)
"""


def first_calls() -> None:
    """All disciplines called once in new processes, on an empty compile cache and on a full one."""
    if not numba_is_installed():
        return
    with tempfile.TemporaryDirectory() as folder:
        took = []
        for _ in range(2):
            done = subprocess.run(
                [sys.executable, "-c", FIRST_CALLS],
                env={**os.environ, "NUMBA_CACHE_DIR": folder},
                capture_output=True,
                text=True,
                check=True,
            )
            took.append(float(done.stdout))
    print(f"\nfirst call of every discipline, import of numba included: {took[0]:.1f} s to compile")
    print(f"and keep on disk, {took[1]:.1f} s in every process after that")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("trace", nargs="?", type=Path, help="a SWIM file")
    parser.add_argument("--jobs", type=int, default=20_000, help="of the made-up workload")
    args = parser.parse_args()
    speeds(from_trace(args.trace) if args.trace else made_up(args.jobs))
    first_calls()


if __name__ == "__main__":
    main()
