"""Jobs of one task each: the jobs of queueing theory, as `[workload.sizes]` of kind `one-task`."""

from typing import ClassVar

from callboard.actors.kernel.streams import Stream
from callboard.scenarios.distributions import (
    Duration,
    Exponential,
    duration_ms,
    mean_duration_s,
)
from callboard.scenarios.fields import TableOfKind
from callboard.scenarios.sizes import JobSize


class OneTask(TableOfKind, frozen=True, kw_only=True, tag="one-task"):
    """One map a job.  With Poisson arrivals of a `load` this is M/G/1 on one slot, M/G/k on k."""

    JOBS: ClassVar[int] = 1000

    map_s: Duration = Exponential(mean_s=60.0)
    """How long it takes: stated, or a distribution by `law`."""

    def sizes(self, seed: int, jobs: int) -> list[JobSize]:
        draw = Stream(seed, "workload/length")
        lengths = (duration_ms(self.map_s, draw, job) for job in range(jobs))
        return [JobSize(label="task", maps=1, map_ms=length) for length in lengths]

    def mean_work_s(self) -> float:
        """What a job takes of the map slots on average, in seconds."""
        return mean_duration_s(self.map_s)
