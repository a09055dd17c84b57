"""What a job really is: the truth that its actor is made from and no scheduler may see."""

import msgspec

from callboard.actors.config import ATTEMPTS_MAX, Tasks
from callboard.actors.recorded_tasks import RecordedReduce, RecordedTasks
from callboard.scheduler.model import JobId, Millis, Priority, Stage, TaskIndex

TasksOfStages = tuple[tuple[TaskIndex, ...], tuple[TaskIndex, ...]]
"""Some maps, and some reduces."""

Amounts = tuple[tuple[str, int], ...]
"""Amounts of named resources."""


def factor_on(kind: str, factors: tuple[tuple[str, float], ...]) -> float:
    """The factor that stands beside `kind`, or 1."""
    for name, factor in factors:
        if name == kind:
            return factor
    return 1.0


class JobSpec(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One job of a workload.  Durations are nominal: on a node of speed 1, with local input, before
    noise.  `shuffle_ms` is how long one reduce fetches its share when every map output is there,
    `reduce_ms` all that comes after (sort, reduce, write).  Maps, and reduces after their shuffle,
    take `factors` times as long on nodes of these types.  Wherever they run, the `poisoned` tasks
    fail and the `hanging` stand still, at the progress `fails_at` (None: drawn for each attempt),
    and the `skewed` take `skew` times as long.  Where tasks are `recorded`, each takes what it took
    then, and the durations here are their means.  Its user kills the job `killed_ms` after its
    submission, if it is still there, and said before that a task takes `requested_ms`.  It is
    initialised for `initialisation_ms` before any task of it may run; one of `setup_ms` comes
    before all others and one of `cleanup_ms` after them (0: none).  Besides its slot a map takes
    the first of `demands` while it runs, and a reduce the second.  Its tasks may run on nodes of
    the types `only_on` alone, if it names any.  It fails when one of them has failed `max_attempts`
    times.
    """

    job: JobId
    name: str
    submit_ms: Millis
    maps: int
    map_ms: Millis
    reduces: int = 0
    shuffle_ms: Millis = 0
    reduce_ms: Millis = 0
    user: str = "user"
    pool: str = ""
    priority: Priority = Priority.NORMAL
    factors: tuple[tuple[str, float], ...] = ()
    poisoned: TasksOfStages = ((), ())
    hanging: TasksOfStages = ((), ())
    fails_at: float | None = None
    skewed: TasksOfStages = ((), ())
    skew: float = 1.0
    recorded: RecordedTasks | None = None
    killed_ms: Millis | None = None
    requested_ms: Millis | None = None
    initialisation_ms: Millis = 0
    setup_ms: Millis = 0
    cleanup_ms: Millis = 0
    demands: tuple[Amounts, Amounts] = ((), ())
    only_on: tuple[str, ...] = ()
    max_attempts: int = ATTEMPTS_MAX

    @property
    def solo_time_key(self) -> tuple[object, ...]:
        """What decides how long the job takes alone on an empty cluster, noise apart."""
        sizes = (self.maps, self.map_ms, self.reduces, self.shuffle_ms, self.reduce_ms)
        own = () if self.recorded is None else ("recorded", self.job)  # nobody else's are the same
        skew = (self.skew, *self.skewed) if any(self.skewed) else ()
        aux = (self.setup_ms, self.cleanup_ms) if self.setup_ms or self.cleanup_ms else ()
        first = ("initialised", self.initialisation_ms) if self.initialisation_ms else ()
        return (*sizes, *self.factors, *skew, *own, *aux, *first, *self.only_on)

    def allows_node_type(self, node_type: str) -> bool:
        """Whether its tasks may run on nodes of this type."""
        return not self.only_on or node_type in self.only_on

    @property
    def ready_ms(self) -> Millis:
        """When it has been initialised."""
        return self.submit_ms + self.initialisation_ms

    @property
    def shuffle_tail_ms(self) -> Millis:
        """The last map's part of a shuffle."""
        return self.shuffle_ms // max(self.maps, 1)

    def nominal_task_lengths_ms(self, stage: Stage, tasks: Tasks) -> list[float]:
        """What each task of a stage takes at speed 1 with local input, before noise and skew; a
        reduce without its shuffle.
        """
        count = (self.maps, self.reduces)[stage]
        if self.recorded is None:
            return [float((self.map_ms, self.reduce_ms)[stage])] * count
        return [self.recorded.nominal_ms(stage, task, tasks) for task in range(count)]

    def parts_of_reduces(self) -> list[RecordedReduce]:
        """The parts of each reduce at speed 1, before noise and skew."""
        if self.recorded is None:
            return [
                RecordedReduce(self.shuffle_ms, self.shuffle_tail_ms, self.reduce_ms)
            ] * self.reduces
        return [self.recorded.reduce(task) for task in range(self.reduces)]

    def longest_map_ms(self) -> float:
        """The longest map, with local input, before noise."""
        return self.map_ms if self.recorded is None else self.recorded.longest_map_ms

    def longest_reduce_ms(self) -> float:
        """The longest reduce, its shuffle included, before noise."""
        ms = self.shuffle_ms + self.reduce_ms
        return ms if self.recorded is None else self.recorded.longest_reduce_ms

    def duration_factor_on(self, kind: str) -> float:
        """By what factor its tasks are longer on nodes of this kind."""
        return factor_on(kind, self.factors)
