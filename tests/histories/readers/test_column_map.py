"""Tables of jobs and of tasks, as CSV and as Parquet, with a map of their columns."""

from pathlib import Path

import pytest

from callboard.actors.vocabulary.faults import Crash
from callboard.histories.model.attempt_log import UNTOLD
from callboard.histories.readers.column_map import is_table, parsed_time_ms
from callboard.histories.recording_file import import_files
from callboard.scenarios.scenario_file import ScenarioFile, make_fault_script
from callboard.scheduler.model import MAPS, REDUCES
from tests.histories.readers.samples import TASKS_CSV, imported, remark, written
from tests.scenarios.support import error_of
from tests.support.traces import trace

JOBS_CSV = """name,start_time,instance_num,seconds,who
a,10,3,20,ann
b,12.5,1,4,bob
"""
JOBS_MAP = "job=name,submit=start_time,maps=instance_num,map_time=seconds,user=who,unit=s"
TASKS_MAP = "job=job,task=task,kind=kind,start=begin,end=over,host=where,unit=ms"


def test_a_row_a_job(tmp_path: Path) -> None:
    jobs = imported(written(tmp_path, JOBS_CSV), JOBS_MAP).recording.jobs
    assert [(job.name, job.user, job.submit_ms) for job in jobs] == [
        ("a", "ann", 0),
        ("b", "bob", 2500),
    ]
    assert [job.tasks.map_ms.tolist() for job in jobs] == [[20_000] * 3, [4000]]


def test_a_reduce_of_a_row_a_job_takes_what_its_column_says(tmp_path: Path) -> None:
    """It begins when the maps have ended.  One shorter than the maps came to a millisecond."""
    table = "id,came,maps,each,reduces,long\na,0,4,10,1,20\nb,7,1,5,1,5\n"
    columns = "job=id,submit=came,maps=maps,map_time=each,reduces=reduces,reduce_time=long,unit=s"
    jobs = imported(written(tmp_path, table), columns).recording.jobs
    assert [job.tasks.map_ms.tolist() for job in jobs] == [[10_000] * 4, [5000]]
    assert [job.tasks.rest_ms.tolist() for job in jobs] == [[20_000], [5000]]


def test_a_number_of_tasks_or_a_length_that_is_missing_is_remarked_on(tmp_path: Path) -> None:
    """Reduces without a length vanished without a word, and of maps there was one."""
    table = "id,came,n,each,r,long\na,0,4,10,3,\nb,7,,5,,9\nc,8,2,5,2,6\n"
    columns = "job=id,submit=came,maps=n,map_time=each,reduces=r,reduce_time=long,unit=s"
    found = imported(written(tmp_path, table), columns)
    kept = [(len(job.tasks.map_ms), len(job.tasks.rest_ms)) for job in found.recording.jobs]
    assert kept == [(4, 0), (1, 0), (2, 2)]
    assert remark(found.remarks, "how long one takes") == ("dropped", 3, ["history:2"])
    assert remark(found.remarks, "how many they are") == ("dropped", 1, ["history:3"])
    assert remark(found.remarks, "a number of maps") == ("guessed", 1, ["history:3"])


def test_what_is_no_utf_8_is_read_as_latin_1(tmp_path: Path) -> None:
    """Jörg and Jürg became one user."""
    path = tmp_path / "history"
    table = "id,came,each,who\na,0,5,J\xf6rg\nb,1,5,J\xfcrg\n".encode("latin-1")
    path.write_bytes(table + "c,2,5,J\xfcrg".encode() + b"\xe9\n")  # both in one line
    found = imported(path, "job=id,submit=came,map_time=each,user=who,unit=s")
    users = [job.user for job in found.recording.jobs]
    assert users == ["J\xf6rg", "J\xfcrg", "J\xfcrg\xe9"]
    where = ["history:2", "history:3", "history:4"]
    assert remark(found.remarks, "read as Latin-1") == ("inferred", 3, where)


