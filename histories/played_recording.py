"""A run as a history that has been read: what a reader makes of the file of one, without the file.

It is the history that Hadoop 1's JobTracker would have written (`histories.writers.write_hadoop1`),
taken apart into what every reader hands on, so that all that follows is the readers' own.
"""

from collections.abc import Callable, Iterator

from callboard.actors.vocabulary.events import NodeFacts
from callboard.histories.inference.recording_maker import RecordingMaker
from callboard.histories.model.cluster_history import (
    Ending,
    HistoryAttempt,
    HistoryJob,
    HistoryTask,
    HostNames,
)
from callboard.histories.model.import_report import Remarks
from callboard.histories.played_history import PlayedAttempt, PlayedHistory, PlayedJob, PlayedTask
from callboard.histories.recording_file import Imported
from callboard.histories.writers.write_hadoop1 import Replicas
from callboard.scheduler.model import MAPS, REDUCES, SETUP, STAGE_NAMES, JobId, NodeId

_FORM = "run of Callboard"


def played_recording(
    played: PlayedHistory,
    replicas: Replicas,
    shuffle_bytes: Callable[[JobId], int] | None = None,
) -> Imported:
    """The history of a run; jobs are called by their numbers.  `shuffle_bytes` is what each reduce
    of a job fetches, where that is known.  ScenarioError if no job has run.
    """
    maker = RecordingMaker(_FORM, _FORM, Remarks())
    reader = _RunReader(maker.hosts, played, replicas, shuffle_bytes)
    for job in played.jobs.values():
        maker.add(reader.job(job))
    recording = maker.finish()
    sizes = (maker.jobs, maker.tasks, maker.attempts)
    return Imported(recording, maker.remarks, *sizes, log=maker.log, begin_ms=maker.begin_ms)


class _RunReader:
    """Makes jobs of a history of played ones."""

    def __init__(
        self,
        hosts: HostNames,
        played: PlayedHistory,
        replicas: Replicas,
        shuffle_bytes: Callable[[JobId], int] | None,
    ) -> None:
        self._hosts = hosts
        self._latency_ms = played.latency_ms
        self._paths = {each.node: _path(each) for each in played.started.nodes}
        self._replicas = replicas
        self._shuffle_bytes = shuffle_bytes

    def job(self, played: PlayedJob) -> HistoryJob:
        """A job with all its tasks."""
        told, end = played.submitted, played.finished
        held = self._replicas(told.job, told.maps)
        job = HistoryJob(f"job-{told.job}", user=told.user, queue=told.pool)
        job.submit_ms, job.launch_ms, job.priority = told.at_ms, played.launched_ms, told.priority
        job.maps_told, job.reduces_told = told.maps, told.reduces
        if end is not None:
            job.finish_ms, job.ending = end.at_ms, _ENDINGS[end.outcome]
        for task in played.tasks.values():
            if task.stage == MAPS:
                holders = (self._number(node) for node in held[task.number])
                job.maps[task.number] = self._task(task, tuple(dict.fromkeys(holders)))
            else:
                job.reduces[task.number] = self._task(task)
                self._count_fetched(job.reduces[task.number], told.job)
        for task in played.unseen.values():
            job.others[STAGE_NAMES[task.stage]] = self._task(task)
        return job

    def _task(self, played: PlayedTask, input_hosts: tuple[int, ...] = ()) -> HistoryTask:
        task = HistoryTask(list(self._attempts(played)), input_hosts)
        task.start_ms = played.attempts[0].launched_ms
        best = played.best
        if best is not None and best.booked_ms is not None and best.lost_ms is None:
            task.finish_ms = best.booked_ms + self._latency_ms
        if played.stage >= SETUP:
            task.purpose = played.stage
        return task

    def _attempts(self, played: PlayedTask) -> Iterator[HistoryAttempt]:
        """Those that began, in that order."""
        begun = [each for each in played.attempts if each.started_ms is not None]
        for each in sorted(begun, key=lambda each: each.started_ms or 0):
            yield self._attempt(each, shuffles=played.stage == REDUCES)

    def _attempt(self, played: PlayedAttempt, *, shuffles: bool) -> HistoryAttempt:
        host = self._number(played.node)
        attempt = HistoryAttempt(played.started_ms, host=host, name=str(played.number))
        if played.ended_ms is None or played.outcome is None:
            return attempt
        attempt.finish_ms, attempt.ending = played.ended_ms, _ENDINGS[played.outcome]
        if shuffles:
            attempt.shuffled_ms = played.shuffled_ms
        if played.lost_ms is not None:
            attempt.finish_ms, attempt.ending = played.lost_ms, "killed"
        return attempt

    def _count_fetched(self, task: HistoryTask, job: JobId) -> None:
        if self._shuffle_bytes is None:
            return
        for attempt in task.attempts:
            if attempt.shuffled_ms is not None:
                attempt.shuffled_bytes = self._shuffle_bytes(job)

    def _number(self, node: NodeId) -> int:
        return self._hosts.number(self._paths[node])


_ENDINGS: dict[str, Ending] = {each: each for each in ("succeeded", "failed", "killed")}


def _path(node: NodeFacts) -> str:
    """Its rack and its name; either sort as the numbers do."""
    return f"/rack-{node.rack:09}/node-{node.node:09}"
