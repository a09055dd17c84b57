"""What a run says before it is played, or believed."""

from pathlib import Path

import pytest

from callboard.experiments.run.run_hints import outage_hint
from callboard.experiments.run.run_loading import load_run
from tests.callboard.conftest import Run

OUTAGES = "".join(
    f'[[timeline]]\nat_s = {100 * n + 50}\nwhat = "crash"\nnodes = ["node-{n % 2}"]\nfor_s = 10\n'
    for n in range(12)
)
WORLD = """
name = "flaky"
[cluster]
nodes = 2
racks = 1
[workload]
kind = "jobs"
job = [{{ name = "long", maps = 2, map_s = {seconds}.0 }}]
"""
HINT = "a task takes 6 min 40 s, and a node stays up for 3 min 10 s on average"


def test_tasks_that_outlast_their_nodes_are_told_of_before_the_run(
    callboard: Run, tmp_path: Path
) -> None:
    """Each of two nodes crashes every 200 s, for 10.  An imported
    log of four long jobs on two guessed nodes was played for 424 virtual days without a word.
    """
    path = tmp_path / "flaky.toml"
    path.write_text(WORLD.format(seconds=400) + OUTAGES)
    status, _, err = callboard("run", str(path), "--policy", "fifo")
    assert status == 0
    assert HINT in err
    assert "`--no-faults` leaves the outages out" in err
    assert HINT not in callboard("run", str(path), "--policy", "fifo", "--no-faults")[2]
    path.write_text(WORLD.format(seconds=300) + OUTAGES)
    assert "a node stays up" not in callboard("run", str(path), "--policy", "fifo")[2]


@pytest.mark.parametrize(
    "world", ["rack-outage", "cell-losses", "elastic-night", "flapping-node", "rolling-restarts"]
)
def test_nodes_that_fail_once_or_are_few_are_not_told_of(world: str) -> None:
    """A rack that fails as one was told to be up for 0.000 s."""
    assert outage_hint(load_run(world)) == ""


DEMANDS = """
name = "demanding"
[cluster]
nodes = 2
racks = 1
map_slots = 16
capacity = {cpu = 4000}
[workload]
kind = "jobs"
job = [{maps = 32, map_s = 50, map_demand = {cpu = 1000}}]
"""


def test_a_policy_that_goes_by_slots_alone_says_so_of_tasks_that_demand_more(
    callboard: Run, tmp_path: Path
) -> None:
    """Sixteen maps ran at once where four had room, and Fair was told to take a third less."""
    path = tmp_path / "demanding.toml"
    path.write_text(DEMANDS)
    told = "go by slots alone, whatever tasks demand besides (cpu)"
    policies = ("--policy", "fair", "--policy", "omega", "--policy", "sparrow")
    assert f"note: fair, sparrow {told}" in callboard("run", str(path), *policies)[1]
    both = ("--policy", "omega", "--policy", "yarn")
    assert "by slots alone" not in callboard("run", str(path), *both)[1]
    path.write_text(DEMANDS.replace(", map_demand = {cpu = 1000}", ""))
    assert "by slots alone" not in callboard("run", str(path), *policies)[1]