@pytest.mark.parametrize("rows", [3, 20_000])
def test_a_quote_that_is_never_closed_is_told_with_its_line(tmp_path: Path, rows: int) -> None:
    """A short table ended there, in one row of too few cells, and a long one in a traceback."""
    table = f'{JOBS_CSV}c,"20,1,4,bob\n' + "d,30,1,4,bob\n" * rows
    error = error_of(lambda: imported(written(tmp_path, table), JOBS_MAP))
    assert (error.line, error.problem) == (4, "a quote is opened and not closed")


def test_a_quote_that_is_never_closed_in_the_last_line_is_told(tmp_path: Path) -> None:
    """It was a job called `bob` with a length, or a user, that the row does not say."""
    error = error_of(lambda: imported(written(tmp_path, f'{JOBS_CSV}c,20,1,4,"bob\n'), JOBS_MAP))
    assert (error.line, error.problem) == (4, "a quote is opened and not closed")


def test_a_table_that_breaks_off_in_a_cell_of_several_lines_is_read_up_to_there(
    tmp_path: Path,
) -> None:
    found = imported(written(tmp_path, f'{JOBS_CSV}"c\nd'), JOBS_MAP)
    assert [job.name for job in found.recording.jobs] == ["a", "b"]
    assert "is cut off at line 5" in found.remarks.cut_files_in_words


def test_a_cell_of_several_lines_is_one_cell(tmp_path: Path) -> None:
    table = f'{JOBS_CSV}"c\nd",20,1,4,bob\ne,30,1,4,"bob"\n'
    found = imported(written(tmp_path, table), JOBS_MAP)
    assert [job.name for job in found.recording.jobs] == ["a", "b", "cd", "e"]


@pytest.mark.parametrize(
    ("table", "line"), [(JOBS_CSV.replace("\n", "\r"), 1), (f"{JOBS_CSV}c\rd,1,2,3,x\n", 4)]
)
def test_a_carriage_return_within_a_row_is_told(tmp_path: Path, table: str, line: int) -> None:
    """It ended in a traceback."""
    error = error_of(lambda: imported(written(tmp_path, table), JOBS_MAP))
    assert "a lone carriage return" in error.problem
    assert error.line == line


def test_an_array_of_objects_is_no_table(tmp_path: Path) -> None:
    """It was asked for its columns."""
    path = written(tmp_path, '[\n {"jobID": "job_1_1", "priority": "NORMAL", "user": "a"}]')
    assert "one after the other" in str(error_of(lambda: import_files([path])))
    assert "one after the other" in str(error_of(lambda: import_files([path], JOBS_MAP)))


def test_a_job_of_which_nothing_tells_when_it_came_comes_with_the_one_before(
    tmp_path: Path,
) -> None:
    """It came in 1970, and the row before it was said to come 56 years too late."""
    table = "id,came,each\na,2026-03-02T08:00:00,5\nb,2026-03-02T08:00:10,5\nc,,5\n"
    found = imported(written(tmp_path, table), "job=id,submit=came,map_time=each,unit=s")
    assert [job.submit_ms for job in found.recording.jobs] == [0, 10_000, 10_000]
    assert remark(found.remarks, "nothing tells when they came") == ("guessed", 1, ["history:4"])


def test_a_row_a_task_tells_how_long_its_job_took(tmp_path: Path) -> None:
    """From its submission to the end of its last task; without one of these nothing does."""
    table = "job,task,came,start,end\na,0,0,1,11\na,1,0,11,21\nb,0,5,21,29\n"
    columns = "job=job,task=task,start=start,end=end,unit=s"
    path = written(tmp_path, table)
    jobs = imported(path, f"{columns},submit=came").recording.jobs
    assert [job.response_ms for job in jobs] == [21_000, 24_000]
    assert [job.response_ms for job in imported(path, columns).recording.jobs] == [None, None]


