"""Histories in which the records of one job stand together, and may say the same thing again."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from callboard.histories.inference.recording_maker import RecordingMaker
from callboard.histories.model.cluster_history import HistoryJob
from callboard.histories.readers.unpacked_text import Numbers
from callboard.scheduler.text.scenario_error import ScenarioError


class JobByJobReader:
    """Keeps the job whose records are being read, and hands it on when those of another come."""

    record_is_called: ClassVar[str]

    def __init__(self, maker: RecordingMaker) -> None:
        self._maker = maker
        self._job: HistoryJob | None = None

    def _begin_file(self, path: Path) -> None:
        self._path, self._name = path, path.name
        self._numbers = Numbers(path, self._maker.remarks)
        self._job = None

    def _job_named(self, name: str, line: int) -> HistoryJob:
        """The job that a record is about, new if the last one was about another."""
        if self._job is None or self._job.name != name:
            self._end_job()
            self._job = HistoryJob(name, self._name, line)
        return self._job

    def _end_job(self) -> None:
        job, self._job = self._job, None
        if job is not None:
            self._maker.add(job)

    def _set_job_numbers(
        self, job: HistoryJob, names: Mapping[str, str], fields: Mapping[str, Any], line: int
    ) -> None:
        """Take its times and how many tasks it has, as far as the record tells them."""
        for key, attribute in names.items():
            if key in fields:
                is_time = attribute.endswith("_ms")
                number = self._numbers.non_negative if is_time else self._numbers.count
                setattr(job, attribute, number(fields[key], key, line))

    def _needed_text(self, fields: Mapping[str, Any], key: str, line: int) -> str:
        value = fields.get(key)
        if not isinstance(value, str) or not value:
            problem = f"this {self.record_is_called} lacks the field"
            raise ScenarioError(problem, source=self._path, key=key, line=line)
        return value

    def _place_of_line(self, line: int) -> str:
        return f"{self._name}:{line}"
