"""Recorded jobs with every task of theirs, and the file that holds them: gzipped JSON, a line for
the cluster, then a line a job (`zcat` shows it), then what is kept of a history's attempts.
"""

import gzip
import json
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from io import BufferedIOBase
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Literal, TypeVar, cast

import msgspec
import numpy as np
from msgspec import Meta

from callboard.actors.config import AMOUNT_MAX, ATTEMPTS_MAX, JOBS_MAX, SECONDS_MAX, TASKS_MAX
from callboard.actors.job_spec import Amounts
from callboard.actors.placement import ANYWHERE
from callboard.actors.recorded_tasks import RecordedFailure, RecordedTasks
from callboard.scheduler.model import Locality, Millis, Priority, Stage
from callboard.scheduler.text.scenario_error import ScenarioError
from callboard.scheduler.text.text_file import GZIP_DAMAGE

TASKS_SUFFIX = ".tasks.gz"
TASKS_VERSION = 5
_READ = (2, 3, 4, TASKS_VERSION)
"""Version 2 had jobs alone, 3 did not say how long they were initialised, and 4 not after how many
failures of a task they fail.
"""
_GZIP_END = 8  # bytes: CRC-32 of what is packed, and how much that is

_Time = Annotated[int, Meta(ge=0, le=int(SECONDS_MAX) * 1000)]
_Length = Annotated[int, Meta(ge=1, le=int(SECONDS_MAX) * 1000)]
_Level = Annotated[int, Meta(ge=0, le=2)]
_Amount = Annotated[int, Meta(ge=0, le=AMOUNT_MAX)]
_Node = Annotated[int, Meta(ge=-1)]
_T = TypeVar("_T")
_FailureRow = tuple[Literal[0, 1], Annotated[int, Meta(ge=0)], _Length, _Level, bool]


class RecordedJob(msgspec.Struct, frozen=True):
    """A job and its tasks.  Its user killed it `killed_ms` after its submission; `requested_ms` is
    what was asked for a task, `response_ms` how long the job took then; None where unknown.  Tasks
    of `setup_ms` and `cleanup_ms` came before and after all others (0: none).  Each map took the
    first of `demands` besides a slot, each reduce the second.  No task might run before the job had
    been initialised for `initialisation_ms` (0 where it took no time, or nobody tells).  It fails
    when a task of it has failed `max_attempts` times.
    """

    name: str
    user: str
    pool: str
    priority: Priority
    submit_ms: Millis
    killed_ms: Millis | None
    requested_ms: Millis | None
    response_ms: Millis | None
    tasks: RecordedTasks
    setup_ms: Millis = 0
    cleanup_ms: Millis = 0
    demands: tuple[Amounts, Amounts] = ((), ())
    initialisation_ms: Millis = 0
    max_attempts: int = ATTEMPTS_MAX

    @property
    def tells_response(self) -> bool:
        """Whether it says how long the job took that nobody cut short."""
        return self.response_ms is not None and self.killed_ms is None


class ClusterRecording(msgspec.Struct, frozen=True):
    """A recorded cluster and its jobs, by submission.  The nodes are in the order of their racks,
    or go round them (`round_robin`); `hosts` are their names, if they have any.  Each has this
    `capacity` besides slots.  `cut` says which file it was read from is cut off, and where.
    """

    format: str
    nodes: int
    rack_sizes: tuple[int, ...]
    map_slots: int
    reduce_slots: int
    hosts: tuple[str, ...]
    jobs: tuple[RecordedJob, ...]
    span_ms: Millis
    round_robin: bool = False
    capacity: Amounts = ()
    cut: str = ""

    @property
    def task_count(self) -> int:
        """The maps and reduces of all jobs, those that never ran with them."""
        return sum(len(job.tasks.map_ms) + len(job.tasks.tail_ms) for job in self.jobs)


class _Head(msgspec.Struct):
    callboard: Literal["recorded tasks"]
    version: int
    format: str
    nodes: Annotated[int, Meta(ge=1)]
    rack_sizes: tuple[int, ...]
    map_slots: int
    reduce_slots: int
    span_ms: int
    hosts: tuple[str, ...] = ()
    round_robin: bool = False
    jobs: Annotated[int, Meta(ge=1, le=JOBS_MAX)] | None = None
    capacity: dict[str, _Amount] = {}
    cut: str = ""


