"""A recorded workload: its file, its jobs, and the runs that they make."""

import gzip
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from callboard.actors.vocabulary.events import (
    AttemptClosed,
    AttemptEnded,
    AttemptEvent,
    AttemptLaunched,
    AttemptStarted,
    JobEvent,
    JobFinished,
    JobInitialised,
    JobSubmitted,
    Outcome,
)
from callboard.actors.vocabulary.faults import KillJob
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.simulation import Simulation
from callboard.histories.model.tasks_file import read_recording, write_recording
from callboard.journal.checks.checker import Checker
from callboard.journal.tell.explain import explain
from callboard.journal.writer import JournalWriter
from callboard.scenarios.recorded_workload import RecordedWorkload
from callboard.scenarios.recording_scenario import scenario_of
from callboard.scenarios.scenario_file import from_dict, load_scenario, make_jobs
from callboard.scheduler.model import MAPS, SETUP
from tests.histories.readers.samples import HADOOP1, imported, written
from tests.scenarios.support import error_of

KILLED = HADOOP1.replace('45000" JOB_STATUS="SUCCESS"', '30000" JOB_STATUS="KILLED"')


def tasks_file(folder: Path, text: str = HADOOP1) -> Path:
    path = folder / "mine.tasks.gz"
    write_recording(imported(written(folder, text)).recording, path)
    return path


def events_of(spec: RunSpec) -> list[object]:
    """What happens, held against every rule."""
    events: list[object] = []
    Simulation(spec, [events.append], onlookers=[Checker()]).run()
    return events


def test_the_file_of_tasks_gives_back_what_was_written(tmp_path: Path) -> None:
    recording = imported(written(tmp_path, HADOOP1)).recording
    path = tasks_file(tmp_path)
    assert read_recording(path) == recording
    before = path.read_bytes()
    assert tasks_file(tmp_path).read_bytes() == before


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda data: data[:-20], "damaged or cut off"),
        (lambda data: data.replace(b'"version":5', b'"version":9'), "version 9"),
        (lambda data: data.replace(b'"map_ms":[10000', b'"map_ms":[-1'), "not recorded tasks"),
        (lambda data: data.replace(b'"tail_ms":[4000]', b'"tail_ms":[]'), "not equally long"),
        (lambda data: data.replace(b'"levels":"01"', b'"levels":"0"'), "not equally long"),
        (lambda data: data.replace(b'"levels":"01"', b'"levels":"09"'), "not recorded tasks"),
        (lambda data: data.replace(b"[[0,2],[0,2]]", b"[[0,7],[0,2]]"), "is not there"),
        (lambda data: data.replace(b'"failures":[[0,1', b'"failures":[[0,8'), "is not there"),
        (lambda data: data.partition(b"\n")[0], "0 jobs"),
    ],
)
def test_a_damaged_file_of_tasks_is_told(
    tmp_path: Path, damage: Callable[[bytes], bytes], words: str
) -> None:
    path = tasks_file(tmp_path)
    data = gzip.decompress(path.read_bytes())
    if words == "damaged or cut off":
        path.write_bytes(damage(path.read_bytes()))
    else:
        assert damage(data) != data
        path.write_bytes(gzip.compress(damage(data)))
    assert words in error_of(lambda: RecordedWorkload(path=str(path)).make_jobs(1)).problem


def test_a_recorded_job_is_initialised_and_set_up_before_its_tasks_with_failures_or_without(
    tmp_path: Path,
) -> None:
    history = str(written(tmp_path, HADOOP1))
    for failures in ("recorded", "none"):
        spec = load_run(history, overrides=[f"workload.failures={failures}"])
        events = events_of(spec)
        begun = [each for each in events if isinstance(each, JobEvent | AttemptEvent)]
        assert [type(each) for each in begun[:7]] == [
            JobSubmitted,
            JobInitialised,
            AttemptLaunched,
            AttemptStarted,
            AttemptEnded,
            AttemptClosed,
            AttemptLaunched,
        ]
        stages = [each.stage for each in begun if isinstance(each, AttemptLaunched)]
        assert stages[:2] == [SETUP, MAPS]


