"""Traces of Rumen, Hadoop's tool for its own histories: a JSON object a job, one after another."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec

from callboard.histories.model.cluster_history import (
    ENDING_OF_WORD,
    NO_HOST,
    PURPOSES,
    HistoryAttempt,
    HistoryJob,
    HistoryTask,
)
from callboard.histories.model.container_amounts import container_amounts
from callboard.histories.readers.history_reader import HistoryReader
from callboard.histories.readers.json_objects import JsonObjects, first_object_has

_Number: TypeAlias = int | float | str | None
_TASK_NUMBER = re.compile(r"_[mr]_(\d{1,9})$")


class LoggedLocation(msgspec.Struct):
    """A place in the network, the rack before the host."""

    layers: list[str] = []


class LoggedAttempt(msgspec.Struct, rename="camel"):
    """An attempt as Rumen writes it, and no more of it than is used."""

    attempt_id: str | None = msgspec.field(name="attemptID", default=None)
    result: str | None = None
    start_time: _Number = None
    finish_time: _Number = None
    shuffle_finished: _Number = None
    shuffle_bytes: _Number = None
    host_name: str | None = None
    location: LoggedLocation | None = None


class LoggedTask(msgspec.Struct, rename="camel"):
    """A task, likewise."""

    task_id: str | None = msgspec.field(name="taskID", default=None)
    task_type: str | None = None
    start_time: _Number = None
    finish_time: _Number = None
    preferred_locations: list[LoggedLocation] | None = None
    attempts: list[LoggedAttempt] | None = None


class LoggedJob(msgspec.Struct, rename="camel"):
    """A job, likewise."""

    job_id: str = msgspec.field(name="jobID")
    user: str | None = None
    queue: str | None = None
    priority: str | None = None
    outcome: str | None = None
    submit_time: _Number = None
    launch_time: _Number = None
    finish_time: _Number = None
    map_mb: _Number = msgspec.field(name="jobMapMB", default=None)
    reduce_mb: _Number = msgspec.field(name="jobReduceMB", default=None)
    total_maps: _Number = None
    total_reduces: _Number = None
    map_tasks: list[LoggedTask] | None = None
    reduce_tasks: list[LoggedTask] | None = None
    other_tasks: list[LoggedTask] | None = None


def is_rumen(begin: bytes) -> bool:
    """Whether a file that begins like this is a trace of Rumen's."""
    return first_object_has(begin, "jobID")


class RumenReader(HistoryReader):
    """Reads Rumen's traces."""

    def _read_file(self, path: Path) -> None:
        for line, job in JsonObjects(path, LoggedJob, self._maker.remarks):
            self._maker.add(self._history_job(job, line))

    def _history_job(self, logged: LoggedJob, line: int) -> HistoryJob:
        job = HistoryJob(logged.job_id, self._path.name, line)
        time_ms, count = self._numbers.non_negative, self._numbers.count
        job.submit_ms = time_ms(logged.submit_time, "submitTime", line)
        job.launch_ms = time_ms(logged.launch_time, "launchTime", line)
        job.finish_ms = time_ms(logged.finish_time, "finishTime", line)
        job.maps_told = count(logged.total_maps, "totalMaps", line)
        job.reduces_told = count(logged.total_reduces, "totalReduces", line)
        job.demands = (
            container_amounts(count(logged.map_mb, "jobMapMB", line), None),
            container_amounts(count(logged.reduce_mb, "jobReduceMB", line), None),
        )
        job.user = logged.user or job.user
        job.queue = "" if logged.queue in (None, "default") else str(logged.queue)
        job.ending = ENDING_OF_WORD.get(logged.outcome or "", "unknown")
        job.priority = self._maker.priority_of_word(
            logged.priority, job.priority, job.place_in_file
        )
        job.maps = dict(self._numbered_tasks(logged.map_tasks or (), line))
        job.reduces = dict(self._numbered_tasks(logged.reduce_tasks or (), line))
        job.others = {
            each.task_id or str(nth): self._auxiliary_task(each, line)
            for nth, each in enumerate(logged.other_tasks or ())
        }
        return job

    def _numbered_tasks(
        self, logged: Sequence[LoggedTask], line: int
    ) -> Iterable[tuple[int, HistoryTask]]:
        """(number, task) of each: its own number, or its place where it has none."""
        taken: set[int] = set()
        for nth, each in enumerate(logged):
            own = _TASK_NUMBER.search(each.task_id or "")
            number = int(own[1]) if own else nth
            if number in taken:
                self._note("dropped", "second tasks of one number", line)
                continue
            taken.add(number)
            yield number, self._history_task(each, line)

    def _auxiliary_task(self, logged: LoggedTask, line: int) -> HistoryTask:
        task = self._history_task(logged, line)
        task.purpose = PURPOSES.get(logged.task_type or "")
        return task

    def _history_task(self, logged: LoggedTask, line: int) -> HistoryTask:
        task = HistoryTask(line=line)
        task.start_ms = self._numbers.non_negative(logged.start_time, "startTime", line)
        task.finish_ms = self._numbers.non_negative(logged.finish_time, "finishTime", line)
        places = map(_host_path, logged.preferred_locations or ())
        task.input_hosts = self._maker.hosts.distinct_numbers(places)
        for nth, each in enumerate(logged.attempts or ()):
            name = (each.attempt_id or str(nth)).rpartition("_")[2]
            if task.attempt(name) is not None:
                self._note("dropped", "second records of an attempt", line)
                continue
            task.attempts.append(self._history_attempt(each, name, line))
        return task

    def _history_attempt(self, logged: LoggedAttempt, name: str, line: int) -> HistoryAttempt:
        time_ms = self._numbers.non_negative
        number, where = self._maker.hosts.number, logged.location
        host = NO_HOST if where is None else number(_host_path(where))
        if host == NO_HOST:
            host = number((logged.host_name or "").replace("\\", ""))
        return HistoryAttempt(
            time_ms(logged.start_time, "startTime", line),
            time_ms(logged.finish_time, "finishTime", line),
            ENDING_OF_WORD.get(logged.result or "", "unknown"),
            host,
            time_ms(logged.shuffle_finished, "shuffleFinished", line) or None,
            name=name,
            shuffled_bytes=_byte_count(logged.shuffle_bytes),
        )


def _host_path(location: LoggedLocation) -> str:
    """`/rack/host`, or `host` alone; Rumen leaves Hadoop 1's escapes in its names."""
    layers = [layer.replace("\\", "").strip("/") for layer in location.layers]
    return "/" + "/".join(layers) if len(layers) > 1 else "".join(layers)


def _byte_count(value: _Number) -> int | None:
    """A number of bytes; None for what is none, since nothing is played by it."""
    return value if isinstance(value, int) and value >= 0 else None
