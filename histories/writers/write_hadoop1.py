"""A run as the job history that Hadoop 1's JobTracker would have written: a file a job, all in one,
with a line `!!FILE=...!!` before each.

What `callboard import` and Rumen read.  Attempts have the times of their slots; a task is finished
when the master has booked it and reduces can have heard of it, a message's way later.
"""

from collections.abc import Callable, Iterator, Sequence

from callboard.actors.vocabulary.events import Outcome
from callboard.histories.played_history import PlayedAttempt, PlayedHistory, PlayedJob, PlayedTask
from callboard.scheduler.model import (
    MAPS,
    REDUCES,
    SETUP,
    STAGE_NAMES,
    STAGES,
    JobId,
    Millis,
    NodeId,
)

BEGIN_MS = 1_234_567_890_000
"""The clock of the history when the run began: on 13 February 2009."""

_SERIES = "200902132331"
_WORDS = {Outcome.SUCCEEDED: "SUCCESS", Outcome.FAILED: "FAILED", Outcome.KILLED: "KILLED"}

Replicas = Callable[[JobId, int], Sequence[Sequence[NodeId]]]
"""The nodes that hold the input of each of a job's maps; empty for a map without input."""

_Record = tuple[Millis, str]


def hadoop1_lines(
    history: PlayedHistory,
    replicas: Replicas,
    shuffle_bytes: Callable[[JobId], int] | None = None,
) -> Iterator[str]:
    """The lines, each without its end; `shuffle_bytes` is what each reduce of a job fetches, where
    that is known.
    """
    hosts = _hosts(history)
    for job in history.jobs.values():
        yield f"!!FILE=callboard_{BEGIN_MS}_{_job_name(job)}_{_in_name(job.submitted.user)}!!"
        yield 'Meta VERSION="1" .'
        held = replicas(job.submitted.job, job.submitted.maps)
        fetched = None if shuffle_bytes is None else shuffle_bytes(job.submitted.job)
        yield from _JobRecords(history, job, hosts, held, fetched).lines()


def _hosts(history: PlayedHistory) -> dict[NodeId, tuple[str, str]]:
    """The rack and the name of each node: names sort as the nodes' numbers do."""
    nodes = history.started.nodes
    digits = len(str(max((node.node for node in nodes), default=0)))
    return {node.node: (f"/rack-{node.rack:04}", f"node-{node.node:0{digits}}") for node in nodes}


def _job_name(job: PlayedJob) -> str:
    return f"job_{_SERIES}_{job.submitted.job + 1:04}"


def _in_name(user: str) -> str:
    """A user as a part of a file's name, which the line must not end before its end."""
    return "".join(each if each.isalnum() or each in "-._" else "_" for each in user) or "user"


def _record(entity: str, **fields: object) -> str:
    """A record; values are escaped as Hadoop does."""
    pairs = (f'{key}="{_escaped(str(value))}"' for key, value in fields.items())
    return f"{entity} {' '.join(pairs)} ."


def _escaped(value: str) -> str:
    """What ends a value or a record is escaped; what cannot stand in a line is left out."""
    kept = "".join(each if each.isprintable() else " " for each in value)
    for mark in ("\\", '"', ".", "="):
        kept = kept.replace(mark, f"\\{mark}")
    return kept


