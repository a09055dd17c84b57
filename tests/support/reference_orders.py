"""The orders of jobs, written from docs/fair.md and docs/sizes.md alone, a few lines each, for the
reference cluster.  They share no code with `scheduler/`, go through all jobs each time, and are
exact: fractions where shares are, whole milliseconds where sizes are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil
from typing import Any, Literal, NamedTuple

from tests.support.reference_cluster import MAPS, Attempt, Job, ReferenceOrder

Phase = tuple[int, int]
"""A job's number and a kind: its maps or its reduces."""


def is_first_come(job: Job) -> tuple[int, int, int]:
    return job.given.priority, job.given.submit_ms, job.number


class FifoReference(ReferenceOrder):
    """By priority, then submission."""

    limits = "fifo"

    def rank(self, job: Job, kind: int, now_ms: int) -> tuple[Any, ...]:  # noqa: ARG002
        return is_first_come(job)


# Fair.


class GivenPool(NamedTuple):
    """What a pool is due: its weight, and min shares of both kinds of slot."""

    weight: Fraction = Fraction(1)
    min_shares: tuple[int, int] = (0, 0)
    fifo: bool = False


class FairReference(ReferenceOrder):
    """Of pools the needy first, by running / due, then by running / weight; in them likewise."""

    limits = "fair"

    def __init__(self, pools: Mapping[str, GivenPool] | None = None) -> None:
        self._pools = pools
        self._of_pool: dict[str, tuple[int, int]] = {}

    def begin(self, jobs: Sequence[Job], kind: int, now_ms: int) -> None:  # noqa: ARG002
        self._of_pool = {
            name: (
                sum(job.running[kind] for job in jobs if job.given.pool == name),
                sum(job.demand(kind) for job in jobs if job.given.pool == name),
            )
            for name in {job.given.pool for job in jobs}
        }

    def rank(self, job: Job, kind: int, now_ms: int) -> tuple[Any, ...]:  # noqa: ARG002
        own = (job.running[kind] / job.given.weight, job.given.submit_ms, job.number)
        if self._pools is None:
            return own
        name = job.given.pool
        pool = self._pools.get(name, GivenPool())
        running, demand = self._of_pool[name]
        due = min(pool.min_shares[kind], demand)
        needy = (0, Fraction(running, due)) if running < due else (1, running / pool.weight)
        return (*needy, name, *(is_first_come(job) if pool.fifo else own))


# What is believed of sizes.


@dataclass
class Mean:
    """A mean, from its sum and count."""

    total_ms: int = 0
    count: int = 0

    def times(self, number: int) -> int:
        return round(Fraction(number * self.total_ms, self.count))


class Believed:
    """Sizes of phases: true ones, or tasks × the mean of the job's own completed tasks, else of all
    completed ones, else a guess.
    """

    def __init__(self, *, true: bool, guess_ms: int = 60_000) -> None:
        self._true = true
        self._guess_ms = guess_ms
        self.own: dict[Phase, Mean] = {}
        self._all = (Mean(), Mean())

    def learn(self, attempt: Attempt) -> None:
        own = self.own.setdefault((attempt.job, attempt.kind), Mean())
        for mean in (own, self._all[attempt.kind]):
            mean.total_ms += attempt.work_ms
            mean.count += 1

    def tasks_ms(self, job: Job, kind: int, number: int) -> int | None:
        """That many tasks at the mean; None before any has ended."""
        mean = self.own.get((job.number, kind), self._all[kind])
        return mean.times(number) if mean.count else None

    def size_ms(self, job: Job, kind: int) -> int:
        return self._worth(job, kind, job.totals[kind], 0)

    def left_ms(self, job: Job, kind: int) -> int:
        """What the work of completed tasks leaves; online unfinished tasks × mean."""
        own = self.own.get((job.number, kind), Mean())
        return self._worth(job, kind, job.totals[kind] - job.finished[kind], own.total_ms)

    def _worth(self, job: Job, kind: int, tasks: int, done_ms: int) -> int:
        if self._true:
            each_ms = job.given.map_ms if kind == MAPS else job.given.reduce_ms
            return max(each_ms * job.totals[kind] - done_ms, 0)
        known_ms = self.tasks_ms(job, kind, tasks)
        return tasks * self._guess_ms if known_ms is None else known_ms