def test_what_was_killed_is_killed_again_and_blames_nobody(tmp_path: Path) -> None:
    """Map 1 was killed after 3 s."""
    text = HADOOP1.replace('TASK_STATUS="FAILED"', 'TASK_STATUS="KILLED"')
    ends = [
        each.outcome
        for each in events_of(load_run(str(written(tmp_path, text))))
        if isinstance(each, AttemptEnded) and each.outcome is not Outcome.SUCCEEDED
    ]
    assert ends == [Outcome.KILLED]


def test_a_history_and_the_tasks_imported_from_it_are_the_same_run(tmp_path: Path) -> None:
    directly = load_run(str(written(tmp_path, HADOOP1)))
    found = imported(tmp_path / "history")
    tasks_file(tmp_path)
    scenario = from_dict(scenario_of(found, "mine", "mine.tasks.gz"))
    spec = RunSpec.of(scenario, base_dir=tmp_path)
    assert spec.jobs == directly.jobs
    assert events_of(spec)[1:] == events_of(directly)[1:]


def test_overrides_change_what_is_played(tmp_path: Path) -> None:
    path = written(tmp_path, HADOOP1)
    scenario = load_scenario(path, ["cluster.nodes=7", "workload.time_scale=0.5", "seed=3"])
    assert (scenario.cluster.nodes, scenario.seed) == (7, 3)
    assert len(make_jobs(scenario)) == 1
    assert error_of(lambda: load_scenario(path, ["workload=5"])).key == "workload"
    assert "time_scale" in error_of(lambda: load_scenario(path, ["workload.time_scale=x"])).key


def test_as_recorded_attempts_fail_and_jobs_are_killed_and_free_they_are_not(
    tmp_path: Path,
) -> None:
    """The map of two attempts takes its failure's 3 s and its success' 20 s; killed after 30 s."""
    path = str(written(tmp_path, KILLED))
    for free, outcome, failed in ((False, Outcome.KILLED, 1), (True, Outcome.SUCCEEDED, 0)):
        overrides = ["workload.failures=none"] if free else []
        events = events_of(load_run(path, ["tasks.slowstart=1", *overrides]))
        ends = [each.outcome for each in events if isinstance(each, AttemptEnded)]
        assert ends.count(Outcome.FAILED) == failed
        assert [each.outcome for each in events if isinstance(each, JobFinished)] == [outcome]


def test_a_job_killed_after_its_end_had_long_succeeded(tmp_path: Path) -> None:
    """Its user waits ten minutes before he kills it, and here it ends before that."""
    late = KILLED.replace('FINISH_TIME="1200000030000"', 'FINISH_TIME="1200000600000"')
    events = events_of(load_run(str(written(tmp_path, late))))
    ended = [each.outcome for each in events if isinstance(each, JobFinished)]
    assert ended == [Outcome.SUCCEEDED]


def test_a_job_is_killed_as_long_after_its_own_submission_as_it_was(tmp_path: Path) -> None:
    """Job 2 comes 20 s after job 1, and is killed 10 s later."""
    second = KILLED.replace("job_1", "job_2").replace(
        '_TIME="1200000000000"', '_TIME="1200000020000"'
    )
    spec = load_run(str(written(tmp_path, HADOOP1 + second)))
    assert [(each.at_ms, each.fault) for each in spec.script] == [(30_000, KillJob(1))]


def test_a_missing_file_of_tasks_is_told(tmp_path: Path) -> None:
    scenario = {"name": "x", "workload": {"kind": "recorded", "path": "gone.tasks.gz"}}
    error = error_of(lambda: make_jobs(from_dict(scenario), tmp_path))
    assert error.key == "workload.path"
    assert 'no file of recorded tasks "gone.tasks.gz"' in error.problem


