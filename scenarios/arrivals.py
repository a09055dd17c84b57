"""When the jobs of a generated workload arrive: the table `[workload.arrivals]`, by `kind`.  Every
gap is drawn at the job's own number; `submit_times` are in order, in whole milliseconds.
"""

from itertools import accumulate, cycle
from typing import Annotated, TypeAlias

from msgspec import Meta

from callboard.actors.kernel.streams import Stream
from callboard.scenarios.fields import JobCount, PositiveSeconds, Seconds, TableOfKind, to_ms
from callboard.scheduler.model import Millis

_PURPOSE = "workload/arrival"
_MEAN_S = 30.0

Load = Annotated[float, Meta(gt=0, le=100)]


class Poisson(TableOfKind, frozen=True, tag="poisson"):
    """Independent jobs: exponential gaps."""

    mean_s: PositiveSeconds = _MEAN_S
    """The mean gap; the default is that of HFSP's DEV (TEST and PROD: 60) and of global
    preemption's busy hours (idle: 80).
    """
    load: Load | None = None
    """In place of `mean_s`: the mean gap is that at which jobs bring this share of the work that
    the map slots can do, without noise, input from afar and heartbeats.  For `sizes` whose mean is
    known: `one-task`, `exponential`.
    """

    def states_load_and_gap(self) -> bool:
        """Whether there is a load, and a mean gap too."""
        return self.load is not None and self.mean_s != _MEAN_S

    def at_rate(self, work_s: float, speed: float) -> "Poisson":
        """With the mean gap that the load comes to, where a job brings `work_s` and the slots do
        `speed` seconds of work a second in all.
        """
        return self if self.load is None else Poisson(mean_s=work_s / (self.load * speed))

    def submit_times(self, seed: int, jobs: int) -> list[Millis]:
        if self.load is not None:
            raise ValueError("a load is a mean gap on a cluster only: see `at_rate`")
        draw = Stream(seed, _PURPOSE)
        return list(accumulate(to_ms(draw.exponential(self.mean_s, job)) for job in range(jobs)))


class Bursts(TableOfKind, frozen=True, tag="bursts"):
    """A Poisson process that is busy, then idle, and so on.  The mean gaps default to those of
    global preemption's busy and idle hours (section VI.D), the lengths are ours.
    """

    on_s: PositiveSeconds = 1800.0
    """How long it is busy."""
    on_mean_s: PositiveSeconds = 30.0
    """The mean gap when busy."""
    off_s: Seconds = 1800.0
    """How long it is idle."""
    off_mean_s: Seconds = 80.0
    """The mean gap when idle; with 0 no job comes then."""

    def submit_times(self, seed: int, jobs: int) -> list[Millis]:
        """A job's place is drawn in expected arrivals, which pass at rate 1, and then put on the
        clock: a number of whole cycles, and so far into the busy or the idle time of the next.
        """
        draw = Stream(seed, _PURPOSE)
        places = accumulate(draw.exponential(1.0, job) for job in range(jobs))
        return [to_ms(self._arrival_s(place)) for place in places]

    def _arrival_s(self, expected: float) -> float:
        busy = self.on_s / self.on_mean_s
        idle = self.off_s / self.off_mean_s if self.off_mean_s else 0.0
        cycles, rest = divmod(expected, busy + idle)
        start = cycles * (self.on_s + self.off_s)
        if rest < busy or not idle:
            return start + rest * self.on_mean_s
        return start + self.on_s + (rest - busy) * self.off_mean_s


class Tailed(TableOfKind, frozen=True, tag="tailed"):
    """A Poisson process that slows down, so that the jobs before do not end on an emptying cluster;
    the defaults are global preemption's busy hours (section VI.D).
    """

    mean_s: PositiveSeconds = 30.0
    """The mean gap, at first."""
    busy_jobs: JobCount = 130
    """After that many jobs it slows down; the names of the later ones begin with `tail-`, and
    `RunResult.counted_jobs` leaves them out.
    """
    tail_mean_s: PositiveSeconds = 80.0
    """The mean gap from then on."""

    def submit_times(self, seed: int, jobs: int) -> list[Millis]:
        draw = Stream(seed, _PURPOSE)
        means = (self.mean_s if job < self.busy_jobs else self.tail_mean_s for job in range(jobs))
        return list(accumulate(to_ms(draw.exponential(m, job)) for job, m in enumerate(means)))


class UniformGaps(TableOfKind, frozen=True, tag="uniform"):
    """Gaps drawn evenly between two; make them equal for a steady rate."""

    shortest_s: Seconds = 30.0
    """The shortest gap."""
    longest_s: Seconds = 30.0
    """The longest gap."""

    def submit_times(self, seed: int, jobs: int) -> list[Millis]:
        draw = Stream(seed, _PURPOSE)
        width = self.longest_s - self.shortest_s
        gaps = (to_ms(self.shortest_s + width * draw.uniform(job)) for job in range(jobs))
        return list(accumulate(gaps))


class AtOnce(TableOfKind, frozen=True, tag="at-once"):
    """All jobs at one instant."""

    at_s: Seconds = 0.0
    """So long after the run's start."""

    def submit_times(self, seed: int, jobs: int) -> list[Millis]:  # noqa: ARG002
        return [to_ms(self.at_s)] * jobs


class Counted(TableOfKind, frozen=True, tag="counted"):
    """That many jobs in each stretch of time, drawn evenly in it: what is known where submissions
    were counted by the hour.
    """

    stretches: Annotated[tuple[tuple[PositiveSeconds, JobCount], ...], Meta(min_length=1)] = (
        (3600.0, 120),
    )
    """How long each stretch is, and how many jobs come in it; after the last the first again."""

    def submit_times(self, seed: int, jobs: int) -> list[Millis]:
        draw = Stream(seed, _PURPOSE)
        times: list[Millis] = []
        start_s = 0.0
        for length_s, count in cycle(self.stretches):
            if len(times) >= jobs:
                return times[:jobs]
            numbers = range(len(times), len(times) + count)
            times += sorted(to_ms(start_s + length_s * draw.uniform(job)) for job in numbers)
            start_s += length_s
        return times


Arrivals: TypeAlias = Poisson | Bursts | Tailed | UniformGaps | AtOnce | Counted
