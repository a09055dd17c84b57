"""What every single task of a job took when it was recorded, packed in arrays: some 40 bytes a map.

Times are what attempts took where they ran.  A map's belongs to the locality at which it ran then;
at another one it takes as much longer or shorter as the scenario's factors say.
"""

from array import array
from collections.abc import Mapping
from typing import NamedTuple, TypedDict

import msgspec
import numpy as np
from numpy.typing import NDArray

from callboard.actors.config import Tasks
from callboard.scheduler.model import MAPS, Locality, Millis, Stage, TaskIndex


class RecordedFailure(NamedTuple):
    """An attempt that failed after `ms` of its own work (of a reduce: after its shuffle), a map's
    at this locality; or it was `killed`, which no task and no node is blamed for.
    """

    ms: Millis
    level: Locality = Locality.NODE
    killed: bool = False


class RecordedReduce(NamedTuple):
    """What a reduce took: its whole shuffle if nothing was to be waited for, what of it came after
    the job's last map, and the rest.
    """

    shuffle_ms: Millis
    tail_ms: Millis
    rest_ms: Millis


Failures = Mapping[tuple[Stage, TaskIndex], tuple[RecordedFailure, ...]]
"""The attempts of tasks that failed or were killed, in the order of their starts."""


class MeanLengths(TypedDict):
    """What a job's spec says of all of its tasks."""

    map_ms: Millis
    shuffle_ms: Millis
    reduce_ms: Millis


class RecordedTasks(msgspec.Struct, frozen=True, gc=False):
    """The tasks of one job.  `map_levels` has the `Locality` of each map, `replicas` has
    `replication` nodes for each map, as in `SubmitJob`, -1 where there are fewer, and
    `actors.placement.ANYWHERE` first where its input lies nowhere; `nodes` is how many nodes the
    recorded cluster had.
    """

    map_ms: "array[int]"
    map_levels: bytes
    shuffle_ms: "array[int]"
    tail_ms: "array[int]"
    rest_ms: "array[int]"
    failures: Failures
    replicas: bytes
    replication: int
    nodes: int

    def mean_lengths(self) -> MeanLengths:
        """The means over its tasks; 0 of none."""
        columns = (self.map_ms, self.shuffle_ms, self.rest_ms)
        means = (round(sum(ms) / max(len(ms), 1)) for ms in columns)
        return MeanLengths(map_ms=next(means), shuffle_ms=next(means), reduce_ms=next(means))

    def map_nominal_ms(self, task: TaskIndex, tasks: Tasks) -> float:
        """A map with local input."""
        return self.map_ms[task] / tasks.locality_factor(Locality(self.map_levels[task]))

    def reduce(self, task: TaskIndex) -> RecordedReduce:
        """The parts of a reduce."""
        return RecordedReduce(self.shuffle_ms[task], self.tail_ms[task], self.rest_ms[task])

    def failure(self, stage: Stage, task: TaskIndex, number: int) -> RecordedFailure | None:
        """How the task's `number`th attempt from 0 came to nothing; None if it is to succeed."""
        failures = self.failures.get((stage, task), ())
        return failures[number] if number < len(failures) else None

    def nominal_ms(self, stage: Stage, task: TaskIndex, tasks: Tasks) -> float:
        """A task at speed 1 with local input, a reduce without its shuffle."""
        return self.map_nominal_ms(task, tasks) if stage == MAPS else float(self.rest_ms[task])

    @property
    def longest_map_ms(self) -> float:
        of_maps = (of for (stage, _), of in self.failures.items() if stage == MAPS)
        failed = (each.ms for of in of_maps for each in of)
        return max(max(self.map_ms, default=0), max(failed, default=0))

    @property
    def longest_reduce_ms(self) -> float:
        failed = max((each.ms for of in self.failures.values() for each in of), default=0)
        rest_ms = max(max(self.rest_ms, default=0), failed)
        return max(self.shuffle_ms, default=0) + rest_ms

    def replica_rows(self) -> NDArray[np.int32]:
        """The replicas, a row for each map."""
        return np.frombuffer(self.replicas, dtype="<i4").reshape(-1, self.replication)

    def maps_without_input(self) -> NDArray[np.bool_]:
        """Which maps have no input that lies anywhere."""
        nowhere: NDArray[np.bool_] = self.replica_rows()[:, 0] < 0
        return nowhere

    def first_replicas(self, replication: int) -> NDArray[np.int32]:
        """At most `replication` replicas of each map's input; -1 where there are fewer."""
        held = self.replica_rows()
        rows = np.full((len(held), replication), -1, dtype="<i4")
        known = min(replication, self.replication)
        rows[:, :known] = held[:, :known]
        return rows