SACCT = """JobID|Submit|Start|End|State|NTasks
1|2026-01-01T00:00:00|2026-01-01T00:00:10|2026-01-01T00:01:10|COMPLETED|2
2|2026-01-01T00:00:00|2026-01-01T00:00:10|2026-01-01T00:00:40|TIMEOUT|1
3|2026-01-01T00:00:00|2026-01-01T00:00:10|2026-01-01T00:00:20|CANCELLED by 1001|1
4|2026-01-01T00:00:00|Unknown|Unknown|PENDING|1
5|2026-01-01T00:00:00|2026-01-01T00:00:10|Unknown|RUNNING|1
6|2026-01-01T00:00:00|None|2026-01-01T00:00:20|CANCELLED+|1
7|2026-01-01T00:00:00|2026-01-01T00:00:10|2026-01-01T00:00:30||1
"""
SACCT_MAP = "job=JobID,submit=Submit,start=Start,end=End,state=State,maps=NTasks,unit=s"


def test_what_is_dropped_is_not_counted_as_read(tmp_path: Path) -> None:
    """The header told of a job more than the scenario had."""
    table = "job,task,start,end,state\na,m1,0,5,ok\nb,m1,0,,ok\n"
    columns = "job=job,task=task,start=start,end=end,state=state,unit=s"
    found = imported(written(tmp_path, table), columns)
    assert (
        (found.jobs, found.tasks, found.attempts) == (1, 1, 1) == (len(found.recording.jobs),) * 3
    )
    assert remark(found.remarks, "no map tells how long")[:2] == ("dropped", 1)


def test_dates_are_taken_for_no_seconds(tmp_path: Path) -> None:
    """Without a unit that was guessed of a table without a bare number."""
    table = "id,from,to\na,2026-03-02T08:00:00,2026-03-02T08:00:10\n"
    found = imported(written(tmp_path, table), "job=id,submit=from,start=from,end=to")
    assert not [each for each in found.remarks.with_fate("guessed") if "seconds" in each.what]
    told = imported(
        written(tmp_path, "id,from,to\na,1,10\n"), "job=id,submit=from,start=from,end=to"
    )
    assert remark(told.remarks, "taken for seconds")[0] == "guessed"


def test_a_name_of_many_tasks_is_each_ones(tmp_path: Path) -> None:
    """As Alibaba's `task_name`: each row succeeds, and none was another's second attempt."""
    table = "job,task,start,end,state\na,M1,0,5,ok\na,M1,0,6,failed\na,M1,6,9,ok\na,M1,0,7,ok\n"
    columns = "job=job,task=task,start=start,end=end,state=state,unit=s"
    (job,) = imported(written(tmp_path, table), columns).recording.jobs
    assert len(job.tasks.map_ms) == 3


def test_a_row_a_job_tells_how_it_ended_and_how_long_it_took(tmp_path: Path) -> None:
    """A pending job was one of two tasks of a millisecond, and all had succeeded."""
    found = imported(written(tmp_path, SACCT), SACCT_MAP)
    first, timed_out, _, _ = found.recording.jobs
    assert (first.response_ms, first.killed_ms) == (70_000, None)
    assert {job.killed_ms for job in found.recording.jobs} == {None}
    assert [job.max_attempts for job in found.recording.jobs] == [4, 1, 1, 4]
    assert first.tasks.map_ms.tolist() == [60_000, 60_000]
    assert not first.tasks.failures
    assert [each.ms for row in timed_out.tasks.failures.values() for each in row] == [30_000]
    remarks = found.remarks
    assert remark(remarks, "attempts that succeeded")[:2] == ("read", 3)
    assert remark(remarks, "attempts that failed")[:2] == ("read", 2)
    assert remark(remarks, "tell when they ended")[:2] == ("read", 4)
    assert remark(remarks, "had not begun") == ("dropped", 1, ["history:5"])
    assert remark(remarks, "had not ended") == ("dropped", 1, ["history:6"])
    assert remark(remarks, "no map tells how long") == ("dropped", 1, ["history:7"])
    assert remark(remarks, "without a state") == ("guessed", 1, ["history:8"])


