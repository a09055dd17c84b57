"""SYNTH workloads of YARN's Scheduler Load Simulator: classes of jobs and their distributions.

Both dialects: the older one has `mtasks_avg`, `mtasks_stddev` and so on for maps and reduces; the
newer one a list of `tasks`, each number with `val` alone (a constant), with `std` (log-normal, or
normal with `dist = "NORM"`), or `discrete` with `weights`.  Times are seconds, rounded as there.
What is drawn is drawn anew, from Callboard's own generator, keyed by the file's `rand_seed`.
"""

from collections.abc import Sequence
from functools import partial
from itertools import chain, islice
from math import exp, log, log1p, nan, sqrt
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from callboard.actors.config import JOBS_MAX, NODES_MAX, TASKS_MAX
from callboard.actors.job_spec import Amounts
from callboard.actors.kernel.streams import Stream
from callboard.histories.model.cluster_history import HistoryAttempt, HistoryJob, HistoryTask
from callboard.histories.model.container_amounts import NO_DEMANDS, container_amounts
from callboard.histories.readers.history_reader import HistoryReader
from callboard.histories.readers.json_objects import JsonObjects, first_object_has
from callboard.histories.readers.unpacked_text import TIME_MAX_MS
from callboard.scheduler.model import Millis
from callboard.scheduler.text.scenario_error import ScenarioError

_NUMBER_MAX = 1e15
_SPREAD_MAX = 1e6
"""How many times its mean a log-normal number's standard deviation may be; with more, nearly all
that is drawn is 0.
"""

_Weight = Annotated[float, Meta(ge=0)]
_MapsAndReduces = (("map", "m"), ("reduce", "r"))


class SynthSample(msgspec.Struct):
    """A number that is drawn; see the module."""

    val: float | None = None
    std: float | None = None
    dist: str = "LOGNORM"
    discrete: list[float | str] | None = None
    weights: list[_Weight] | None = None

    def __post_init__(self) -> None:
        """ValueError where nothing can be drawn."""
        for number in (self.val or 0.0, self.std or 0.0, *(self.discrete or ())):
            _check_number(number)
        mean, std = self.val or 0.0, self.std or 0.0
        if self.dist != "NORM" and 0 < mean * _SPREAD_MAX < abs(std):
            expected = f"a deviation of at most {_SPREAD_MAX:,.0f} times the mean"
            raise ValueError(f"expected {expected}, got {std:g} for a mean of {mean:g}")
        if self.discrete is not None and not self.discrete:
            raise ValueError("`discrete` has no numbers")
        if self.discrete and self.weights and len(self.weights) != len(self.discrete):
            both = f"{len(self.discrete):,} and {len(self.weights):,}"
            raise ValueError(f"expected as many weights as discrete numbers, got {both}")

    def draw(self, stream: Stream, a: int, b: int) -> float:
        """A number drawn at (a, b); 0 where the mean is not positive."""
        if self.discrete is not None:
            weights = self.weights or [1.0] * len(self.discrete)
            return float(self.discrete[_weighted_choice(weights, stream.uniform(a, b))])
        mean = self.val or 0.0
        if self.std is None or mean <= 0:
            return max(mean, 0.0)
        std = self.std or mean / 6  # as there, where none is given
        if self.dist == "NORM":
            return mean + std * stream.normal(a, b)
        variance = log1p((std / mean) ** 2)
        return exp(log(mean) - variance / 2 + sqrt(variance) * stream.normal(a, b))


class SynthTask(msgspec.Struct):
    """Tasks of one type in a class of jobs."""

    type: str = "map"
    count: SynthSample = msgspec.field(default_factory=SynthSample)
    time: SynthSample = msgspec.field(default_factory=SynthSample)
    max_memory: SynthSample = msgspec.field(default_factory=SynthSample)
    max_vcores: SynthSample = msgspec.field(default_factory=SynthSample)

    def demand(self, stream: Stream, nth: int, place: int) -> Amounts:
        """What each of its containers takes in the `nth` job, drawn once for all of them."""
        memory = self.max_memory.draw(stream, nth, 2 * place)
        return container_amounts(memory, self.max_vcores.draw(stream, nth, 2 * place + 1))


