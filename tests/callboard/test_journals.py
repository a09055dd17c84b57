"""What journals are called, and what they may not overwrite."""

from pathlib import Path

import pytest

from callboard.experiments.journal_paths import journal_paths, slug
from callboard.experiments.user_errors import InputError
from callboard.journal.format import HEADER
from tests.callboard.conftest import Run


def test_a_single_run_has_the_very_name_and_several_are_told_apart(tmp_path: Path) -> None:
    asked = tmp_path / "a.b.journal"
    assert journal_paths(str(asked), [("x/y", "fair", 1)]) == {("x/y", "fair", 1): asked}
    runs = [("s", "fair+delay(5,15)", 1), ("s", "fair+delay(5,15)+size=exact", 1)]
    names = [path.name for path in journal_paths(str(asked), runs).values()]
    assert names == ["a.b-fair-delay-5-15.journal", "a.b-fair-delay-5-15-size-exact.journal"]
    runs = [("../etc", "fair", 1), ("a\0b", "fair", 1)]
    paths = journal_paths(str(asked), runs)
    assert [path.name for path in paths.values()] == [
        "a.b-etc-fair.journal",
        "a.b-a-b-fair.journal",
    ]
    assert {path.parent for path in paths.values()} == {tmp_path}


def test_names_that_look_alike_stay_apart(tmp_path: Path) -> None:
    runs = [("s", "fair(1)", 1), ("s", "fair,1", 1), ("s", "fair=1", 1)]
    names = [path.name for path in journal_paths(str(tmp_path / "j"), runs).values()]
    assert names == ["j-fair-1", "j-fair-1-2", "j-fair-1-3"]
    assert slug("/" * 9) == "run"
    assert len(slug("x" * 999)) == 60


def test_only_journals_and_empty_files_are_overwritten(callboard: Run, tmp_path: Path) -> None:
    path = tmp_path / "it"
    run = ("run", "two-jobs", "--policy", "fifo", "--journal", str(path))
    for before in (b"", HEADER[:3], HEADER + b"anything"):
        path.write_bytes(before)
        assert callboard(*run)[0] == 0
        assert path.stat().st_size > 1000
    path.write_bytes(b"precious")
    status, out, err = callboard(*run)
    assert (status, out) == (2, "")
    assert f"{path} exists and is not a journal" in err
    assert path.read_bytes() == b"precious"


def test_every_derived_name_is_looked_at_before_anything_runs(
    callboard: Run, tmp_path: Path
) -> None:
    (tmp_path / "j-fair").write_bytes(b"precious")
    assert callboard("run", "two-jobs", "--journal", str(tmp_path / "j"))[0] == 2
    assert not (tmp_path / "j-fifo").exists()
    (tmp_path / "k-fair").mkdir()
    with pytest.raises(InputError, match="k-fair is a folder"):
        journal_paths(str(tmp_path / "k"), [("s", "fifo", 1), ("s", "fair", 1)])


def test_a_device_takes_one_run(callboard: Run) -> None:
    assert callboard("run", "two-jobs", "--policy", "fifo", "--journal", "/dev/null")[0] == 0
