"""A run as the job history that Hadoop 1's JobTracker would have written: a file a job, all in one,
with a line `!!FILE=...!!` before each.

What `callboard import` and Rumen read.  Attempts have the times of their slots; a task is finished
when the master has booked it and reduces can have heard of it, a message's way later.
"""

from collections.abc import Callable, Iterator, Sequence

from callboard.histories.model.cluster_history import (
    Ending,
    HistoryJob,
    HistoryTask,
    PlayedAttempt,
)
from callboard.histories.played_history import PlayedHistory
from callboard.scheduler.model import SETUP, JobId, Millis, NodeId

BEGIN_MS = 1_234_567_890_000
"""The clock of the history when the run began: on 13 February 2009."""

_SERIES = "200902132331"
_WORDS: dict[Ending, str] = {"succeeded": "SUCCESS", "failed": "FAILED", "killed": "KILLED"}

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
    hosts = _host_of_each_node(history)
    for number, job in history.jobs.items():
        name = f"job_{_SERIES}_{number + 1:04}"
        yield f"!!FILE=callboard_{BEGIN_MS}_{name}_{_user_in_file_name(job.user)}!!"
        yield 'Meta VERSION="1" .'
        held = replicas(number, job.task_counts[0])
        fetched = None if shuffle_bytes is None else shuffle_bytes(number)
        yield from _JobRecords(name, job, hosts, held, fetched).lines()


def _host_of_each_node(history: PlayedHistory) -> dict[NodeId, tuple[str, str]]:
    """The rack and the name of each node: names sort as the nodes' numbers do."""
    nodes = history.started.nodes
    digits = len(str(max((node.node for node in nodes), default=0)))
    return {node.node: (f"/rack-{node.rack:04}", f"node-{node.node:0{digits}}") for node in nodes}


def _user_in_file_name(user: str) -> str:
    """A user as a part of a file's name, which the line must not end before its end."""
    return "".join(each if each.isalnum() or each in "-._" else "_" for each in user) or "user"


def _record_line(entity: str, **fields: object) -> str:
    """A record of the fields that are known; values are escaped as Hadoop does."""
    known = (each for each in fields.items() if each[1] is not None)
    pairs = (f'{key}="{_escaped_value(str(value))}"' for key, value in known)
    return f"{entity} {' '.join(pairs)} ."


def _history_ms(at_ms: Millis | None) -> Millis | None:
    return None if at_ms is None else BEGIN_MS + at_ms


def _escaped_value(value: str) -> str:
    """What ends a value or a record is escaped; what cannot stand in a line is left out."""
    kept = "".join(each if each.isprintable() else " " for each in value)
    for mark in ("\\", '"', ".", "="):
        kept = kept.replace(mark, f"\\{mark}")
    return kept


