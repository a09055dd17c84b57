"""A history of jobs, tasks and attempts: what every reader makes of its file, and
`histories.played_history` of a run's events.

Times are milliseconds of the file's own clock; None where the file does not tell one.  Hosts are
numbers, in the order in which they were first named (`HostNames`).  What no file tells, and a run
does, is told apart: a job's `title`, a task's `launches`.
"""

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from callboard.histories.model.container_amounts import NO_DEMANDS, Demands
from callboard.scheduler.model import (
    CLEANUP,
    MAPS,
    SETUP,
    STAGE_NAMES,
    Locality,
    Millis,
    NodeId,
    Priority,
    Stage,
)

Ending = Literal["succeeded", "failed", "killed", "unknown"]
HostNumber = int
PURPOSES: dict[str, Stage] = {
    f"{prefix}{STAGE_NAMES[stage].upper()}": stage
    for prefix in ("", "JOB_")
    for stage in (SETUP, CLEANUP)
}
"""What a task is for that is no map and no reduce, by the types that files name; cleaning up after
an attempt is for neither."""
ENDING_OF_WORD: dict[str, Ending] = {
    "SUCCESS": "succeeded",
    "SUCCEEDED": "succeeded",
    "FAILED": "failed",
    "ERROR": "failed",
    "KILLED": "killed",
}
"""How something ended, by the words of Hadoop's histories."""
NO_HOST: HostNumber = -1


class HistoryAttempt(msgspec.Struct, gc=False):
    """One attempt; `shuffled_ms` is when a reduce had fetched everything, `shuffled_bytes` what
    that was; `level` the locality that the file itself states, `name` the last part of its own.
    Without `times_told` its length alone is, and its times are those of its job or made up.
    """

    start_ms: Millis | None = None
    finish_ms: Millis | None = None
    ending: Ending = "unknown"
    host: HostNumber = NO_HOST
    shuffled_ms: Millis | None = None
    level: Locality | None = None
    name: str = ""
    shuffled_bytes: int | None = None
    times_told: bool = True

    @property
    def ran_ms(self) -> Millis | None:
        """How long it ran; None if unknown, negative if its two times contradict each other."""
        if self.start_ms is None or self.finish_ms is None:
            return None
        return self.finish_ms - self.start_ms


class PlayedAttempt(HistoryAttempt, gc=False, kw_only=True):
    """An attempt of a run: what the master's history would tell of it, and what really was.

    `event` is the number of its launch among the run's events, on `node`; `fetched_ms` is when it
    had fetched everything there, `ended_ms` when it ended; `booked_ms` is when the master had
    learnt of that, `outcome` what it booked.  A history tells of an end once it is booked, and of
    a success whose output was lost since, that it was killed then.
    """

    node: NodeId
    event: int
    fetched_ms: Millis | None = None
    ended_ms: Millis | None = None
    booked_ms: Millis | None = None
    outcome: Ending = "unknown"

    @property
    def output_lost(self) -> bool:
        """Whether it had succeeded, and its output was lost since."""
        return self.outcome == "succeeded" and self.ending == "killed"


class HistoryTask(msgspec.Struct):
    """One task: its attempts in the file's order; the hosts of its input; its start and its end by
    the master's clock; the line on which it stands first; of a job's `others` what it was for.
    `launches` are all attempts of a run, as they were launched, those that never began too.
    """

    attempts: list[HistoryAttempt] = msgspec.field(default_factory=list)
    input_hosts: tuple[HostNumber, ...] = ()
    start_ms: Millis | None = None
    finish_ms: Millis | None = None
    line: int = 0
    purpose: Stage | None = None
    launches: tuple[PlayedAttempt, ...] = ()

    @property
    def last_success(self) -> PlayedAttempt | None:
        """The last launch that succeeded, even if its output was lost since."""
        return next((each for each in reversed(self.launches) if each.outcome == "succeeded"), None)

    def attempt(self, name: str) -> HistoryAttempt | None:
        """The attempt of this name, if it is there."""
        return next((each for each in self.attempts if each.name == name), None)

    def attempt_or_new(self, name: str) -> HistoryAttempt:
        """The attempt of this name, which is new if it is not there."""
        found = self.attempt(name)
        if found is None:
            found = HistoryAttempt(name=name)
            self.attempts.append(found)
        return found

    @property
    def succeeded(self) -> bool:
        """Whether an attempt of it has succeeded, as far as the file has been read."""
        return any(each.ending == "succeeded" for each in self.attempts)

    def attempts_by_start(self) -> list[HistoryAttempt]:
        """The attempts in the order of their starts."""
        if len(self.attempts) < 2:
            return self.attempts
        return sorted(self.attempts, key=lambda each: each.start_ms or 0)


