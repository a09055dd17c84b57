"""Tables of jobs or tasks, as CSV or Parquet, with a map of columns: `submit=start_time,unit=ms`.

A row is a job, unless `task` or `kind` is mapped, or `rows=tasks` is said: then the rows of one
`job` are its tasks.  A table without a header has its columns by number, `#1` the first.
"""

import csv
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from callboard.actors.config import TASKS_MAX
from callboard.actors.job_spec import Amounts
from callboard.histories.inference.recording_maker import RecordingMaker
from callboard.histories.model.cluster_history import (
    Ending,
    HistoryAttempt,
    HistoryJob,
    HistoryTask,
)
from callboard.histories.model.container_amounts import (
    MEMORY,
    VCORES,
    container_amounts,
    greatest_amounts,
)
from callboard.histories.readers.history_reader import HistoryReader
from callboard.histories.readers.unpacked_text import (
    begins_as_array,
    ends_within_line,
    first_bytes,
    text_lines,
)
from callboard.scheduler.text.scenario_error import ScenarioError

PARQUET_MAGIC = b"PAR1"
TIME_UNITS = {"us": 0.001, "ms": 1.0, "s": 1000.0, "min": 60_000.0, "h": 3_600_000.0}
MEANINGS = {
    "job": "its name; rows of one name are one job's tasks, where a row is a task",
    "submit": "when the job was submitted",
    "maps": "how many maps a job has, or how many equal tasks a row stands for",
    "map_time": "how long one map took",
    "reduces": "how many reduces",
    "reduce_time": "how long one reduce took",
    "start": "when the task, or the job, started",
    "end": "when it ended: with `start`, how long it took",
    "duration": "how long it took",
    "task": "the task's name; rows of one name are its attempts",
    "kind": "whether the task is a map or a reduce (of which the word begins with r)",
    "host": "where the task ran",
    "user": "whose it is",
    "pool": "in which pool",
    "state": "how it ended: COMPLETED and the like succeeded, PENDING had not begun, an attempt"
    " with KILLED was killed, others failed",
    "estimate": "how long its user said that a task would take",
    "memory": "what a task takes of a node's memory: MB, or with a unit as in 4000M or 4G",
    "vcores": "what it takes of its virtual cores",
}
"""What a column can mean."""

_LENGTH = re.compile(r"(?:(?:(\d{1,6})-)?(\d{1,6}):)?(\d{1,6}):(\d{1,6}(?:\.\d{1,9})?)", re.ASCII)
_AMOUNT = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)\s*([KMGT])(?:i?B|n)?", re.ASCII | re.IGNORECASE)
_MEGABYTES = {"K": 1 / 1024, "M": 1.0, "G": 1024.0, "T": 1024.0**2}
_DATE = re.compile(r"\d{4}-\d\d-\d\d[T ]", re.ASCII)

OPENDC_COLUMNS = "job=id,submit=submission_time,duration=duration,maps=cpu_count,unit=ms"
"""The map of OpenDC's tasks, which need none of the user's."""

_SUCCEEDED = frozenset({"completed", "succeeded", "success", "finished", "done", "ok", "cd"})
_STEP = re.compile(r"(.+)\.(?:batch|extern|interactive|\d+)")
"""As Slurm numbers what runs within a job."""

_WAITING = frozenset({"pending", "queued", "waiting", "submitted", "pd"})
_GOES_ON = frozenset({"running", "suspended", "completing", "started", "r", "s", "cg"})
"""First words of states, as Slurm and others write them; all others are of failures."""

_UNTOLD = frozenset({"", "unknown", "none"})
"""In place of a time, as `sacct` writes it of what has not begun or ended."""

_ROW_LINES = 10
"""Of so many lines a row may be that the file breaks off in; of more, a quote was forgotten."""

_ROWS_LOOKED_AT = 20
"""So many of a file's rows say whether it is a table."""

_Row = Mapping[str, Any]
_EVERY = {"maps": "map_time", "reduces": "reduce_time"}


