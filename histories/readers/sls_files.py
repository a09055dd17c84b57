"""What YARN's Scheduler Load Simulator reads: jobs of containers (`inputsls`, DAG), and topologies.

Times are milliseconds from the start.  The containers of a job are maps and reduces by their type;
those of other types, and those of a DAG, run in stages, one after the other: the first is the job's
maps, the second its reduces, a further one a job of its own that comes when it began.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

import msgspec

from callboard.actors.config import TASKS_MAX
from callboard.actors.job_spec import Amounts
from callboard.histories.model.cluster_history import (
    NO_HOST,
    HistoryAttempt,
    HistoryJob,
    HistoryTask,
)
from callboard.histories.model.container_amounts import container_amounts, greatest_amounts
from callboard.histories.readers.history_reader import HistoryReader
from callboard.histories.readers.json_objects import JsonObjects, first_object_has
from callboard.scheduler.text.scenario_error import ScenarioError

_Number: TypeAlias = int | float | str | None
_KINDS = {"map": 0, "reduce": 1}


class SlsContainer(msgspec.Struct):
    """A container, or `count` equal ones."""

    host: str | None = msgspec.field(name="container.host", default=None)
    start: _Number = msgspec.field(name="container.start.ms", default=None)
    end: _Number = msgspec.field(name="container.end.ms", default=None)
    duration: _Number = msgspec.field(name="duration.ms", default=None)
    delay: _Number = msgspec.field(name="container.request.delay", default=None)
    kind: str | None = msgspec.field(name="container.type", default=None)
    priority: _Number = msgspec.field(name="container.priority", default=None)
    count: _Number = msgspec.field(name="count", default=None)
    memory: _Number = msgspec.field(name="container.memory-mb", default=None)
    vcores: _Number = msgspec.field(name="container.vcores", default=None)


class SlsJob(msgspec.Struct):
    """A job, or `count` equal ones; or the nodes of a rack, in a file of a topology."""

    job_id: str | None = msgspec.field(name="job.id", default=None)
    start: _Number = msgspec.field(name="job.start.ms", default=None)
    end: _Number = msgspec.field(name="job.end.ms", default=None)
    user: str | None = msgspec.field(name="job.user", default=None)
    queue: str | None = msgspec.field(name="job.queue.name", default=None)
    count: _Number = msgspec.field(name="job.count", default=None)
    tasks: list[SlsContainer] | None = msgspec.field(name="job.tasks", default=None)
    rack: str | None = None
    nodes: list[dict[str, object]] | None = None


def is_sls(begin: bytes) -> bool:
    """Whether a file that begins like this has jobs of SLS, or a topology."""
    return first_object_has(begin, "job.tasks", "job.start.ms") or (
        first_object_has(begin, "rack") and b'"nodes"' in begin
    )


class SlsReader(HistoryReader):
    """Reads SLS's jobs and topologies."""

    _nth = 0  # of all jobs, file after file

    def _read_file(self, path: Path) -> None:
        for line, job in JsonObjects(path, SlsJob, self._maker.remarks):
            if job.tasks is None and job.nodes is not None:
                self._take_rack(job, line)
                continue
            for _ in range(max(self._checked_count(job.count, "job.count", line), 1)):
                self._take_job(job, line)

    def _take_rack(self, rack: SlsJob, line: int) -> None:
        for node in rack.nodes or ():
            self._maker.hosts.number(f"/{(rack.rack or '').strip('/')}/{node.get('node', '')}")
            if {"memory-mb", "vcores"} & node.keys():
                self._maker.capacities.append(
                    self._container_amounts(node.get("memory-mb"), node.get("vcores"), line)
                )
        self._note("dropped", "labels of a topology's nodes", line)

    def _take_job(self, sls: SlsJob, line: int) -> None:
        self._nth += 1
        name = sls.job_id or f"job_{self._nth}"
        if self._checked_count(sls.count, "job.count", line) > 1:
            name = f"{name}-{self._nth}"
        submit_ms = self._numbers.non_negative(sls.start, "job.start.ms", line)
        stages = self._stages_of_job(sls, line)
        _begin_stages_in_turn(stages, submit_ms or 0)
        for nth in range(0, len(stages), 2):
            later = nth > 0
            job = HistoryJob(f"{name}-stage-{nth + 1}" if later else name, self._path.name, line)
            own = stages[nth : nth + 2]
            maps, reduces = (own[0], own[1] if len(own) > 1 else _Stage())
            job.submit_ms = maps.began_ms if later else submit_ms
            job.finish_ms = self._numbers.non_negative(sls.end, "job.end.ms", line)
            job.ending = "succeeded"
            job.user = sls.user or job.user
            job.queue = "" if sls.queue in (None, "default") else str(sls.queue)
            job.maps = dict(enumerate(maps.tasks))
            job.reduces = dict(enumerate(reduces.tasks))
            job.demands = greatest_amounts(maps.amounts), greatest_amounts(reduces.amounts)
            note = "jobs of a job's further stages, which come when those began"
            self._note("guessed", note, line, later)
            self._maker.add(job)

    def _stages_of_job(self, sls: SlsJob, line: int) -> list["_Stage"]:
        """The stages, maps first, then reduces, then others in the order of starts."""
        found: dict[object, _Stage] = {}
        for each in sls.tasks or ():
            stage = found.setdefault(_KINDS.get(each.kind or "map", each.kind), _Stage())
            tasks = self._tasks_of_container(each, line)
            stage.tasks += tasks
            stage.undated += tasks if each.start is None else ()
            stage.amounts.append(self._container_amounts(each.memory, each.vcores, line))
        known = [found.pop(kind) for kind in (0, 1) if kind in found]
        return [*known, *sorted(found.values(), key=lambda stage: stage.began_ms)]

    def _container_amounts(self, memory: object, vcores: object, line: int) -> Amounts:
        count = self._numbers.count
        return container_amounts(count(memory, "memory-mb", line), count(vcores, "vcores", line))

    def _tasks_of_container(self, container: SlsContainer, line: int) -> list[HistoryTask]:
        time_ms = self._numbers.non_negative
        start_ms = time_ms(container.start, "container.start.ms", line)
        end_ms = time_ms(container.end, "container.end.ms", line)
        length_ms = time_ms(container.duration, "duration.ms", line)
        if length_ms is not None:
            start_ms = 0 if start_ms is None else start_ms
            end_ms = start_ms + length_ms
        self._note("dropped", "delays of containers' requests", line, container.delay is not None)
        host = self._maker.hosts.number(container.host or "")
        inputs = () if host == NO_HOST else (host,)
        count = max(self._checked_count(container.count, "count", line), 1)
        note = "containers at home on the host that they ran on: SLS does not say where inputs lie"
        self._maker.remarks.add("guessed", note, count=count * len(inputs))
        return [
            HistoryTask(
                [HistoryAttempt(start_ms, end_ms, "succeeded", host, name="0")], inputs, line=line
            )
            for _ in range(count)
        ]

    def _checked_count(self, value: _Number, field: str, line: int) -> int:
        count = self._numbers.count(value, field, line) or 0
        if count > TASKS_MAX:
            problem = f"{count:,}; the limit is {TASKS_MAX:,}"
            raise ScenarioError(problem, source=self._path, key=field, line=line)
        return count


class _Stage(msgspec.Struct):
    """The containers of a stage, those of which nothing tells when they began, and what each kind
    of them took.
    """

    tasks: list[HistoryTask] = msgspec.field(default_factory=list)
    undated: list[HistoryTask] = msgspec.field(default_factory=list)
    amounts: list[Amounts] = msgspec.field(default_factory=list)

    @property
    def began_ms(self) -> int:
        attempts = (each for task in self.tasks for each in task.attempts)
        return min((each.start_ms for each in attempts if each.start_ms is not None), default=0)

    @property
    def ended_ms(self) -> int:
        attempts = (each for task in self.tasks for each in task.attempts)
        return max((each.finish_ms for each in attempts if each.finish_ms is not None), default=0)


def _begin_stages_in_turn(stages: Iterable[_Stage], begin_ms: int) -> None:
    """Have containers of which only the length is told begin once the stage before has ended."""
    for stage in stages:
        for attempt in (each for task in stage.undated for each in task.attempts):
            if attempt.start_ms is not None and attempt.finish_ms is not None:
                attempt.start_ms += begin_ms
                attempt.finish_ms += begin_ms
        begin_ms = stage.ended_ms
