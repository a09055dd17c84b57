"""Rumen's traces, and what they say of a history that Callboard reads itself."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from callboard.actors.recorded_tasks import RecordedFailure
from callboard.histories.inference.recording_maker import RecordingMaker
from callboard.histories.model.cluster_history import HistoryAttempt, HistoryJob, HistoryTask
from callboard.histories.model.import_report import Remarks
from callboard.histories.readers.hadoop1_history import Hadoop1Reader
from callboard.histories.readers.rumen import RumenReader
from callboard.scheduler.model import MAPS, Locality
from tests.histories.readers.samples import imported, remark, written
from tests.scenarios.support import error_of
from tests.support.traces import trace


def place(host: str) -> dict[str, Any]:
    return {"layers": [{"h1": "r1", "h2": "r1", "h3": "r2"}[host], host]}


def attempt(
    number: int, host: str, start: int, finish: int, result: str = "SUCCESS", **more: Any
) -> Any:
    times = {"startTime": start, "finishTime": finish, "shuffleFinished": -1, "sortFinished": -1}
    named = {"attemptID": f"attempt_1_m_{number}", "location": place(host), "result": result}
    return {**named, **times, **more}


def task(name: str, attempts: list[Any], inputs: str = "") -> dict[str, Any]:
    lie = [place(host) for host in inputs.split()]
    ends = attempts[-1]["finishTime"] + 1000
    return {"taskID": name, "finishTime": ends, "attempts": attempts, "preferredLocations": lie}


def job(name: str = "job_1", submit: int = 1000, **more: Any) -> dict[str, Any]:
    maps = [
        task("task_1_m_000000", [attempt(0, "h1", 5000, 15_000)], "h1 h3"),
        task(
            "task_1_m_000001",
            [attempt(1, "h2", 5000, 8000, "FAILED"), attempt(2, "h2", 9000, 29_000)],
            "h1 h3",
        ),
    ]
    fetched: dict[str, Any] = {"shuffleFinished": 34_000, "sortFinished": 34_500}
    reduces = [task("task_1_r_000000", [attempt(3, "h1", 17_000, 41_000, **fetched)])]
    told = {"submitTime": submit, "finishTime": 45_000, "outcome": "SUCCESS", "user": "ann"}
    tasks = {"mapTasks": maps, "reduceTasks": reduces, "otherTasks": []}
    return {"jobID": name, "priority": "HIGH", "queue": "etl", **told, **tasks, **more}


def test_a_job_is_read_with_all_its_tasks(tmp_path: Path) -> None:
    found = imported(written(tmp_path, json.dumps(job())))
    assert (found.jobs, found.tasks, found.attempts) == (1, 3, 4)
    (made,) = found.recording.jobs
    assert (made.name, made.user, made.pool, made.response_ms) == ("job_1", "ann", "etl", 44_000)
    assert made.tasks.map_ms.tolist() == [10_000, 20_000]
    assert list(made.tasks.map_levels) == [Locality.NODE, Locality.RACK]
    assert made.tasks.failures == {(MAPS, 1): (RecordedFailure(3000, Locality.RACK),)}
    assert made.tasks.reduce(0) == (4000, 4000, 7000)


@pytest.mark.parametrize("between", ["", "\n", " ", "\r\n\r\n"])
@pytest.mark.parametrize("indent", [None, 2])
def test_objects_stand_one_after_the_other(tmp_path: Path, between: str, indent: int) -> None:
    """A text with braces in it between two objects' braces does not part them."""
    jobs = [job(f"job_{n}", 1000 * n, user="} {") for n in range(1, 4)]
    text = between.join(json.dumps(each, indent=indent) for each in jobs)
    found = imported(written(tmp_path, gzip.compress(text.encode())))
    assert [each.name for each in found.recording.jobs] == ["job_1", "job_2", "job_3"]


def test_a_byte_order_mark_is_no_part_of_the_first_object(tmp_path: Path) -> None:
    assert imported(written(tmp_path, "\ufeff" + json.dumps(job()))).jobs == 1


def test_a_trace_longer_than_one_chunk_is_read_whole(tmp_path: Path) -> None:
    text = "\n".join(json.dumps(job(f"job_{n}"), indent=1) for n in range(800))
    assert len(text) > 1 << 20
    found = imported(written(tmp_path, text))
    assert found.jobs == 800
    assert found.recording.jobs[799].name == "job_799"