class ColumnMap:
    """What the columns of a table mean, as `meaning=column,...` says it."""

    def __init__(self, spelling: str) -> None:
        self.columns: dict[str, str] = {}
        self.unit = ""
        self.rows: Literal["jobs", "tasks"] = "jobs"
        for part in filter(None, (each.strip() for each in spelling.split(","))):
            meaning, equals, column = (text.strip() for text in part.partition("="))
            if meaning == "unit" and column in TIME_UNITS:
                self.unit = column
            elif meaning == "rows" and column in ("jobs", "tasks"):
                self.rows = "tasks" if column == "tasks" else "jobs"
            elif meaning in MEANINGS and equals and column:
                self.columns[meaning] = column
            else:
                _refuse_part(part)
        if "task" in self.columns or "kind" in self.columns:
            self.rows = "tasks"

    def check(self, there: list[str], source: Path) -> None:
        """ScenarioError where a column is not there, or one that is needed is not mapped."""
        listed = ", ".join(there[:40])
        for meaning, column in self.columns.items():
            if column not in there:
                problem = f'no column "{column}" for `{meaning}`; there are {listed}'
                raise ScenarioError(problem, source=source)
        own = self.columns.keys()
        timed = {"duration", "map_time"} & own or {"start", "end"} <= own
        if not timed or not ({"submit", "start"} & own):
            problem = "say which columns tell when jobs are submitted and how long tasks take"
            way = "--map submit=COLUMN,maps=COLUMN,map_time=COLUMN,unit=s"
            raise ScenarioError(f"{problem}: {way}; there are {listed}", source=source)


def _refuse_part(part: str) -> None:
    known = ", ".join(MEANINGS)
    units = "|".join(TIME_UNITS)
    problem = f'"{part[:60]}" maps no column; expected meaning=column, where meanings are {known}'
    raise ScenarioError(f"{problem}; or unit={units}, or rows=tasks", key="workload.columns")