class _JobRecords:
    """The records of one job, by time."""

    def __init__(
        self,
        history: PlayedHistory,
        job: PlayedJob,
        hosts: dict[NodeId, tuple[str, str]],
        replicas: Sequence[Sequence[NodeId]],
        fetched: int | None,
    ) -> None:
        self._fetched = fetched
        self._latency_ms = history.latency_ms
        self._job = job
        self._hosts = hosts
        self._replicas = replicas
        self._name = _job_name(job)

    def lines(self) -> Iterator[str]:
        yield from self._beginning()
        records = [each for task in self._job.every() for each in self._of_task(task)]
        yield from (record for _, record in sorted(records, key=lambda each: each[0]))
        yield from self._end()

    def _beginning(self) -> Iterator[str]:
        told, name = self._job.submitted, self._name
        job, at_ms = {"JOBID": name}, BEGIN_MS + told.at_ms
        who = {"JOBNAME": told.name, "USER": told.user or "user", "SUBMIT_TIME": at_ms}
        queue = {"JOB_QUEUE": told.pool} if told.pool else {}
        yield _record("Job", **job, **who, JOBCONF=f"/{name}/job.xml", **queue)
        yield _record("Job", **job, JOB_PRIORITY=told.priority.name)
        sizes = {"TOTAL_MAPS": told.maps, "TOTAL_REDUCES": told.reduces}
        launched_ms = BEGIN_MS + self._job.launched_ms
        yield _record("Job", **job, LAUNCH_TIME=launched_ms, **sizes, JOB_STATUS="PREP")

    def _end(self) -> Iterator[str]:
        end, job = self._job.finished, self._job
        if end is None:
            return
        done = {
            f"FINISHED_{STAGE_NAMES[stage].upper()}S": sum(
                task.best is not None for task in job.of(stage)
            )
            for stage in STAGES
        }
        at_ms, status = BEGIN_MS + end.at_ms, _WORDS[end.outcome]
        yield _record("Job", JOBID=self._name, FINISH_TIME=at_ms, JOB_STATUS=status, **done)

    def _of_task(self, task: PlayedTask) -> Iterator[_Record]:
        name = self._task_name(task)
        head = {"TASKID": name, "TASK_TYPE": STAGE_NAMES[task.stage].upper()}
        begun_ms = task.attempts[0].launched_ms
        splits = self._splits(task) if task.stage == MAPS else ""
        yield begun_ms, _record("Task", **head, START_TIME=BEGIN_MS + begun_ms, SPLITS=splits)
        for attempt in task.attempts:
            yield from self._of_attempt(task, head, attempt)
        best = task.best
        if best is not None and best.booked_ms is not None and best.lost_ms is None:
            at_ms = best.booked_ms + self._latency_ms
            end = {"TASK_STATUS": "SUCCESS", "FINISH_TIME": BEGIN_MS + at_ms, "COUNTERS": ""}
            yield at_ms, _record("Task", **head, **end)

    def _task_name(self, task: PlayedTask) -> str:
        series, number = self._name.removeprefix("job_"), task.number
        if task.stage >= SETUP:  # numbered after the job's own maps, cleanup first
            number = self._job.submitted.maps + (task.stage == SETUP)
            return f"task_{series}_m_{number:06}"
        return f"task_{series}_{'m' if task.stage == MAPS else 'r'}_{number:06}"

    def _splits(self, task: PlayedTask) -> str:
        held = self._replicas[task.number]
        return ",".join("/".join(self._hosts[node]) for node in held)

    def _of_attempt(
        self, task: PlayedTask, head: dict[str, str], attempt: PlayedAttempt
    ) -> Iterator[_Record]:
        if attempt.started_ms is None:
            return
        name = f"{head['TASKID'].replace('task', 'attempt', 1)}_{attempt.number}"
        entity = "ReduceAttempt" if task.stage == REDUCES else "MapAttempt"
        own = {"TASK_TYPE": head["TASK_TYPE"], "TASKID": head["TASKID"], "TASK_ATTEMPT_ID": name}
        rack, host = self._hosts[attempt.node]
        began = {
            "START_TIME": BEGIN_MS + attempt.started_ms,
            "TRACKER_NAME": f"tracker_{host}:localhost/127.0.0.1:50050",
            "HTTP_PORT": 50060,
        }
        yield attempt.started_ms, _record(entity, **own, **began)
        if attempt.ended_ms is None or attempt.outcome is None:
            return
        shuffled = _shuffled(attempt) if entity == "ReduceAttempt" else {}
        end = {"FINISH_TIME": BEGIN_MS + attempt.ended_ms, "HOSTNAME": f"{rack}/{host}"}
        told = {"TASK_STATUS": _WORDS[attempt.outcome], **shuffled, **end, "STATE_STRING": ""}
        at_ms = attempt.booked_ms or attempt.ended_ms
        counters = self._counters() if shuffled else ""
        yield at_ms, f'{_record(entity, **own, **told)[:-2]} COUNTERS="{counters}" .'
        if attempt.lost_ms is not None:
            told = {"TASK_STATUS": "KILLED", **end, "FINISH_TIME": BEGIN_MS + attempt.lost_ms}
            yield attempt.lost_ms, _record(entity, **own, **told, ERROR="Lost task tracker")

    def _counters(self) -> str:
        if self._fetched is None:
            return ""
        counter = f"(REDUCE_SHUFFLE_BYTES)(Reduce shuffle bytes)({self._fetched})"
        group = r"(org\.apache\.hadoop\.mapred\.Task$Counter)(Map-Reduce Framework)"
        return f"{{{group}[{counter}]}}"


def _shuffled(attempt: PlayedAttempt) -> dict[str, object]:
    """When a reduce had all its inputs; one that never had leaves it out."""
    if attempt.shuffled_ms is None:
        return {}
    at_ms = BEGIN_MS + attempt.shuffled_ms
    return {"SHUFFLE_FINISHED": at_ms, "SORT_FINISHED": at_ms}
