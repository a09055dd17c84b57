"""Every attempt of a history as columns: when it ran, where, and how near to its input."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from callboard.histories.model.cluster_history import (
    NO_HOST,
    Ending,
    HistoryAttempt,
    HistoryJob,
    HistoryTask,
    HostNames,
)
from callboard.scheduler.model import MAP, REDUCE, Locality, Millis, SlotKind

IntColumn: TypeAlias = NDArray[np.int64]

ENDINGS: tuple[Ending, ...] = ("succeeded", "failed", "killed", "unknown")
SUCCEEDED, FAILED, KILLED, UNKNOWN = range(len(ENDINGS))
UNTOLD: Millis = np.iinfo(np.int64).min
"""In place of a time or a number that the history does not tell."""

AUXILIARY = len(SlotKind)
"""In place of a kind, for tasks that set a job up or clean up after it."""

COLUMNS_OF_ATTEMPTS = (
    *("job", "kind", "task", "host", "begin_ms", "end_ms", "shuffled_ms", "ending", "level"),
    *("shuffled_bytes", "booked_ms", "replicas"),
)
COLUMNS_OF_JOBS = ("maps", "reduces", "submit_ms", "launch_ms")


@dataclass(frozen=True, eq=False)
class AttemptLog:
    """A row an attempt, job by job.  `level` is a `Locality`, `UNTOLD` where hosts do not tell it;
    `booked_ms` is when the master had booked its task.  `shuffled_bytes` is what a reduce fetched.
    `replicas` is the number of hosts of its map's input; `hosts` is how many there are in all.

    Of each job, `maps` and `reduces` are how many it has, `names` what it is called, `submit_ms`
    and `launch_ms` when it was submitted and when it had been initialised.
    """

    job: IntColumn
    kind: IntColumn
    task: IntColumn
    host: IntColumn
    begin_ms: IntColumn
    end_ms: IntColumn
    shuffled_ms: IntColumn
    ending: IntColumn
    level: IntColumn
    booked_ms: IntColumn
    shuffled_bytes: IntColumn
    replicas: IntColumn
    maps: IntColumn
    reduces: IntColumn
    submit_ms: IntColumn
    launch_ms: IntColumn
    hosts: int
    names: tuple[str, ...] = ()

    def timed_rows(self, kind: int) -> NDArray[np.bool_]:
        """Attempts of a kind with a start and an end."""
        known = (self.begin_ms != UNTOLD) & (self.end_ms != UNTOLD) & (self.kind == kind)
        found: NDArray[np.bool_] = known & (self.end_ms > self.begin_ms)
        return found

    def placed_rows(self, kind: int) -> NDArray[np.bool_]:
        """Those of them with a host."""
        found: NDArray[np.bool_] = self.timed_rows(kind) & (self.host != NO_HOST)
        return found

    def restricted_to_jobs(self, jobs: NDArray[np.bool_]) -> Self:
        """The log of these jobs alone, which keep their numbers; of the others nothing is told."""
        rows = jobs[self.job]
        return replace(
            self,
            **{each: getattr(self, each)[rows] for each in COLUMNS_OF_ATTEMPTS},
            submit_ms=np.where(jobs, self.submit_ms, UNTOLD),
            launch_ms=np.where(jobs, self.launch_ms, UNTOLD),
        )


class AttemptLogMaker:
    """Hears of jobs, and makes the log of them once all hosts have their racks."""

    def __init__(self) -> None:
        self._rows = array("q")
        self._names: list[str] = []
        self._maps = array("q")
        self._reduces = array("q")
        self._submits = array("q")
        self._launches = array("q")
        self._inputs = array("i")  # the hosts of each task's input, one task after the other
        self._input_ends = array("q", (0,))
        self._input_of = array("q")

    def add_job(self, job: HistoryJob) -> None:
        number = len(self._maps)
        self._names.append(job.name)
        maps, reduces = job.task_counts
        self._maps.append(maps)
        self._reduces.append(reduces)
        self._submits.append(UNTOLD if job.submit_ms is None else job.submit_ms)
        self._launches.append(UNTOLD if job.launch_ms is None else job.launch_ms)
        for kind, tasks in ((MAP, job.maps), (REDUCE, job.reduces)):
            for task, each in tasks.items():
                self._add_task(number, int(kind), task, each)
        for task, each in enumerate(job.others.values()):
            self._add_task(number, AUXILIARY, task, each)

    def _add_task(self, job: int, kind: int, number: int, task: HistoryTask) -> None:
        self._inputs.extend(task.input_hosts)
        self._input_ends.append(len(self._inputs))
        booked_ms = UNTOLD if task.finish_ms is None else task.finish_ms
        replicas = len(task.input_hosts)
        for attempt in task.attempts:
            self._rows.extend((job, kind, number, *_row_of_attempt(attempt), booked_ms, replicas))
            self._input_of.append(len(self._input_ends) - 1)

    def attempt_log(self, hosts: HostNames, numbers: NDArray[np.int32]) -> AttemptLog:
        """All attempts heard of; `numbers` are those that the file's hosts have as nodes."""
        rows = np.frombuffer(self._rows, np.int64).reshape(-1, len(COLUMNS_OF_ATTEMPTS))
        columns = dict(zip(COLUMNS_OF_ATTEMPTS, rows.T, strict=True))
        columns["level"] = self._locality_levels(columns, hosts)
        if len(numbers):
            renumbered = numbers[np.maximum(columns["host"], 0)]
            columns["host"] = np.where(columns["host"] == NO_HOST, NO_HOST, renumbered)
        of_jobs = (self._maps, self._reduces, self._submits, self._launches)
        kept = (np.array(each, np.int64) for each in of_jobs)
        return AttemptLog(
            **columns,
            **dict(zip(COLUMNS_OF_JOBS, kept, strict=True)),
            hosts=len(hosts.names),
            names=tuple(self._names),
        )

    def _locality_levels(self, columns: dict[str, IntColumn], hosts: HostNames) -> IntColumn:
        levels = columns["level"].copy()
        places = zip(
            columns["host"].tolist(), columns["kind"].tolist(), self._input_of, strict=True
        )
        for row, (host, kind, place) in enumerate(places):
            held = self._inputs[self._input_ends[place - 1] : self._input_ends[place]]
            if levels[row] != UNTOLD or kind != MAP or host == NO_HOST or not held:
                continue
            levels[row] = _locality_level(host, held, hosts.racks)
        return levels


def _row_of_attempt(attempt: HistoryAttempt) -> tuple[int, ...]:
    times = (attempt.start_ms, attempt.finish_ms, attempt.shuffled_ms)
    told = (UNTOLD if each is None or not attempt.times_told else each for each in times)
    level = UNTOLD if attempt.level is None else int(attempt.level)
    fetched = UNTOLD if attempt.shuffled_bytes is None else attempt.shuffled_bytes
    return (attempt.host, *told, ENDINGS.index(attempt.ending), level, fetched)


def _locality_level(host: int, held: Sequence[int], racks: list[str]) -> int:
    """How near the host is to the input's hosts; `UNTOLD` where their racks are not told."""
    if host in held:
        return int(Locality.NODE)
    if not racks[host] or not all(racks[each] for each in held):
        return UNTOLD
    same = any(racks[each] == racks[host] for each in held)
    return int(Locality.RACK if same else Locality.OFF_RACK)