def test_start_and_duration_tell_it_as_an_end_does(tmp_path: Path) -> None:
    """The job of the book's own `sacct` had none to compare."""
    table = SACCT.replace("|End|", "|Elapsed|").replace("2026-01-01T00:01:10", "00:01:00")
    first, *_ = table.splitlines()[1:]
    text = "\n".join([table.splitlines()[0], first])
    columns = SACCT_MAP.replace("end=End", "duration=Elapsed")
    (job,) = imported(written(tmp_path, text), columns).recording.jobs
    assert (job.response_ms, job.tasks.map_ms.tolist()) == (70_000, [60_000, 60_000])


def test_a_kind_that_is_neither_map_nor_reduce_is_told(tmp_path: Path) -> None:
    head, first, *_ = TASKS_CSV.splitlines()
    text = "\n".join([head, first, first.replace("map", "setup")])
    found = imported(written(tmp_path, text), TASKS_MAP)
    assert remark(found.remarks, "taken for maps") == ("guessed", 1, ["history:3"])


def test_what_failed_took_slots_too(tmp_path: Path) -> None:
    """A cluster of unknown size was as large as what succeeded."""
    table = (
        "id|begin|over|state|n\n"
        "1|2026-01-01T00:00:00|2026-01-01T02:00:00|TIMEOUT|32\n"
        "2|2026-01-01T00:10:00|2026-01-01T00:20:00|COMPLETED|8\n"
    )
    columns = "job=id,submit=begin,start=begin,end=over,state=state,maps=n,unit=s"
    found = imported(written(tmp_path, table), columns)
    assert remark(found.remarks, "40 tasks ran at once at most")[:2] == ("guessed", 20)
    alone = "\n".join(table.splitlines()[:2]).replace("32", "1")
    found = imported(written(tmp_path, alone), columns)
    assert remark(found.remarks, ": 1 task ran at once at most")[:2] == ("guessed", 1)


def test_tasks_that_failed_fail_again(tmp_path: Path) -> None:
    head, first, second, *_ = TASKS_CSV.splitlines()
    text = f"{head};state\n{first};FAILED\n{second};SUCCEEDED\n"
    (job,) = imported(written(tmp_path, text), f"{TASKS_MAP},state=state").recording.jobs
    assert [each.ms for row in job.tasks.failures.values() for each in row] == [10_000]


ATTEMPTS = """job,task,kind,start,end,state
a,m0,map,1,11,FAILED
a,m0,map,12,22,SUCCEEDED
a,m0,reduce,22,30,SUCCEEDED
a,m1,map,1,40,KILLED
a,m1,map,30,36,SUCCEEDED
a,,map,0,7,SUCCEEDED
a,,map,0,7,SUCCEEDED
a,r1,reduce,30,45,KILLED
a,r1,reduce,46,54,SUCCEEDED
b,m0,map,30,40,SUCCEEDED
"""
ATTEMPTS_MAP = "job=job,task=task,kind=kind,start=start,end=end,state=state,unit=s"


def test_rows_of_one_name_are_attempts_of_one_task(tmp_path: Path) -> None:
    """An attempt that failed and the one that succeeded were two tasks: the work came twice.  The
    one killed beside another is none of a task that takes as long.  What has no name is its own.
    A reduce that was killed had worked since the last map, and came to a millisecond.
    """
    found = imported(written(tmp_path, ATTEMPTS), ATTEMPTS_MAP)
    assert (found.tasks, found.attempts) == (7, 10)
    first, second = (job.tasks for job in found.recording.jobs)
    assert first.map_ms.tolist() == [10_000, 6000, 7000, 7000]
    (failed,), (gave_way,) = first.failures[MAPS, 0], first.failures[REDUCES, 1]
    assert (failed.ms, failed.killed) == (10_000, False)
    assert (gave_way.ms, gave_way.killed) == (9000, True)
    assert (len(first.rest_ms), second.map_ms.tolist()) == (2, [10_000])
    assert remark(found.remarks, "beside another of their task")[:2] == ("dropped", 1)