class OfKeys(ReferenceOrder):
    """A job's key is found anew with every fact about its phase, and no other."""

    def __init__(self, believed: Believed) -> None:
        self._believed = believed
        self._keys: dict[Phase, tuple[Any, ...]] = {}

    def key(self, job: Job, kind: int) -> tuple[Any, ...]:
        raise NotImplementedError

    def rank(self, job: Job, kind: int, now_ms: int) -> tuple[Any, ...]:  # noqa: ARG002
        return (*self._keys[job.number, kind], job.given.submit_ms, job.number)

    def pending(self, job: Job, kind: int, now_ms: int) -> None:  # noqa: ARG002
        self._keys[job.number, kind] = self.key(job, kind)

    def launched(self, attempt: Attempt, job: Job, now_ms: int) -> None:
        self.pending(job, attempt.kind, now_ms)

    def ended(self, attempt: Attempt, job: Job, now_ms: int) -> None:
        self._believed.learn(attempt)
        self.pending(job, attempt.kind, now_ms)


class SrptReference(OfKeys):
    """Least estimated work left."""

    def key(self, job: Job, kind: int) -> tuple[Any, ...]:
        return (self._believed.left_ms(job, kind),)


class PsjfReference(OfKeys):
    """Smallest estimate of the whole."""

    def key(self, job: Job, kind: int) -> tuple[Any, ...]:
        return (self._believed.size_ms(job, kind),)


class SjfReference(OfKeys):
    """The same, but jobs that have begun go first."""

    def key(self, job: Job, kind: int) -> tuple[Any, ...]:
        waits = job.running[kind] == job.finished[kind] == 0
        return waits, self._believed.size_ms(job, kind)


class LasReference(OfKeys):
    """Least attained service; what runs counts with the mean of what has ended."""

    def key(self, job: Job, kind: int) -> tuple[Any, ...]:
        running = job.running[kind]
        own = self._believed.own.get((job.number, kind), Mean())
        return own.total_ms + (self._believed.tasks_ms(job, kind, running) or 0), running


class PsReference(OfKeys):
    """Fewest running tasks, then served least recently."""

    def __init__(self, believed: Believed) -> None:
        super().__init__(believed)
        self._launches = 0
        self._served: dict[Phase, int] = {}

    def key(self, job: Job, kind: int) -> tuple[Any, ...]:
        return job.running[kind], self._served.get((job.number, kind), 0)

    def launched(self, attempt: Attempt, job: Job, now_ms: int) -> None:
        self._launches += 1
        self._served[job.number, attempt.kind] = self._launches
        super().launched(attempt, job, now_ms)


# Virtual time.


class Undecided(Exception):
    """Two virtual ends are nearer to each other than virtual time is exact."""


NEAR_MS = Fraction(1, 1 << 18)


@dataclass
class Served:
    """A phase in the virtual cluster: what is left of it, at most how many slots it gets, and when
    what is left was set, since that is rounded in the simulator.
    """

    left_ms: Fraction
    tasks: int
    weight: Fraction
    speed: Fraction
    submit_ms: int
    set_ms: tuple[int, ...]


class VirtualCluster:
    """All phases of a kind served at once by weighted max-min, each by its number of tasks at most;
    a phase ages at its speed times its slots.
    """

    def __init__(self) -> None:
        self.slots = 0
        self.phases: dict[int, Served] = {}
        self._now_ms = Fraction(0)

    def rates(self) -> dict[int, Fraction]:
        """How many slots each phase has."""
        left, open_, rates = Fraction(self.slots), dict(self.phases), dict[int, Fraction]()
        while open_:
            level = left / sum(phase.weight for phase in open_.values())
            full = [n for n, phase in open_.items() if phase.tasks <= level * phase.weight]
            if not full:
                return rates | {n: level * phase.weight for n, phase in open_.items()}
            for number in full:
                rates[number] = Fraction(open_.pop(number).tasks)
                left -= rates[number]
        return rates

    def ends(self) -> dict[int, Fraction]:
        """When each phase ends at present rates, from the present on."""
        rates = self.rates()
        return {n: phase.left_ms / (rates[n] * phase.speed) for n, phase in self.phases.items()}

    def run_to(self, now_ms: int) -> list[tuple[int, int]]:
        """The phases that end up to then, and by which millisecond."""
        ended: list[tuple[int, int]] = []
        while self.slots and self.phases:
            ends = self.ends()
            first = min(ends.values())
            if self._now_ms + first > now_ms + NEAR_MS:
                break
            self._pass(first)
            over = sorted(n for n, end in ends.items() if end <= first + NEAR_MS)
            over.sort(key=lambda n: self.phases[n].submit_ms)
            ended += [(n, ceil(self._now_ms - NEAR_MS)) for n in over]
            for number in over:
                del self.phases[number]
        self._pass(now_ms - self._now_ms)
        return ended

    def _pass(self, ms: Fraction) -> None:
        if self.slots:
            for number, rate in self.rates().items():
                phase = self.phases[number]
                phase.left_ms = max(phase.left_ms - rate * phase.speed * ms, Fraction(0))
        self._now_ms += ms


