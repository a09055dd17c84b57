"""What YARN's Scheduler Load Simulator reads: jobs of containers, topologies, SYNTH workloads."""

import json
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import pytest

from callboard.histories.recording_file import import_files
from callboard.scenarios.recording_scenario import scenario_of
from tests.histories.readers.samples import imported, remark, written
from tests.scenarios.support import error_of
from tests.support.traces import trace


def container(kind: str, start: int, end: int, host: str = "/r/h1", **more: Any) -> dict[str, Any]:
    times = {"container.start.ms": start, "container.end.ms": end}
    return {"container.type": kind, "container.host": host, **times, **more}


def job(*tasks: dict[str, Any], **more: Any) -> str:
    told = {"job.start.ms": 500, "job.end.ms": 90_000, "job.id": "job_1", "job.user": "ann"}
    return json.dumps({"am.type": "mapreduce", **told, "job.tasks": tasks, **more})


def test_containers_are_maps_and_reduces_with_their_hosts(tmp_path: Path) -> None:
    text = job(container("map", 1000, 8000), container("reduce", 9000, 12_000, "/r/h2"))
    found = imported(written(tmp_path, text))
    (made,) = found.recording.jobs
    assert (made.name, made.user, made.response_ms) == ("job_1", "ann", 89_500)
    assert made.tasks.map_ms.tolist() == [7000]
    assert made.tasks.reduce(0) == (0, 0, 3000)
    assert found.recording.hosts == ("h1", "h2")
    assert made.tasks.replica_rows().tolist() == [[0]]


def test_stages_come_in_sequence_and_a_third_one_is_a_job_of_its_own(tmp_path: Path) -> None:
    stages = [
        container(kind, at, at + 2000) for kind, at in (("c", 7000), ("a", 1000), ("b", 4000))
    ]
    found = imported(written(tmp_path, job(*stages, **{"yarn.sls.am.type": "dag"})))
    first, third = found.recording.jobs
    assert (len(first.tasks.map_ms), len(first.tasks.rest_ms)) == (1, 1)
    assert (third.name, len(third.tasks.map_ms), len(third.tasks.rest_ms)) == (
        "job_1-stage-3",
        1,
        0,
    )
    assert remark(found.remarks, "further stages")[:2] == ("guessed", 1)


def test_counts_and_durations_stand_for_many_containers(tmp_path: Path) -> None:
    tasks = {"container.type": "map", "duration.ms": 4000, "count": 5}
    found = imported(written(tmp_path, job(tasks, **{"job.count": 2})))
    assert [each.tasks.map_ms.tolist() for each in found.recording.jobs] == [[4000] * 5] * 2


@pytest.mark.parametrize("field", ["container.memory-mb", "container.vcores", "count"])
def test_amounts_and_counts_are_no_milliseconds(tmp_path: Path, field: str) -> None:
    """Of what was no number it was said that milliseconds were expected."""
    tasks = {"container.type": "map", "duration.ms": 4000, field: "lots"}
    error = error_of(lambda: imported(written(tmp_path, job(tasks))))
    assert error.key == field.removeprefix("container.")
    assert error.problem == "expected a whole number, got 'lots'"


def test_containers_of_which_only_the_length_is_told_run_stage_by_stage(tmp_path: Path) -> None:
    """All began at 0, and the time of the maps was taken off the reduces'; a further stage came
    before its job.
    """
    lengths = {"map": 10_000, "reduce": 20_000, "later": 7000}
    tasks = [{"container.type": kind, "duration.ms": ms} for kind, ms in lengths.items()]
    whole, later = imported(written(tmp_path, job(*tasks))).recording.jobs
    assert whole.tasks.reduce(0) == (0, 0, 20_000)
    assert later.submit_ms - whole.submit_ms == 30_000


def test_a_map_lasts_as_long_wherever_it_runs(tmp_path: Path) -> None:
    """Nothing tells where inputs lie, so that lengths are those of the place where it ran."""
    path = written(tmp_path, job(container("map", 0, 1000)))
    tasks = scenario_of(imported(path), "mine", "mine.tasks.gz")["tasks"]
    assert tasks == {"rack_factor": 1.0, "off_rack_factor": 1.0}


def test_a_topology_adds_its_nodes(tmp_path: Path) -> None:
    jobs = written(tmp_path, job(container("map", 0, 1000, "/rack1/n1")), "jobs")
    nodes = json.dumps({"rack": "rack1", "nodes": [{"node": "n1"}, {"node": "n2"}]})
    found = import_files([jobs, written(tmp_path, nodes, "nodes")])
    assert found.recording.hosts == ("n1", "n2")
    assert "no job" in error_of(lambda: imported(tmp_path / "nodes")).problem


