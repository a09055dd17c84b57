"""Job sizes by published categories, COSHH's Tables I (Yahoo!) and IV (Facebook): a row is the
centre of a cluster of jobs, all equal to it but for the factor drawn with `time_sigma`.
"""

from math import ceil
from typing import ClassVar

import msgspec

from callboard.actors.kernel.streams import Stream
from callboard.scenarios import fields, published
from callboard.scenarios.published import Category
from callboard.scenarios.sizes import JobSize, weighted_index

REFERENCE_MHZ = 500.0
"""The execution rate at which tasks take as long as the tables say: the faster one in print."""


class Resource(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a type of node can do, as in COSHH's Tables II and III."""

    exec_mhz: fields.Rate
    """How fast it computes: a category's tasks take 500 / `exec_mhz` times as long."""
    retrieve_mbps: fields.Rate
    """At what rate it then reads their input and shuffle."""

    def task_time_factor(self, row: Category) -> float:
        """How much longer the row's tasks take here: computing at another rate, and then reading
        the input and the shuffled data.  The tables have times without the latter.
        """
        reading_s = (row.input_mb + row.shuffle_mb) * 8 / self.retrieve_mbps
        return REFERENCE_MHZ / self.exec_mhz + reading_s / (row.map_s + row.reduce_s)


class _Categories(fields.TableOfKind, frozen=True, kw_only=True):
    """A category drawn with its row's count as weight, then its tasks by these rules.

    Maps: one for each input block of `block_mb`, at least one, and enough that none is longer than
    the row's whole duration (a slow data load reads 10 KB, yet has 26,321 task-seconds of maps
    within 6,600 s: at least four maps).  Each takes the row's map time over their number.  Reduces
    likewise, one for each `reduce_mb` of shuffle; none where the row's reduce time is 0.  Each
    category has its user, as in the paper.
    """

    ROWS: ClassVar[tuple[Category, ...]] = ()
    JOBS: ClassVar[int] = 100

    block_mb: fields.Megabytes = 128.0
    """Input of one map."""
    reduce_mb: fields.Megabytes = 1000.0
    """The most shuffle of one reduce."""
    shuffle_part: fields.Share = 1 / 3
    """The part of a reduce's time that is shuffle: the first of Hadoop's three thirds."""
    task_scale: fields.Factor = 1.0
    """Multiplies the number of tasks (at least one), not their length: 0.01 fits the large rows to
    a small cluster.
    """
    time_sigma: fields.Sigma = 0.0
    """Shape of a log-normal factor on a job's times."""
    resources: dict[str, Resource] = msgspec.field(default_factory=dict)
    """What types of node can do, by name; on those not named tasks take what the row says."""

    def sizes(self, seed: int, jobs: int) -> list[JobSize]:
        weights = [row.jobs for row in self.ROWS]
        draw, noise = Stream(seed, "workload/category"), Stream(seed, "workload/length")
        return [
            self._job_size(
                self.ROWS[weighted_index(weights, draw.uniform(j))],
                noise.lognormal(self.time_sigma, j),
            )
            for j in range(jobs)
        ]

    def _job_size(self, row: Category, factor: float) -> JobSize:
        maps = _least_task_count(row.input_mb / self.block_mb, row.map_s, row.duration_s)
        reduces = _least_task_count(row.shuffle_mb / self.reduce_mb, row.reduce_s, row.duration_s)
        reduce_s = row.reduce_s / reduces * factor
        return JobSize(
            label=row.name,
            maps=self._scaled_task_count(maps),
            map_ms=fields.task_ms(row.map_s / maps * factor),
            reduces=self._scaled_task_count(reduces) if row.reduce_s else 0,
            shuffle_ms=fields.to_ms(reduce_s * self.shuffle_part),
            reduce_ms=fields.to_ms(reduce_s * (1 - self.shuffle_part)),
            user=row.name,
            factors=tuple(
                (each, self.resources[each].task_time_factor(row))
                for each in sorted(self.resources)
            ),
        )

    def _scaled_task_count(self, tasks: int) -> int:
        return max(1, round(tasks * self.task_scale))


def _least_task_count(boxes: float, task_seconds: int, duration_s: int) -> int:
    return max(1, ceil(boxes), ceil(task_seconds / duration_s))


class Yahoo(_Categories, frozen=True, tag="yahoo"):
    """COSHH's Table I: 200 jobs in eight categories, up to a summary of 31 TB."""

    ROWS: ClassVar[tuple[Category, ...]] = published.YAHOO


class FacebookCategories(_Categories, frozen=True, tag="facebook-categories"):
    """COSHH's Table IV: 200 jobs in ten categories, May to October 2009."""

    ROWS: ClassVar[tuple[Category, ...]] = published.FACEBOOK
