"""A history that is cut off is told to be so at once, by whatever reads it."""

from pathlib import Path

import pytest

from tests.callboard.conftest import Run
from tests.histories.readers.samples import HADOOP1, HADOOP2, written

pytestmark = pytest.mark.usefixtures("in_this_process")

NOTE = "note: day is cut off at line {line}; what came after is missing\n"
COMMANDS = (
    ("calibrate", "day"),
    ("backtest", "day", "--policy", "fifo"),
    ("forecast", "day", "--policy", "fifo", "--at", "20s", "--runs", "20", "--cores", "1"),
    ("run", "day", "--policy", "fifo"),
    ("run", "day", "--policy", "fifo", "--seeds", "2"),
    ("import", "day", "--to", "mine"),
)


@pytest.fixture
def line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """On which it is cut off."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path, f"{HADOOP1}{HADOOP1.replace('job_1', 'job_2')[:300]}", "day")
    return HADOOP1.count("\n") + HADOOP1[:300].count("\n") + 1


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_it_is_said_near_the_top(callboard: Run, line: int, command: tuple[str, ...]) -> None:
    status, out, _ = callboard(*command)
    assert status == 0
    assert NOTE.format(line=line) in "".join(out.splitlines(keepends=True)[:3])


def test_the_tasks_imported_from_it_say_so_too_and_a_sweep_does(callboard: Run, line: int) -> None:
    assert callboard("import", "day", "--to", "mine")[0] == 0
    for command in (("backtest",), ("run",), ("sweep", "--store", "s.sqlite")):
        status, out, _ = callboard(*command, "mine/day.toml", "--policy", "fifo")
        assert status == 0
        assert f"ote: day is cut off at line {line}" in out


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        (HADOOP2.rstrip()[:-40], ""),
        ("id,at,took\na,1,5\nb,2,6\nc,3", "job=id,submit=at,map_time=took,unit=s"),
    ],
)
def test_other_formats_tell_it_of_their_last_line(
    callboard: Run, tmp_path: Path, text: str, columns: str
) -> None:
    path = written(tmp_path, text, "day")
    status, out, _ = callboard("import", str(path), "--to", str(tmp_path / "x"), "--map", columns)
    assert (status, NOTE.format(line=text.count("\n") + 1) in out) == (0, True)


def test_a_whole_history_has_no_such_note(callboard: Run, tmp_path: Path) -> None:
    for name, text in (("hadoop1", HADOOP1), ("hadoop2", HADOOP2)):
        path = str(written(tmp_path, text, name))
        assert "cut off" not in callboard("import", path, "--to", str(tmp_path / "x"))[1]


def test_columns_of_a_history_that_is_no_table_are_told_to_say_nothing(
    callboard: Run, tmp_path: Path
) -> None:
    path = str(written(tmp_path, HADOOP1, "day"))
    _, out, _ = callboard("import", path, "--to", str(tmp_path / "x"), "--map", "job=x")
    assert "--map: not used; it says what a table's columns mean, and this is no table" in out


def test_tasks_that_never_ran_are_played_and_counted(callboard: Run, tmp_path: Path) -> None:
    """The import told of 3 tasks, and `run` played 10 of them."""
    path = written(tmp_path, HADOOP1.replace('TOTAL_MAPS="2"', 'TOTAL_MAPS="9"'), "day")
    _, out, _ = callboard("import", str(path), "--to", str(tmp_path / "x"))
    assert "1 job, 3 tasks, " in out
    assert "the scenario, 1 job and 10 tasks (with those that never ran) on 3 nodes" in out
    assert "1 job (9 maps, 1 reduce)" in callboard("run", str(tmp_path / "x" / "day.toml"))[1]


def test_a_journal_says_which_file_it_needs_beside_it(callboard: Run, tmp_path: Path) -> None:
    """Its report's command ended with "there is no file of recorded tasks"."""
    path = str(written(tmp_path, HADOOP1, "day"))
    callboard("import", path, "--to", str(tmp_path / "x"))
    for folder in ("x", "y"):
        journal = tmp_path / folder / "run.journal"
        needs = "; to be played again it needs day.tasks.gz of its scenario beside it"
        told = needs * (folder == "y")
        run = ("run", str(tmp_path / "x" / "day.toml"), "--policy", "fair", "--journal")
        err = callboard(*run, str(journal))[2]
        assert f"recorded in {journal}{told}\n" in err
    calibrated = ("calibrate", path, "--to", str(tmp_path / "mine" / "cal.toml"))
    assert callboard(*calibrated)[0] == 0  # its history is one folder up
    journal = tmp_path / "plan.journal"
    run = ("run", str(tmp_path / "mine" / "cal.toml"), "--policy", "fair", "--journal")
    assert f"recorded in {journal}\n" in callboard(*run, str(journal))[2]
    assert callboard("run", str(journal))[0] == 0
