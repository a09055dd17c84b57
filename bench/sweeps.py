"""What a sweep costs beside its runs: seconds a run on one core, and how busy it keeps all cores.

`overhead` is the sweep's wall time less the processor time of its runs, by run: making the
world, its key, the way to the worker and back, the store.  `efficiency` is the processor time of
the runs over cores × wall time.  The start of the processes is told apart.
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from callboard.arguments import whole_number_type
from callboard.experiments.many.result_store import ResultStore
from callboard.experiments.many.sweeps.sweep import read_cells, run_sweep
from callboard.experiments.many.sweeps.sweep_plan import PlannedSweep, SweepPlan
from callboard.experiments.many.task_pool import answers_by_workers, cores_here, local_workers

OVERHEAD_WANTED_MS = 20.0
EFFICIENCY_WANTED = 0.9


class Measured(NamedTuple):
    """Seconds of a sweep: its wall time, and the processor time of its runs."""

    runs: int
    wall_s: float
    processor_s: float
    again_s: float


def measured(plan: SweepPlan, cores: int) -> Measured:
    """Play the plan into an empty store on that many cores, and again when all is there."""
    sweep = PlannedSweep(plan)
    with tempfile.TemporaryDirectory() as folder, ResultStore(Path(folder) / "s") as store:
        with local_workers(cores) as workers:
            list(
                answers_by_workers(workers, abs, range(10 * cores))
            )  # until all processes are there
            began = time.perf_counter()
            counts = run_sweep(sweep, store, workers)
            wall_s = time.perf_counter() - began
            began = time.perf_counter()
            run_sweep(sweep, store, workers)
            again_s = time.perf_counter() - began
        cells = read_cells(store)
    spent = sum(cell.result.processor_seconds for cell in cells if cell.result is not None)
    return Measured(counts.played, wall_s, spent, again_s)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--small", type=whole_number_type(1), default=200, help="runs of milliseconds"
    )
    parser.add_argument(
        "--large", type=whole_number_type(1), default=20, help="runs of a second or so"
    )
    options = parser.parse_args()
    cores = cores_here()
    small = SweepPlan(scenarios=("two-jobs",), policies=("fifo",), seeds=str(options.small))
    large = SweepPlan(scenarios=("small-jobs",), policies=("fair",), seeds=str(options.large))
    one = measured(small, 1)
    overhead_ms = 1000 * (one.wall_s - one.processor_s) / one.runs
    print(f"{one.runs} runs of {1000 * one.processor_s / one.runs:.1f} ms on one core:")
    print(f"  overhead     {overhead_ms:6.1f} ms a run (wanted: under {OVERHEAD_WANTED_MS:.0f})")
    print(f"  found again  {1000 * one.again_s / one.runs:6.1f} ms a run")
    many = measured(large, cores)
    efficiency = many.processor_s / (cores * many.wall_s)
    print(f"{many.runs} runs of {many.processor_s / many.runs:.2f} s on {cores} cores:")
    print(f"  efficiency   {efficiency:6.2f} (wanted: at least {EFFICIENCY_WANTED})")


if __name__ == "__main__":
    main()
