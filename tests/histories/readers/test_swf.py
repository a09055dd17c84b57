"""The Standard Workload Format."""

from functools import partial
from pathlib import Path

import pytest

from tests.histories.readers.samples import SWF, imported, remark, written
from tests.scenarios.support import error_of
from tests.support.traces import trace


def test_n_processors_are_n_equal_maps(tmp_path: Path) -> None:
    found = imported(written(tmp_path, SWF))
    jobs = found.recording.jobs
    assert [job.name for job in jobs] == ["job_1", "job_2", "job_4"]
    assert [job.tasks.map_ms.tolist() for job in jobs] == [[100_000] * 3, [20_000] * 2, [30_000]]
    assert [job.submit_ms for job in jobs] == [0, 50_000, 70_000]
    assert [job.response_ms for job in jobs] == [110_000, None, 35_000]
    assert [job.user for job in jobs] == ["user7", "user", "user8"]
    assert [job.requested_ms for job in jobs] == [600_000, None, 60_000]
    assert (jobs[0].pool, jobs[1].pool) == ("queue2", "")


def test_the_header_tells_the_cluster_and_without_it_what_ran_at_once(tmp_path: Path) -> None:
    """Job 1 has 3 processors from 10 to 110 s, job 4 one from 75 to 105 s; job 2 tells not when."""
    recording = imported(written(tmp_path, SWF)).recording
    assert (recording.nodes, recording.map_slots, recording.rack_sizes) == (4, 2, (4,))
    bare = imported(written(tmp_path, SWF.partition("\n  1")[2].join(["1", ""])))
    assert (bare.recording.nodes, bare.recording.map_slots) == (4, 1)
    assert remark(bare.remarks, "that many ran at once")[:2] == ("guessed", 4)


@pytest.mark.parametrize("line", ["; MaxNodes: 4\n", "; MaxProcs: 8\n"])
def test_a_header_that_says_minus_1_tells_nothing(tmp_path: Path, line: str) -> None:
    """A cluster of -1 nodes became one of one node with all the slots; -1 is SWF's "unknown"."""
    unknown = SWF.replace(line, line.replace(line.split()[-1], "-1"))
    said = imported(written(tmp_path, unknown))
    unsaid = imported(written(tmp_path, SWF.replace(line, "; Note: none\n")))
    assert said.recording == unsaid.recording
    assert list(said.remarks.lines()) == list(unsaid.remarks.lines())


def test_what_was_guessed_or_dropped_is_counted(tmp_path: Path) -> None:
    found = imported(written(tmp_path, SWF))
    assert found.jobs == len(found.recording.jobs) == 3
    assert remark(found.remarks, "without a run time") == ("dropped", 1, ["history:6"])
    assert remark(found.remarks, "unknown wait") == ("guessed", 1, ["history:5"])
    assert remark(found.remarks, "those that they asked for")[:2] == ("inferred", 1)
    assert remark(found.remarks, "cancelled")[:2] == ("inferred", 1)
    assert not [each for each in found.remarks.with_fate("inferred") if "that failed" in each.what]
    assert remark(found.remarks, "dependencies")[:2] == ("dropped", 1)
    assert remark(found.remarks, "estimates of users")[:2] == ("read", 2)


@pytest.mark.parametrize(
    ("before", "after", "field", "words"),
    [
        (" 100  3", " x  3", "run time", "'x'"),
        (" 100  3", " nan  3", "run time", "'nan'"),
        (" 100  3", " 1e300  3", "run time", "'1e300'"),
        (" 100  3", " 100  9999999", "processors", "limit"),
        (" 100  3", " 100", "", "18 fields, got 17"),
    ],
)
def test_a_bad_line_is_named_with_its_field(
    tmp_path: Path, before: str, after: str, field: str, words: str
) -> None:
    first, _, rest = SWF.partition("  2 50")
    text = (
        "  9 0 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n" + first.replace(before, after) + "  2 50" + rest
    )
    error = error_of(lambda: imported(written(tmp_path, text)))
    assert (error.line, error.key) == (5, field)
    assert words in error.problem


def test_a_last_line_that_is_cut_off_is_left_out(tmp_path: Path) -> None:
    """As other formats leave out theirs; one that is whole and bad is refused."""
    for cut in (" -1 -1 -1", " -1 -1 -"):
        text = SWF.rstrip().removesuffix(" -1 -1 -1") + cut.removesuffix(" -1")
        found = imported(written(tmp_path, text))
        assert len(found.recording.jobs) == 2
        assert remark(found.remarks, "which is cut off") == ("dropped", 1, ["history:7"])
        assert found.recording.cut.startswith("history is cut off at line 7")
        whole = written(tmp_path, f"{text}\n", "whole")
        assert error_of(partial(imported, whole)).line == 7


def test_fractions_and_negative_zero_are_numbers(tmp_path: Path) -> None:
    text = SWF.replace(" 100  3", " 100.25  3").replace("  1  0  10", "  1  -0.0  10")
    job = imported(written(tmp_path, text)).recording.jobs[0]
    assert (job.submit_ms, job.tasks.map_ms[0]) == (0, 100_250)


@pytest.mark.soak
def test_nasas_log_is_read_whole() -> None:
    found = imported(trace("swf/NASA-iPSC-1993-3.1-cln.swf.gz"))
    assert (found.jobs, found.recording.nodes) == (18_239, 128)
    assert len(found.recording.jobs) == 18_239
