"""Histories in which the records of one job stand together, and may say the same thing again."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from callboard.histories.model.cluster_history import HistoryJob, HistoryTask
from callboard.histories.readers.history_reader import HistoryReader
from callboard.scheduler.text.scenario_error import ScenarioError


class JobByJobReader(HistoryReader):
    """Keeps the job whose records are being read, and hands it on when those of another come."""

    record_is_called: ClassVar[str]

    def read(self, path: Path) -> None:
        """Read a file to its end, which is that of its last job too."""
        self._job: HistoryJob | None = None
        super().read(path)
        self._end_job()

    def _job_named(self, name: str, line: int) -> HistoryJob:
        """The job that a record is about, new if the last one was about another."""
        if self._job is None or self._job.name != name:
            self._end_job()
            self._job = HistoryJob(name, self._path.name, line)
        return self._job

    def _end_job(self) -> None:
        job, self._job = self._job, None
        if job is not None:
            self._maker.add(job)

    def _numbered_task(self, job: HistoryJob, key: str, name: str, line: int) -> HistoryTask:
        """The map or the reduce of this name, which stands in a field of the record; new if it is
        the first of that number.
        """
        head, _, number = name.rpartition("_")
        kind = head[-2:]
        if kind not in ("_m", "_r") or not (number.isascii() and number.isdigit()):
            problem = f"expected a task such as task_201001010000_0001_m_000000, got {name[:60]!r}"
            raise ScenarioError(problem, source=self._path, key=key, line=line)
        tasks = job.reduces if kind == "_r" else job.maps
        return tasks.setdefault(int(number[:9]), HistoryTask(line=line))

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