def test_rows_of_several_equal_tasks_are_no_attempts(tmp_path: Path) -> None:
    """Though they have one name: it is that of all of them."""
    table = "job,task,n,start,end\na,sort,2,0,10\na,sort,1,0,20\n"
    columns = "job=job,task=task,maps=n,start=start,end=end,unit=s"
    (job,) = imported(written(tmp_path, table), columns).recording.jobs
    assert job.tasks.map_ms.tolist() == [10_000, 10_000, 20_000]


def test_a_row_a_task(tmp_path: Path) -> None:
    recording = imported(written(tmp_path, TASKS_CSV), TASKS_MAP).recording
    first, second = recording.jobs
    assert first.tasks.map_ms.tolist() == [10_000, 5000]
    assert first.tasks.reduce(0) == (0, 0, 8000)
    assert (second.submit_ms, second.tasks.map_ms.tolist()) == (2000, [1000])
    assert recording.hosts == ("h1", "h2")


@pytest.mark.parametrize(("begin", "slots"), [(11_000, 1), (10_999, 2)])
def test_a_task_that_begins_as_another_ends_takes_its_slot(
    tmp_path: Path, begin: int, slots: int
) -> None:
    head, first = TASKS_CSV.splitlines()[:2]
    text = f"{head}\n{first}\nc;m1;map;{begin};12000;h1\n"
    assert imported(written(tmp_path, text), TASKS_MAP).recording.map_slots == slots


def test_times_have_the_unit_that_is_stated_or_are_said_to_be_seconds(tmp_path: Path) -> None:
    path = written(tmp_path, JOBS_CSV)
    minutes = imported(path, JOBS_MAP.replace("unit=s", "unit=min"))
    assert minutes.recording.jobs[0].tasks.map_ms[0] == 1_200_000
    guessed = imported(path, JOBS_MAP.replace(",unit=s", ""))
    assert guessed.recording.jobs[0].tasks.map_ms[0] == 20_000
    assert remark(guessed.remarks, "no unit is stated")[0] == "guessed"


def test_a_table_without_a_header_has_columns_by_number(tmp_path: Path) -> None:
    rows = JOBS_CSV.partition("\n")[2]
    numbered = "job=#1,submit=#2,maps=#3,map_time=#4,unit=s"
    jobs = imported(written(tmp_path, rows), numbered).recording.jobs
    assert [job.name for job in jobs] == ["a", "b"]


def test_columns_and_rows_that_are_not_used_are_counted(tmp_path: Path) -> None:
    text = JOBS_CSV + "c,1,2\nd,20,1,-3,ann\n"
    found = imported(written(tmp_path, text), JOBS_MAP.replace(",user=who", ""))
    assert remark(found.remarks, "not mapped: who")[:2] == ("dropped", 1)
    assert remark(found.remarks, "another number of cells") == ("dropped", 1, ["history:4"])
    assert remark(found.remarks, "`seconds` below 0") == ("dropped", 1, ["history:5"])


@pytest.mark.parametrize("torn", ["a,1,2,20,ann,x", "a,1,2"])
def test_a_table_whose_first_row_is_torn_is_one(tmp_path: Path, torn: str) -> None:
    """It could not be imported at all, and nothing told of the row."""
    text = JOBS_CSV.replace("a,10,3,20,ann", torn) + "c,15,1,4,cid\n"
    found = imported(written(tmp_path, text), JOBS_MAP)
    assert [job.name for job in found.recording.jobs] == ["b", "c"]
    assert remark(found.remarks, "another number of cells") == ("dropped", 1, ["history:2"])


@pytest.mark.parametrize(
    "text",
    ["Dear Ann, Bob, Cid,\n\nit is late, and I am off.\nYours, D, of E\n", "a,b\n" * 3, "\n"],
)
def test_what_has_commas_is_no_table_yet(text: str) -> None:
    assert not is_table(text.encode())