class SynthClass(msgspec.Struct):
    """A class of jobs, in either dialect."""

    class_name: str = "job"
    user_name: str | None = None
    class_weight: _Weight = 1.0
    tasks: list[SynthTask] | None = None
    mtasks_avg: float = 0.0
    mtasks_stddev: float = 0.0
    rtasks_avg: float = 0.0
    rtasks_stddev: float = 0.0
    mtime_avg: float = 0.0
    mtime_stddev: float = 0.0
    rtime_avg: float = 0.0
    rtime_stddev: float = 0.0
    map_max_memory_avg: float = 0.0
    map_max_memory_stddev: float = 0.0
    map_max_vcores_avg: float = 0.0
    map_max_vcores_stddev: float = 0.0
    reduce_max_memory_avg: float = 0.0
    reduce_max_memory_stddev: float = 0.0
    reduce_max_vcores_avg: float = 0.0
    reduce_max_vcores_stddev: float = 0.0

    def __post_init__(self) -> None:
        """ValueError where nothing can be drawn."""
        self.stages()

    def stages(self) -> list[SynthTask]:
        """Its tasks by type; maps first, then reduces, then others as they stand."""
        if self.tasks is not None:
            order = {"map": 0, "reduce": 1}
            return sorted(self.tasks, key=lambda task: order.get(task.type, 2))
        return [
            SynthTask(
                kind,
                self._sample_of_field(f"{k}tasks"),
                self._sample_of_field(f"{k}time"),
                self._sample_of_field(f"{kind}_max_memory"),
                self._sample_of_field(f"{kind}_max_vcores"),
            )
            for kind, k in _MapsAndReduces
        ]

    def _sample_of_field(self, name: str) -> SynthSample:
        return SynthSample(getattr(self, f"{name}_avg"), getattr(self, f"{name}_stddev"))


