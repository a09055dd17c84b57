"""What a run says before it is played, or believed."""

from pathlib import Path

import pytest

from callboard.experiments.run.run_hints import (
    frequent_outages_hint,
    idle_fields_note,
    unreached_note,
)
from callboard.experiments.run.run_loading import load_run
from callboard.scenarios.library_list import LIBRARY_GROUPS
from callboard.scenarios.scenario_file import find_scenario, load_scenario
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
    assert frequent_outages_hint(load_run(world)) == ""


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
    assert f"note: fair, sparrow {told}" in callboard("run", str(path), *policies)[2]
    store = ("--store", str(tmp_path / "s.sqlite"))
    assert f"note: fair, sparrow {told}" in callboard("sweep", str(path), *policies, *store)[2]
    both = ("--policy", "omega", "--policy", "yarn")
    assert "by slots alone" not in callboard("run", str(path), *both)[2]
    path.write_text(DEMANDS.replace(", map_demand = {cpu = 1000}", ""))
    assert "by slots alone" not in callboard("run", str(path), *policies)[2]


def test_fields_without_effect_are_named(callboard: Run, tmp_path: Path) -> None:
    """A pause every minute came once."""
    path = tmp_path / "idle.toml"
    pause = '[[timeline]]\nwhat = "pause"\nnodes = "node-1"\nat_s = 5\nfor_s = 5\nevery_s = 60\n'
    job = "job = [{maps = 2, map_s = 3, reduce_s = 4}, {maps = 4, map_s = 9, skew = 3}]\n"
    world = f'name = "idle"\n[workload]\nkind = "jobs"\n{job}{pause}'
    path.write_text(world)
    err = callboard("run", str(path), "--policy", "fifo")[2]
    store = ("--store", str(tmp_path / "s.sqlite"))
    assert callboard("sweep", str(path), "--policy", "fifo", *store)[2].startswith(err)
    assert "timeline[0].every_s, as it happens once (`times` says how often)" in err
    assert "workload.job[0].reduce_s, as it has no `reduces`" in err
    assert "workload.job[1].skew, as no task is skewed" in err
    needed = world.replace("every_s = 60", "every_s = 60\ntimes = 2").replace(
        "reduce_s = 4", "reduce_s = 4, reduces = 1"
    )
    path.write_text(needed.replace("skew = 3", "skew = 3, skewed_maps = [0]"))
    assert "without effect" not in callboard("run", str(path), "--policy", "fifo")[2]


@pytest.mark.parametrize("name", [each for group in LIBRARY_GROUPS.values() for each in group])
def test_no_scenario_of_the_library_has_a_field_without_effect(name: str) -> None:
    assert idle_fields_note(load_scenario(find_scenario(name))) == ""


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        ("capacity(queues={os={capacity=50},db={capacity=50}})", True),
        ("capacity(queues={os={capacity=50},DB={capacity=50}})", False),
        ("capacity", False),
        ("yarn(queues={os={capacity=50},db={capacity=50}})", True),
        ('yarn(scheduler="fair",queues={os={},db={}})', False),
    ],
)
def test_a_pool_without_a_queue_is_named(
    callboard: Run, tmp_path: Path, policy: str, told: bool
) -> None:
    """Its job crawled for two hours on an idle cluster, and nothing said why."""
    path = tmp_path / "pools.toml"
    jobs = 'job = [{maps = 2, map_s = 3, pool = "DB"}, {maps = 4, map_s = 9, pool = "os"}]\n'
    path.write_text(f'name = "pools"\n[workload]\nkind = "jobs"\n{jobs}')
    status, _, err = callboard("run", str(path), "--policy", policy)
    assert status == 0, err
    assert ("no queue for DB: 1 of 2 jobs goes to `default`" in err) == told


SWITCHED = """
name = "switched"
[workload]
kind = "jobs"
job = [{maps = 10, map_s = 30}, {maps = 2, map_s = 10, at_s = 5}]
[[timeline]]
what = "policy"
at_s = 20
policy = "fair"
"""


@pytest.mark.parametrize("seeds", [(), ("--seeds", "2")])
def test_runs_whose_policy_changes_are_not_compared_by_what_they_began_under(
    callboard: Run, tmp_path: Path, seeds: tuple[str, ...]
) -> None:
    """The column `fifo` was Fair from the first minute on, and the last line compared the two."""
    path = tmp_path / "switched.toml"
    path.write_text(SWITCHED)
    both = ("--policy", "fifo", "--policy", "hfsp", *seeds)
    out = callboard("run", str(path), *both)[1]
    assert "timeline changes the policy: fair from 00:00:20 on" in out
    assert "took" not in out
    assert "seed by seed" not in out
    store = ("--store", str(tmp_path / "s.sqlite"))
    assert "timeline changes the policy" in callboard("sweep", str(path), *both, *store)[1]
    path.write_text(SWITCHED.partition("[[timeline]]")[0])
    out = callboard("run", str(path), *both)[1]
    assert "changes the policy" not in out
    assert "a job took" in out


def test_what_comes_after_the_run_is_told_not_to_have_happened(
    callboard: Run, tmp_path: Path
) -> None:
    """A crash at 2 h of a run that ended after one left no trace, and looked like one of no
    consequence.
    """
    path = tmp_path / "late.toml"
    path.write_text(WORLD.format(seconds=40) + LATE)
    status, out, _ = callboard("run", str(path), "--policy", "fifo")
    assert status == 0
    told = "note: not reached before the run ended: timeline[1] (crash, from 02:00:00 on)"
    assert told in out.splitlines()
    assert "not reached" not in callboard("run", str(path), "--no-faults")[1]
    assert "not reached" not in callboard("run", str(path), "--until", "20s")[1]
    spec = load_run(str(path))
    assert unreached_note(spec, {"fifo": 8_000_000, "fair": 7_200_000}) == ""
    assert "timeline[1] under fair (crash" in unreached_note(
        spec, {"fifo": 8_000_000, "fair": 9_000}
    )


LATE = "".join(
    f'[[timeline]]\nat_s = {at_s}\nwhat = "crash"\nnodes = "node-0"\nfor_s = 10\n'
    for at_s in (20, 7200)
)
