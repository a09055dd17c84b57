"""`callboard export`: one file comes out whole, or a message says why not."""

import csv
import json
import sys
from pathlib import Path

import msgspec
import pytest

from callboard.actors.vocabulary.events import NodeFacts
from callboard.cli import run_command_line
from callboard.journal.writer import JournalWriter
from tests.journal.stories import NODES, STORY


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.journal"
    with JournalWriter(path) as sink:
        for event in STORY:
            sink(event)
    return path


def export(journal: Path, to: Path | str, *arguments: str) -> int:
    return run_command_line(["export", str(journal), "--to", str(to), *arguments])


def test_the_name_says_the_format(
    journal: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert export(journal, tmp_path / "t.json") == 0
    assert json.loads((tmp_path / "t.json").read_text())["otherData"]["scenario"] == "tiny"
    assert export(journal, tmp_path / "a.csv") == 0
    assert export(journal, tmp_path / "j.csv", "--rows", "jobs") == 0
    assert len(list(csv.reader((tmp_path / "a.csv").read_text().splitlines()))) == 6
    assert len(list(csv.reader((tmp_path / "j.csv").read_text().splitlines()))) == 3
    said = capsys.readouterr().out
    assert f"5 attempts written to {tmp_path / 'a.csv'}" in said
    assert f"2 jobs written to {tmp_path / 'j.csv'}" in said


def test_a_page_is_whole_or_not_there(
    journal: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert export(journal, tmp_path / "run.html") == 0
    written = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert "<title>tiny under fifo</title>" in written
    assert f"a page of 5 attempts written to {tmp_path / 'run.html'}" in capsys.readouterr().out
    assert export(journal, "-", "--format", "html") == 0
    assert capsys.readouterr().out == written
    monkeypatch.setattr("callboard.journal.export.page_collector.ATTEMPTS_MOST", 4)
    assert export(journal, tmp_path / "more.html") == 2
    told = capsys.readouterr().err
    assert "tiny.journal: it has more than 4 attempts" in told
    assert "--until or --jobs" in told
    assert not (tmp_path / "more.html").exists()


def test_to_standard_output(journal: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert export(journal, "-", "--format", "csv", "--rows", "jobs") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[:2] for line in lines] == [["job", "name"], ["0", "ads"], ["1", "logs"]]


def test_a_run_cut_off_is_taken_as_far_as_it_goes(
    journal: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal.write_bytes(journal.read_bytes()[:-40])
    assert export(journal, tmp_path / "t.json") == 0
    assert "the run is not complete" in capsys.readouterr().out


def test_what_cannot_be_done_is_said_and_leaves_nothing(
    journal: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text.journal"
    text.write_text("no journal")
    empty = tmp_path / "empty.journal"
    JournalWriter(empty).close()
    before = sorted(tmp_path.iterdir())
    for found, to, more, words in (
        (journal, "run.pdf", (), "end it in one of .html, .json, .csv, .parquet"),
        (journal, tmp_path / "r.html", ("--rows", "jobs"), "a page has no rows"),
        (journal, "", ("--format", "csv"), "name a file"),
        (journal, tmp_path, ("--format", "csv"), "this is a folder"),
        (journal, journal, ("--format", "csv"), "this is the journal itself"),
        (journal, "t.json", ("--rows", "jobs"), "a trace has no rows"),
        (journal, "f.xml", ("--rows", "jobs"), "--rows: policy has no rows"),
        (journal, "w.json", ("--format", "batsim", "--rows", "jobs"), "batsim has no rows"),
        (journal, text / "t.json", (), "is a file, and no folder"),
        (text, tmp_path / "t.json", (), "not a Callboard journal"),
        (empty, tmp_path / "t.json", (), "no run has been recorded in it yet"),
        (tmp_path / "none", tmp_path / "t.json", (), "No such file"),
    ):
        assert export(found, to, *more) == 2, words
        assert words in capsys.readouterr().err
    assert sorted(tmp_path.iterdir()) == before


BIG = 1 << 63
INCONSISTENT = [
    (2, {"attempt": BIG}, "attempt is 9223372036854775808"),
    (2, {"attempt": -1}, "attempt is -1"),
    (2, {"node": 7}, "there is no node 7"),
    (2, {"at_ms": BIG}, "at_ms is 9223372036854775808"),
    (3, {"slot": 2}, "node 0 has no slot 2"),
    (3, {"slot": -1}, "node 0 has no slot -1"),
    (4, {"attempt": 1}, "attempt 1 was launched before"),
    (4, {"at_ms": 100}, "the time goes from 101 to 100 ms"),
    (4, {"job": 3}, "job 3 was never submitted"),
    (6, {"maps": BIG}, "maps is"),
    (7, {"started_ms": -BIG}, "started_ms is"),
    (0, {"nodes": (NodeFacts(0, 0, 1 << 40, 1, 1.0),)}, "slots; the limit is 1,000,000"),
    (0, {"nodes": (NODES[0], NODES[0])}, "two nodes have the same number"),
]


@pytest.mark.parametrize(
    ("form", "rows"),
    [("trace", ()), ("csv", ()), ("csv", ("--rows", "jobs")), ("html", ())],
)
@pytest.mark.parametrize(("place", "change", "words"), INCONSISTENT)
def test_events_that_no_run_can_have_are_refused(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    place: int,
    change: dict[str, object],
    words: str,
    form: str,
    rows: tuple[str, ...],
) -> None:
    """A journal whose seals fit and whose events do not: told by the event's number, or if it is
    not even read, by its place in the file.
    """
    path, to = tmp_path / "odd.journal", tmp_path / "out"
    with JournalWriter(path) as sink:
        for number, event in enumerate(STORY):
            sink(msgspec.structs.replace(event, **change) if number == place else event)
    assert export(path, to, "--format", form, *rows) == 2
    told = capsys.readouterr().err
    assert f"odd.journal: event {place} (" in told or "no run has recorded this" in told
    assert words in told
    assert not to.exists()


def test_without_pyarrow(
    journal: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert export(journal, tmp_path / "a.parquet") == 2
    assert 'pip install "callboard[parquet]"' in capsys.readouterr().err
