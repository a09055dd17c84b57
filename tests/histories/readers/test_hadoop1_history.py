"""Histories of Hadoop 1's JobTracker: what is read of them, and what of damaged ones."""

import gzip
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.actors.recorded_tasks import RecordedFailure
from callboard.histories.recording_file import import_files
from callboard.scheduler.model import MAPS, Locality, Priority
from callboard.scheduler.text.scenario_error import ScenarioError
from tests.histories.readers.samples import HADOOP1, imported, remark, written
from tests.scenarios.support import error_of
from tests.support.traces import trace

LINES = HADOOP1.splitlines(keepends=True)


def line_with(words: str) -> int:
    """The number from 0 of the first line with these words."""
    return next(number for number, line in enumerate(LINES) if words in line)


def changed(before: str, after: str) -> str:
    assert before in HADOOP1
    return HADOOP1.replace(before, after)


def test_a_job_is_read_with_all_its_tasks(tmp_path: Path) -> None:
    found = imported(written(tmp_path, HADOOP1))
    assert (found.jobs, found.tasks, found.attempts) == (1, 3, 5)
    (job,) = found.recording.jobs
    assert (job.name, job.user, job.priority) == ("job_1", "ann", Priority.HIGH)
    assert (job.submit_ms, job.response_ms, job.killed_ms) == (0, 45_000, None)
    assert (job.setup_ms, job.cleanup_ms) == (1000, 0)
    tasks = job.tasks
    assert tasks.map_ms.tolist() == [10_000, 20_000]
    assert list(tasks.map_levels) == [Locality.NODE, Locality.RACK]
    assert tasks.failures == {(MAPS, 1): (RecordedFailure(3000, Locality.RACK),)}
    assert tasks.reduce(0) == (4000, 4000, 7000)


def test_hosts_stand_in_their_racks_and_have_the_slots_that_were_used_at_once(
    tmp_path: Path,
) -> None:
    recording = imported(written(tmp_path, HADOOP1)).recording
    assert (recording.hosts, recording.rack_sizes) == (("h1", "h2", "h3"), (2, 1))
    assert (recording.map_slots, recording.reduce_slots) == (1, 1)
    assert recording.jobs[0].tasks.replica_rows().tolist() == [[0, 2], [0, 2]]


def test_nothing_is_dropped_in_silence(tmp_path: Path) -> None:
    remarks = imported(written(tmp_path, HADOOP1)).remarks
    assert remark(remarks, "set up a job")[:2] == ("read", 1)
    assert remark(remarks, "beside another of their task")[:2] == ("dropped", 1)
    assert remark(remarks, "waited for their job's last map")[:2] == ("inferred", 1)
    assert remark(remarks, "counters, error texts")[:2] == ("dropped", 1)
    assert sum(each.count for each in remarks.with_fate("dropped")) == 2


def test_gzip_folders_and_many_in_one_file_are_the_same_job_by_job(tmp_path: Path) -> None:
    second = HADOOP1.replace("job_1", "job_2").replace("_1_", "_2_")
    together = f"\f!!FILE=x_conf.xml!!\n<configuration/>\n!!FILE=a!!\n{HADOOP1}!!FILE=b!!\n{second}"
    one = imported(written(tmp_path, gzip.compress(together.encode()), "both.gz"))
    folder = tmp_path / "done"
    folder.mkdir()
    written(folder, HADOOP1, "a")
    written(folder, second, "b")
    written(folder, "<configuration/>", "job_1_conf.xml")
    assert imported(folder).recording.jobs == one.recording.jobs
    assert one.jobs == 2
    assert remark(one.remarks, "configurations") == ("dropped", 1, ["both.gz:1"])


def test_a_job_that_stands_there_twice_counts_once(tmp_path: Path) -> None:
    found = imported(written(tmp_path, HADOOP1 + HADOOP1))
    assert len(found.recording.jobs) == 1
    assert remark(found.remarks, "with the same times")[:2] == ("dropped", 1)


def test_a_job_that_comes_again_at_another_time_is_renamed(tmp_path: Path) -> None:
    """A folded trace repeats its jobs: three times, three jobs."""
    later = [HADOOP1.replace('="1200000', f'="1200{week}') for week in (604, 999)]
    found = imported(written(tmp_path, "".join((HADOOP1, *later))))
    jobs = found.recording.jobs
    assert [job.name for job in jobs] == ["job_1", "job_1~2", "job_1~3"]
    assert len({tuple(job.tasks.map_ms) for job in jobs}) == 1
    assert remark(found.remarks, "renamed")[:2] == ("inferred", 2)


@pytest.mark.parametrize("name", [r"say \\\"", r"a \\\\\" b", r"\\", r"\""])
def test_quotes_and_escapes_within_a_value_end_no_record_and_keep_none_open(
    tmp_path: Path, name: str
) -> None:
    """Of an escaped backslash before an escaped quote the quote was counted, and the record took in
    all that followed.
    """
    plain = imported(written(tmp_path, HADOOP1, "plain"))
    quoted = imported(written(tmp_path, changed('JOBNAME="two words', f'JOBNAME="{name}')))
    assert quoted.recording.jobs == plain.recording.jobs


