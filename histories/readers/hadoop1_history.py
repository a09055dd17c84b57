"""Job histories of Hadoop 1's JobTracker (and 0.20's): lines of `Entity KEY="value" ... .`.

A file has one job; several are put into one file with lines `!!FILE=name!!` between them, jobs'
configurations among them.  A record goes on over line ends within quotes, and ends in ` .`.
Attempts tell their times by the clock of their own node, tasks and jobs by the master's.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from sys import intern

from callboard.histories.model.cluster_history import (
    ENDING_OF_WORD,
    NO_HOST,
    PURPOSES,
    HistoryAttempt,
    HistoryJob,
    HistoryTask,
)
from callboard.histories.readers.job_by_job import JobByJobReader
from callboard.histories.readers.unpacked_text import text_lines
from callboard.scheduler.text.scenario_error import ScenarioError

_BEGIN = re.compile(r"(Meta|Job|Task|MapAttempt|ReduceAttempt) (?:[A-Z_]+=\"|\.$)")
_PAIR = re.compile(r' ([A-Z_]+)="((?:[^"\\]|\\.)*)"', re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_SEGMENT = re.compile(r"\f?!!FILE=(.*)!!")
_HISTORY = re.compile(rb'^(!!FILE=|Meta VERSION="|Job JOBID=")', re.MULTILINE)
_TRACKER = re.compile(r"tracker_(.+?):")
_FETCHED = re.compile(r"\(REDUCE_SHUFFLE_BYTES\)\([^)]*\)\(([0-9]{1,18})\)")
_LINES_MAX = 10_000  # of one record: stack traces are long, but a quote that never ends is damage
_NUMBERS_OF_JOB = {
    "SUBMIT_TIME": "submit_ms",
    "LAUNCH_TIME": "launch_ms",
    "FINISH_TIME": "finish_ms",
    "TOTAL_MAPS": "maps_told",
    "TOTAL_REDUCES": "reduces_told",
}
_Fields = dict[str, str]


def is_hadoop1_history(begin: bytes) -> bool:
    """Whether a file that begins like this is such a history, or several."""
    return _HISTORY.match(begin.lstrip()) is not None


class Hadoop1Reader(JobByJobReader):
    """Reads Hadoop 1's histories."""

    record_is_called = "record"

    def _read_file(self, path: Path) -> None:
        self._in_configuration = False
        for line, entity, fields in self._records(path):
            self._take_record(entity, fields, line)

    def _records(self, path: Path) -> Iterator[tuple[int, str, _Fields]]:
        """(line, entity, its fields) of every record; other lines are noted."""
        remarks = self._maker.remarks
        parts: list[str] = []
        begun_at = quotes = 0
        for line, text in text_lines(path, remarks):
            if parts or _BEGIN.match(text):
                begun_at, quotes = begun_at if parts else line, quotes + _number_of_quotes(text)
                parts.append(text)
            else:
                self._pass_over_line(text, line)
                continue
            if quotes % 2 == 0 and text.endswith(('" .', '"')):
                record = text if len(parts) == 1 else "\n".join(parts)
                parts, quotes = [], 0
                yield begun_at, *_parsed_record(record)
            elif len(parts) > _LINES_MAX:
                problem = f"a quote is opened and not closed for {_LINES_MAX:,} lines"
                raise ScenarioError(problem, source=path, line=begun_at)
        if parts:
            note = "records that are cut off by the end of the file"
            remarks.add_cut_off(note, path.name, begun_at)

    def _pass_over_line(self, text: str, line: int) -> None:
        """A line that begins no record: of a configuration, or between two files put into one."""
        segment = _SEGMENT.match(text)
        if segment:
            self._end_job()
            self._in_configuration = segment[1].endswith(".xml")
            if self._in_configuration:
                self._note("dropped", "configurations of jobs", line)
        elif text.strip() and not self._in_configuration:
            self._note("dropped", "lines that begin no record of a history", line)

    def _take_record(self, entity: str, fields: _Fields, line: int) -> None:
        if entity == "Job":
            self._take_job(fields, line)
        elif entity == "Meta":
            self._end_job()
        else:
            job = self._job
            if job is None:
                self._note("dropped", "records of tasks that stand before any job", line)
            elif entity == "Task":
                self._take_task(job, fields, line)
            else:
                self._take_attempt(job, fields, line)

    def _take_job(self, fields: _Fields, line: int) -> None:
        job = self._job_named(self._needed_text(fields, "JOBID", line), line)
        self._set_job_numbers(job, _NUMBERS_OF_JOB, fields, line)
        job.user = fields.get("USER", job.user)
        job.queue = fields.get("JOB_QUEUE", job.queue)
        word, place = fields.get("JOB_PRIORITY"), self._place_of_line(line)
        job.priority = self._maker.priority_of_word(word, job.priority, place)
        job.ending = ENDING_OF_WORD.get(fields.get("JOB_STATUS", ""), job.ending)

    def _take_task(self, job: HistoryJob, fields: _Fields, line: int) -> None:
        task = self._task_of_record(job, fields, line)
        if fields.get("SPLITS"):
            task.input_hosts = self._maker.hosts.distinct_numbers(fields["SPLITS"].split(","))
        if "START_TIME" in fields:
            task.start_ms = self._numbers.non_negative(fields["START_TIME"], "START_TIME", line)
        if "FINISH_TIME" in fields:
            task.finish_ms = self._numbers.non_negative(fields["FINISH_TIME"], "FINISH_TIME", line)

    def _take_attempt(self, job: HistoryJob, fields: _Fields, line: int) -> None:
        task = self._task_of_record(job, fields, line)
        name = self._needed_text(fields, "TASK_ATTEMPT_ID", line)
        attempt = task.attempt_or_new(intern(name.rpartition("_")[2]))
        if "START_TIME" in fields:
            self._begin_attempt(attempt, fields, line)
        if "TASK_STATUS" in fields or "FINISH_TIME" in fields:
            self._end_attempt(attempt, fields, line)

    def _begin_attempt(self, attempt: HistoryAttempt, fields: _Fields, line: int) -> None:
        start_ms = self._numbers.non_negative(fields["START_TIME"], "START_TIME", line)
        if attempt.start_ms is not None and self._maker.is_second_start(
            attempt, self._place_of_line(line)
        ):
            return  # nearly none: a place is not worth its making for each
        attempt.start_ms = start_ms
        tracker = _TRACKER.match(fields.get("TRACKER_NAME", ""))
        if tracker and attempt.host == NO_HOST:
            attempt.host = self._maker.hosts.number(tracker[1])

    def _end_attempt(self, attempt: HistoryAttempt, fields: _Fields, line: int) -> None:
        ending = ENDING_OF_WORD.get(fields.get("TASK_STATUS", ""), "unknown")
        if self._maker.ends_again(attempt, ending, self._place_of_line(line)):
            return
        attempt.ending = ending
        attempt.finish_ms = self._numbers.non_negative(
            fields.get("FINISH_TIME"), "FINISH_TIME", line
        )
        if "SHUFFLE_FINISHED" in fields:
            told = self._numbers.non_negative(fields["SHUFFLE_FINISHED"], "SHUFFLE_FINISHED", line)
            attempt.shuffled_ms = told or None
            fetched = _FETCHED.search(fields.get("COUNTERS", ""))
            attempt.shuffled_bytes = int(fetched[1]) if fetched else None
        host = self._maker.hosts.number(fields.get("HOSTNAME", ""))
        if host != NO_HOST:
            attempt.host = host

    def _task_of_record(self, job: HistoryJob, fields: _Fields, line: int) -> HistoryTask:
        """The task that a record is about, new if it is the first."""
        name = self._needed_text(fields, "TASKID", line)
        if fields.get("TASK_TYPE") in ("SETUP", "CLEANUP"):
            other = job.others.setdefault(name, HistoryTask(line=line))
            other.purpose = PURPOSES[fields["TASK_TYPE"]]
            return other
        return job.others.get(name) or self._numbered_task(job, "TASKID", name, line)


