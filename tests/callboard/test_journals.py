"""What journals are called, and what they may not overwrite."""

from pathlib import Path

import pytest

from callboard.api import RunOptions, run
from callboard.experiments.journal_paths import journal_paths, slug
from callboard.experiments.user_errors import InputError
from callboard.journal.format import HEADER
from callboard.journal.writer import JournalWriter
from tests.callboard.conftest import Run
from tests.journal.stories import STORY


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
    assert slug("/home/ann/mine.py:Mine") == slug("./mine.py:Mine") == "mine.py-Mine"
    assert slug("fair+/of/mine/rules.py:Patient") == "fair-rules.py-Patient"
    assert slug("one/two") == "one-two"


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


def test_a_journal_that_is_being_written_is_refused_before_anything_runs(
    callboard: Run, tmp_path: Path
) -> None:
    path = tmp_path / "a.journal"
    with JournalWriter(path) as writer:
        writer(STORY[0])
        writer.flush()
        before = path.read_bytes()
        status, out, err = callboard("run", "two-jobs", "--policy", "fifo", "--journal", str(path))
        assert (status, out) == (2, "")
        assert f"another run is being recorded in {path}; choose another name" in err
        assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "policies"), [("a-fair", ["fifo"]), ("link", ["fifo"]), ("a", ["fifo", "fair"])]
)
def test_a_run_does_not_replace_the_journal_that_it_plays(
    callboard: Run, tmp_path: Path, name: str, policies: list[str]
) -> None:
    """By its own name, by another, and where the name is derived from the policy's."""
    path, asked = tmp_path / "a-fair.journal", tmp_path / f"{name}.journal"
    assert callboard("run", "two-jobs", "--policy", "fifo", "--journal", str(path))[0] == 0
    (tmp_path / "link.journal").symlink_to(path)
    before = path.read_bytes()
    chosen = [each for policy in policies for each in ("--policy", policy)]
    status, out, err = callboard("run", str(path), *chosen, "--journal", str(asked))
    assert (status, out) == (2, "")
    assert "is the journal whose run is to be played again; choose another name" in err
    assert path.read_bytes() == before


def test_from_python_neither(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    run("two-jobs", "fifo", options=RunOptions(journal=path))
    before = path.read_bytes()
    with pytest.raises(InputError, match="to be played again"):
        run(path, options=RunOptions(journal=path))
    assert path.read_bytes() == before


def test_a_job_named_before_its_journal_is_put_right(callboard: Run, tmp_path: Path) -> None:
    journal = str(tmp_path / "two.journal")
    assert callboard("run", "two-jobs", "--policy", "fifo", "--journal", journal)[0] == 0
    status, _, err = callboard("explain", "job-0", journal)
    assert status == 2
    assert f"the journal comes first: `callboard explain {journal} job-0`" in err
