"""How large generated jobs are: the table `[workload.sizes]`, by `kind` (more in `decks.py` and
`categories.py`).

What the papers, which print distributions, leave open is a field with a default here, its reason
beside it. Draws are addressed by job number; `sizes` are those of that many jobs in order.
"""

import math
from bisect import bisect, bisect_left
from collections.abc import Sequence
from itertools import accumulate
from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from callboard.actors.kernel.streams import Stream
from callboard.scenarios import fields, published
from callboard.scheduler.model import Millis

SlotCount = Annotated[int, Meta(ge=1, le=1_000_000)]
PerBin = Annotated[int, Meta(ge=0, le=1_000_000)]
"""The reduces of each job of a bin."""


class JobSize(msgspec.Struct, frozen=True, kw_only=True):
    """One job's size, and its user where the published table names one; the factors by which its
    tasks are longer on types of nodes.  With `stages` it is that many equal jobs in sequence.
    """

    label: str
    maps: int
    map_ms: Millis
    reduces: int = 0
    shuffle_ms: Millis = 0
    reduce_ms: Millis = 0
    user: str = ""
    pool: str = ""
    factors: tuple[tuple[str, float], ...] = ()
    stages: int = 1

    @property
    def wave_ms(self) -> Millis:
        """How long it takes on an empty cluster where all its tasks run at once."""
        return self.map_ms + self.shuffle_ms + self.reduce_ms


class _Hfsp(fields.TableOfKind, frozen=True, kw_only=True):
    """HFSP's Table I: a bin drawn by the workload's shares, then maps drawn evenly within it."""

    MIX: ClassVar[str] = ""
    JOBS: ClassVar[int] = published.HFSP_JOBS

    largest_maps: Annotated[int, Meta(ge=151, le=10_000_000)] = 500
    """The end of bin 4, which is open in print (over 150); the bins before grow by 3 to 5."""
    map_s: fields.PositiveSeconds = 30.0
    """A job's maps take so long × a log-normal factor, drawn once a job."""
    map_sigma: fields.Sigma = 0.5
    """Shape of that factor: most of the paper's maps end within 60 s (Figure 11), as 92 % do here.
    """
    maps_per_reduce: fields.ReduceCount = 10
    """One reduce for this many maps, rounded up; 0 for none.  Ours."""
    shuffle_s: fields.Seconds = 15.0
    """Of one reduce.  Ours."""
    reduce_s: fields.Seconds = 45.0
    """Of one reduce, after its shuffle.  Ours."""
    reduce_sigma: fields.Sigma = 1.0
    """The same factor for what follows a shuffle: the paper's reduce times differ by two orders of
    magnitude (Figure 11).
    """
    reduce_share: Annotated[float, Meta(gt=0, le=1000)] | None = None
    """The reduces' work as a share of the maps', in place of `maps_per_reduce`, `shuffle_s` and
    `reduce_s`: reduces then grow with the data.
    """
    reduces: tuple[PerBin, PerBin, PerBin, PerBin] = (1, 5, 20, 20)
    """With `reduce_share`, how many a job of each bin has; the paper's sample query says PARALLEL
    20.
    """
    shuffle_part: fields.Share = 1 / 3
    """With `reduce_share`, how much of the reduces' work is shuffle."""

    def sizes(self, seed: int, jobs: int) -> list[JobSize]:
        bins, maps = Stream(seed, "workload/bin"), Stream(seed, "workload/maps")
        noise = Stream(seed, "workload/length")
        return [self._job_size(bins.uniform(j), maps.uniform(j), noise, j) for j in range(jobs)]

    def _job_size(self, bin_draw: float, maps_draw: float, noise: Stream, job: int) -> JobSize:
        bin_ = weighted_index(published.HFSP_MIX[self.MIX], bin_draw)
        low, high = published.HFSP_BINS[bin_]
        low += bin_ >= 2  # 50 belongs to bin 2 and 150 to bin 3: no size has two bins
        maps = low + int(maps_draw * ((high or self.largest_maps) - low + 1))
        slow = noise.lognormal(self.reduce_sigma, job, 1)
        map_s = self.map_s * noise.lognormal(self.map_sigma, job)
        reduces, shuffle_s, reduce_s = self._reduce_count_and_seconds(bin_, maps, map_s)
        return JobSize(
            label=f"bin{bin_ + 1}",
            maps=maps,
            map_ms=fields.task_ms(map_s),
            reduces=reduces,
            shuffle_ms=fields.to_ms(shuffle_s) if reduces else 0,
            reduce_ms=fields.task_ms(reduce_s * slow) if reduces else 0,
        )

    def _reduce_count_and_seconds(
        self, bin_: int, maps: int, map_s: float
    ) -> tuple[int, float, float]:
        """How many, and the seconds of the shuffle and of the rest of each."""
        if self.reduce_share is None:
            return reduces_for(maps, self.maps_per_reduce), self.shuffle_s, self.reduce_s
        count = self.reduces[bin_]
        each_s = self.reduce_share * maps * map_s / count if count else 0.0
        return count, each_s * self.shuffle_part, each_s * (1 - self.shuffle_part)