class _Line(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    """A job in the file; `levels` has a digit (`Locality`) for each map, `inputs` the nodes that
    held each map's input, where any are known.
    """

    name: Annotated[str, Meta(min_length=1)]
    submit_ms: _Time
    map_ms: Annotated[list[_Length], Meta(min_length=1, max_length=TASKS_MAX)]
    levels: Annotated[str, Meta(pattern="^[012]*$")] = ""
    inputs: list[list[_Node]] = []
    shuffle_ms: Annotated[list[_Time], Meta(max_length=TASKS_MAX)] = []
    tail_ms: list[_Time] = []
    rest_ms: list[_Time] = []
    failures: list[_FailureRow] = []
    user: str = "user"
    pool: str = ""
    priority: Annotated[int, Meta(ge=0, le=4)] = 2
    killed_ms: _Time | None = None
    requested_ms: _Time | None = None
    response_ms: _Time | None = None
    initialisation_ms: _Time = 0
    setup_ms: _Time = 0
    cleanup_ms: _Time = 0
    map_demand: dict[str, _Amount] = {}
    reduce_demand: dict[str, _Amount] = {}
    max_attempts: Annotated[int, Meta(ge=1, le=ATTEMPTS_MAX)] = ATTEMPTS_MAX


def write_recording(
    recording: ClusterRecording, path: Path, attempts: Iterable[bytes] = ()
) -> None:
    """Write the file, with lines that tell of attempts; the same always give the same bytes."""
    with path.open("wb") as file, gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
        for line in chain(_recording_lines(recording), attempts):
            packed.write(line + b"\n")


def _recording_lines(recording: ClusterRecording) -> Iterator[bytes]:
    head = _Head(
        callboard="recorded tasks",
        version=TASKS_VERSION,
        format=recording.format,
        nodes=recording.nodes,
        rack_sizes=recording.rack_sizes,
        map_slots=recording.map_slots,
        reduce_slots=recording.reduce_slots,
        span_ms=recording.span_ms,
        hosts=recording.hosts,
        round_robin=recording.round_robin,
        jobs=len(recording.jobs),
        capacity=dict(recording.capacity),
        cut=recording.cut,
    )
    yield msgspec.json.encode(head)
    for job in recording.jobs:
        yield msgspec.json.encode(_line_of_job(job))


def _line_of_job(job: RecordedJob) -> _Line:
    tasks = job.tasks
    failures = [
        (stage, task, each.ms, int(each.level), each.killed)
        for (stage, task), rows in tasks.failures.items()
        for each in rows
    ]
    return _Line(
        name=job.name,
        submit_ms=job.submit_ms,
        map_ms=tasks.map_ms.tolist(),
        levels="".join(map(str, tasks.map_levels)) if any(tasks.map_levels) else "",
        inputs=_input_nodes(tasks),
        shuffle_ms=tasks.shuffle_ms.tolist(),
        tail_ms=tasks.tail_ms.tolist(),
        rest_ms=tasks.rest_ms.tolist(),
        failures=cast(list[_FailureRow], failures),
        user=job.user,
        pool=job.pool,
        priority=int(job.priority),
        killed_ms=job.killed_ms,
        requested_ms=job.requested_ms,
        response_ms=job.response_ms,
        initialisation_ms=job.initialisation_ms,
        setup_ms=job.setup_ms,
        cleanup_ms=job.cleanup_ms,
        map_demand=dict(job.demands[0]),
        reduce_demand=dict(job.demands[1]),
        max_attempts=job.max_attempts,
    )


def _input_nodes(tasks: RecordedTasks) -> list[list[int]]:
    held = tasks.replica_rows()
    if bool((held < 0).all()):
        return []
    return [[node for node in row if node >= 0] for row in held.tolist()]


def tasks_digest(path: Path) -> str:
    """What tells this file of tasks from another: the checksum and the length that gzip has put at
    its end, as 16 hexadecimal digits.  ScenarioError where it cannot be read.
    """
    try:
        stat = path.stat()
        return _gzip_trailer(path, stat.st_size, stat.st_mtime_ns).hex()
    except OSError as error:
        raise ScenarioError(f"cannot be read: {error.strerror}", source=path) from None


@lru_cache(maxsize=16)
def _gzip_trailer(path: Path, size: int, changed_ns: int) -> bytes:  # noqa: ARG001
    """What gzip has put at a file's end: seeds and settings play the same ones."""
    with path.open("rb") as file:
        file.seek(max(size - _GZIP_END, 0))
        return file.read()


def begins_as_tasks(begin: bytes) -> bool:
    """Whether a file of recorded tasks begins like this, once unpacked."""
    return begin.startswith(b'{"callboard":"recorded tasks"')


def read_recording(path: Path) -> ClusterRecording:
    """The recording in a file that `write_recording` wrote; ScenarioError where it is damaged."""
    with _unpacked_file(path) as file:
        return _decoded_recording(file, path)


def read_attempt_lines(path: Path) -> list[bytes]:
    """The lines after the jobs, which tell of their attempts; none in a file of before."""
    with _unpacked_file(path) as file:
        head = _read_head(file, path)
        return [] if head.jobs is None else list(islice(file, head.jobs, None))


@contextmanager
def _unpacked_file(path: Path) -> Iterator[BufferedIOBase]:
    try:
        with gzip.open(path, "rb") as file:
            yield cast(BufferedIOBase, file)
    except GZIP_DAMAGE as error:
        problem = "the file of recorded tasks is damaged or cut off; import the history again"
        raise ScenarioError(problem, source=path) from error


def _read_head(file: BufferedIOBase, path: Path) -> _Head:
    head = _decoded_line(file.readline(), _Head, path, 1)
    if head.version not in _READ:
        problem = f"version {head.version} of recorded tasks; this Callboard reads {TASKS_VERSION}"
        raise ScenarioError(f"{problem}; import the history again", source=path, line=1)
    return head


def _decoded_recording(file: BufferedIOBase, path: Path) -> ClusterRecording:
    head = _read_head(file, path)
    rows = enumerate(islice(file, head.jobs), start=2)
    jobs = tuple(_recorded_job(row, head, path, line) for line, row in rows)
    if len(jobs) < (head.jobs or 1):
        problem = f"{len(jobs):,} jobs of {head.jobs or 1:,}: the file of recorded tasks is cut off"
        raise ScenarioError(f"{problem}; import the history again", source=path)
    if not 1 <= len(jobs) <= JOBS_MAX:
        raise ScenarioError(f"{len(jobs):,} jobs; expected 1 to {JOBS_MAX:,}", source=path)
    kept = (head.format, head.nodes, head.rack_sizes, head.map_slots, head.reduce_slots)
    told = (head.hosts, jobs, head.span_ms, head.round_robin)
    return ClusterRecording(*kept, *told, tuple(head.capacity.items()), head.cut)


def _recorded_job(row: bytes, head: _Head, path: Path, number: int) -> RecordedJob:
    line = _decoded_line(row, _Line, path, number)
    problem = _contradiction(line, head.nodes)
    if problem:
        problem += "; import the history again"
        raise ScenarioError(problem, source=path, line=number)
    who = (line.name, line.user, line.pool, Priority(line.priority), line.submit_ms)
    kept = (line.killed_ms, line.requested_ms, line.response_ms)
    auxiliary = (line.setup_ms, line.cleanup_ms)
    demands = (tuple(line.map_demand.items()), tuple(line.reduce_demand.items()))
    tasks, initialised_ms = _recorded_tasks(line, head.nodes), line.initialisation_ms
    return RecordedJob(*who, *kept, tasks, *auxiliary, demands, initialised_ms, line.max_attempts)


def _contradiction(line: _Line, nodes: int) -> str:
    """What of a job does not go together; empty if all does."""
    maps, reduces = len(line.map_ms), len(line.rest_ms)
    lengths = {len(line.shuffle_ms), len(line.tail_ms), reduces}
    if len(lengths) > 1 or {len(line.levels), len(line.inputs)} - {0, maps}:
        return "the lists of the job's tasks are not equally long"
    last_node = max((max(row) for row in line.inputs if row), default=0)
    if last_node >= nodes or any(row[1] >= (maps, reduces)[row[0]] for row in line.failures):
        return "a task or a node is named that is not there"
    return ""


def _recorded_tasks(line: _Line, nodes: int) -> RecordedTasks:
    failures: dict[tuple[Stage, int], tuple[RecordedFailure, ...]] = {}
    for stage, task, ms, level, killed in line.failures:
        key = (Stage(stage), task)
        failure = RecordedFailure(ms, Locality(level), killed)
        failures[key] = (*failures.get(key, ()), failure)
    return RecordedTasks(
        array("q", line.map_ms),
        bytes(map(int, line.levels)) or bytes(len(line.map_ms)),
        array("q", line.shuffle_ms),
        array("q", line.tail_ms),
        array("q", line.rest_ms),
        failures,
        *packed_inputs(line.inputs or [[]] * len(line.map_ms)),
        nodes,
    )


def packed_inputs(inputs: Sequence[Sequence[int]]) -> tuple[bytes, int]:
    """The nodes that hold each map's input as `RecordedTasks` has them, and how many a row has."""
    width = max(1, *map(len, inputs))
    rows = np.full((len(inputs), width), -1, dtype="<i4")
    for row, nodes in zip(rows, inputs, strict=True):
        row[: len(nodes)] = nodes
        if not nodes:
            row[0] = ANYWHERE
    return rows.tobytes(), width


def _decoded_line(row: bytes, kind: type[_T], path: Path, line: int) -> _T:
    try:
        return msgspec.json.decode(row, type=kind)
    except (msgspec.DecodeError, json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ScenarioError(f"not recorded tasks: {error}", source=path, line=line) from None