class SynthTime(msgspec.Struct):
    """A time from which on, until the next, jobs come with this weight."""

    time: Annotated[int, Meta(ge=0, le=TIME_MAX_MS // 1000)]
    weight: _Weight


class SynthWorkload(msgspec.Struct):
    """A workload: classes of jobs, and when they come."""

    job_classes: Annotated[list[SynthClass], Meta(min_length=1)]
    time_distribution: Annotated[list[SynthTime], Meta(min_length=1)]
    workload_weight: _Weight = 1.0
    queue_name: str = ""


class SynthTrace(msgspec.Struct):
    """A file."""

    workloads: Annotated[list[SynthWorkload], Meta(min_length=1)]
    num_jobs: Annotated[int, Meta(ge=1, le=JOBS_MAX)]
    num_nodes: Annotated[int, Meta(ge=0, le=NODES_MAX)] = 0
    nodes_per_rack: int = 0
    rand_seed: int = 0


def is_synth(begin: bytes) -> bool:
    """Whether a file that begins like this is such a workload."""
    return first_object_has(begin, "workloads") and b'"num_jobs"' in begin


class SynthReader(HistoryReader):
    """Draws the jobs of SYNTH workloads."""

    def _read_file(self, path: Path) -> None:
        for line, trace in JsonObjects(path, SynthTrace, self._maker.remarks):
            self._take_trace(trace, line)

    def _take_trace(self, trace: SynthTrace, line: int) -> None:
        for node in range(trace.num_nodes):
            rack = node // max(trace.nodes_per_rack, 1)
            self._maker.hosts.number(f"/rack{rack}/node{node}")
        self._choices = Stream(trace.rand_seed & (2**63 - 1), "synth/choice")
        self._counts = Stream(trace.rand_seed & (2**63 - 1), "synth/count")
        self._times = Stream(trace.rand_seed & (2**63 - 1), "synth/time")
        self._amounts = Stream(trace.rand_seed & (2**63 - 1), "synth/amount")
        weights = [each.workload_weight for each in trace.workloads]
        for nth in range(trace.num_jobs):
            workload = trace.workloads[_weighted_choice(weights, self._choices.uniform(nth, 0))]
            self._take_job(workload, nth, line)
        note = "jobs drawn from the file's distributions; SLS itself would draw others"
        self._note("inferred", note, line, trace.num_jobs)
        self._note("dropped", "deadlines and reservations of classes of jobs", line)

    def _take_job(self, workload: SynthWorkload, nth: int, line: int) -> None:
        weights = [each.class_weight for each in workload.job_classes]
        drawn = workload.job_classes[_weighted_choice(weights, self._choices.uniform(nth, 2))]
        job = HistoryJob(f"{drawn.class_name}_{nth:06d}", self._path.name, line, ending="succeeded")
        job.submit_ms = 1000 * self._submit_s(workload.time_distribution, nth)
        job.user = drawn.user_name or job.user
        job.queue = "" if workload.queue_name == "default" else workload.queue_name
        kinds = list(enumerate(drawn.stages()))
        lengths = [self._lengths_ms(task, nth, place, line) for place, task in kinds]
        maps, reduces = islice(
            chain((task.demand(self._amounts, nth, place) for place, task in kinds), NO_DEMANDS), 2
        )
        job.demands = (maps, reduces)
        of_maps, of_reduces = islice(chain(lengths, ([], [])), 2)
        job.maps = _tasks_of_lengths(of_maps, job.submit_ms, line)
        job.reduces = _tasks_of_lengths(of_reduces, job.submit_ms + max(of_maps, default=0), line)
        later = sum(map(len, lengths[2:]))
        note = "tasks of stages after the second: nothing tells when they come"
        self._note("dropped", note, line, later)
        self._maker.add(job)

    def _submit_s(self, times: Sequence[SynthTime], nth: int) -> int:
        at = _weighted_choice([each.weight for each in times], self._choices.uniform(nth, 1))
        begin, end = times[at].time, times[min(at + 1, len(times) - 1)].time
        return begin + (self._choices.below(end - begin, nth, 3) if end > begin else 0)

    def _lengths_ms(self, task: SynthTask, nth: int, place: int, line: int) -> list[Millis]:
        """How long each task takes."""
        count = round(max(task.count.draw(self._counts, nth, place), 0.0))
        if count > TASKS_MAX:
            problem = f"a job of {count:,} tasks; the limit is {TASKS_MAX:,}"
            raise ScenarioError(problem, source=self._path, line=line)
        return [
            1000 * max(round(task.time.draw(self._times, nth, place * TASKS_MAX + number)), 0)
            for number in range(count)
        ]


def _tasks_of_lengths(
    lengths: Sequence[Millis], begin_ms: Millis, line: int
) -> dict[int, HistoryTask]:
    """Tasks of these lengths that begin together: a job's reduces once its maps have ended."""
    made_up = partial(HistoryAttempt, ending="succeeded", name="0", times_told=False)
    ran = (made_up(begin_ms, begin_ms + ms) for ms in lengths)
    return {number: HistoryTask([attempt], line=line) for number, attempt in enumerate(ran)}


def _check_number(stated: float | str) -> None:
    """ValueError for what is no number, or too large a one for anything that is drawn here."""
    try:
        number = float(stated)
    except ValueError:
        number = nan
    if not abs(number) <= _NUMBER_MAX:
        raise ValueError(f"expected a number of at most {_NUMBER_MAX:g}, got {str(stated)[:40]!r}")


def _weighted_choice(weights: Sequence[float], uniform: float) -> int:
    """The place that a number from 0 to 1 falls on."""
    left = uniform * sum(weights)
    for place, weight in enumerate(weights):
        if left < weight:
            return place
        left -= weight
    return len(weights) - 1
