"""A journal in place of a scenario: its run is played again, with what was done to it by hand."""

import json
from pathlib import Path

import msgspec
import pytest

from callboard.actors.vocabulary.events import FaultStruck, RunEnded
from callboard.actors.vocabulary.faults import Crash, Restart, SwitchPolicy
from callboard.experiments.live.live_server import LiveServer
from callboard.experiments.many.content_key import task_key
from callboard.experiments.many.run_tasks import RunTask
from callboard.experiments.run.interventions import Intervene
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.simulation import run_simulation
from callboard.experiments.user_errors import InputError
from callboard.journal.reader import Journal
from callboard.journal.replay.source import GoTo
from callboard.journal.writer import JournalWriter
from callboard.scenarios.listed_jobs import ListedJob
from callboard.scheduler.text.toml_text import toml_value
from tests.callboard.conftest import Run
from tests.callboard.support import ROOT, shell
from tests.tui.test_interventions import ask, plan, taped, to_the_end

pytestmark = pytest.mark.usefixtures("in_this_process")

DEEDS = (
    Intervene((Crash(1), Crash(5))),
    Intervene(burst=ListedJob(name="late", maps=9, map_s=12, count=2)),
    Intervene((Restart(1),)),
    Intervene((SwitchPolicy("fifo"),)),
)


def played(path: Path, *, to_end: bool) -> str:
    """The outage with all deeds, recorded; its digest, if it was watched to its end."""
    with LiveServer([plan()], [path]) as desk:
        for at_ms, deed in zip((60_000, 90_000, 150_000, 210_000), DEEDS, strict=True):
            ask(desk, GoTo(at_ms), deed)
        return to_the_end(desk).digest if to_end else ""


def test_it_is_the_same_run(tmp_path: Path) -> None:
    """The digest of its messages, and every event."""
    first, second = tmp_path / "first.journal", tmp_path / "second.journal"
    digest = played(first, to_end=True)
    result = run_simulation(load_run(str(first)), journal=second)
    assert result.summary.digest == digest
    assert list(Journal(first))[1:] == list(Journal(second))[1:]


def test_a_run_that_comes_out_as_another_is_told(callboard: Run, tmp_path: Path) -> None:
    """A policy's file had changed, and the run of before was shown with other numbers."""
    mine, path = tmp_path / "mine.py", str(tmp_path / "mine.journal")
    mine.write_text((ROOT / "docs/examples/most_first.py").read_text(encoding="utf-8"))
    assert callboard("run", "two-jobs", "--policy", f"{mine}:MostFirst", "--journal", path)[0] == 0
    told = f"the journal has another run of {mine}:MostFirst: the policy's code or Callboard has"
    assert told not in callboard("run", path, "--trust")[2]
    mine.write_text(mine.read_text().replace("-job.running", "job.running"))
    status, _, err = callboard("run", path, "--trust")
    assert (status, told in err) == (0, True)
    assert told not in callboard("run", path, "--trust", "--policy", "fair")[2]
    assert told not in callboard("run", path, "--trust", "--tie-order", "3")[2]


def test_a_run_that_was_left_early_goes_on_to_its_end(tmp_path: Path) -> None:
    """Also with what the scenario had still in store: the rack fails at 420 s."""
    path = tmp_path / "left.journal"
    played(path, to_end=False)
    left = list(Journal(path))
    assert left[-1].at_ms < 220_000
    spec = load_run(str(path))
    with LiveServer([plan()]) as desk:
        for at_ms, deed in zip((60_000, 90_000, 150_000, 210_000), DEEDS, strict=True):
            ask(desk, GoTo(at_ms), deed)
        digest = to_the_end(desk).digest
        injected = [each for each in taped(desk) if isinstance(each, FaultStruck)]
    assert spec.policy == "fair"
    assert run_simulation(spec).summary.digest == digest
    assert len(spec.script) == len(set(spec.script))
    assert {(each.at_ms, each.fault) for each in injected} <= set(spec.script)


@pytest.mark.soak
def test_under_other_policies_and_without_faults(tmp_path: Path) -> None:
    path = tmp_path / "left.journal"
    played(path, to_end=False)
    done = shell('callboard run "$1" --policy fifo --policy hfsp --verbose', str(path))
    assert (done.returncode, "hfsp: digest" in done.stdout) == (0, True)
    spec = load_run(str(path), faults=False)
    assert (len(spec.jobs), spec.script) == (13, ())
    assert spec.scenario.policies == ("fair",)


@pytest.mark.soak
@pytest.mark.parametrize("option", ["--seed 4", "--set tasks.sigma=0"])
def test_nothing_else_can_be_changed(tmp_path: Path, option: str) -> None:
    path = tmp_path / "left.journal"
    played(path, to_end=False)
    done = shell(f'callboard run "$1" {option}', str(path))
    assert done.returncode == 2
    assert "a recorded run is played again as it was" in done.stderr


def test_a_journal_in_which_no_run_begins(tmp_path: Path) -> None:
    path = tmp_path / "empty.journal"
    with JournalWriter(path):
        pass
    with pytest.raises(InputError, match="no run has been recorded in it yet"):
        load_run(str(path))
    with JournalWriter(path) as sink:
        sink(RunEnded(0, "complete", 0, 0, ""))
    with pytest.raises(InputError, match="no run has been recorded in it yet"):
        load_run(str(path))


QUEUES = """
name = "queues"
[cluster]
nodes = 2
racks = 1
map_slots = 2
[workload]
kind = "jobs"
job = [
    {name = "ja", pool = "a", user = "u", maps = 9, map_s = 7},
    {name = "jz", pool = "z", user = "v", maps = 9, map_s = 11},
]
[parts.capacity.queues]
z = {capacity = 50}
a = {capacity = 50}
"""


def test_queues_that_are_not_in_the_order_of_their_names_are_played_again_in_theirs(
    callboard: Run, tmp_path: Path
) -> None:
    """The journal sorted them, and said that Callboard had changed."""
    world, path = tmp_path / "queues.toml", tmp_path / "queues.journal"
    world.write_text(QUEUES)
    first = callboard("run", str(world), "--policy", "capacity", "--journal", str(path), "--json")
    again = callboard("run", str(path), "--json")
    assert "another run" not in again[2]
    digests = [json.loads(out)[0]["digest"] for _, out, _ in (first, again)]
    assert digests[0] == digests[1]
    turned = "capacity(queues={a={capacity=50},z={capacity=50}})"
    other = json.loads(callboard("run", str(world), "--policy", turned, "--json")[1])[0]
    assert other["digest"] != digests[0]


def test_a_store_tells_queues_in_another_order_apart() -> None:
    keys = set()
    for order in ("za", "az"):
        queues = {name: {"capacity": 50} for name in order}
        spec = load_run("two-jobs", [f"parts.capacity.queues={toml_value(queues)}"])
        keys.add(task_key(RunTask(msgspec.structs.replace(spec, policy="capacity"))))
    assert len(keys) == 2


def test_a_store_does_not_ask_in_which_order_parts_are_set() -> None:
    """Only what stands in one of them is in an order."""
    settings = ("parts.fair.max_jobs_per_pool=3", "parts.delay.node=5")
    specs = [load_run("two-jobs", each) for each in (settings, settings[::-1])]
    assert len({task_key(RunTask(spec)) for spec in specs}) == 1