class TableReader(HistoryReader):
    """Reads tables."""

    def __init__(self, maker: RecordingMaker, columns: str = "") -> None:
        super().__init__(maker, columns)
        self._map = ColumnMap(columns)
        self._jobs: dict[str, HistoryJob] = {}
        self._named: dict[tuple[str, bool, str], HistoryTask] = {}
        """Tasks by their job, whether they are reduces, and their name."""
        self._nth = 0
        self._last_name = ""
        self._came_ms: int | None = None
        """When the job of the row before came."""

    def _read_file(self, path: Path) -> None:
        names, rows = self._columns_and_rows(path)
        columns = self._map
        if not columns.columns and {"submission_time", "duration", "cpu_count"} <= {*names}:
            columns = self._map = ColumnMap(OPENDC_COLUMNS)
        columns.check(names, path)
        unused = [name for name in names if name not in columns.columns.values()]
        note = f"columns that are not mapped: {', '.join(unused[:20])}"
        self._maker.remarks.add("dropped", note, count=len(unused))
        for line, row in rows:
            self._take_row(
                {meaning: row.get(name) for meaning, name in columns.columns.items()}, line
            )
        for job in self._jobs.values():
            self._end_with_last_task(job)
            self._maker.add(job)
        self._jobs, self._named = {}, {}

    def _columns_and_rows(self, path: Path) -> tuple[list[str], Iterator[tuple[int, _Row]]]:
        if first_bytes(path, 4) == PARQUET_MAGIC:
            return parquet_table(path)
        return self._csv_table(path)

    def _csv_table(self, path: Path) -> tuple[list[str], Iterator[tuple[int, _Row]]]:
        lines = text_lines(path, self._maker.remarks)
        first = next(((number, text) for number, text in lines if text.strip()), (1, ""))
        rows = self._csv_rows(chain([first], lines), max(",;\t|", key=first[1].count))
        header = next(rows, (1, []))
        by_number = [f"#{place + 1}" for place in range(len(header[1]))]
        headless = any(name in by_number for name in self._map.columns.values())
        names = by_number if headless else [name.strip() for name in header[1]]
        return names, self._whole_rows(chain([header], rows) if headless else rows, names)

    def _whole_rows(
        self, rows: Iterator[tuple[int, list[str]]], names: list[str]
    ) -> Iterator[tuple[int, _Row]]:
        at = torn = 0
        for at, cells in rows:
            if len(cells) == len(names):
                yield at, dict(zip(names, cells, strict=True))
                continue
            note = "rows of another number of cells than the table has columns"
            self._note("dropped", note, at)
            torn = at
        if torn and torn == at and ends_within_line(self._path):
            self._maker.remarks.mark_cut(self._path.name, at)

    def _csv_rows(
        self, lines: Iterator[tuple[int, str]], delimiter: str
    ) -> Iterator[tuple[int, list[str]]]:
        """(its last line, its cells) of each row, of the last one what there is if the file breaks
        off in it; ScenarioError for another quote that is never closed, which would take in the
        rest of the table.
        """
        first = last = 0
        ended = False

        def texts() -> Iterator[str]:
            nonlocal first, last, ended
            for last, text in lines:
                if text.strip():
                    first = first or last
                    yield text
            ended = True

        try:
            for cells in csv.reader(texts(), delimiter=delimiter):
                if ended and not (ends_within_line(self._path) and last - first < _ROW_LINES):
                    raise csv.Error
                yield last, cells
                first = 0
        except csv.Error:
            most = csv.field_size_limit()
            problem = (
                f"no row: it has a lone carriage return, or a cell of over {most:,} characters"
            )
            problem = "a quote is opened and not closed" if ended or last > first else problem
            raise ScenarioError(problem, source=self._path, line=first) from None

    def _take_row(self, row: _Row, line: int) -> None:
        state = _state_word(row)
        for states, what in ((_WAITING, "begun (PENDING)"), (_GOES_ON, "ended (RUNNING)")):
            if state in states:
                note = f"rows of what had not {what}"
                self._note("dropped", note, line)
                return
        if self._map.rows == "tasks":
            self._take_task(row, line)
        else:
            self._take_job(row, line)

    def _take_job(self, row: _Row, line: int) -> None:
        self._nth += 1
        job = self._new_job(_stripped_name(row.get("job")) or f"job_{self._nth}", row, line)
        self._note_job_step(job)
        job.ending = self._ending_of_row(row, line)
        start_ms = self._time_ms(row, "start", line)
        begun = start_ms if start_ms is not None else job.submit_ms or 0
        counts = {"maps": self._task_count(row, "maps", line, 1)}
        counts["reduces"] = self._task_count(row, "reduces", line, 0)
        self._note_untold_reduces(row, counts["reduces"], line)
        spans = start_ms is not None and not row.get("map_time") and not counts["reduces"]
        for tasks, number, kind in ((job.maps, "maps", "map"), (job.reduces, "reduces", "reduce")):
            length = self._length_ms(row, _EVERY[number], line, whole=kind == "map")
            for place in range(counts[number] if length is not None else 0):
                assert length is not None
                times = (begun, begun + length)
                attempt = HistoryAttempt(*times, "succeeded", name="0", times_told=spans)
                tasks[place] = HistoryTask([attempt], line=line)
            begun += length or 0  # reduces work once the maps have ended
        self._fail_last_task(job)
        job.finish_ms = self._time_ms(row, "end", line)
        took_ms = self._time_ms(row, "duration", line)
        if job.finish_ms is None and start_ms is not None and took_ms is not None:
            job.finish_ms = start_ms + took_ms
        self._leave_out_early_end(job, begun_ms=start_ms)
        told = "jobs that tell when they ended, and so how long they took to respond"
        ended = self._maker.add(job) and job.finish_ms is not None
        self._maker.remarks.add("read", told, count=ended)

    def _note_untold_reduces(self, row: _Row, reduces: int, line: int) -> None:
        """Say of how many reduces it is not known how long they take, or of which length there are
        none.
        """
        told = _has_value(row, "reduce_time")
        note = "reduces of jobs that do not tell how long one takes"
        self._note("dropped", note, line, 0 if told else reduces)
        note = "lengths of reduces of jobs that do not tell how many they are"
        self._note("dropped", note, line, told and not _has_value(row, "reduces"))

    def _note_job_step(self, job: HistoryJob) -> None:
        """Say of a row a job that it looks like a part of the job before."""
        step = _STEP.fullmatch(job.name)
        if step is None or step[1] != self._last_name:
            self._last_name = job.name
            return
        note = (
            "rows that look like steps of a job, and are jobs here (`sacct --allocations` has none)"
        )
        self._note("guessed", note, job.line)

    def _fail_last_task(self, job: HistoryJob) -> None:
        """Of a row a job: its last task fails if it did, so that it has done all its work then."""
        last = [*job.maps.values(), *job.reduces.values()][-1:]
        if job.ending == "failed" and last:
            last[0].attempts[0].ending = "failed"
            note = "jobs that failed: the last of their tasks fails, and they with it"
            self._note("inferred", note, job.line)

    def _end_with_last_task(self, job: HistoryJob) -> None:
        """Of a row a task: where all tell when they ran, and when their job was submitted, its end
        is that of the last.
        """
        ends = [each.finish_ms for task in job.own_tasks() for each in task.attempts]
        known = [each for each in ends if each is not None]
        if {"submit", "start"} <= self._map.columns.keys() and len(known) == len(ends) > 0:
            job.finish_ms = max(known)
            self._maker.remarks.add("inferred", "jobs that ended with the last of their tasks")
            self._leave_out_early_end(job, min(job.starts_ms()))

    def _leave_out_early_end(self, job: HistoryJob, begun_ms: int | None) -> None:
        """Of a job that began before it was submitted it is not known how long it took."""
        if begun_ms is None or job.submit_ms is None or job.finish_ms is None:
            return
        if begun_ms >= job.submit_ms:
            return
        note = "ends of jobs that began before their submission: it cannot be how long they took"
        self._note("dropped", note, job.line)
        job.finish_ms = None

    def _take_task(self, row: _Row, line: int) -> None:
        self._nth += 1
        name = _stripped_name(row.get("job")) or f"job_{self._nth}"
        job = self._jobs.get(name)
        if job is None:
            job = self._jobs[name] = self._new_job(name, row, line)
        length = self._length_ms(row, "map_time", line, whole=True)
        start_ms = self._time_ms(row, "start", line)
        begun = start_ms if start_ms is not None else job.submit_ms or 0
        if start_ms is not None:
            job.submit_ms = start_ms if job.submit_ms is None else job.submit_ms
            if "submit" not in self._map.columns:
                job.submit_ms = min(job.submit_ms, start_ms)
        host = self._maker.hosts.number(str(row.get("host") or ""))
        kind = str(row.get("kind") or "").strip().lower()
        is_reduce = kind.startswith("r")
        note = "rows of a kind that begins with neither m nor r: taken for maps"
        unknown = kind not in _UNTOLD and not kind.startswith(("m", "r"))
        self._note("guessed", note, line, unknown)
        maps, reduces = job.demands
        amounts = greatest_amounts(
            [reduces if is_reduce else maps, self._amounts_of_row(row, line)]
        )
        job.demands = (maps, amounts) if is_reduce else (amounts, reduces)
        ending = self._ending_of_row(row, line)
        for _ in range(self._task_count(row, "maps", line, 1)):
            task = self._task_of_row(job, is_reduce, row, line, ending)
            end_ms = None if length is None else begun + length
            name = str(len(task.attempts))
            told = start_ms is not None
            attempt = HistoryAttempt(begun, end_ms, ending, host, name=name, times_told=told)
            task.attempts.append(attempt)

    def _task_of_row(
        self, job: HistoryJob, is_reduce: bool, row: _Row, line: int, ending: Ending
    ) -> HistoryTask:
        """The task that a row is an attempt of: one of its own, unless rows before have its name.
        A row that stands for several equal tasks names none of them; and where one name stands for
        many, each success is another's.
        """
        name = _stripped_name(row.get("task")) if "maps" not in self._map.columns else ""
        where = (job.name, is_reduce, name)
        known = self._named.get(where) if name else None
        if known is not None and not (ending == "succeeded" and known.succeeded):
            return known
        tasks = job.reduces if is_reduce else job.maps
        task = tasks[len(tasks)] = self._named[where] = HistoryTask(line=line)
        return task

    def _ending_of_row(self, row: _Row, line: int) -> Ending:
        state = _state_word(row)
        note = "rows without a state: taken for successes"
        untold = not state and "state" in self._map.columns
        self._note("guessed", note, line, untold)
        if not state or state in _SUCCEEDED:
            return "succeeded"
        return "killed" if state == "killed" and "task" in self._map.columns else "failed"

    def _amounts_of_row(self, row: _Row, line: int) -> Amounts:
        """What a task of the row takes besides a slot."""
        told = (row.get(MEMORY), row.get(VCORES))
        if not any(told):
            return ()
        memory = self._megabytes(told[0], line) if told[0] else None
        vcores = self._checked_number(told[1], VCORES, line) if told[1] else None
        return container_amounts(memory, vcores)

    def _megabytes(self, value: object, line: int) -> float:
        """An amount of memory, in MB where no unit says otherwise, as `sacct` writes `4000M`."""
        amount = _AMOUNT.fullmatch(str(value).strip())
        if amount is None:
            return self._checked_number(
                value, MEMORY, line, "a number of MB, or an amount as 4000M or 4G"
            )
        return float(amount[1]) * _MEGABYTES[amount[2].upper()]

    def _new_job(self, name: str, row: _Row, line: int) -> HistoryJob:
        job = HistoryJob(name, self._path.name, line, ending="succeeded")
        job.demands = (self._amounts_of_row(row, line),) * 2
        job.submit_ms = self._time_ms(row, "submit", line)
        job.user = _stripped_name(row.get("user")) or job.user
        job.queue = _stripped_name(row.get("pool")) or ""
        job.requested_ms = self._time_ms(row, "estimate", line)
        if job.submit_ms is None:
            job.submit_ms = self._time_ms(row, "start", line)
            note = "jobs without a time of submission: submitted when they began"
            self._note("guessed", note, line, job.submit_ms is not None)
        untold = job.submit_ms is None and self._map.rows == "jobs"
        if untold and self._came_ms is not None:
            note = "jobs of which nothing tells when they came: with the job of the row before"
            self._note("guessed", note, line)
            job.submit_ms = self._came_ms
        self._came_ms = job.submit_ms
        return job

    def _length_ms(self, row: _Row, own: str, line: int, *, whole: bool) -> int | None:
        """How long a task of a row takes; None if the row does not tell."""
        for meaning in (own, "duration") if whole else (own,):
            length = self._time_ms(row, meaning, line)
            if length is not None:
                return length
        start_ms, end_ms = (self._time_ms(row, each, line) for each in ("start", "end"))
        if not whole or start_ms is None or end_ms is None:
            return None
        if end_ms < start_ms:
            note = "rows that end before they start: their length is not known"
            self._note("dropped", note, line)
            return None
        return end_ms - start_ms

    def _task_count(self, row: _Row, meaning: str, line: int, unsaid: int) -> int:
        value = row.get(meaning)
        if not _has_value(row, meaning):
            note = f"rows that do not tell a number of {meaning}: taken for {unsaid}"
            untold = unsaid and meaning in self._map.columns
            self._note("guessed", note, line, bool(untold))
            return unsaid
        number = self._checked_number(value, meaning, line)
        if not 0 <= number <= TASKS_MAX:
            problem = f"expected 0 to {TASKS_MAX:,} tasks, got {value!r}"
            raise ScenarioError(
                problem, source=self._path, key=self._column_name(meaning), line=line
            )
        if number != round(number):
            note = f"numbers in `{self._column_name(meaning)}` that are not whole: rounded"
            self._note("inferred", note, line)
        return round(number)

    def _time_ms(self, row: _Row, meaning: str, line: int) -> int | None:
        value = row.get(meaning)
        if not _has_value(row, meaning):
            return None
        if isinstance(value, datetime):
            return round(value.timestamp() * 1000)
        if (written := parsed_time_ms(str(value).strip())) is not None:
            return written
        forms = "a number, a date as 2026-03-02T08:00:05, or a length as 1-02:03:04"
        number = self._checked_number(value, meaning, line, forms)
        if number < 0:
            note = f"times in `{self._column_name(meaning)}` below 0: not known"
            self._note("dropped", note, line)
            return None
        if not self._map.unit and number:
            note = "times are taken for seconds: no unit is stated"
            self._note("guessed", note, line)
        return round(number * TIME_UNITS[self._map.unit or "s"])

    def _checked_number(
        self, value: object, meaning: str, line: int, forms: str = "a number"
    ) -> float:
        try:
            number = math.nan if isinstance(value, bool | date) else float(str(value))
        except ValueError:
            number = math.nan
        if not math.isfinite(number) or abs(number) > 1e16:
            problem = f"expected {forms}, got {str(value)[:40]!r}"
            raise ScenarioError(
                problem, source=self._path, key=self._column_name(meaning), line=line
            )
        return number

    def _column_name(self, meaning: str) -> str:
        return self._map.columns.get(meaning, meaning)