def test_a_number_of_tasks_is_no_milliseconds(tmp_path: Path) -> None:
    text = changed('TOTAL_MAPS="2"', 'TOTAL_MAPS="two"')
    error = error_of(lambda: imported(written(tmp_path, text)))
    assert error.problem == "expected a whole number, got 'two'"


@pytest.mark.parametrize(
    ("before", "after", "field"),
    [
        ('SUBMIT_TIME="1200000000000"', 'SUBMIT_TIME="yesterday"', "SUBMIT_TIME"),
        ('FINISH_TIME="1200000029000"', 'FINISH_TIME="nan"', "FINISH_TIME"),
        ('FINISH_TIME="1200000029000"', 'FINISH_TIME="1_000"', "FINISH_TIME"),
        ('FINISH_TIME="1200000029000"', f'FINISH_TIME="{"9" * 40}"', "FINISH_TIME"),
        ('TOTAL_MAPS="2"', 'TOTAL_MAPS="two"', "TOTAL_MAPS"),
        ('JOBID="job_1" JOBNAME', "JOBNAME", "JOBID"),
        ('TASKID="task_1_m_000000" TASK_TYPE="MAP" START', 'TASK_TYPE="MAP" START', "TASKID"),
        ('TASKID="task_1_r_000000" TASK_TYPE="REDUCE" START', 'TASKID="7" START', "TASKID"),
    ],
)
def test_what_is_no_number_or_is_missing_is_told_with_line_and_field(
    tmp_path: Path, before: str, after: str, field: str
) -> None:
    path = written(tmp_path, changed(before, after))
    error = error_of(lambda: imported(path))
    assert (error.source, error.key) == (str(path), field)
    assert error.line == next(n for n, line in enumerate(LINES, start=1) if before in line)


@pytest.mark.parametrize(
    ("before", "after", "fate", "words"),
    [
        ('SUBMIT_TIME="1200000000000"', 'SUBMIT_TIME="-7"', "dropped", "SUBMIT_TIME below 0"),
        ('SUBMIT_TIME="1200000000000"', "", "guessed", "without a time of submission"),
        ('"1200000034000" SORT', '"-0.0" SORT', "inferred", "a fraction or a sign"),
        ('_TIME="1200000029000"', '_TIME="1200000029000.5"', "inferred", "a fraction or a sign"),
        ('_TIME="1200000029000"', '_TIME="1200000001000"', "dropped", "end before they start"),
        ('_TIME="1200000029000"', '_TIME="1200000009000"', "inferred", "of no length"),
        ('TOTAL_MAPS="2"', 'TOTAL_MAPS="5"', "guessed", "maps of which no length is known"),
        ('"1200000034000" SORT', '"1200000020000" SORT', "inferred", "before their job's last map"),
        ('"1200000034000" SORT', '"1200000051000" SORT', "inferred", "outside of their attempt"),
        ('_TIME="1200000005000"', '_TIME="1200000003000"', "inferred", "apart from the master's"),
        ('JOB_PRIORITY="HIGH"', 'JOB_PRIORITY="URGENT"', "dropped", "does not know"),
        (
            '45000" JOB_STATUS="SUCCESS"',
            '45000" JOB_STATUS="KILLED"',
            "inferred",
            "were killed: killed",
        ),
        (
            '45000" JOB_STATUS="SUCCESS"',
            '45000" JOB_STATUS="FAILED"',
            "inferred",
            "jobs that failed",
        ),
        ("\tat another", '" .\n\tat another', "dropped", "begin no record"),
    ],
)
def test_what_cannot_be_is_played_as_far_as_it_can_and_counted(
    tmp_path: Path, before: str, after: str, fate: str, words: str
) -> None:
    found = imported(written(tmp_path, changed(before, after)))
    assert remark(found.remarks, words)[0] == fate
    assert all(ms >= 1 for ms in found.recording.jobs[0].tasks.map_ms)


def test_a_job_that_was_killed_is_killed_after_as_long(tmp_path: Path) -> None:
    text = changed('45000" JOB_STATUS="SUCCESS"', '45000" JOB_STATUS="KILLED"')
    assert imported(written(tmp_path, text)).recording.jobs[0].killed_ms == 45_000


