"""SWIM traces: what a line must be, and the job that is made of it."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.histories.readers.swim_lines import SwimLine, read_swim
from callboard.scenarios.scenario_file import from_dict, load_scenario, make_jobs
from callboard.scenarios.swim_trace import SwimWorkload, swim_job
from callboard.scheduler.text.scenario_error import ScenarioError
from tests.scenarios.support import error_of, raw
from tests.support.traces import FOLDER

FB_2009 = FOLDER / "FB-2009_samples_24_times_1hr_0.tsv"
FB_2010 = FOLDER / "FB-2010_samples_24_times_1hr_0.tsv"
needs_traces = pytest.mark.skipif(
    not (FB_2009.is_file() and FB_2010.is_file()),
    reason=f"the published traces are not in {FOLDER} (set CALLBOARD_TRACES to their folder)",
)

GB = 10**9


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "trace.tsv"
    path.write_text(text, encoding="utf-8")
    return path


def line(input_bytes: int = 0, shuffle: int = 0, output: int = 0, submit_s: int = 0) -> SwimLine:
    return SwimLine("job0", submit_s, submit_s, input_bytes, shuffle, output)


def test_a_trace_is_read_as_it_stands(tmp_path: Path) -> None:
    path = written(tmp_path, "job0\t49\t49\t740773\t2339561\t627471\r\njob1 49 0  7 0 9\n\n\n")
    assert read_swim(path) == (
        SwimLine("job0", 49, 49, 740773, 2339561, 627471, 1),
        SwimLine("job1", 49, 0, 7, 0, 9, 2),
    )
    assert len(read_swim(path, 1)) == 1


@pytest.mark.parametrize(
    ("text", "at", "column", "words"),
    [
        ("j0\t1\t1\t0\t0\t0\nj1\t2\t1\t0\t0", 2, "", "expected 6 columns"),
        ("j0\t1\t1\t0\t0\t0\t0", 1, "", "got 7"),
        ("j0\t1\t1\t0\t0\t0\n\nj1\t2\t1\t0\t0\t0", 2, "", "got 0"),
        ("j0\t1\t1\t-5\t0\t0", 1, "input bytes", 'got "-5"'),
        ("j0\t1\t1\t0\t1.5\t0", 1, "shuffle bytes", 'got "1.5"'),
        ("j0\t1\t1\t0\t0\tx", 1, "output bytes", 'got "x"'),
        ("j0\t1\tx\t0\t0\t0", 1, "gap", 'got "x"'),
        ("j0\t٣\t1\t0\t0\t0", 1, "submit time", "whole number"),
        ("j0\t1\t1\t0\t0\t" + "9" * 30, 1, "output bytes", "at most"),
        ("j0\t5\t5\t0\t0\t0\nj1\t4\t0\t0\t0\t0", 2, "submit time", "before the line above (5)"),
        ("j0\t5\t5\t0\t0\t0\nj0\t6\t1\t0\t0\t0", 2, "job id", "already on line 1"),
    ],
)
def test_a_bad_line_is_named_with_its_column(
    tmp_path: Path, text: str, at: int, column: str, words: str
) -> None:
    path = written(tmp_path, text)
    error = error_of(lambda: read_swim(path))
    assert (error.source, error.line, error.key) == (str(path), at, column)
    assert words in error.problem


def test_no_trace_and_an_empty_trace_are_said_so(tmp_path: Path) -> None:
    assert "empty" in str(error_of(lambda: read_swim(written(tmp_path, "\n \n"))))
    assert "no such file" in str(error_of(lambda: read_swim(tmp_path / "none.tsv")))
    missing = SwimWorkload(path="none.tsv")
    assert error_of(lambda: missing.make_jobs(1, tmp_path)).key == "workload.path"
    assert error_of(lambda: SwimWorkload(path="a\0b").make_jobs(1, tmp_path)).key == "workload.path"
    assert (
        error_of(lambda: SwimWorkload(path="x" * 5000).make_jobs(1, tmp_path)).key
        == "workload.path"
    )


def test_a_trace_is_found_beside_the_scenario(tmp_path: Path) -> None:
    written(tmp_path, "j0\t3\t3\t0\t0\t0\n")
    scenario = from_dict(raw(workload={"kind": "swim", "path": "trace.tsv", "time_scale": 0.5}))
    assert [job.submit_ms for job in make_jobs(scenario, tmp_path)] == [1500]


def test_a_trace_is_told_by_its_content_too(tmp_path: Path) -> None:
    path = written(tmp_path, "j0\t3\t3\t0\t0\t0\nj1\t4\t1\t0\t0\t0\n").rename(tmp_path / "day")
    assert isinstance(load_scenario(path).workload, SwimWorkload)


def test_a_job_with_shuffle_by_hand() -> None:
    """300 MB in, 1.5 GB of shuffle, 600 MB out, with the default rates.

    Three blocks of 128 MB hold 300 MB: three maps of 100 MB, each 2 + 100/5 = 22 s.
    Two reduces of 750 MB: shuffle 750/20 = 37.5 s; then 2 + 750/20 + 300/20 = 54.5 s.
    """
    job = swim_job(line(300 * 10**6, 1500 * 10**6, 600 * 10**6, 7), 3, SwimWorkload(path=""))
    assert (job.job, job.name, job.submit_ms) == (3, "job0", 7000)
    assert job.solo_time_key == (3, 22_000, 2, 37_500, 54_500)


def test_a_job_without_shuffle_writes_from_its_maps() -> None:
    """256 MB are exactly two blocks; each map 2 + 128/5 + 40/20 = 29.6 s."""
    job = swim_job(line(256 * 10**6, 0, 80 * 10**6), 0, SwimWorkload(path=""))
    assert job.solo_time_key == (2, 29_600, 0, 0, 0)


def test_a_byte_more_than_a_block_takes_another_map() -> None:
    workload = SwimWorkload(path="")
    assert swim_job(line(128 * 10**6), 0, workload).maps == 1
    assert swim_job(line(128 * 10**6 + 1), 0, workload).maps == 2
    assert swim_job(line(1, 10**9), 0, workload).reduces == 1
    assert swim_job(line(1, 10**9 + 1), 0, workload).reduces == 2


def test_a_job_that_reads_nothing_has_one_map() -> None:
    assert swim_job(line(), 0, SwimWorkload(path="")).solo_time_key == (1, 2000, 0, 0, 0)
    no_start = SwimWorkload(path="", startup_s=0)
    assert swim_job(line(), 0, no_start).map_ms == 1


def test_a_job_of_too_many_tasks_is_refused() -> None:
    error = error_of(lambda: swim_job(line(10**18), 0, SwimWorkload(path=""), "t.tsv"))
    assert error.source == "t.tsv"
    assert "block_mb" in error.problem


@needs_traces
def test_fb_2009_has_the_tasks_that_its_readme_tells_of() -> None:
    """About 215,000 maps and 23,000 reduces, about 239,000 tasks; half the jobs have one map."""
    made = SwimWorkload(path=str(FB_2009)).make_jobs(1)
    maps, reduces = sum(job.maps for job in made), sum(job.reduces for job in made)
    assert (len(made), maps, reduces) == (5894, 215_440, 23_408)
    assert sum(job.maps == 1 for job in made) > len(made) / 2
    assert sum(job.reduces == 0 for job in made) == 4448
    assert made[0].submit_ms == 49_000


@needs_traces
def test_fb_2010_has_about_eight_and_a_half_million_maps() -> None:
    made = SwimWorkload(path=str(FB_2010)).make_jobs(1)
    maps, reduces = sum(job.maps for job in made), sum(job.reduces for job in made)
    assert (len(made), maps, reduces) == (24_442, 8_476_631, 452_158)


@needs_traces
def test_fb_2009_offers_the_load_that_the_docs_tell_of() -> None:
    """Slot-seconds of one day over those of 600 × (4 + 2) slots; see docs/scenarios.md."""
    made = SwimWorkload(path=str(FB_2009)).make_jobs(1)
    map_s = sum(job.maps * job.map_ms for job in made) / 1000
    reduce_s = sum(job.reduces * (job.shuffle_ms + job.reduce_ms) for job in made) / 1000
    assert map_s / (86_400 * 600 * 4) == pytest.approx(0.030, abs=0.001)
    assert reduce_s / (86_400 * 600 * 2) == pytest.approx(0.022, abs=0.001)


@needs_traces
def test_the_first_jobs_of_a_trace_do_not_depend_on_how_many_are_taken() -> None:
    few, many = (SwimWorkload(path=str(FB_2009), jobs=n).make_jobs(1) for n in (50, 500))
    assert many[:50] == few


CELLS = st.one_of(
    st.integers(-2, 10**20).map(str), st.text(max_size=5), st.sampled_from(["job0", "", "1e3"])
)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(rows=st.lists(st.lists(CELLS, min_size=5, max_size=7), max_size=4))
def test_whatever_the_lines_only_a_scenario_error_comes_out(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.tsv"
    path.write_text("\n".join("\t".join(row) for row in rows), encoding="utf-8", errors="ignore")
    with suppress(ScenarioError):
        made = SwimWorkload(path=str(path)).make_jobs(1)
        assert all(job.maps >= 1 and job.map_ms >= 1 for job in made)
