"""How fast schedulers that share nothing are played: Sparrow on 10,000 nodes of four slots.

    python -m bench.probing                 1,000 jobs of 100 tasks by each placement
    python -m bench.probing --jobs 10000    the workload of its authors: minutes a placement

Tasks a second of processor time, all of it counted: making the actors, playing, the figures.  The
bare `heapq` takes in and gives out as many entries as messages were delivered, in the same process:
what the messages of a placement cost at the very least, on any machine.
"""

import argparse
from time import process_time

from bench.engine import timed_heap
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.simulation import run_simulation
from callboard.scenarios.library_list import LIBRARY
from callboard.scenarios.scenario_file import load_scenario

NODES = 10_000
PLACEMENTS = ("late", "batch", "per-task", "random", "central")
_PENDING = 40_000
"""Entries of the bare heap: as many as there are slots."""


def measure(placement: str, jobs: int) -> str:
    """One placement's line."""
    path = LIBRARY / "sparrow-100ms.toml"
    scenario = load_scenario(
        str(path),
        [
            f"cluster.nodes={NODES}",
            f"workload.jobs={jobs}",
            "workload.arrivals.mean_s=0.003125",
        ],
    )
    ten = "" if placement == "central" else ",schedulers=10"
    policy = f'sparrow(placement="{placement}"{ten})'
    began = process_time()
    summary = run_simulation(
        RunSpec.of(scenario, policy=policy, base_dir=path.parent), driver="direct"
    ).summary
    seconds = process_time() - began
    tasks, messages = summary.attempts.launched, summary.messages or 0
    heap = timed_heap(messages, _PENDING)
    return (
        f"{placement:<10} {tasks:>9,} tasks {seconds:>8.1f} s {tasks / seconds:>8,.0f} tasks/s"
        f" {messages / tasks:>5.1f} messages a task {heap / seconds:>6.3f} × heapq"
    )


def main() -> None:
    """Print a line a placement."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=1000, help="jobs of 100 tasks (1000)")
    parser.add_argument("--placement", choices=PLACEMENTS, action="append", help="only this one")
    options = parser.parse_args()
    for placement in options.placement or PLACEMENTS:
        print(measure(placement, options.jobs), flush=True)


if __name__ == "__main__":
    main()