TOO_LATE = {"time": 10**18, "weight": 1}
"""Milliseconds of it are no 64-bit number, and its import ended in a traceback."""


def synth(**changes: Any) -> str:
    task = {"type": "map", "count": {"val": 5, "std": 1}, "time": {"val": 10, "std": 2}}
    of_jobs = {"class_name": "c", "class_weight": 1, "tasks": [task]}
    times = [{"time": 10, "weight": 1}, {"time": 60, "weight": 0}]
    workload = {"workload_weight": 1, "job_classes": [of_jobs], "time_distribution": times}
    return json.dumps({"num_jobs": 400, "rand_seed": 2, "workloads": [workload], **changes})


def test_a_reduce_whose_shuffle_is_not_told_works_from_the_last_map_on(tmp_path: Path) -> None:
    """It cannot have begun before: what it held its container for is not its work."""
    early, late = container("reduce", 1000, 12_000), container("reduce", 9500, 12_500)
    found = imported(written(tmp_path, job(container("map", 1000, 9000), early, late)))
    (made,) = found.recording.jobs
    assert [made.tasks.reduce(each) for each in range(2)] == [(0, 0, 3000), (0, 0, 3000)]
    assert remark(found.remarks, "whose shuffle is not told")[:2] == ("inferred", 1)


def test_nodes_have_slots_for_as_many_containers_as_fit(tmp_path: Path) -> None:
    """Whatever ran at once; by the resource of which there is least, and for either kind."""
    takes: dict[str, Any] = {"container.memory-mb": 2048, "container.vcores": 1}
    large: dict[str, Any] = {"container.memory-mb": 4096, "container.vcores": 1}
    tasks = (
        container("map", 0, 1000, **takes),
        container("map", 0, 1000, "/r/h2", **large),
        container("reduce", 1000, 2000, **large),
    )
    (tmp_path / "both").mkdir()
    written(tmp_path / "both", job(tasks[0], tasks[2]), "one")
    written(tmp_path / "both", job(tasks[1], **{"job.id": "job_2"}), "two")
    nodes = [{"node": "h1", "memory-mb": 20_480, "vcores": 6}]
    written(tmp_path / "both", json.dumps({"rack": "r", "nodes": nodes}), "nodes")
    found = imported(tmp_path / "both").recording
    assert (found.map_slots, found.reduce_slots) == (6, 5)
    assert dict(found.capacity) == {"memory": 20_480, "vcores": 6}


def test_nodes_that_state_nothing_or_something_else_are_remarked_on(tmp_path: Path) -> None:
    """One of six stated 131,072 MB: all six had it, without a word; and of two amounts as common
    the larger was said to be that of most.
    """
    nodes: list[dict[str, Any]] = [{"node": f"h{nth}"} for nth in range(4)]
    nodes += [{"node": f"m{mb}", "memory-mb": mb, "vcores": 6} for mb in (2048, 6144)]
    written(tmp_path, job(container("map", 0, 1000)), "jobs")
    written(tmp_path, json.dumps({"rack": "r", "nodes": nodes}), "nodes")
    found = imported(tmp_path)
    assert dict(found.recording.capacity) == {"memory": 2048, "vcores": 6}
    told = "taken to have the commonest amounts that are stated (memory 2,048, vcores 6)"
    silent = remark(found.remarks, "whose memory and vcores are not stated")
    assert silent[:2] == ("guessed", found.recording.nodes - 2)
    assert remark(found.remarks, f"with other memory or vcores: {told}")[:2] == ("guessed", 1)


def test_a_class_of_jobs_is_drawn_by_its_log_normal_laws(tmp_path: Path) -> None:
    """400 jobs of 5 ± 1 maps of 10 ± 2 s, from 10 s to 60 s, rounded to whole seconds."""
    recording = imported(written(tmp_path, synth())).recording
    counts = [len(each.tasks.map_ms) for each in recording.jobs]
    seconds = [ms / 1000 for each in recording.jobs for ms in each.tasks.map_ms]
    assert fmean(counts) == pytest.approx(5, abs=0.2)
    assert fmean(seconds) == pytest.approx(10, abs=0.2)
    assert pstdev(seconds) == pytest.approx(2, abs=0.2)
    assert all(second == round(second) for second in seconds)
    assert recording.jobs[-1].submit_ms <= 50_000


