"""What `callboard export` writes for other systems comes back as the same run."""

from pathlib import Path

import pytest

from callboard.actors.vocabulary.events import AttemptLaunched
from callboard.cli import run_command_line
from callboard.experiments.run_loading import load_run
from callboard.experiments.simulation import Simulation
from callboard.journal.writer import JournalWriter
from callboard.scenarios.formats.recording_file import import_files
from tests.scenarios.formats.samples import HADOOP1, written
from tests.support.traces import trace

WORLD = """
name = "world"
seed = 7
policies = ["fair"]

[cluster]
nodes = 12
racks = 3
map_slots = 2
reduce_slots = 1

[tasks]
sigma = 0.4
straggler_share = 0.05
straggler_factor = 3.0

[workload]
kind = "jobs"
job = [
  { name = "long", maps = 60, map_s = 30.0, reduces = 4, shuffle_s = 12.0, reduce_s = 20.0 },
  { name = "short", count = 8, every_s = 20.0, at_s = 5.0, maps = 6, map_s = 9.0 },
  { name = "wide", count = 3, every_s = 50.0, at_s = 31.0, maps = 25, map_s = 12.0, user = "ann" },
  { name = "late", at_s = 90.0, maps = 9, map_s = 5.0, reduces = 2, shuffle_s = 3.0 },
]
"""
"""Jobs of several sizes, the first at 0, on nodes that all hold some input."""

Launch = tuple[int, int, int, int, int, int]


def launches(events: list[object]) -> list[Launch]:
    """(time, job, kind, task, number, node) of every launch."""
    return [
        (each.at_ms, each.job, int(each.kind), each.task, each.number, each.node)
        for each in events
        if isinstance(each, AttemptLaunched)
    ]


def recorded(folder: Path, name: str, *overrides: str) -> tuple[Path, list[Launch]]:
    """A run of a scenario, as a journal, and its launches."""
    events: list[object] = []
    path = folder / f"{Path(name).stem}.journal"
    spec = load_run(name, overrides)
    with JournalWriter(path) as sink:
        Simulation(spec, [sink, events.append]).run()
    return path, launches(events)


@pytest.fixture
def world(tmp_path: Path) -> str:
    path = tmp_path / "world.toml"
    path.write_text(WORLD, encoding="utf-8")
    return str(path)


def exported(journal: Path, to: str) -> Path:
    path = journal.with_name(to)
    assert run_command_line(["export", str(journal), "--to", str(path)]) == 0
    return path


@pytest.mark.parametrize("racks", [1, 3])
def test_a_history_of_hadoop_1_comes_back_as_the_same_launches(
    world: str, tmp_path: Path, racks: int
) -> None:
    journal, before = recorded(tmp_path, world, f"cluster.racks={racks}")
    history = exported(journal, "world.history")
    _, after = recorded(tmp_path, str(history), "seed=7", 'policies=["fair"]')
    assert len(before) > 100
    assert after == before


@pytest.mark.parametrize("ending", ["FAILED", "KILLED"])
def test_setups_failures_and_kills_come_back_too(tmp_path: Path, ending: str) -> None:
    """The first history has a setup, and an attempt that failed or was killed."""
    text = HADOOP1.replace('TASK_STATUS="FAILED"', f'TASK_STATUS="{ending}"')
    first = written(tmp_path, text, "first.history")
    journal, before = recorded(tmp_path, str(first))
    _, after = recorded(tmp_path, str(exported(journal, "second.history")))
    assert after == before
    assert len(before) == 4


def test_the_shared_history_comes_back(tmp_path: Path) -> None:
    journal, _ = recorded(tmp_path, str(trace("hadoop1/sample-job-tracker-logs.gz")))
    history = exported(journal, "again.history")
    nodes = load_run(str(history)).scenario.cluster.nodes
    assert 250 < nodes <= load_run(str(journal)).scenario.cluster.nodes
    assert len(import_files([history]).recording.jobs) == 3