class HistoryJob(msgspec.Struct):
    """One job.  Tasks are known by their numbers; `others` are those that set a job up and clean
    up after it.  `maps_told` and `reduces_told` are how many the job was said to have; `file` and
    `line` are where it stands first.  `demands` are what its maps and reduces took besides a slot.
    `title` is what its user calls it.
    """

    name: str
    file: str = ""
    line: int = 0
    submit_ms: Millis | None = None
    launch_ms: Millis | None = None
    finish_ms: Millis | None = None
    ending: Ending = "unknown"
    user: str = "user"
    queue: str = ""
    priority: Priority = Priority.NORMAL
    requested_ms: Millis | None = None
    demands: Demands = NO_DEMANDS
    maps_told: int | None = None
    reduces_told: int | None = None
    maps: dict[int, HistoryTask] = msgspec.field(default_factory=dict)
    reduces: dict[int, HistoryTask] = msgspec.field(default_factory=dict)
    others: dict[str, HistoryTask] = msgspec.field(default_factory=dict)
    title: str = ""

    @property
    def place_in_file(self) -> str:
        """Where it stands, for people."""
        return f"{self.file}:{self.line}" if self.line else self.file

    @property
    def task_counts(self) -> tuple[int, int]:
        """How many maps and how many reduces it has: those that are there, or more if so told."""
        maps, reduces = self.maps_told or 0, self.reduces_told or 0
        return max(len(self.maps), maps), max(len(self.reduces), reduces)

    def tasks_of(self, stage: Stage) -> list[HistoryTask]:
        """Its maps or its reduces, by number."""
        tasks = self.maps if stage == MAPS else self.reduces
        return [task for _, task in sorted(tasks.items())]

    def own_tasks(self) -> Iterator[HistoryTask]:
        """Its maps, then its reduces."""
        yield from self.maps.values()
        yield from self.reduces.values()

    def starts_ms(self) -> Iterator[Millis]:
        """When attempts of its own tasks began, as far as that is told."""
        for task in self.own_tasks():
            yield from (each.start_ms for each in task.attempts if each.start_ms is not None)

    def all_tasks(self) -> Iterator[HistoryTask]:
        """Its others, and then its own."""
        yield from self.others.values()
        yield from self.own_tasks()


class HostNames:
    """Numbers of hosts, and the rack of each as far as it is known."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.racks: list[str] = []
        self._numbers: dict[str, HostNumber] = {}
        self._parsed: dict[str, HostNumber] = {}

    def number(self, path: str) -> HostNumber:
        """The number of `/rack/host`, or of `host` alone; `NO_HOST` of nothing."""
        found = self._parsed.get(path)
        if found is None:
            found = self._parsed[path] = self._register_host(path)
        return found

    def distinct_numbers(self, paths: Iterable[str]) -> tuple[HostNumber, ...]:
        """The numbers of those that name a host, each once."""
        numbers = map(self.number, paths)
        return tuple(dict.fromkeys(number for number in numbers if number != NO_HOST))

    def _register_host(self, path: str) -> HostNumber:
        rack, _, host = path.strip().rpartition("/")
        if not host:
            return NO_HOST
        number = self._numbers.setdefault(host, len(self.names))
        if number == len(self.names):
            self.names.append(host)
            self.racks.append("")
        if rack:
            self.racks[number] = rack
        return number
