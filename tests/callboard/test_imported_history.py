"""What `callboard import` writes tells `calibrate` and `backtest` all that the raw file does."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from callboard.experiments.run.run_loading import load_run
from callboard.histories import recording_file
from callboard.histories.recording_file import (
    Imported,
    load_recording,
    load_recording_with_attempts,
)
from callboard.scheduler.text.scenario_error import ScenarioError
from tests.callboard.conftest import Run
from tests.histories.readers.samples import HADOOP1, written
from tests.histories.readers.test_any_format import SAMPLES
from tests.histories.readers.test_container_amounts import LARGE, SMALL, containers

pytest.importorskip("scipy")


WITHOUT_RESPONSES = ("SLS SYNTH workload", "table", "table of tasks")
"""What of the samples tells of no job how long it took."""


@pytest.fixture(params=SAMPLES)
def files(
    request: pytest.FixtureRequest, callboard: Run, tmp_path: Path
) -> tuple[Path, list[str], Path]:
    """A raw file of each format, the map of its columns, and the scenario imported of it."""
    text, columns = SAMPLES[request.param]
    raw = written(tmp_path, text, "raw.csv")
    mapped = ["--map", columns] if columns else []
    status, _, err = callboard("import", str(raw), "--to", str(tmp_path / "mine"), *mapped)
    assert status == 0, err
    return raw, mapped, tmp_path / "mine" / "raw.toml"


def test_an_imported_history_tells_of_its_cluster_what_the_raw_one_does(
    callboard: Run, files: tuple[Path, list[str], Path]
) -> None:
    raw, mapped, scenario = files
    of_raw = callboard("calibrate", str(raw), *mapped, "--json")
    assert of_raw[0] == 0
    for imported in (scenario, scenario.with_suffix(".tasks.gz")):
        assert callboard("calibrate", str(imported), "--json") == of_raw


def test_an_imported_history_is_backtested_as_the_raw_one_is(
    callboard: Run, files: tuple[Path, list[str], Path], request: pytest.FixtureRequest
) -> None:
    """Or refused as it is, before it is played."""
    raw, mapped, scenario = files
    asked = [
        callboard("backtest", *arguments, "--policy", "fair", "--json")
        for arguments in ([str(raw), *mapped], [str(scenario)])
    ]
    assert asked[0] == asked[1]
    status, out, err = asked[0]
    if request.node.callspec.params["files"] in WITHOUT_RESPONSES:
        assert (status, out) == (2, "")
        assert "there is nothing to compare; `callboard run` plays it" in err
    else:
        (found,) = json.loads(out)
        assert status == 0
        assert found["jobs"]


def test_what_had_to_be_guessed_is_still_told_of_an_imported_history(
    callboard: Run, files: tuple[Path, list[str], Path]
) -> None:
    raw, mapped, scenario = files
    notes = []
    for arguments in ([str(raw), *mapped], [str(scenario)]):
        _, out, _ = callboard("backtest", *arguments, "--policy", "fair")
        notes.append([line for line in out.splitlines() if line.startswith("note: ")])
    assert notes[0] == notes[1]


def test_a_backtest_reads_a_raw_history_once(
    callboard: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Sequence[Path]] = []
    make = recording_file.import_files

    def import_files(paths: Sequence[Path], columns: str = "") -> Imported:
        read.append(paths)
        return make(paths, columns)

    monkeypatch.setattr(recording_file, "import_files", import_files)
    path = str(written(tmp_path, HADOOP1, "once.history"))
    assert callboard("backtest", path, "--policy", "fifo", "--policy", "fair")[0] == 0
    assert len(read) == 1


def test_tasks_that_were_imported_before_attempts_were_kept_can_be_played(
    callboard: Run, tmp_path: Path
) -> None:
    """Version 2 had neither attempts nor the number of jobs; `calibrate` says what to do."""
    raw = written(tmp_path, HADOOP1, "old.history")
    callboard("import", str(raw), "--to", str(tmp_path))
    path = tmp_path / "old.tasks.gz"
    head, job, *attempts = gzip.decompress(path.read_bytes()).splitlines()
    assert len(attempts) == 2
    old = msgspec.json.decode(head) | {"version": 2}
    del old["jobs"]
    path.write_bytes(gzip.compress(b"\n".join((msgspec.json.encode(old), job))))
    assert load_recording(path).recording.jobs
    scenario = tmp_path / "old.toml"
    told, digest, _ = scenario.read_text().partition("digest = ")  # its last line, which is newer
    assert digest
    scenario.write_text(told)
    assert callboard("run", str(scenario), "--policy", "fifo")[0] == 0
    status, _, err = callboard("calibrate", str(path))
    assert (status, "has no attempts; import the history again" in err) == (2, True)


@pytest.mark.parametrize("damage", [b"{}", b"[]", b"nonsense", b'{"name":"a","of_job":[1]}'])
def test_damaged_attempts_are_refused_in_a_sentence(
    callboard: Run, tmp_path: Path, damage: bytes
) -> None:
    raw = written(tmp_path, HADOOP1, "hurt.history")
    callboard("import", str(raw), "--to", str(tmp_path))
    path = tmp_path / "hurt.tasks.gz"
    lines = gzip.decompress(path.read_bytes()).splitlines()
    for place in (2, 3):
        hurt = [*lines[:place], damage, *lines[place + 1 :]]
        path.write_bytes(gzip.compress(b"\n".join(hurt)))
        with pytest.raises(ScenarioError, match="import the history again"):
            load_recording_with_attempts(path)


def test_an_import_keeps_what_containers_take_and_a_cell_is_shared_by_it(
    tmp_path: Path, callboard: Run
) -> None:
    raw = written(tmp_path, containers())
    assert callboard("import", str(raw), "--to", str(tmp_path / "kept"))[0] == 0
    kept = load_run(str(tmp_path / "kept" / f"{raw.stem}.toml"))
    assert [each.demands for each in kept.jobs] == [(SMALL, LARGE)]
    assert kept.scenario.cluster.capacity == {"memory": 4096, "vcores": 4}
    one_map_at_once = "cluster.capacity={memory=2048,vcores=1}"
    wide, narrow = (
        callboard("run", str(raw), "--policy", "monolithic", *more, "--json")
        for more in ((), ("--set", one_map_at_once))
    )
    assert wide[0] == 0, wide
    assert narrow[0] == 2, narrow
    assert "takes 2 of" in narrow[2]