@pytest.mark.parametrize(
    ("size", "first"), [("oracle", "job_1"), ("requested", "job_2"), ("online", "job_1")]
)
def test_orders_by_size_can_go_by_what_users_said(tmp_path: Path, size: str, first: str) -> None:
    """Two maps each on one slot: job 1 takes 20 s a map and was said to take 600, job 2 takes 50 s
    and was said to take 10; online both are of the same unknown size, and job 1 came first.
    """
    text = "; MaxNodes: 1\n; MaxProcs: 1\n"
    text += "1 0 0 20 2 -1 -1 2 600 -1 1 1 -1 -1 -1 -1 -1 -1\n"
    text += "2 0 0 50 2 -1 -1 2 10 -1 1 1 -1 -1 -1 -1 -1 -1\n"
    spec = load_run(str(written(tmp_path, text)), ["cluster.map_slots=1"])
    spec = msgspec.structs.replace(spec, policy=f'psjf(size="{size}")')
    finished = [each.job for each in events_of(spec) if isinstance(each, JobFinished)]
    assert spec.jobs[finished[0]].name == first


def test_explain_tells_of_a_recorded_jobs_setup_and_cleanup(tmp_path: Path) -> None:
    spec = load_run(str(written(tmp_path, HADOOP1)))
    job = msgspec.structs.replace(spec.jobs[0], cleanup_ms=2000)
    spec = msgspec.structs.replace(spec, jobs=(job,))
    with JournalWriter(tmp_path / "x.journal") as sink:
        Simulation(spec, [sink]).run()
    told = "\n".join(explain(tmp_path / "x.journal", 0))
    assert "  For 1.000 s of it the job was being initialised" in told
    assert "  For 3.341 s of it the job was being set up" in told
    assert "all its tasks are done, and it is cleaned up" in told


FAILED_ROWS = """JobID,Submit,Start,Elapsed,Then,CPUs,Writers,State
a,0,10,120,,4,0,FAILED
b,0,10,100,20,2,3,TIMEOUT
c,0,10,120,,2,0,COMPLETED
"""
FAILED_MAP = (
    "job=JobID,submit=Submit,start=Start,map_time=Elapsed,reduce_time=Then,maps=CPUs,"
    "reduces=Writers,state=State,unit=s"
)


def test_a_failed_row_a_job_has_done_its_work_once_and_fails_with_the_last_task(
    tmp_path: Path,
) -> None:
    """All four maps failed, were tried again for as long, and the job had succeeded in the end."""
    (tmp_path / "jobs.csv").write_text(FAILED_ROWS, encoding="utf-8")
    found = imported(tmp_path / "jobs.csv", FAILED_MAP)
    write_recording(found.recording, tmp_path / "kept.tasks.gz")
    scenario = scenario_of(found, "kept", "kept.tasks.gz")
    for failures, failed in (("recorded", [0, 1]), ("none", [])):
        scenario["workload"]["failures"] = failures
        events = events_of(RunSpec.of(from_dict(scenario), base_dir=tmp_path))
        ends = Counter(each.outcome for each in events if isinstance(each, AttemptEnded))
        assert ends == Counter(
            {Outcome.SUCCEEDED: 4 + 5 + 2 - len(failed), Outcome.FAILED: len(failed)}
        )
        jobs = {each.job: each.outcome for each in events if isinstance(each, JobFinished)}
        assert [job for job in sorted(jobs) if jobs[job] is Outcome.FAILED] == failed


def test_how_often_tasks_of_a_job_may_fail_is_kept_with_them(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text(FAILED_ROWS, encoding="utf-8")
    recording = imported(tmp_path / "jobs.csv", FAILED_MAP).recording
    write_recording(recording, tmp_path / "kept.tasks.gz")
    assert read_recording(tmp_path / "kept.tasks.gz") == recording
    assert [job.max_attempts for job in recording.jobs] == [1, 1, 4]


def test_a_job_that_failed_after_one_failure_fails_after_one(tmp_path: Path) -> None:
    """A history may come from a cluster of `mapred.map.max.attempts` 1: killed at its recorded
    response, a second attempt had run beside that.
    """
    lines = [line for line in HADOOP1.splitlines(keepends=True) if "_m_000001_1" not in line]
    text = "".join(lines).replace('JOB_STATUS="SUCCESS"', 'JOB_STATUS="FAILED"')
    (job,) = imported(written(tmp_path, text)).recording.jobs
    assert (job.max_attempts, job.killed_ms) == (1, None)
