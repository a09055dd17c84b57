"""Folders that hold more than one history: what cannot be read of them, and how soon it is said."""

import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from callboard.histories import recording_file
from callboard.histories.readers.column_map import PARQUET_MAGIC
from callboard.histories.source_path import checked_history_source
from tests.histories.readers.samples import HADOOP1, SWF, TASKS_CSV, imported, remark, written
from tests.scenarios.support import error_of


def test_of_several_formats_a_file_of_each_is_named(tmp_path: Path) -> None:
    for text, name in ((HADOOP1, "a"), (HADOOP1, "b"), (SWF, "c.swf"), (TASKS_CSV, "d.csv")):
        written(tmp_path, text, name)
    told = "Hadoop 1 job history (a), Standard Workload Format (c.swf), table (d.csv)"
    assert f"several formats: {told}; import each" in error_of(lambda: imported(tmp_path)).problem


def test_parquet_that_cannot_be_read_here_does_not_hide_what_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(name: str) -> ModuleSpec | None:
        return None if name == "pyarrow" else ModuleSpec(name, None)

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setattr(recording_file, "find_spec", find)
    written(tmp_path, PARQUET_MAGIC, "a.parquet")
    assert "needs pyarrow" in error_of(lambda: imported(tmp_path)).problem
    written(tmp_path, HADOOP1, "b")
    found = imported(tmp_path)
    assert len(found.recording.jobs) == 1
    assert remark(found.remarks, "need pyarrow") == ("dropped", 1, ["a.parquet"])
    assert "needs pyarrow" in error_of(lambda: imported(tmp_path / "a.parquet")).problem


def test_of_very_many_files_only_the_first_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A whole disk was read for a minute."""
    monkeypatch.setattr(recording_file, "_LOOKED_AT", 20)
    for nth in range(21):
        written(tmp_path, "nothing", f"{nth:03}")
    error = error_of(lambda: imported(tmp_path))
    assert error.source == str(tmp_path)
    assert "0 of the first 20 can be imported; name a folder" in error.problem
    for nth in range(21):
        written(tmp_path, HADOOP1.replace("job_1", f"job_{nth}"), f"{nth:03}")
    assert len(imported(tmp_path).recording.jobs) == 21
    for nth in range(10):
        written(tmp_path, SWF, f"{nth:03}")
    assert "several formats" in error_of(lambda: imported(tmp_path)).problem


def test_nothing_at_all_is_said_to_be_so(tmp_path: Path) -> None:
    empty = written(tmp_path, "", "empty.history")
    assert error_of(lambda: imported(empty)).problem == "the file is empty"
    empty.unlink()
    error = error_of(lambda: imported(tmp_path))
    assert (error.source, "there is no file in this folder" in error.problem) == (
        str(tmp_path),
        True,
    )
    assert str(error_of(lambda: checked_history_source(""))).startswith('"": there is no such file')
