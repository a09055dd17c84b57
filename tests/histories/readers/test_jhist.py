"""Hadoop 2's job histories."""

import json
from pathlib import Path

import pytest

from callboard.actors.recorded_tasks import RecordedFailure
from callboard.scenarios.scenario_file import load_scenario
from callboard.scheduler.model import MAPS, Locality, Priority
from tests.histories.readers.samples import HADOOP2, imported, remark, written
from tests.scenarios.support import error_of
from tests.support.traces import trace


def test_a_job_is_read_with_all_its_tasks(tmp_path: Path) -> None:
    found = imported(written(tmp_path, HADOOP2))
    assert (found.jobs, found.tasks, found.attempts) == (1, 3, 4)
    (job,) = found.recording.jobs
    assert (job.name, job.user, job.pool, job.response_ms) == ("job_1_0001", "ann", "etl", 45_000)
    assert job.tasks.map_ms.tolist() == [10_000, 20_000]
    assert job.tasks.reduce(0) == (4000, 4000, 7000)
    assert found.recording.hosts == ("h1", "h2", "h3")


def test_the_locality_is_the_one_that_the_file_states(tmp_path: Path) -> None:
    """The failed attempt's is told by the hosts: h2 stands in h1's rack."""
    tasks = imported(written(tmp_path, HADOOP2)).recording.jobs[0].tasks
    assert list(tasks.map_levels) == [Locality.NODE, Locality.RACK]
    assert tasks.failures == {(MAPS, 1): (RecordedFailure(3000, Locality.RACK),)}
    stated = HADOOP2.replace("RACK_LOCAL", "OFF_SWITCH")
    levels = imported(written(tmp_path, stated)).recording.jobs[0].tasks.map_levels
    assert list(levels) == [Locality.NODE, Locality.OFF_RACK]


def test_nodes_of_hadoop_2_tell_of_themselves_every_second(tmp_path: Path) -> None:
    scenario = load_scenario(written(tmp_path, HADOOP2))
    assert scenario.cluster.heartbeat.interval_ms == 1000


def test_an_event_of_another_kind_and_a_cut_off_one_are_counted(tmp_path: Path) -> None:
    found = imported(written(tmp_path, HADOOP2[:-30]))
    assert remark(found.remarks, "AM_STARTED")[:2] == ("dropped", 1)
    assert remark(found.remarks, "no whole event")[:2] == ("dropped", 1)
    assert remark(found.remarks, "whose end is not told: they are played")[0] == "guessed"


@pytest.mark.parametrize(
    ("word", "priority", "noted"),
    [
        ("LOW", Priority.LOW, False),
        ("DEFAULT", Priority.NORMAL, False),
        ("URGENT", Priority.NORMAL, True),
        (["LOW"], Priority.NORMAL, True),
    ],
)
def test_a_priority_that_hadoop_does_not_know_is_dropped_with_a_word(
    tmp_path: Path, word: object, priority: Priority, noted: bool
) -> None:
    """`DEFAULT` is what Hadoop 3 calls one that was not set.  It vanished in silence."""
    changed = HADOOP2.replace('"userName": "ann"', f'"priority": {json.dumps(word)}')
    found = imported(written(tmp_path, changed))
    assert found.recording.jobs[0].priority == priority
    assert any("does not know" in line for line in found.remarks.lines()) == noted


@pytest.mark.parametrize(
    ("before", "after", "field"),
    [
        ('"finishTime": 1200000029000', '"finishTime": "late"', "finishTime"),
        ('"finishTime": 1200000029000', '"finishTime": [1]', "finishTime"),
        ('"taskid": "task_1_0001_r_000000"', '"taskid": "r0"', "taskid"),
        ('"taskid": "task_1_0001_r_000000", ', "", "taskid"),
        ('"jobid": "job_1_0001"', '"jobid": null', "jobid"),
    ],
)
def test_what_is_wrong_is_told_with_line_and_field(
    tmp_path: Path, before: str, after: str, field: str
) -> None:
    assert before in HADOOP2
    error = error_of(lambda: imported(written(tmp_path, HADOOP2.replace(before, after))))
    assert error.key == field
    assert error.line == next(
        number for number, line in enumerate(HADOOP2.splitlines(), start=1) if before in line
    )


def test_binary_avro_is_refused_with_a_way_out(tmp_path: Path) -> None:
    error = error_of(lambda: imported(written(tmp_path, b"Avro-Binary\n\0\1")))
    assert "jhist.format=json" in error.problem


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("job_0.23.9-FAILED.jhist", (1, 3, 8)),
        ("job_1329348432655_0001-10.jhist", (1, 11, 11)),
    ],
)
def test_the_shared_histories_have_what_their_events_tell(
    name: str, sizes: tuple[int, int, int]
) -> None:
    path = trace(f"jhist/{name}")
    found = imported(path)
    assert (found.jobs, found.tasks, found.attempts) == sizes
    kinds = [json.loads(line)["type"] for line in path.read_text().splitlines()[2:] if line.strip()]
    assert sizes[2] == sum(kind.endswith("_ATTEMPT_STARTED") for kind in kinds)
    assert sizes[1] == kinds.count("TASK_STARTED")