def test_where_no_row_has_the_headers_cells_it_says_of_which_lines(tmp_path: Path) -> None:
    """As of one whose rows end in a comma."""
    text = JOBS_CSV.replace("ann\n", "ann,\n").replace("bob\n", "bob,\n")
    told = error_of(lambda: imported(written(tmp_path, text), JOBS_MAP)).problem
    assert "another number of cells than the table has columns: 2 (history:2, history:3)" in told


@pytest.mark.parametrize(
    ("text", "columns", "key", "line", "words"),
    [
        (JOBS_CSV, "", "", None, "there are name, start_time, instance_num"),
        (JOBS_CSV, "submit=start_time", "", None, "how long tasks take"),
        (JOBS_CSV, JOBS_MAP + ",pool=gone", "", None, 'no column "gone"'),
        (JOBS_CSV, "sumbit=start_time", "workload.columns", None, "maps no column"),
        (JOBS_CSV, JOBS_MAP.replace("unit=s", "unit=years"), "workload.columns", None, "unit="),
        (JOBS_CSV.replace("12.5", "soon"), JOBS_MAP, "start_time", 3, "1-02:03:04, got 'soon'"),
        (JOBS_CSV.replace(",3,", ",3e9,"), JOBS_MAP, "instance_num", 2, "tasks"),
        (JOBS_CSV.replace(",20,", ",1e14,"), JOBS_MAP, "", None, "limit"),
    ],
)
def test_what_is_wrong_is_told(
    tmp_path: Path, text: str, columns: str, key: str, line: int | None, words: str
) -> None:
    error = error_of(lambda: imported(written(tmp_path, text), columns))
    assert (error.key, error.line) == (key, line)
    assert words in error.problem