LateRule = Literal["one by one", "in turn", "by weight"]


class VirtualTimeReference(ReferenceOrder):
    """The first to end if all shared goes first (or, `by_size`, what has the least left), after the
    late: those whose virtual end has come.
    """

    def __init__(
        self,
        believed: Believed,
        late: LateRule,
        *,
        by_size: bool = False,
        corrects: bool = False,
    ) -> None:
        self._believed = believed
        self._late_rule = late
        self._by_size = by_size
        self._corrects = corrects
        self._clusters = (VirtualCluster(), VirtualCluster())
        self._sizes: dict[Phase, Fraction] = {}
        self._late: dict[Phase, int] = {}
        self._served: dict[Phase, int] = {}
        self._launches = 0
        self._ends: dict[int, Fraction] = {}

    def slots(self, kind: int, number: int, now_ms: int) -> None:
        self._catch_up(kind, now_ms)
        self._clusters[kind].slots = number

    def pending(self, job: Job, kind: int, now_ms: int) -> None:
        self._enter(job, kind, Fraction(self._believed.size_ms(job, kind)), now_ms)

    def launched(self, attempt: Attempt, job: Job, now_ms: int) -> None:  # noqa: ARG002
        self._launches += 1
        self._served[job.number, attempt.kind] = self._launches

    def ended(self, attempt: Attempt, job: Job, now_ms: int) -> None:
        kind, number = attempt.kind, job.number
        self._believed.learn(attempt)
        if not self._corrects or job.finished[kind] != 1:
            return
        self._catch_up(kind, now_ms)
        phase = self._clusters[kind].phases.get(number)
        age = self._sizes[number, kind] - (Fraction(0) if phase is None else phase.left_ms)
        size = Fraction(self._believed.size_ms(job, kind))
        self._enter(job, kind, max(size - age, Fraction(0)), now_ms)

    def _enter(self, job: Job, kind: int, left: Fraction, now_ms: int) -> None:
        """Serve so much of the phase from now on; nothing is late at once."""
        self._catch_up(kind, now_ms)
        address, given = (job.number, kind), job.given
        self._sizes.setdefault(address, left)
        before = self._clusters[kind].phases.pop(job.number, None)
        if not left:
            self._late.setdefault(address, now_ms)
            return
        self._late.pop(address, None)
        weight = given.weight if self._late_rule == "by weight" else Fraction(1)
        speed = given.weight if self._by_size else Fraction(1)
        set_ms = (*(before.set_ms if before else ()), now_ms)
        phase = Served(left, job.totals[kind], weight, speed, given.submit_ms, set_ms)
        self._clusters[kind].phases[job.number] = phase

    def _catch_up(self, kind: int, now_ms: int) -> None:
        for number, at_ms in self._clusters[kind].run_to(now_ms):
            self._late.setdefault((number, kind), at_ms)

    def begin(self, jobs: Sequence[Job], kind: int, now_ms: int) -> None:
        """Find the virtual ends; Undecided if two that wait are too near to each other."""
        self._catch_up(kind, now_ms)
        cluster = self._clusters[kind]
        self._ends = cluster.ends() if cluster.slots else {}
        waiting = [job.number for job in jobs if job.pending[kind] and job.number in self._ends]
        ranked = sorted((self._value(kind, number), number) for number in waiting)
        for (one_ms, one), (two_ms, two) in pairwise(ranked):
            if two_ms - one_ms <= NEAR_MS and cluster.phases[one] != cluster.phases[two]:
                raise Undecided

    def _value(self, kind: int, number: int) -> Fraction:
        return self._clusters[kind].phases[number].left_ms if self._by_size else self._ends[number]

    def rank(self, job: Job, kind: int, now_ms: int) -> tuple[Any, ...]:  # noqa: ARG002
        address, given = (job.number, kind), job.given
        if address not in self._late:
            return 1, self._value(kind, job.number), given.submit_ms, job.number
        if self._late_rule == "one by one":
            return 0, self._late[address], given.submit_ms, job.number
        weight = given.weight if self._late_rule == "by weight" else 1
        share, served = job.running[kind] / Fraction(weight), self._served.get(address, 0)
        return 0, share, served, given.submit_ms, job.number
