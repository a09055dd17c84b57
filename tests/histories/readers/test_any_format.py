"""Whatever is done to a file of any format, it is read, or refused in a sentence."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.histories.recording_file import FORMATS, format_of
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