def test_parquet_is_the_same_as_csv(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    columns = {
        "name": ["a", "b"],
        "start_time": [10.0, 12.5],
        "instance_num": [3, 1],
        "seconds": [20, 4],
        "who": ["ann", "bob"],
    }
    path = tmp_path / "jobs"
    parquet.write_table(arrow.table(columns), path)
    jobs = imported(path, JOBS_MAP).recording.jobs
    assert jobs == imported(written(tmp_path, JOBS_CSV), JOBS_MAP).recording.jobs
    path.write_bytes(path.read_bytes()[:50])
    assert "not a good Parquet file" in error_of(lambda: imported(path, JOBS_MAP)).problem


def test_opendcs_tasks_need_no_map_and_its_fragments_are_left_out() -> None:
    folder = trace("opendc/trace-v2.1/tasks.parquet").parent
    found = imported(folder)
    assert (found.jobs, found.tasks) == (4, 4)
    assert remark(found.remarks, "without jobs")[2] == ["fragments.parquet"]


def with_failures(folder: Path) -> tuple[Path, Path]:
    """A file of a job on eight nodes, and beside it a trace of failures."""
    parquet = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    rows = {
        "failure_interval": [1000, 500, 60_000],
        "failure_duration": [10_000, 10_000, 1000],
        "failure_intensity": [0.25, 0.5, 1.0],
    }
    failures = folder / "failures.parquet"
    parquet.write_table(arrow.table(rows), failures)
    nodes = "; MaxNodes: 8\n; MaxProcs: 8\n1 0 0 9 1 -1 -1 1 -1 -1 1 1 -1 -1 -1 -1 -1 -1\n"
    return written(folder, nodes), failures


def test_failures_of_shares_become_outages_of_as_many_nodes(tmp_path: Path) -> None:
    jobs, failures = with_failures(tmp_path)
    outages = import_files([jobs, failures]).outages
    begun = [each.begin_ms for each in outages]
    assert [begun.count(at_ms) for at_ms in (1000, 1500, 61_500)] == [2, 4, 8]
    assert len({each.node for each in outages[:6]}) == 6
    assert "together with" in error_of(lambda: imported(failures)).problem


@pytest.mark.parametrize(
    ("written_as", "mb"), [("4000", 4000), ("4000M", 4000), ("4G", 4096), ("2.5Gn", 2560)]
)
def test_memory_has_a_unit_or_is_in_mb(tmp_path: Path, written_as: str, mb: int) -> None:
    """As sacct's ReqMem has it."""
    path = written(tmp_path, f"id,came,each,mem\na,0,5,{written_as}\n")
    columns = "job=id,submit=came,map_time=each,memory=mem,unit=s"
    (job,) = imported(path, columns).recording.jobs
    assert job.demands[0] == (("memory", mb),)
    wrong = written(tmp_path, "id,came,each,mem\na,0,5,lots\n")
    told = error_of(lambda: imported(wrong, columns)).problem
    assert "expected a number of MB, or an amount as 4000M or 4G" in told


def crashes(folder: Path, *overrides: str) -> list[tuple[int, int]]:
    """When which node crashes in the scenario that plays the folder."""
    script = make_fault_script(ScenarioFile(folder, overrides).scenario(), base_dir=folder.parent)
    return [(each.at_ms, each.fault.node) for each in script if isinstance(each.fault, Crash)]


def test_a_folder_with_failures_is_played_with_the_outages_that_an_import_makes(
    tmp_path: Path,
) -> None:
    jobs, failures = with_failures(tmp_path)
    outages = import_files([jobs, failures]).outages
    assert sorted(crashes(tmp_path)) == sorted((each.begin_ms, each.node) for each in outages)
    assert crashes(tmp_path, "timeline=[]") == []
    begun = [at_ms for at_ms, _ in crashes(tmp_path, "cluster.nodes=20")]
    assert [begun.count(at_ms) for at_ms in (1000, 1500, 61_500)] == [5, 10, 20]


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("1-02:03:04", 93_784_000),
        ("02:03:04", 7_384_000),
        ("03:04.5", 184_500),
        ("2026-11-23T10:00:00Z", 1_795_428_000_000),
        ("2026-11-23 10:00:00", 1_795_428_000_000),
        ("2026-11-23T12:00:00+02:00", 1_795_428_000_000),
        ("2026-99-23T12:00:00", None),
        ("12.5", None),
        ("-1", None),
    ],
)
def test_dates_and_lengths_as_people_write_them(text: str, ms: int | None) -> None:
    assert parsed_time_ms(text) == ms


def test_a_table_of_sacct(tmp_path: Path) -> None:
    """Its dates, and lengths of days, hours, minutes and seconds, whatever the unit is."""
    table = (
        "JobID|Submit|Elapsed\n7|2026-11-23T10:00:00|00:01:30\n8|2026-11-23T10:00:05|1-00:00:00\n"
    )
    columns = "job=JobID,submit=Submit,map_time=Elapsed,unit=s"
    jobs = imported(written(tmp_path, table), columns).recording.jobs
    assert [(job.submit_ms, job.tasks.map_ms.tolist()) for job in jobs] == [
        (0, [90_000]),
        (5000, [86_400_000]),
    ]


def test_a_reduce_that_never_succeeded_fails_after_as_long_as_it_ran(tmp_path: Path) -> None:
    """It failed after a millisecond, as one of another job whose shuffle had only just ended."""
    table = "job,task,kind,start,end,state\na,m1,map,0,5,ok\n" + "".join(
        f"a,r1,reduce,{at},{at + 7},failed\n" for at in (6, 14, 22, 30)
    )
    columns = "job=job,task=task,kind=kind,start=start,end=end,state=state,unit=s"
    (job,) = imported(written(tmp_path, table), columns).recording.jobs
    assert [each.ms for rows in job.tasks.failures.values() for each in rows] == [7_000] * 4