def test_what_was_killed_alone_is_killed_again_and_what_ran_beside_is_not(tmp_path: Path) -> None:
    """The attempt that failed, and then another that began when it had ended, here were killed."""
    text = HADOOP1.replace('TASK_STATUS="FAILED"', 'TASK_STATUS="KILLED"')
    found = imported(written(tmp_path, text))
    failures = found.recording.jobs[0].tasks.failures
    assert failures == {(MAPS, 1): (RecordedFailure(3000, Locality.RACK, killed=True),)}
    assert remark(found.remarks, "killed again")[:2] == ("inferred", 1)
    assert remark(found.remarks, "(speculation)")[:2] == ("dropped", 1)


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7, 0.9])
def test_a_file_that_is_cut_off_is_read_as_far_as_it_goes(tmp_path: Path, share: float) -> None:
    packed = gzip.compress(HADOOP1.encode())
    for data in (HADOOP1.encode()[: int(len(HADOOP1) * share)], packed[: int(len(packed) * share)]):
        with suppress(ScenarioError):
            found = imported(written(tmp_path, data))
            assert any("cut off" in line or "not told" in line for line in found.remarks.lines())


def test_a_second_start_and_a_second_end_of_an_attempt_are_counted(tmp_path: Path) -> None:
    start, end = line_with("attempt_1_m_000001_1"), line_with('FINISH_TIME="1200000029000"')
    text = "".join([*LINES[: end + 1], LINES[start], LINES[end], *LINES[end + 1 :]])
    found = imported(written(tmp_path, text))
    assert remark(found.remarks, "second starts")[:2] == ("dropped", 1)
    assert remark(found.remarks, "second ends")[:2] == ("dropped", 1)
    assert found.recording.jobs[0].tasks.map_ms.tolist() == [10_000, 20_000]


def test_an_output_that_was_lost_is_made_again(tmp_path: Path) -> None:
    """A success taken back, as when a node is lost: the task's next success is what counts."""
    end = line_with('FINISH_TIME="1200000015000"')
    lost = LINES[end].replace('"SUCCESS"', '"KILLED"').replace("15000", "20000")
    again = [
        line.replace("000000_0", "000000_1").replace("05000", "21000").replace("15000", "33000")
        for line in (LINES[line_with('_TIME="1200000005000"')], LINES[end])
    ]
    text = "".join([*LINES[: end + 2], lost, *again, *LINES[end + 2 :]])
    found = imported(written(tmp_path, text))
    assert remark(found.remarks, "taken back")[:2] == ("dropped", 1)
    assert found.recording.jobs[0].tasks.map_ms.tolist() == [12_000, 20_000]


def test_jobs_out_of_order_are_sorted(tmp_path: Path) -> None:
    earlier = HADOOP1.replace("job_1", "job_0").replace(
        'SUBMIT_TIME="1200000000', 'SUBMIT_TIME="1199999990'
    )
    found = imported(written(tmp_path, HADOOP1 + earlier))
    assert [job.name for job in found.recording.jobs] == ["job_0", "job_1"]
    assert remark(found.remarks, "out of order")[:2] == ("inferred", 1)


def test_clocks_years_apart_are_refused(tmp_path: Path) -> None:
    early = HADOOP1.replace("job_1", "job_0").replace('SUBMIT_TIME="1200', 'SUBMIT_TIME="0200')
    error = error_of(lambda: imported(written(tmp_path, HADOOP1 + early)))
    assert "31.7 years after the first" in error.problem


def test_files_of_nothing_known_are_refused(tmp_path: Path) -> None:
    assert "known are" in error_of(lambda: imported(written(tmp_path, "nothing"))).problem
    assert "no job in it" in error_of(lambda: imported(written(tmp_path, LINES[0]))).problem
    assert "known are" in error_of(lambda: import_files([])).problem


@settings(derandomize=True, max_examples=200, deadline=None)
@given(data=st.data())
def test_whatever_the_lines_only_a_scenario_error_comes_out(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    lines = data.draw(st.lists(st.sampled_from(LINES), max_size=40))
    cut = data.draw(st.integers(0, 30))
    numbers = st.sampled_from(["-1", "0", "1e3", "-0.0", "", "x", "1200000000000"])
    text = "".join(lines).replace("1200000005000", data.draw(numbers))
    path = written(tmp_path_factory.getbasetemp(), text[: len(text) - cut], "any-history")
    with suppress(ScenarioError):
        recording = imported(path).recording
        assert all(min(job.tasks.map_ms) >= 1 for job in recording.jobs)


def test_the_shared_history_has_what_it_is_known_to_have() -> None:
    found = imported(trace("hadoop1/sample-job-tracker-logs.gz"))
    assert (found.jobs, found.tasks, found.attempts) == (3, 203, 276)  # and one without maps
    read = {each.what: each.count for each in found.remarks.with_fate("read")}
    assert (read["maps"], read["reduces"]) == (154, 49)
    assert read["attempts that succeeded"] == 203
    assert (read["attempts that were killed"], read["attempts that failed"]) == (69, 4)


def test_what_a_job_that_is_left_out_tells_is_left_out_with_it(tmp_path: Path) -> None:
    """Of three jobs four told how long they had been initialised."""
    of_job = [line for line in HADOOP1.splitlines(keepends=True) if line.startswith("Job ")]
    found = imported(written(tmp_path, HADOOP1 + "".join(of_job).replace("job_1", "job_2")))
    assert found.log is not None
    assert len(found.log.launch_ms) == len(found.recording.jobs) == 1
