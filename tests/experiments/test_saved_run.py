"""A run changed by hand and saved: what is played from the file is that run."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.events import RunEnded
from callboard.experiments.live.live_requests import Fork, Save
from callboard.experiments.live.live_server import LiveServer
from callboard.experiments.run.interventions import Intervene
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.simulation import run_simulation
from callboard.journal.reader import Journal
from callboard.journal.replay.source import GoTo
from callboard.scenarios.listed_jobs import ListedJob
from callboard.scenarios.scenario_file import load_scenario
from callboard.scenarios.timeline import CrashEntry
from callboard.scheduler.model import Millis, Priority
from tests.tui.test_interventions import VIEW, ask, plan, to_the_end

Deeds = Sequence[tuple[Millis, Intervene]]

BURST = ListedJob(name="flood", maps=3, map_s=7, reduces=1, reduce_s=5, count=2)
ALL_SORTS: Deeds = [
    (10_000, Intervene((faults.Crash(0), faults.Crash(2)))),
    (20_000, Intervene((faults.Slow(1, 3.0),))),
    (25_000, Intervene((faults.PauseMaster(),))),
    (30_000, Intervene((faults.ResumeMaster(),))),
    (35_000, Intervene(burst=BURST)),
    (40_000, Intervene((faults.Restart(0), faults.Restart(2)))),
    (45_000, Intervene((faults.SetPriority(1, Priority.HIGH),))),
    (50_000, Intervene((faults.SetPool(0, "night"),))),
    (55_000, Intervene((faults.SwitchPolicy("hfsp"),))),
    (60_000, Intervene((faults.PauseNode(3),))),
    (62_000, Intervene((faults.Slow(1, 1.0), faults.Drain(2, True)))),
    (65_000, Intervene((faults.ResumeNode(3), faults.KillJob(3)))),
    (70_000, Intervene((faults.Drain(2, False), faults.RestartMaster(recover=True)))),
]


def played(scenario: str, deeds: Deeds) -> LiveServer:
    server = LiveServer([plan(scenario)])
    for at_ms, deed in deeds:
        frame = ask(server, GoTo(at_ms), deed)
        assert not frame.refusal
    return server


def digest_of(spec: RunSpec) -> str:
    return run_simulation(spec, driver="direct").summary.digest or ""


def test_a_scenario_says_all_that_was_done(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    with played("two-jobs", ALL_SORTS) as server:
        assert not ask(server, Save(str(path))).refusal
        digest = to_the_end(server).digest
    spec = load_run(str(path))
    assert (spec.scenario.name, spec.policy) == ("mine", "fair")
    assert digest_of(spec) == digest
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# two-jobs as it was changed by hand on the screen, under fair.\n")
    (crash,) = (each for each in load_scenario(path).timeline if isinstance(each, CrashEntry))
    assert crash.nodes == ("node-0", "node-2")
    assert (crash.at_s, crash.for_s) == (10.001, 30.0)


def test_a_journal_has_all_that_has_happened(tmp_path: Path) -> None:
    path = tmp_path / "mine.journal"
    with played("two-jobs", ALL_SORTS) as server:
        ask(server, GoTo(80_000))
        assert not ask(server, Save(str(path), as_journal=True)).refusal
        run = server.runs[0]
        happened = [run.recording.event(index) for index in range(len(run.recording))]
        digest = to_the_end(server).digest
    recorded = list(Journal(path))
    ended = recorded.pop()
    assert isinstance(ended, RunEnded)
    assert ended.reason == "interrupted"
    assert recorded == happened
    assert digest_of(load_run(str(path))) == digest


def test_of_two_runs_the_one_in_front_is_saved(tmp_path: Path) -> None:
    path = tmp_path / "fork.toml"
    with played("two-jobs", ALL_SORTS[:1]) as server:
        ask(server, GoTo(30_000), Fork("fifo"))
        view = msgspec.structs.replace(VIEW, lead=1)
        assert not ask(server, Save(str(path)), view=view).refusal
        ask(server, GoTo(10**7))
        frame = server.runs[1].recording
        ended = frame.event(len(frame) - 1)
    assert isinstance(ended, RunEnded)
    assert digest_of(load_run(str(path))) == ended.digest


@pytest.mark.parametrize(
    ("deeds", "words"),
    [
        ([(10_000, Intervene((faults.PauseNode(1),)))], "node-1 is still paused"),
        ([(10_000, Intervene((faults.PauseMaster(),)))], "the master is still paused"),
        (
            [(450_000, Intervene((faults.Restart(2),)))],
            "Restart of node-2 at 0:07:30 undoes what the scenario itself began",
        ),
        (
            [
                (10_000, Intervene((faults.Slow(1, 2.0),))),
                (20_000, Intervene((faults.Slow(1, 4.0),))),
            ],
            "save a journal",
        ),
        ([(10_000, Intervene((faults.SetPool(0, ""),)))], "SetPool of job-0 at 0:00:10: no"),
    ],
)
def test_what_no_timeline_says_is_refused(deeds: Deeds, words: str, tmp_path: Path) -> None:
    """With what to do instead, and without a file."""
    path = tmp_path / "mine.toml"
    with played("rack-outage", deeds) as server:
        refusal = ask(server, Save(str(path))).refusal
    assert words in refusal
    assert "journal" in refusal
    assert not list(tmp_path.iterdir())


def test_a_file_is_replaced_only_if_that_was_said(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("precious", encoding="utf-8")
    with played("two-jobs", ALL_SORTS[:1]) as server:
        for as_journal in (False, True):
            assert "exists" in ask(server, Save(str(path), as_journal)).refusal
            assert path.read_text(encoding="utf-8") == "precious"
        assert not ask(server, Save(str(path), replace=True)).refusal
    assert load_scenario(path).name == "mine"


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with played("two-jobs", ()) as server:
        for as_journal in (False, True):
            refusal = ask(server, Save(str(tmp_path / "file" / "a"), as_journal)).refusal
            assert "file: File exists" in refusal