class HfspDev(_Hfsp, frozen=True, tag="hfsp-dev"):
    """Developers: many small jobs, few large (after Facebook 2009); the paper's mean gap: 30 s."""

    MIX: ClassVar[str] = "dev"


class HfspTest(_Hfsp, frozen=True, tag="hfsp-test"):
    """Testers: sizes spread evenly (after Microsoft 2011); the paper's mean gap: 60 s."""

    MIX: ClassVar[str] = "test"


class HfspProd(_Hfsp, frozen=True, tag="hfsp-prod"):
    """Production: large jobs above all; the paper's mean gap: 60 s."""

    MIX: ClassVar[str] = "prod"


class FacebookMaps(fields.TableOfKind, frozen=True, kw_only=True, tag="facebook-maps"):
    """Facebook's number of maps and running time of jobs (global preemption, Tables II and I(a)),
    drawn apart, the logarithm interpolated between two printed points.

    A running time becomes tasks by `slots_at_once`: 1,000 maps and 300 s with 100 slots were ten
    waves of 30 s.  With 100, the largest jobs of Table III (8,000 maps of 5 s, 5,000 of 6 s, 3,000
    of 20 s) run for 400, 300 and 600 s: about the text's mean of 300 to 450 s.
    """

    JOBS: ClassVar[int] = 100

    largest_maps: fields.MapCount = 25_000
    """The end of Table II, printed as “over 25,000”."""
    shortest_s: fields.PositiveSeconds = 20.0
    """Where running times begin; Table I(a) is printed from 55 s (40 %) on."""
    longest_s: fields.PositiveSeconds = 10_000.0
    """The end of Table I(a), printed as “over 10,000” (99.5 %)."""
    slots_at_once: SlotCount = 100
    """How many tasks a job is taken to have run at a time, since running times were measured on a
    shared cluster; they are cut into as many waves as that makes.
    """
    shortest_task_s: fields.PositiveSeconds = 5.0
    """No task is shorter: the shortest map of Table III."""
    map_only_share: fields.Share = 0.75
    """Jobs without reduces: 4,448 of 5,894 lines of FB-2009."""
    maps_per_reduce: Annotated[int, Meta(ge=1, le=10_000_000)] = 10
    """In the others (FB-2009: 9.2)."""
    map_share: fields.Share = 0.6
    """Of the running time of a job with reduces, the part of its maps.  Ours."""
    shuffle_share: fields.Share = 0.2
    """Of that running time, the part of the shuffle; the rest is the reduce proper.  Ours."""

    def sizes(self, seed: int, jobs: int) -> list[JobSize]:
        maps, length = Stream(seed, "workload/maps"), Stream(seed, "workload/length")
        kind = Stream(seed, "workload/reduces")
        return [
            self._job_size(
                self.maps_at(maps.uniform(j)),
                self.running_seconds_at(length.uniform(j)),
                map_only=kind.uniform(j) < self.map_only_share,
            )
            for j in range(jobs)
        ]

    def maps_at(self, share: float) -> int:
        """The fewest maps that at least `share` of the jobs do not exceed."""
        points = ((0.0, 1.0), *published.FACEBOOK_MAPS, (1.0, float(self.largest_maps)))
        # Rounding first keeps a last bit of `exp`, which may differ between machines, from
        # adding a map.
        return min(math.ceil(round(log_interpolated(points, share), 6)), self.largest_maps)

    def running_seconds_at(self, share: float) -> float:
        """The running time that `share` of the jobs do not exceed."""
        points = ((0.0, self.shortest_s), *published.FACEBOOK_SECONDS, (0.995, self.longest_s))
        return min(max(log_interpolated(points, share), self.shortest_s), self.longest_s)

    def _job_size(self, maps: int, seconds: float, *, map_only: bool) -> JobSize:
        reduces = 0 if map_only else fields.ceil_div(maps, self.maps_per_reduce)
        map_s = seconds if map_only else seconds * self.map_share
        shuffle_s = seconds * self.shuffle_share
        reduce_s = max(0.0, seconds - seconds * self.map_share - shuffle_s)
        return JobSize(
            label="fb",
            maps=maps,
            map_ms=self._task_ms(map_s, maps),
            reduces=reduces,
            shuffle_ms=fields.to_ms(shuffle_s / self._wave_count(reduces)) if reduces else 0,
            reduce_ms=self._task_ms(reduce_s, reduces) if reduces else 0,
        )

    def _task_ms(self, phase_s: float, tasks: int) -> Millis:
        return fields.task_ms(max(phase_s / self._wave_count(tasks), self.shortest_task_s))

    def _wave_count(self, tasks: int) -> int:
        return fields.ceil_div(tasks, self.slots_at_once)