@pytest.mark.parametrize(
    ("changes", "line", "field", "words"),
    [
        ({"submitTime": "soon"}, 2, "submitTime", "a whole number of milliseconds, got 'soon'"),
        ({"totalMaps": "x"}, 2, "totalMaps", "a whole number, got 'x'"),
        ({"jobMapMB": "x"}, 2, "jobMapMB", "a whole number, got 'x'"),
        ({"submitTime": True}, 2, "submitTime", "Expected"),
        ({"mapTasks": 7}, 2, "mapTasks", "Expected"),
        ({"mapTasks": [{"attempts": [{"startTime": []}]}]}, 2, "mapTasks", "Expected"),
        ({"jobID": None}, 2, "jobID", "Expected"),
    ],
)
def test_what_does_not_fit_is_told_with_line_and_field(
    tmp_path: Path, changes: dict[str, Any], line: int, field: str, words: str
) -> None:
    text = (
        json.dumps(job("job_0"))
        + "\n"
        + json.dumps(job(**changes) if "jobID" not in changes else {**job(), **changes})
    )
    error = error_of(lambda: imported(written(tmp_path, text)))
    assert error.line == line
    assert error.key.startswith(field)
    assert words in error.problem


def test_a_trace_that_is_cut_off_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    text = json.dumps(job("job_0")) + "\n" + json.dumps(job())
    found = imported(written(tmp_path, text[:-40]))
    assert found.jobs == 1
    assert remark(found.remarks, "cut off") == ("dropped", 1, ["history:2"])


def test_broken_json_is_told(tmp_path: Path) -> None:
    text = json.dumps(job("job_0")) + "\n" + json.dumps(job()).replace('"queue":', '"queue"')
    error = error_of(lambda: imported(written(tmp_path, text)))
    assert error.line == 2
    assert "malformed" in error.problem


class Collector(RecordingMaker):
    """Keeps the jobs of a history as they were read."""

    def __init__(self) -> None:
        super().__init__("", "", Remarks())
        self.read: dict[str, HistoryJob] = {}

    def add(self, job: HistoryJob) -> bool:
        self.read[job.name] = job
        return True

    def told(self, attempt: HistoryAttempt) -> tuple[object, ...]:
        host = self.hosts.names[attempt.host], self.hosts.racks[attempt.host]
        times = (attempt.start_ms, attempt.finish_ms, attempt.shuffled_ms)
        return (attempt.ending, *host, *times)

    def tasks_of(self, tasks: dict[Any, HistoryTask]) -> dict[Any, object]:
        return {
            number: (
                [self.hosts.names[host] for host in task.input_hosts],
                task.start_ms,
                task.finish_ms,
                {each.name: self.told(each) for each in task.attempts},
            )
            for number, task in tasks.items()
        }


def test_the_history_reader_and_rumen_agree_task_by_task() -> None:
    """The shared history, by our reader of Hadoop 1's own files and by Rumen itself."""
    ours, rumens = Collector(), Collector()
    Hadoop1Reader(ours).read(trace("hadoop1/sample-job-tracker-logs.gz"))
    RumenReader(rumens).read(trace("hadoop1/rumen-of-sample-job-tracker-logs.json.gz"))
    assert ours.read.keys() == rumens.read.keys()
    compared = 0
    for name, one in ours.read.items():
        other = rumens.read[name]
        for own, others in (
            (one.maps, other.maps),
            (one.reduces, other.reduces),
            (one.others, other.others),
        ):
            assert ours.tasks_of(own) == rumens.tasks_of(others)
            compared += len(own)
        assert (one.user, one.priority, one.ending) == (other.user, other.priority, other.ending)
        assert (one.submit_ms, one.launch_ms, one.finish_ms) == (
            other.submit_ms,
            other.launch_ms,
            other.finish_ms,
        )
        assert (one.maps_told, one.reduces_told) == (other.maps_told, other.reduces_told)
    assert compared == 154 + 49 + 7


def test_both_come_to_the_same_recording() -> None:
    ours = imported(trace("hadoop1/sample-job-tracker-logs.gz")).recording
    rumens = imported(trace("hadoop1/rumen-of-sample-job-tracker-logs.json.gz")).recording
    assert (ours.span_ms, sorted(ours.hosts)) == (rumens.span_ms, sorted(rumens.hosts))
    for one, other in zip(ours.jobs, rumens.jobs, strict=True):
        assert one.tasks.map_ms == other.tasks.map_ms
        assert one.tasks.map_levels == other.tasks.map_levels
        assert one.tasks.failures == other.tasks.failures
        for part in ("shuffle_ms", "tail_ms", "rest_ms"):
            assert getattr(one.tasks, part) == getattr(other.tasks, part)
        named = [
            [
                [
                    {recording.hosts[node] for node in row if node >= 0}
                    for row in job.tasks.replica_rows().tolist()
                ]
            ]
            for recording, job in ((ours, one), (rumens, other))
        ]
        assert named[0] == named[1]


@pytest.mark.parametrize(
    ("name", "sizes"),
    [("2jobs2min-rumen-jh.json", (2, 192, 192)), ("folder-input-trace.json.gz", (59, 1108, 1108))],
)
def test_the_shared_traces_have_what_they_are_known_to_have(
    name: str, sizes: tuple[int, ...]
) -> None:
    found = imported(trace(f"rumen/{name}"))
    assert (found.jobs, found.tasks, found.attempts) == sizes