def _number_of_quotes(text: str) -> int:
    """How many quotes stand in it that are not escaped."""
    if '\\"' not in text:
        return text.count('"')
    return _ESCAPED.sub("", text).count('"')


def _parsed_record(record: str) -> tuple[str, _Fields]:
    """A record's entity and its fields, of the counters only those of reduces."""
    entity, _, rest = record.partition(" ")
    rest, _, counters = rest.partition(' COUNTERS="')
    if entity == "ReduceAttempt" and counters:
        return entity, _parsed_pairs(rest) | {"COUNTERS": counters}
    return entity, _parsed_pairs(rest)


def _parsed_pairs(rest: str) -> _Fields:
    if "\\" not in rest:
        return _pairs_without_escapes(rest)
    if '\\"' not in rest and "\\\\" not in rest:
        return _pairs_without_escapes(rest.replace("\\", ""))
    pairs = _PAIR.findall(f" {rest}")
    return {key: _ESCAPED.sub(r"\1", value) for key, value in pairs}


def _pairs_without_escapes(rest: str) -> _Fields:
    """`KEY="value" KEY="value" .`, where nothing is escaped."""
    parts = f" {rest}".split('"')
    return {key[1:-1]: value for key, value in zip(parts[::2], parts[1::2], strict=False)}