def test_a_drawn_reduce_takes_what_was_drawn_once_its_jobs_maps_have_ended(tmp_path: Path) -> None:
    """The time of the maps was taken off it: one of 20 s took 10 s, and one of 5 s nothing."""
    text = json.loads(synth(num_jobs=3))
    task = text["workloads"][0]["job_classes"][0]["tasks"][0]
    times = ({"val": 10}, {"discrete": [20, 5]})
    kinds = [
        {**task, "type": kind, "time": ms}
        for kind, ms in zip(("map", "reduce"), times, strict=True)
    ]
    text["workloads"][0]["job_classes"][0]["tasks"] = kinds
    found = imported(written(tmp_path, json.dumps(text)))
    taken = {ms for each in found.recording.jobs for ms in each.tasks.rest_ms}
    assert taken == {20_000, 5000}
    assert "whose shuffle is not told" not in "".join(found.remarks.lines())


def test_both_dialects_draw_the_same(tmp_path: Path) -> None:
    old = {
        "class_name": "c",
        "mtasks_avg": 5,
        "mtasks_stddev": 1,
        "mtime_avg": 10,
        "mtime_stddev": 2,
    }
    trace_ = json.loads(synth())
    new = imported(written(tmp_path, json.dumps(trace_))).recording.jobs
    trace_["workloads"][0]["job_classes"] = [old]
    assert imported(written(tmp_path, json.dumps(trace_))).recording.jobs == new


@pytest.mark.parametrize(
    ("sample", "drawn"),
    [
        ({"val": 7}, {7}),
        ({"discrete": ["3", "9"]}, {3, 9}),
        ({"discrete": [3, 9], "weights": [0, 1]}, {9}),
        ({"val": 8, "std": 0.0001, "dist": "NORM"}, {8}),
    ],
)
def test_constants_discrete_and_normal_numbers(
    tmp_path: Path, sample: dict[str, Any], drawn: set[int]
) -> None:
    text = json.loads(synth(num_jobs=40))
    text["workloads"][0]["job_classes"][0]["tasks"][0]["count"] = sample
    jobs = imported(written(tmp_path, json.dumps(text))).recording.jobs
    assert {len(each.tasks.map_ms) for each in jobs} == drawn


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"num_jobs": -1}, "num_jobs"),
        ({"workloads": []}, "workloads"),
        ({"num_nodes": 10**9}, "num_nodes"),
        (
            {"workloads": [{"job_classes": [{}], "time_distribution": [TOO_LATE]}]},
            "workloads[0].time_distribution[0].time",
        ),
    ],
)
def test_what_cannot_be_drawn_is_told(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    assert words in error_of(lambda: imported(written(tmp_path, synth(**changes)))).key


@pytest.mark.parametrize(
    ("sample", "words"),
    [
        ({"discrete": []}, "no numbers"),
        ({"discrete": [1, 2], "weights": [1, 1, 5]}, "as many weights"),
        ({"discrete": ["2", "x"]}, "got 'x'"),
        ({"discrete": ["nan"]}, "got 'nan'"),
        ({"val": 1, "std": 1e308}, "at most 1e+15"),
        ({"val": 1e-300, "std": 1}, "times the mean"),
    ],
)
def test_a_number_that_cannot_be_drawn_is_told_with_its_field(
    tmp_path: Path, sample: dict[str, Any], words: str
) -> None:
    """Each ended in a traceback."""
    text = json.loads(synth())
    text["workloads"][0]["job_classes"][0]["tasks"][0]["time"] = sample
    error = error_of(lambda: imported(written(tmp_path, json.dumps(text))))
    assert words in error.problem
    assert (error.line, error.key) == (1, "workloads[0].job_classes[0].tasks[0].time")


def test_the_older_dialects_numbers_are_checked_too(tmp_path: Path) -> None:
    """It ended in a traceback."""
    text = json.loads(synth())
    text["workloads"][0]["job_classes"] = [{"mtasks_avg": 3, "mtasks_stddev": 1e300}]
    error = error_of(lambda: imported(written(tmp_path, json.dumps(text))))
    assert (error.line, error.key) == (1, "workloads[0].job_classes[0]")


@pytest.mark.parametrize(
    ("name", "sizes"),
    [("inputsls", (2, 5)), ("sls_dag", (2, 5)), ("syn", (10, 96)), ("syn_generic", (10, 96))],
)
def test_the_shared_samples_play(name: str, sizes: tuple[int, int]) -> None:
    found = imported(trace(f"sls/{name}.json"))
    assert (found.jobs, found.tasks) == sizes
