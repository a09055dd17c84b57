"""Jobs on their way from a history to a recording: their hosts still have the file's numbers, their
times the file's clock.  Once all hosts and racks are known, they are finished.
"""

import msgspec
import numpy as np
from numpy.typing import NDArray

from callboard.actors.recorded_tasks import Failures, RecordedFailure, RecordedTasks
from callboard.histories.inference.cluster_inference import RecordedCluster
from callboard.histories.model.import_report import Remarks
from callboard.histories.model.tasks_file import RecordedJob
from callboard.scheduler.model import MAPS, Locality, Millis, Stage, TaskIndex

UNKNOWN_LEVEL = 255
"""In place of a locality that the hosts have to tell."""

_NAMES = ("data-local", "rack-local", "off-rack")


class FailedAttempt(msgspec.Struct):
    """An attempt that failed on a host."""

    stage: Stage
    task: TaskIndex
    failure: RecordedFailure
    host: int


class DraftJob(msgspec.Struct):
    """A job, when it was submitted and when the last was heard of it, and where its maps ran."""

    job: RecordedJob
    place: str
    submit_ms: Millis
    end_ms: Millis
    ran_on: NDArray[np.int32]
    failed: list[FailedAttempt]


class DraftFinisher:
    """Gives jobs the cluster's numbers of hosts, times from its first submission, localities."""

    def __init__(self, cluster: RecordedCluster, begin_ms: Millis, remarks: Remarks) -> None:
        self._cluster = cluster
        self._begin_ms = begin_ms
        self._remarks = remarks

    def recorded_job(self, draft: DraftJob) -> RecordedJob:
        """The job as it is recorded."""
        tasks = draft.job.tasks
        held = tasks.replica_rows()
        whole = msgspec.structs.replace(
            tasks,
            map_levels=self._locality_of_maps(tasks, draft.ran_on, held),
            failures=self._failures_by_task(draft, held),
            replicas=self._renumbered_hosts(held).tobytes(),
            nodes=self._cluster.nodes,
        )
        submit_ms = draft.submit_ms - self._begin_ms
        return msgspec.structs.replace(draft.job, submit_ms=submit_ms, tasks=whole)

    def _renumbered_hosts(self, held: NDArray[np.int32]) -> NDArray[np.int32]:
        if not self._cluster.names:
            return held
        new = self._cluster.renumbered[np.maximum(held, 0)]
        return np.where(held >= 0, new, held).astype("<i4")

    def _failures_by_task(self, draft: DraftJob, held: NDArray[np.int32]) -> Failures:
        found: dict[tuple[Stage, TaskIndex], tuple[RecordedFailure, ...]] = {}
        for each in draft.failed:
            level = Locality.NODE
            if each.stage == MAPS:
                row = held[each.task : each.task + 1]
                host = np.array([each.host], dtype=np.int32)
                level = Locality(int(self._locality_by_hosts(host, row)[0]))
            key = (each.stage, each.task)
            found[key] = (*found.get(key, ()), each.failure._replace(level=level))
        return found

    def _locality_of_maps(
        self, tasks: RecordedTasks, ran_on: NDArray[np.int32], held: NDArray[np.int32]
    ) -> bytes:
        """The locality of each map: as the file states it, else as the hosts tell it."""
        stated = np.frombuffer(tasks.map_levels, dtype=np.uint8)
        to_tell, has_input = stated == UNKNOWN_LEVEL, held[:, 0] >= 0
        levels = np.where(to_tell, self._locality_by_hosts(ran_on, held), stated)
        levels[~has_input] = Locality.NODE
        self._note_localities(levels, to_tell & has_input, ran_on >= 0)
        note = "maps without a place of their input: at home on every node"
        self._remarks.add("inferred", note, count=int((~has_input).sum()))
        return levels.astype(np.uint8).tobytes()

    def _note_localities(
        self, levels: NDArray[np.uint8], told: NDArray[np.bool_], placed: NDArray[np.bool_]
    ) -> None:
        for level, name in zip(Locality, _NAMES, strict=True):
            number = int((told & placed & (levels == level)).sum())
            note = f"maps that ran {name}, by their host and those of their input"
            self._remarks.add("inferred", note, count=number)
        note = "maps that ran nobody knows where: taken for data-local"
        self._remarks.add("guessed", note, count=int((told & ~placed).sum()))

    def _locality_by_hosts(
        self, ran_on: NDArray[np.int32], held: NDArray[np.int32]
    ) -> NDArray[np.uint8]:
        """How near to their inputs maps ran; `NODE` where either is unknown."""
        racks = self._cluster.racks
        if not len(racks):
            return np.full(len(ran_on), Locality.NODE, dtype=np.uint8)
        levels = np.full(len(ran_on), Locality.OFF_RACK, dtype=np.uint8)
        own, theirs = racks[np.maximum(ran_on, 0)][:, None], racks[np.maximum(held, 0)]
        levels[((own == theirs) & (held >= 0)).any(axis=1)] = Locality.RACK
        levels[(ran_on[:, None] == held).any(axis=1)] = Locality.NODE
        levels[(ran_on < 0) | (held[:, 0] < 0)] = Locality.NODE
        return levels
