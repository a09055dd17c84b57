"""The figures of a run, as they go into its JSON and into the comparison of runs."""

from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from callboard.journal.figures.slot_time import SlotTime
from callboard.journal.figures.tables import Ints


class JobCounts(msgspec.Struct, frozen=True):
    """Jobs by how they ended; `submitted` is the sum of the others."""

    submitted: int
    completed: int
    failed: int
    killed: int
    unfinished: int


class TaskCounts(msgspec.Struct, frozen=True):
    """Tasks of the submitted jobs, run or not."""

    maps: int
    reduces: int


class AttemptCounts(msgspec.Struct, frozen=True):
    """Attempts as the master has booked them; `launched` is the sum of the others, `running` are
    those not closed at the run's end, whether or not they had really begun.
    """

    launched: int
    succeeded: int
    failed: int
    killed: int
    running: int


class SpeculationCounts(msgspec.Struct, frozen=True):
    """Speculative attempts that were launched, and those that did the task."""

    speculative_attempts: int
    won: int


class SampleStatistics(msgspec.Struct, frozen=True):
    """The distribution of some values; all None when there are none.

    Percentiles are interpolated linearly between the two nearest ranks (numpy's `linear`).
    """

    mean: float | None = None
    median: float | None = None
    p95: float | None = None
    p99: float | None = None
    max: float | None = None


class LocalityShares(msgspec.Struct, frozen=True):
    """Shares of the launched map attempts, summing to 1; None when there was none."""

    node: float | None = None
    rack: float | None = None
    off_rack: float | None = None


class SlotSeconds(msgspec.Struct, frozen=True):
    """`SlotTime` in seconds, for people; the exact account is in ms."""

    useful: float
    wasted: float
    idle: float
    unfinished: float
    total: float
    down: float = 0.0


class SlotKinds(msgspec.Struct, frozen=True):
    """The account of the slots in whole ms, together and by kind."""

    all: SlotTime
    map: SlotTime
    reduce: SlotTime


class Utilisation(msgspec.Struct, frozen=True):
    """Share of the slots' time in which they were held; None where there was no slot time."""

    map: float | None
    reduce: float | None


class Little(msgspec.Struct, frozen=True):
    """Both sides of Little's law (rule S10), in job × ms.

    `area` is the area under the number of jobs in the system.  `responses` sums the response
    times that the finished jobs state; `unfinished` is the time so far of those still there.
    """

    area: int
    responses: int
    unfinished: int

    @property
    def holds(self) -> bool:
        """S10: whether both sides are equal, to the millisecond."""
        return self.area == self.responses + self.unfinished


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """All figures of a run.  `digest`, `messages`, `ties` and `reason` are None for a run that
    was cut off.

    `response_seconds` and `waiting_seconds` (until a job's first launch) are over the completed
    jobs.  `shuffle_wait_seconds` is the slot time of reduces from their start until they had all
    map outputs; it is part of `slot_seconds`, not an addition to it.
    """

    scenario: str
    policy: str
    seed: int
    digest: str | None
    reason: str | None
    virtual_seconds: float
    messages: int | None
    ties: int | None
    jobs: JobCounts
    tasks: TaskCounts
    attempts: AttemptCounts
    speculation: SpeculationCounts
    response_seconds: SampleStatistics
    waiting_seconds: SampleStatistics
    locality: LocalityShares
    slot_seconds: SlotSeconds
    slot_ms: SlotKinds
    shuffle_wait_seconds: float
    utilisation: Utilisation
    mean_jobs_in_system: float | None
    little: Little

    def as_json(self, wall_seconds: float | None = None) -> dict[str, object]:
        """The JSON object of a run as plain data, with what only the runner knows put in."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        # The name of before, for programs that read it.
        plain["speculation"]["copies"] = self.speculation.speculative_attempts
        items = list(plain.items())
        items.insert(1 + list(plain).index("virtual_seconds"), ("wall_seconds", wall_seconds))
        return dict(items)


def sample_statistics(values: NDArray[np.float64]) -> SampleStatistics:
    """The statistics of some values."""
    if not len(values):
        return SampleStatistics()
    median, p95, p99 = np.percentile(values, (50, 95, 99), method="linear").tolist()
    return SampleStatistics(float(values.mean()), median, p95, p99, float(values.max()))


def statistics_in_seconds(times_ms: Ints) -> SampleStatistics:
    """The same in seconds, of times in ms.  The mean is rounded once, from an exact sum."""
    found = sample_statistics(times_ms / 1000)
    if found.mean is None:
        return found
    return msgspec.structs.replace(found, mean=int(times_ms.sum()) / (1000 * len(times_ms)))


def slot_time_in_seconds(time: SlotTime) -> SlotSeconds:
    """The account in seconds, each figure rounded once."""
    return SlotSeconds(*(ms / 1000 for ms in msgspec.structs.astuple(time)))
