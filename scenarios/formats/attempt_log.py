"""Every attempt of a history as columns: when it ran, where, and how near to its input."""

from array import array
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from callboard.scenarios.formats.cluster_history import (
    NO_HOST,
    Ending,
    HistoryAttempt,
    HistoryJob,
    HistoryTask,
    HostNames,
)
from callboard.scheduler.model import MAP, REDUCE, Locality, Millis, SlotKind

_Ints: TypeAlias = NDArray[np.int64]

ENDINGS: tuple[Ending, ...] = ("succeeded", "failed", "killed", "unknown")
SUCCEEDED, FAILED, KILLED, UNKNOWN = range(len(ENDINGS))
UNTOLD: Millis = np.iinfo(np.int64).min
"""In place of a time or a number that the history does not tell."""

AUXILIARY = len(SlotKind)
"""In place of a kind, for tasks that set a job up or clean up after it."""

_COLUMNS = ("job", "kind", "task", "host", "begin_ms", "end_ms", "shuffled_ms", "ending", "level")


@dataclass(frozen=True, eq=False)
class AttemptLog:
    """A row an attempt, job by job.  `level` is a `Locality`, `UNTOLD` where hosts do not tell it;
    `booked_ms` is when the master had booked its task.  `shuffled_bytes` is what a reduce fetched.
    `maps` and `reduces` are how many each job has, `names` what it is called, `replicas` the number
    of hosts of each map's input; `hosts` is how many there are in all.
    """

    job: _Ints
    kind: _Ints
    task: _Ints
    host: _Ints
    begin_ms: _Ints
    end_ms: _Ints
    shuffled_ms: _Ints
    ending: _Ints
    level: _Ints
    booked_ms: _Ints
    shuffled_bytes: _Ints
    maps: _Ints
    reduces: _Ints
    replicas: _Ints
    hosts: int
    names: tuple[str, ...] = ()

    def timed(self, kind: int) -> NDArray[np.bool_]:
        """Attempts of a kind with a host, a start and an end."""
        known = (self.begin_ms != UNTOLD) & (self.end_ms != UNTOLD) & (self.host != NO_HOST)
        found: NDArray[np.bool_] = known & (self.kind == kind) & (self.end_ms > self.begin_ms)
        return found


class AttemptCollecting:
    """Hears of jobs, and makes the log of them once all hosts have their racks."""

    def __init__(self) -> None:
        self._rows = array("q")
        self._names: list[str] = []
        self._maps = array("q")
        self._reduces = array("q")
        self._inputs: list[tuple[int, ...]] = []
        self._input_of = array("q")
        self._replicas = array("q")

    def hear(self, job: HistoryJob) -> None:
        number = len(self._maps)
        self._names.append(job.name)
        self._maps.append(max(len(job.maps), job.maps_told or 0))
        self._reduces.append(max(len(job.reduces), job.reduces_told or 0))
        for kind, tasks in ((MAP, job.maps), (REDUCE, job.reduces)):
            for task, each in tasks.items():
                self._hear_task(number, int(kind), task, each)
        for task, each in enumerate(job.others.values()):
            self._hear_task(number, AUXILIARY, task, each)

    def _hear_task(self, job: int, kind: int, number: int, task: HistoryTask) -> None:
        if kind == MAP:
            self._replicas.append(len(task.input_hosts))
        self._inputs.append(task.input_hosts)
        booked_ms = UNTOLD if task.finish_ms is None else task.finish_ms
        for attempt in task.attempts:
            self._rows.extend((job, kind, number, *_told(attempt), booked_ms))
            self._input_of.append(len(self._inputs) - 1)

    def log(self, hosts: HostNames) -> AttemptLog:
        """All attempts heard of."""
        rows = np.array(self._rows, dtype=np.int64).reshape(-1, len(_COLUMNS) + 2)
        columns = dict(zip((*_COLUMNS, "shuffled_bytes", "booked_ms"), rows.T, strict=True))
        columns["level"] = self._levels(columns, hosts)
        sizes = (np.array(each, np.int64) for each in (self._maps, self._reduces, self._replicas))
        maps, reduces, replicas = sizes
        return AttemptLog(
            **columns,
            maps=maps,
            reduces=reduces,
            replicas=replicas,
            hosts=len(hosts.names),
            names=tuple(self._names),
        )

    def _levels(self, columns: dict[str, _Ints], hosts: HostNames) -> _Ints:
        levels = columns["level"].copy()
        places = zip(
            columns["host"].tolist(), columns["kind"].tolist(), self._input_of, strict=True
        )
        for row, (host, kind, place) in enumerate(places):
            held = self._inputs[place]
            if levels[row] != UNTOLD or kind != MAP or host == NO_HOST or not held:
                continue
            levels[row] = _level(host, held, hosts.racks)
        return levels


def _told(attempt: HistoryAttempt) -> tuple[int, ...]:
    times = (attempt.start_ms, attempt.finish_ms, attempt.shuffled_ms)
    told = (UNTOLD if each is None else each for each in times)
    level = UNTOLD if attempt.level is None else int(attempt.level)
    fetched = UNTOLD if attempt.shuffled_bytes is None else attempt.shuffled_bytes
    return (attempt.host, *told, ENDINGS.index(attempt.ending), level, fetched)


def _level(host: int, held: tuple[int, ...], racks: list[str]) -> int:
    """How near the host is to the input's hosts; `UNTOLD` where their racks are not told."""
    if host in held:
        return int(Locality.NODE)
    if not racks[host] or not all(racks[each] for each in held):
        return UNTOLD
    same = any(racks[each] == racks[host] for each in held)
    return int(Locality.RACK if same else Locality.OFF_RACK)
