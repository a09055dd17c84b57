"""How far a reader has to travel: files that one launch goes through, and what a command loads.

One node, one job of one map, under `fair`, with figures and journal.  The calls of functions of
ours are written down in their order, by a profile hook.  A hand-over is where the next call is in
another file than the last one; it is straight back where it returns to the file before that.  They
are counted for the superstep in which the master answers the heartbeat that launches the map, and
from that heartbeat until the job's end has been written down.
"""

import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import NamedTuple

from rich.table import Table

import callboard
from callboard.actors.config import Cluster, Heartbeats
from callboard.actors.job_spec import JobSpec
from callboard.actors.vocabulary.events import AnyEvent, AttemptLaunched
from callboard.console import ReportConsole
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.simulation import Simulation
from callboard.journal.figures.metrics import Metrics
from callboard.journal.writer import JournalWriter
from callboard.scenarios.listed_jobs import ListedWorkload
from callboard.scenarios.scenario_file import Scenario

HOUSE = Path(callboard.__file__).resolve().parents[1]
COMMAND = ("run", "two-jobs", "--seeds", "3", "--cores", "1")

_LISTED = f"""
import os, sys
entered = set()
def hook(frame, event, arg):
    if event == "call" and frame.f_code.co_flags & 1:  # a function, not a module or class
        entered.add(frame.f_code.co_filename)
sys.setprofile(hook)
from callboard.cli import run_command_line
run_command_line({list(COMMAND)!r})
sys.setprofile(None)
house = {str(HOUSE)!r}
own = [file for file in map(os.path.realpath, entered) if file.startswith(house + os.sep)]
functions = [file for file in own if os.sep + "." not in file[len(house):]]
modules = [name for name in sys.modules if name.split(".")[0] == "callboard"]
print(len(functions), len(modules), file=sys.stderr)
"""


class Travel(NamedTuple):
    """What a stretch of a run went through."""

    files: int
    hand_overs: int
    straight_back: int

    @classmethod
    def of(cls, files: Sequence[str]) -> "Travel":
        """The files of the calls, in their order."""
        steps = [step for step in pairwise(files) if step[0] != step[1]]
        back = sum(one[0] == other[1] for one, other in pairwise(steps))
        return cls(len(set(files)), len(steps), back)


def world() -> RunSpec:
    cluster = Cluster(nodes=1, racks=1, heartbeat=Heartbeats(phase_grid_ms=3000))
    scenario = Scenario(name="reading", cluster=cluster, workload=ListedWorkload(job=()))
    job = JobSpec(job=0, name="job", submit_ms=1000, maps=1, map_ms=10_000)
    return RunSpec(scenario, (job,), (), "fair")


def travelled() -> tuple[Travel, Travel]:
    """Of the launching superstep, and from there to the end of the job."""
    called: list[str] = []

    def hook(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            called.append(frame.f_code.co_filename)

    events: list[AnyEvent] = []
    steps: list[list[str]] = []
    launching: int | None = None
    with TemporaryDirectory() as folder, JournalWriter(Path(folder) / "run.journal") as journal:
        run = Simulation(world(), [events.append, Metrics().observe, journal])
        supersteps = run.supersteps()
        going = True
        while going:
            called.clear()
            sys.setprofile(hook)
            going = next(supersteps, run) is not run
            sys.setprofile(None)
            steps.append([*filter(_is_ours, called)])
            if launching is None and any(isinstance(each, AttemptLaunched) for each in events):
                launching = len(steps) - 2  # an event is told when the next superstep begins
    assert launching is not None
    whole = [file for step in steps[launching:] for file in step]
    return Travel.of(steps[launching]), Travel.of(whole)


def _is_ours(file: str) -> bool:
    return "/callboard/" in file and "/site-packages/" not in file


def loaded() -> tuple[int, int]:
    """Files whose code a command enters, and modules that it loads."""
    done = subprocess.run(
        [sys.executable, "-c", _LISTED], capture_output=True, text=True, check=True
    )
    entered, modules = map(int, done.stderr.split()[-2:])
    return entered, modules


def main() -> None:
    launching, whole = travelled()
    entered, modules = loaded()
    table = Table("what", "files", "hand-overs", "straight back")
    table.add_row("a heartbeat launches a map", *map(str, launching))
    table.add_row("from there to the job's end", *map(str, whole))
    console = ReportConsole()
    console.print(table)
    console.print(f"callboard {' '.join(COMMAND)}: {entered} files, {modules} modules loaded")


if __name__ == "__main__":
    main()
