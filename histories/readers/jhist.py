"""Job histories of Hadoop 2 and 3 (`.jhist`): a line `Avro-Json`, Avro's schema, then an event a
line.  A file has one job.  All times are by the clock of the job's own application master.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from callboard.histories.model.cluster_history import (
    ENDING_OF_WORD,
    PURPOSES,
    HistoryAttempt,
    HistoryTask,
)
from callboard.histories.readers.job_by_job import JobByJobReader
from callboard.histories.readers.unpacked_text import text_lines
from callboard.scheduler.model import Locality
from callboard.scheduler.text.scenario_error import ScenarioError

JSON_MAGIC, BINARY_MAGIC = b"Avro-Json", b"Avro-Binary"
_LEVELS = {
    "NODE_LOCAL": Locality.NODE,
    "RACK_LOCAL": Locality.RACK,
    "OFF_SWITCH": Locality.OFF_RACK,
}
_NUMBERS_OF_JOB = {
    "submitTime": "submit_ms",
    "launchTime": "launch_ms",
    "finishTime": "finish_ms",
    "totalMaps": "maps_told",
    "totalReduces": "reduces_told",
}
_Event = dict[str, Any]


def is_jhist(begin: bytes) -> bool:
    """Whether a file that begins like this is such a history."""
    return begin.startswith((JSON_MAGIC, BINARY_MAGIC))


class JhistReader(JobByJobReader):
    """Reads Hadoop 2's and 3's histories."""

    record_is_called = "event"

    def _read_file(self, path: Path) -> None:
        lines = text_lines(path, self._maker.remarks)
        if not next(lines)[1].startswith(JSON_MAGIC.decode()):
            problem = "a history in binary Avro; write it as JSON with Hadoop's own"
            problem += " mapreduce.jobhistory.jhist.format=json, or by Rumen"
            raise ScenarioError(problem, source=path)
        line = self._passed_over = 0
        for line, text in lines:
            if text.strip() and not text.lstrip().startswith('{"type":"record"'):
                self._take_line(text, line)
        if line and line == self._passed_over:
            self._maker.remarks.mark_cut(path.name, line)

    def _take_line(self, text: str, line: int) -> None:
        try:
            raw = msgspec.json.decode(text)
            kind, (event,) = raw["type"], raw["event"].values()
        except (
            msgspec.DecodeError,
            LookupError,
            TypeError,
            ValueError,
            AttributeError,
            RecursionError,
        ):
            self._pass_over_line(line)
            return
        if not isinstance(event, dict) or not isinstance(kind, str):
            self._pass_over_line(line)
            return
        plain = {key: _unwrapped_union(value) for key, value in event.items()}
        take = self._taker_of_kind(kind)
        if take is None:
            self._note("dropped", f"events of a kind that no simulation needs: {kind[:40]}", line)
        else:
            take(kind, plain, line)

    def _pass_over_line(self, line: int) -> None:
        self._passed_over = line
        self._note("dropped", "lines that hold no whole event", line)

    def _taker_of_kind(self, kind: str) -> Callable[[str, _Event, int], None] | None:
        if kind.startswith("JOB_"):
            return self._take_job
        if kind.startswith("TASK_"):
            return self._take_task
        if "_ATTEMPT_" in kind:
            return self._take_attempt
        return None

    def _take_job(self, kind: str, event: _Event, line: int) -> None:
        job = self._job_named(self._needed_text(event, "jobid", line), line)
        self._set_job_numbers(job, _NUMBERS_OF_JOB, event, line)
        job.user = str(event.get("userName") or job.user)
        queue = event.get("jobQueueName")
        job.queue = job.queue if queue is None else "" if queue == "default" else str(queue)
        word = None if event.get("priority") is None else str(event["priority"])
        place = self._place_of_line(line)
        job.priority = self._maker.priority_of_word(word, job.priority, place)
        if kind == "JOB_FINISHED":
            job.ending = "succeeded"
        elif kind in ("JOB_FAILED", "JOB_KILLED", "JOB_ERROR"):
            job.ending = ENDING_OF_WORD[kind.removeprefix("JOB_")]

    def _take_task(self, kind: str, event: _Event, line: int) -> None:
        task = self._task_of_event(event, line)
        if task is None:
            return
        if kind == "TASK_STARTED":
            task.start_ms = self._numbers.non_negative(event.get("startTime"), "startTime", line)
            splits = str(event.get("splitLocations") or "").split(",")
            task.input_hosts = self._maker.hosts.distinct_numbers(splits)
        elif kind in ("TASK_FINISHED", "TASK_FAILED"):
            task.finish_ms = self._numbers.non_negative(event.get("finishTime"), "finishTime", line)

    def _take_attempt(self, kind: str, event: _Event, line: int) -> None:
        task = self._task_of_event(event, line)
        if task is None:
            return
        name = self._needed_text(event, "attemptId", line).rpartition("_")[2]
        attempt = task.attempt_or_new(name)
        if kind.endswith("_STARTED"):
            self._begin_attempt(attempt, event, line)
        else:
            self._end_attempt(attempt, kind, event, line)

    def _begin_attempt(self, attempt: HistoryAttempt, event: _Event, line: int) -> None:
        if self._maker.is_second_start(attempt, self._place_of_line(line)):
            return
        attempt.start_ms = self._numbers.non_negative(event.get("startTime"), "startTime", line)
        attempt.level = _LEVELS.get(str(event.get("locality")))
        attempt.host = self._maker.hosts.number(_bare_host_name(event.get("trackerName")))

    def _end_attempt(self, attempt: HistoryAttempt, kind: str, event: _Event, line: int) -> None:
        word = str(event.get("taskStatus") or event.get("status") or kind.rpartition("_")[2])
        ending = ENDING_OF_WORD.get(word, "unknown")
        if self._maker.ends_again(attempt, ending, self._place_of_line(line)):
            return
        attempt.ending = ending
        attempt.finish_ms = self._numbers.non_negative(event.get("finishTime"), "finishTime", line)
        fetched = self._numbers.non_negative(
            event.get("shuffleFinishTime"), "shuffleFinishTime", line
        )
        attempt.shuffled_ms = fetched or None
        host, rack = _bare_host_name(event.get("hostname")), str(event.get("rackname") or "")
        if host:
            attempt.host = self._maker.hosts.number(f"{rack}/{host}" if rack else host)

    def _task_of_event(self, event: _Event, line: int) -> HistoryTask | None:
        """The task of an event, new if it is the first; None if there is no job for it."""
        job = self._job
        if job is None:
            self._note("dropped", "events of tasks that stand before their job's", line)
            return None
        name = self._needed_text(event, "taskid", line)
        if str(event.get("taskType")) in ("JOB_SETUP", "JOB_CLEANUP", "TASK_CLEANUP"):
            purpose = PURPOSES.get(str(event.get("taskType")))
            return job.others.setdefault(name, HistoryTask(line=line, purpose=purpose))
        return self._numbered_task(job, "taskid", name, line)


def _unwrapped_union(value: Any) -> Any:
    """A value of one of Avro's unions, which stands in an object under its type's name."""
    if isinstance(value, dict) and len(value) == 1:
        kind, inner = next(iter(value.items()))
        if kind in ("string", "int", "long", "boolean", "float", "double"):
            return inner
    return value


def _bare_host_name(name: object) -> str:
    """A host without what is no part of its name."""
    return str(name or "").strip().lstrip("/").partition(":")[0]