@pytest.mark.parametrize("before", ["# of last week", "JobID    Submit    Start"])
def test_what_stands_before_the_names_of_the_columns_is_shown(tmp_path: Path, before: str) -> None:
    """A comment, or `sacct` without --parsable2: known formats were listed, and this was one."""
    error = error_of(lambda: imported(written(tmp_path, f"{before}\n{SACCT}"), SACCT_MAP))
    assert f"here that is {before!r}" in error.problem


def test_a_job_that_begins_before_its_submission_tells_no_response(tmp_path: Path) -> None:
    """It was compared: 180 s of work in a response of 80 s."""
    early = SACCT.replace("1|2026-01-01T00:00:00|", "1|2026-01-01T00:00:30|")
    found = imported(written(tmp_path, early), SACCT_MAP)
    assert found.recording.jobs[-1].response_ms is None
    assert remark(found.remarks, "began before their submission") == ("dropped", 1, ["history:2"])
    table = "job,task,came,start,end\na,1,5,3,20\nb,1,5,6,20\n"
    columns = "job=job,task=task,submit=came,start=start,end=end,unit=s"
    jobs = imported(written(tmp_path, table), columns).recording.jobs
    assert [job.response_ms for job in jobs] == [None, 15_000]


def test_a_submission_that_is_not_told_is_guessed_and_said(tmp_path: Path) -> None:
    table = "job,task,start,end\na,1,5,9\na,2,3,9\nb,1,6,20\n"
    columns = "job=job,task=task,start=start,end=end,unit=s"
    found = imported(written(tmp_path, table), columns)
    assert remark(found.remarks, "submitted when they began")[:2] == ("guessed", 2)
    assert [job.submit_ms for job in found.recording.jobs] == [0, 3_000]


def test_times_that_a_table_does_not_tell_are_not_kept_as_told(tmp_path: Path) -> None:
    """Without a host, too, `start` and `end` say when a job's tasks ran; a length alone does not,
    and of tasks in waves neither does their job's start.
    """
    told = imported(written(tmp_path, SACCT), SACCT_MAP).log
    assert told is not None
    assert told.begin_ms.tolist()[:2] == [told.submit_ms[0] + 10_000] * 2
    none = "job,came,start,end,r\na,0,10,30,0\n"
    columns = "job=job,submit=came,start=start,end=end,reduces=r,unit=s"
    told = imported(written(tmp_path, none), columns).log
    assert told is not None
    assert told.begin_ms.tolist() == [told.submit_ms[0] + 10_000]
    lengths = "job,came,start,each,n\na,0,10,30,8\n"
    for columns in ("submit=came,map_time=each,maps=n", "submit=came,start=start,map_time=each"):
        log = imported(written(tmp_path, lengths), f"job=job,{columns},unit=s").log
        assert log is not None
        assert set(log.begin_ms.tolist()) == {UNTOLD}


def test_the_steps_of_a_job_are_told_to_be_taken_for_jobs(tmp_path: Path) -> None:
    """Without --allocations `sacct` has them; a job of 4 processors was three, without a word."""
    first = SACCT.splitlines()[1]
    steps = "".join(f"{first.replace('1|', f'1.{step}|', 1)}\n" for step in ("batch", "0"))
    table = SACCT.replace(f"{first}\n", f"{first}\n{steps}")
    found = imported(written(tmp_path, table), SACCT_MAP)
    assert remark(found.remarks, "look like steps")[:2] == ("guessed", 2)
    before = imported(written(tmp_path, SACCT), SACCT_MAP).remarks.with_fate("guessed")
    assert not [each for each in before if "steps" in each.what]


def test_a_count_that_is_not_whole_is_remarked_once(tmp_path: Path) -> None:
    table = "job,came,each,then,n,r\na,0,10,5,2,1.5\n"
    columns = "job=job,submit=came,map_time=each,reduce_time=then,maps=n,reduces=r,unit=s"
    found = imported(written(tmp_path, table), columns)
    assert remark(found.remarks, "not whole")[:2] == ("inferred", 1)
