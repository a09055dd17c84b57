"""How long jobs were initialised: what histories tell of it, what is kept of that, and played."""

import gzip
import json
from pathlib import Path

import msgspec
import pytest

from callboard.experiments.run.run_loading import load_run
from callboard.histories.model.tasks_file import read_recording, write_recording
from callboard.scheduler.model import Millis
from callboard.scheduler.text.scenario_error import ScenarioError
from tests.histories.readers.samples import HADOOP1, HADOOP2, SWF, imported, remark, written
from tests.histories.readers.test_rumen import job as rumen_job

LAUNCH = 'LAUNCH_TIME="1200000001000"'


def kept_ms(folder: Path, text: str) -> Millis:
    """How long the history's first job is kept to have been initialised."""
    return imported(written(folder, text)).recording.jobs[0].initialisation_ms


def test_it_is_the_time_from_submission_to_launch(tmp_path: Path) -> None:
    """Hadoop 1's LAUNCH_TIME, launchTime in Hadoop 2's history and in Rumen's traces."""
    assert LAUNCH in HADOOP1
    assert kept_ms(tmp_path, HADOOP1) == kept_ms(tmp_path, HADOOP2) == 1000
    assert kept_ms(tmp_path, json.dumps(rumen_job(launchTime=1700))) == 700


def test_of_a_file_that_does_not_tell_it_takes_no_time(tmp_path: Path) -> None:
    assert kept_ms(tmp_path, HADOOP1.replace(LAUNCH, "")) == 0
    assert kept_ms(tmp_path, HADOOP1.replace(LAUNCH, 'LAUNCH_TIME="1199999999999"')) == 0
    assert kept_ms(tmp_path, SWF) == 0


def test_it_goes_no_further_than_the_first_task_which_is_said(tmp_path: Path) -> None:
    """The setup begins after 1.5 s by the master's clock, and after 1.6 s by its node's."""
    path = written(tmp_path, HADOOP1.replace(LAUNCH, 'LAUNCH_TIME="1200000009000"'))
    found = imported(path)
    assert found.recording.jobs[0].initialisation_ms == 1500
    assert remark(found.remarks, "before they had been initialised")[:2] == ("inferred", 1)
    assert remark(found.remarks, "took time to be initialised")[:2] == ("read", 1)


def test_the_file_of_tasks_keeps_it_and_one_of_before_is_read_without(tmp_path: Path) -> None:
    recording = imported(written(tmp_path, HADOOP1)).recording
    path = tmp_path / "mine.tasks.gz"
    write_recording(recording, path)
    assert read_recording(path) == recording
    lines = gzip.decompress(path.read_bytes()).splitlines()
    head, row = (msgspec.json.decode(each) for each in lines)
    assert row.pop("initialisation_ms") == 1000
    old = [msgspec.json.encode(each) for each in (head | {"version": 3}, row)]
    path.write_bytes(gzip.compress(b"\n".join(old)))
    (job,) = read_recording(path).jobs
    assert job == msgspec.structs.replace(recording.jobs[0], initialisation_ms=0)


@pytest.mark.parametrize(
    ("said", "played_ms"), [('"recorded"', 1000), ('"none"', 0), ("2.5", 2500), ("0", 0)]
)
def test_a_scenario_says_whether_it_is_played(tmp_path: Path, said: str, played_ms: int) -> None:
    path = str(written(tmp_path, HADOOP1))
    (job,) = load_run(path, [f"workload.initialisation={said}"]).jobs
    assert job.initialisation_ms == played_ms
    assert load_run(path).jobs[0].initialisation_ms == 1000


@pytest.mark.parametrize("said", ['"off"', "-1", "true"])
def test_what_is_neither_is_refused(tmp_path: Path, said: str) -> None:
    with pytest.raises(ScenarioError, match="initialisation"):
        load_run(str(written(tmp_path, HADOOP1)), [f"workload.initialisation={said}"])