class ExponentialJobs(fields.TableOfKind, frozen=True, kw_only=True, tag="exponential"):
    """Jobs of equally many maps, all of a job equally long; lengths are exponential from job to job
    (the simulator released with Sparrow, SOSP 2013, §7).
    """

    JOBS: ClassVar[int] = 10_000

    maps: fields.MapCount = 100
    """Of each job."""
    map_s: fields.PositiveSeconds = 0.1
    """The mean."""

    def sizes(self, seed: int, jobs: int) -> list[JobSize]:
        length = Stream(seed, "workload/length")
        lengths_ms = [fields.task_ms(length.exponential(self.map_s, job)) for job in range(jobs)]
        return [JobSize(label="equal", maps=self.maps, map_ms=each) for each in lengths_ms]

    def mean_work_s(self) -> float:
        """What a job takes of the map slots on average, in seconds."""
        return self.maps * self.map_s


def reduces_for(maps: int, maps_per_reduce: int) -> int:
    """One reduce for each `maps_per_reduce` maps, rounded up; none where that is 0."""
    return fields.ceil_div(maps, maps_per_reduce) if maps_per_reduce else 0


def weighted_index(weights: Sequence[int], draw: float) -> int:
    """The index into which a draw in [0, 1) falls when indices are as wide as their weights."""
    return bisect(list(accumulate(weights)), draw * sum(weights))


def shuffled_numbers(stream: Stream, row: int, count: int) -> list[int]:
    """The numbers below `count` in the random order of this row."""
    return sorted(range(count), key=lambda column: (stream.bits(row, column), column))


def log_interpolated(points: Sequence[tuple[float, float]], share: float) -> float:
    """The value at a share, from points in order of share; linear in the logarithm between."""
    after = bisect_left(points, share, key=lambda point: point[0])
    if after == len(points):
        return points[-1][1]
    (right, high) = points[after]
    if after == 0 or right == share:
        return high
    (left, low) = points[after - 1]
    return low * math.exp(math.log(high / low) * (share - left) / (right - left))
