"""Whatever is done to a file of any format, it is read, or refused in a sentence."""

import gzip
import json
import zlib
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.histories.model.import_report import FATES
from callboard.histories.readers.unpacked_text import open_unpacked
from callboard.histories.recording_file import FORMATS, format_of, import_files
from callboard.scheduler.text.scenario_error import ScenarioError
from tests.histories.readers.samples import HADOOP1, HADOOP2, SWF, TASKS_CSV, imported, written
from tests.histories.readers.test_column_map import JOBS_CSV, JOBS_MAP, TASKS_MAP
from tests.histories.readers.test_rumen import job as rumen_job
from tests.histories.readers.test_sls import container, synth
from tests.histories.readers.test_sls import job as sls_job
from tests.support.soak import one_in

SAMPLES = {
    "Hadoop 1 job history": (HADOOP1, ""),
    "Hadoop 2 job history": (HADOOP2, ""),
    "Rumen trace": (json.dumps(rumen_job(), indent=1), ""),
    "SLS jobs": (sls_job(container("map", 0, 9), container("reduce", 10, 19)), ""),
    "SLS SYNTH workload": (synth(num_jobs=3), ""),
    "Standard Workload Format": (SWF, ""),
    "table": (JOBS_CSV, JOBS_MAP),
    "table of tasks": (TASKS_CSV, TASKS_MAP),
}
PIECES = [
    "",
    "-1",
    "-0.0",
    "1e308",
    "nan",
    "null",
    '"',
    "\\",
    "{",
    "}",
    "\n",
    "\0",
    "é",
    "[]",
    "9" * 25,
]


def test_every_format_has_a_sample_and_is_told_by_it(tmp_path: Path) -> None:
    for name, (text, _) in SAMPLES.items():
        found = format_of(written(tmp_path, text))
        assert found is not None
        assert found.name == name.partition(" of")[0]
    assert {each.name for each in FORMATS} == {name.partition(" of")[0] for name in SAMPLES}


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("share", [0.5, 0.8, 0.98])
def test_a_packed_file_that_is_cut_off_is_read_as_far_as_a_plain_one(
    tmp_path: Path, name: str, share: float
) -> None:
    """Of a packed Rumen trace whole megabytes were lost, and of all others the last line's note:
    110,000 of the 110,363 bytes of `folder-input-trace.json.gz` gave 34 jobs, unpacked 58.
    """
    text, columns = SAMPLES[name]
    whole = gzip.compress((text.rstrip() * (2 if text.startswith("{") else 1)).encode())
    packed = whole[: int(len(whole) * share)]
    plain = zlib.decompressobj(wbits=31).decompress(packed)
    said, cut = _told(written(tmp_path, packed), columns)
    same, plain_cut = _told(written(tmp_path, plain), columns)
    assert said == same
    assert plain_cut in (cut, "")  # a plain one does not always show that it is cut off


def _told(path: Path, columns: str) -> tuple[list[str], str]:
    """What is said of a file, but that it was packed."""
    try:
        remarks = import_files([path], columns).remarks
    except ScenarioError as error:
        return [each for each in error.problem.split("; ") if " packed " not in each], ""
    said = (each.what for fate in FATES for each in remarks.with_fate(fate))
    return [each for each in said if " packed " not in each], remarks.cut_files_in_words


@pytest.mark.parametrize("name", one_in(4, SAMPLES))
@settings(derandomize=True, max_examples=120, deadline=None)
@given(data=st.data())
def test_a_changed_file_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    text, columns = SAMPLES[name]
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        length = data.draw(st.sampled_from([0, 1, 5, 40]))
        text = text[:at] + data.draw(st.sampled_from(PIECES)) + text[at + length :]
    path = written(tmp_path_factory.getbasetemp(), text, "changed")
    with suppress(ScenarioError):
        recording = imported(path, columns).recording
        assert recording.jobs
        for job in recording.jobs:
            assert min(job.tasks.map_ms) >= 1
            assert job.submit_ms >= 0


@pytest.mark.parametrize("name", SAMPLES)
def test_the_mark_of_utf8_that_editors_write_changes_nothing(tmp_path: Path, name: str) -> None:
    text, columns = SAMPLES[name]
    plain = imported(written(tmp_path, text, "jobs"), columns).recording
    marked = imported(written(tmp_path, f"\ufeff{text}", "jobs"), columns).recording
    assert marked == plain


def test_text_in_utf16_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "jobs.json"
    path.write_text(SAMPLES["SLS jobs"][0], encoding="utf-16")
    with pytest.raises(ScenarioError, match="this is text in UTF-16; save it as UTF-8"):
        imported(path)


NO_BLOCK = b"\xff" * 64
"""What can begin no block of a packed file."""


@pytest.mark.parametrize("size", [1 << 20, 100, 3])
def test_of_a_packed_file_with_damage_in_it_as_much_is_had_in_pieces_as_at_once(
    tmp_path: Path, size: int
) -> None:
    """Where a megabyte was asked for, 8,192 bytes of 24,576 were had."""
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    text = "".join(f"{nth} job_{nth} {nth * nth % 977}\n" for nth in range(1500)).encode()
    packed = packer.compress(text) + packer.flush(zlib.Z_FULL_FLUSH) + NO_BLOCK
    (path := tmp_path / "jobs.gz").write_bytes(packed)
    with open_unpacked(path) as file:
        at_once = file.read()
    with open_unpacked(path) as file:
        pieces = b"".join(iter(lambda: file.read(size), b""))
        assert file.breaks_off
        assert not file.read(size)
    assert len(text) - 8192 < len(pieces) <= len(text)
    assert text.startswith(pieces)
    assert pieces == at_once