def parsed_time_ms(text: str) -> int | None:
    """A date as ISO 8601 has it, in UTC unless it says otherwise, or a length as `sacct` prints it:
    `1-02:03:04`, `02:03:04`, `03:04.5`; None for what is neither.
    """
    if length := _LENGTH.fullmatch(text):
        days, hours, minutes, seconds = (float(part or 0) for part in length.groups())
        return round(1000 * (((days * 24 + hours) * 60 + minutes) * 60 + seconds))
    if not _DATE.match(text):
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return round((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)


def _has_value(row: _Row, meaning: str) -> bool:
    """Whether a row says something there."""
    value = row.get(meaning)
    return value is not None and not (isinstance(value, str) and value.strip().lower() in _UNTOLD)


def _state_word(row: _Row) -> str:
    """The first word of its state: of `CANCELLED by 1001`, and of `CANCELLED+`, `cancelled`."""
    first, *_ = str(row.get("state") or "").lower().split() or [""]
    return first.rstrip("+")


def _stripped_name(value: object) -> str:
    return "" if value is None else str(value).strip()[:200]


def parquet_table(path: Path) -> tuple[list[str], Iterator[tuple[int, _Row]]]:
    """The columns of a Parquet file and its rows, numbered from 1; ScenarioError if it is none."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        problem = 'reading Parquet needs pyarrow: pip install "callboard[parquet]"'
        raise ScenarioError(problem, source=path) from None
    try:
        file = parquet.ParquetFile(path)
    except (ArrowException, OSError) as error:
        raise ScenarioError(f"not a good Parquet file: {error}", source=path) from None
    return file.schema_arrow.names, _parquet_rows(file)


def _parquet_rows(file: Any) -> Iterator[tuple[int, _Row]]:
    number = 0
    for batch in file.iter_batches(10_000):
        for row in batch.to_pylist():
            number += 1
            yield number, row


def is_table(begin: bytes) -> bool:
    """Whether a file that begins like this is Parquet, or has rows of more than two cells: of as
    many in the second as in the first, or of equally many in most of those that follow it.
    """
    if begin.startswith(PARQUET_MAGIC):
        return True
    if begins_as_array(begin):
        return False
    lines = begin.decode("utf-8", "replace").splitlines()
    head, *rows = [line for line in lines if line.strip()][:_ROWS_LOOKED_AT] or [""]
    if "\0" in head:
        return False
    delimiter = max(",;\t|", key=head.count)
    first = len(next(csv.reader([head], delimiter=delimiter)))
    others = [len(row) for row in csv.reader(rows, delimiter=delimiter)]
    usual, often = Counter(others or [first]).most_common(1)[0]
    mostly = usual > 2 and 2 * often > len(others)
    return first > 2 and (mostly or others[:1] == [first])