class _JobRecords:
    """The records of one job, by time."""

    def __init__(
        self,
        name: str,
        job: HistoryJob,
        hosts: dict[NodeId, tuple[str, str]],
        replicas: Sequence[Sequence[NodeId]],
        fetched: int | None,
    ) -> None:
        self._fetched = fetched
        self._job = job
        self._hosts = hosts
        self._replicas = replicas
        self._name = name

    def lines(self) -> Iterator[str]:
        yield from self._first_records()
        yield from (record for _, record in sorted(self._task_records(), key=lambda each: each[0]))
        yield from self._end_record()

    def _first_records(self) -> Iterator[str]:
        told, job = self._job, {"JOBID": self._name}
        who = {"JOBNAME": told.title, "USER": told.user or "user"}
        came = {
            "SUBMIT_TIME": _history_ms(told.submit_ms),
            "JOBCONF": f"/{self._name}/job.xml",
        }
        yield _record_line("Job", **job, **who, **came, JOB_QUEUE=told.queue or None)
        yield _record_line("Job", **job, JOB_PRIORITY=told.priority.name)
        sizes = dict(zip(("TOTAL_MAPS", "TOTAL_REDUCES"), told.task_counts, strict=True))
        yield _record_line(
            "Job", **job, LAUNCH_TIME=_history_ms(told.launch_ms), **sizes, JOB_STATUS="PREP"
        )

    def _end_record(self) -> Iterator[str]:
        job = self._job
        if job.finish_ms is None:
            return
        end = {"FINISH_TIME": _history_ms(job.finish_ms), "JOB_STATUS": _WORDS[job.ending]}
        maps, reduces = (
            sum(task.last_success is not None for task in tasks.values())
            for tasks in (job.maps, job.reduces)
        )
        done = {"FINISHED_MAPS": maps, "FINISHED_REDUCES": reduces}
        yield _record_line("Job", JOBID=self._name, **end, **done)

    def _task_records(self) -> Iterator[_Record]:
        """Of each in turn, in the order of their launches: what stands at one time stays so."""
        job = self._job
        for kind, task in job.others.items():  # numbered after the job's own maps, cleanup first
            number = job.task_counts[0] + (task.purpose == SETUP)
            yield from self._records_of_task(kind.upper(), "m", number, task)
        maps = (("MAP", "m", *each) for each in job.maps.items())
        reduces = (("REDUCE", "r", *each) for each in job.reduces.items())
        for each in sorted((*maps, *reduces), key=lambda each: each[-1].launches[0].event):
            yield from self._records_of_task(*each)

    def _records_of_task(
        self, kind: str, letter: str, number: int, task: HistoryTask
    ) -> Iterator[_Record]:
        name = f"{self._name.replace('job', 'task', 1)}_{letter}_{number:06}"
        head = {"TASKID": name, "TASK_TYPE": kind}
        begun_ms, splits = task.start_ms or 0, self._input_splits(number) if kind == "MAP" else ""
        yield (
            begun_ms,
            _record_line("Task", **head, START_TIME=_history_ms(begun_ms), SPLITS=splits),
        )
        for attempt in task.launches:
            yield from self._records_of_attempt(head, attempt)
        if task.finish_ms is not None:
            end = {
                "TASK_STATUS": "SUCCESS",
                "FINISH_TIME": _history_ms(task.finish_ms),
                "COUNTERS": "",
            }
            yield task.finish_ms, _record_line("Task", **head, **end)

    def _input_splits(self, number: int) -> str:
        held = self._replicas[number]
        return ",".join("/".join(self._hosts[node]) for node in held)

    def _records_of_attempt(
        self, head: dict[str, str], attempt: PlayedAttempt
    ) -> Iterator[_Record]:
        if attempt.start_ms is None:
            return
        name = f"{head['TASKID'].replace('task', 'attempt', 1)}_{attempt.name}"
        entity = "ReduceAttempt" if head["TASK_TYPE"] == "REDUCE" else "MapAttempt"
        own = {"TASK_TYPE": head["TASK_TYPE"], "TASKID": head["TASKID"], "TASK_ATTEMPT_ID": name}
        rack, host = self._hosts[attempt.node]
        began = {
            "START_TIME": _history_ms(attempt.start_ms),
            "TRACKER_NAME": f"tracker_{host}:localhost/127.0.0.1:50050",
            "HTTP_PORT": 50060,
        }
        yield attempt.start_ms, _record_line(entity, **own, **began)
        if attempt.ended_ms is None or attempt.finish_ms is None:
            return
        shuffled_ms = _history_ms(attempt.shuffled_ms)
        shuffled = {"SHUFFLE_FINISHED": shuffled_ms, "SORT_FINISHED": shuffled_ms}
        end = {"FINISH_TIME": _history_ms(attempt.ended_ms), "HOSTNAME": f"{rack}/{host}"}
        told = {"TASK_STATUS": _WORDS[attempt.outcome], **shuffled, **end, "STATE_STRING": ""}
        at_ms = attempt.booked_ms or attempt.ended_ms
        counters = "" if shuffled_ms is None else self._shuffle_counters()
        yield at_ms, f'{_record_line(entity, **own, **told)[:-2]} COUNTERS="{counters}" .'
        if attempt.output_lost:
            told = {
                "TASK_STATUS": "KILLED",
                **end,
                "FINISH_TIME": _history_ms(attempt.finish_ms),
            }
            yield attempt.finish_ms, _record_line(entity, **own, **told, ERROR="Lost task tracker")

    def _shuffle_counters(self) -> str:
        if self._fetched is None:
            return ""
        counter = f"(REDUCE_SHUFFLE_BYTES)(Reduce shuffle bytes)({self._fetched})"
        group = r"(org\.apache\.hadoop\.mapred\.Task$Counter)(Map-Reduce Framework)"
        return f"{{{group}[{counter}]}}"
