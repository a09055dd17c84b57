"""Where commands write: into folders that are not there yet, and not silently over other files."""

from pathlib import Path
from shlex import split

import pytest

from tests.callboard.conftest import Run
from tests.histories.readers.samples import HADOOP1, written

WRITING = {
    "run": "run two-jobs --policy fair --journal {}/a.journal",
    "run, two": "run two-jobs --journal {}/a.journal",
    "run, seeds": "run two-jobs --policy fair --seeds 2 --journal {}/a.journal",
    "sweep": "sweep two-jobs --policy fair --store {}/in/s.sqlite --export {}/a.csv",
    "calibrate": "calibrate history --to {}/c.toml",
    "backtest": "backtest history --policy fair --figure {}/f.svg",
    "import": "import history --to {}",
    "plot": "plot given.journal ecdf --to {}/p.svg",
    "plot, folder": "plot given.journal ecdf jobs --to {}/",
    "report": "report given.journal --to {}/r.html",
    "export, page": "export given.journal --to {}/e.html",
    "export, table": "export given.journal --to {}/e.csv",
    "export, history": "export given.journal --to {}/e.history",
    "export, sls": "export given.journal --format sls --to {}/sls",
}
REFUSES_TO_REPLACE = {"import", "calibrate"}
RENEWS = {"export, sls"}
"""What is told to write into a folder, whose files are its own."""


@pytest.fixture
def given(tmp_path: Path, callboard: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a history and a journal."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path, HADOOP1)
    assert callboard("run", "two-jobs", "--policy", "fair", "--journal", "given.journal")[0] == 0
    return tmp_path


@pytest.mark.parametrize("command", WRITING)
@pytest.mark.usefixtures("given")
def test_a_missing_folder_is_made_and_what_is_replaced_is_said(
    command: str, callboard: Run
) -> None:
    asked = split(WRITING[command].replace("{}", "far/away"))
    status, told, error = callboard(*asked)
    assert status == 0, error
    assert any(Path("far/away").iterdir())
    assert "in place of" not in told + error
    assert "is replaced" not in told + error
    status, told, error = callboard(*asked)
    if command in REFUSES_TO_REPLACE:
        assert (status, "is there already" in error) == (2, True)
    elif command not in RENEWS:
        assert status == 0
        said = told + error
        assert "in place of the file that was there" in said or "and is replaced" in said


@pytest.mark.parametrize("command", WRITING)
@pytest.mark.usefixtures("given")
def test_where_no_folder_can_be_that_is_said_before_the_work(command: str, callboard: Run) -> None:
    status, told, error = callboard(*split(WRITING[command].replace("{}", "history/in")))
    assert (status, told) == (2, "")
    assert "history" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("command", WRITING)
@pytest.mark.usefixtures("given")
def test_where_no_file_can_be_that_is_said_before_the_work(
    command: str, callboard: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A back-test of two minutes ended with it.  (The tests may run as root, who may all.)"""
    sealed = Path("sealed")
    sealed.mkdir()

    monkeypatch.setattr("os.access", lambda path, _: Path(path).name != sealed.name)
    status, told, error = callboard(*split(WRITING[command].replace("{}", "sealed")))
    assert (status, told) == (2, "")
    assert "can be written in sealed" in error or "can be made in" in error
    assert error.count("\n") == 1


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="no folder that takes no files here")
def test_a_journal_that_cannot_be_made_is_told_as_one_to_be_written(callboard: Run) -> None:
    """It was told how a journal is written, which it had been asked for."""
    status, _, err = callboard(
        "run", "two-jobs", "--policy", "fifo", "--journal", "/proc/a.journal"
    )
    assert (status, err) == (2, "callboard: /proc/a.journal: no file can be made there\n")


def test_a_second_file_to_write_is_refused(
    callboard: Run, given: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first was left out without a word."""
    sweep = ("sweep", "two-jobs", "--policy", "fair", "--store", "s.sqlite")
    with pytest.raises(SystemExit) as ended:
        callboard(*sweep, "--export", "a.csv", "--export", "b.csv")
    assert ended.value.code == 2
    assert "--export: given twice; one file is written" in capsys.readouterr().err
    assert not (given / "s.sqlite").exists()
