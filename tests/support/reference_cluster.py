"""A second cluster, written from the docs alone: slots and heartbeats, no faults.

It shares no code with `actors/` or `scheduler/`; which job is next, and which must wait for its
input, `reference_orders` and `reference_waits` say.  What the actors draw (where blocks lie, when
nodes send their first heartbeat) is given to it.  Everything happens at arrivals of heartbeats:

- node n's heartbeats are sent at its first instant and then every interval + 2 latencies (H3); each
  arrives a latency later, and nodes of one instant are answered by number;
- a heartbeat tells the ends before it was sent, and the master books them before it gives tasks
  (H6); an end at the very instant of sending is told by the next;
- jobs hear of what was booked after all heartbeats of the instant, as they come after them;
- a launched attempt begins a latency later; a reduce asks its job at once where the outputs lie,
  and is told when the last map is done; then it fetches what is left of its share, at least the
  last map's part, and at least a way there and back and a millisecond.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from typing import Any, Literal, NamedTuple

MAPS, REDUCES = 0, 1
NODE, RACK, OFF_RACK = 0, 1, 2


class GivenNode(NamedTuple):
    """A node: its slots of both kinds, its rack, and when it sends its first heartbeat."""

    slots: tuple[int, int]
    rack: int
    first_ms: int


class GivenJob(NamedTuple):
    """A job; `hosts` are the nodes with each map's input, `priority` 0 is the highest of five."""

    submit_ms: int
    map_ms: int
    hosts: tuple[frozenset[int], ...]
    reduces: int = 0
    shuffle_ms: int = 0
    reduce_ms: int = 0
    priority: int = 2
    pool: str = "default"

    @property
    def weight(self) -> Fraction:
        """4, 2, 1, ½ or ¼ by priority."""
        return Fraction(2) ** (2 - self.priority)


class GivenCluster(NamedTuple):
    """All else; factors are exact, and `one_each` is a task a heartbeat."""

    nodes: tuple[GivenNode, ...]
    interval_ms: int
    latency_ms: int
    slowstart: Fraction
    factors: tuple[Fraction, Fraction, Fraction]
    one_each: bool = False


class Ran(NamedTuple):
    """An attempt: launched by the master, ended on its node; `level` of a reduce is off-rack."""

    launched_ms: int
    node: int
    job: int
    kind: int
    task: int
    level: int
    ended_ms: int


@dataclass
class Attempt:
    """One that runs: its end is unknown while a shuffle waits for the last map."""

    launched_ms: int
    node: int
    job: int
    kind: int
    task: int
    level: int
    end_ms: int | None = None
    work_ms: int = 0
    """How long it works: a reduce's shuffle is no work."""


@dataclass
class Job:
    """What the master believes of a job."""

    given: GivenJob
    number: int
    pending: list[list[int]] = field(default_factory=lambda: [[], []])
    running: list[int] = field(default_factory=lambda: [0, 0])
    finished: list[int] = field(default_factory=lambda: [0, 0])
    opened: bool = False
    maps_done_ms: int | None = None

    @property
    def totals(self) -> tuple[int, int]:
        return len(self.given.hosts), self.given.reduces

    @property
    def is_done(self) -> bool:
        return self.finished == list(self.totals)

    def demand(self, kind: int) -> int:
        """What runs, and what could run now."""
        return self.running[kind] + len(self.pending[kind])


class ReferenceOrder:
    """Says which job is next, lowest rank first, and how many tasks a heartbeat may bring: as many
    as slots are free, or what FIFO or Fair allow.  It hears what the master books.
    """

    limits: Literal["none", "fifo", "fair"] = "none"

    def rank(self, job: Job, kind: int, now_ms: int) -> tuple[Any, ...]:
        raise NotImplementedError

    def begin(self, jobs: Sequence[Job], kind: int, now_ms: int) -> None:
        """Ranks of this kind are asked for next; these jobs are there."""

    def pending(self, job: Job, kind: int, now_ms: int) -> None:
        """The job's tasks of this kind may run from now on."""

    def slots(self, kind: int, number: int, now_ms: int) -> None:
        """The cluster has that many slots now."""

    def launched(self, attempt: Attempt, job: Job, now_ms: int) -> None: ...

    def ended(self, attempt: Attempt, job: Job, now_ms: int) -> None: ...

    def left(self, job: Job, now_ms: int) -> None: ...


class ReferenceWait:
    """Says how far from its input a map of a job may be launched; by default anywhere."""

    def allowed(self, job: int, now_ms: int) -> int:  # noqa: ARG002
        return OFF_RACK

    def launched(self, job: int, level: int) -> None: ...

    def answered(self, passed: Sequence[int], served: Sequence[int], now_ms: int) -> None:
        """A heartbeat passed some jobs over for a map, and gave some a map."""


class ReferenceCluster:
    """Plays jobs under an order and a wait; `run` tells every attempt."""

    def __init__(
        self,
        cluster: GivenCluster,
        jobs: Sequence[GivenJob],
        order: ReferenceOrder,
        wait: ReferenceWait | None = None,
    ) -> None:
        self._cluster = cluster
        self._coming = sorted(
            (Job(given, number) for number, given in enumerate(jobs)),
            key=lambda job: (job.given.submit_ms, job.number),
        )
        self._order = order
        self._wait = wait or ReferenceWait()
        self._jobs: dict[int, Job] = {}
        self._joined: list[int] = []
        self._at: list[list[Attempt]] = [[] for _ in cluster.nodes]
        self._ran: list[Attempt] = []

    def run(self) -> list[Ran]:
        """Every attempt, by launch."""
        while self._coming or self._jobs:
            self._instant(self._next_ms())
        return [
            Ran(a.launched_ms, a.node, a.job, a.kind, a.task, a.level, a.end_ms or -1)
            for a in self._ran
        ]

    # Time.

    def _next_ms(self) -> int:
        """When the next heartbeat arrives or the next job comes."""
        heartbeats = [self._next_arrival(number) for number in range(len(self._cluster.nodes))]
        jobs = [job.given.submit_ms for job in self._coming[:1]]
        return min([*heartbeats, *jobs])

    _now_ms = -1

    def _next_arrival(self, node: int) -> int:
        """The first arrival of a heartbeat after the present."""
        cluster = self._cluster
        period = cluster.interval_ms + 2 * cluster.latency_ms
        first = cluster.nodes[node].first_ms + cluster.latency_ms
        if first > self._now_ms:
            return first
        return first + ((self._now_ms - first) // period + 1) * period

    def _instant(self, now_ms: int) -> None:
        due = [n for n in range(len(self._cluster.nodes)) if self._next_arrival(n) == now_ms]
        self._now_ms = now_ms
        heard: list[Job] = []
        for node in due:
            if node not in self._joined:
                self._joined.append(node)
                for kind in (MAPS, REDUCES):
                    self._order.slots(kind, self._slots(kind), now_ms)
            heard += self._book(node)
            self._give(node)
        for job in heard:
            self._hear(job)
        while self._coming and self._coming[0].given.submit_ms <= now_ms:
            job = self._coming.pop(0)
            self._jobs[job.number] = job
            job.pending[MAPS] = list(range(len(job.given.hosts)))
            self._order.pending(job, MAPS, now_ms)
            self._hear(job)

    # What is booked, and what jobs make of it.

    def _book(self, node: int) -> Iterator[Job]:
        sent_ms = self._now_ms - self._cluster.latency_ms
        ended = [a for a in self._at[node] if a.end_ms is not None and a.end_ms < sent_ms]
        ended.sort(key=lambda attempt: attempt.end_ms or 0)
        for attempt in ended:
            self._at[node].remove(attempt)
            job = self._jobs[attempt.job]
            job.running[attempt.kind] -= 1
            job.finished[attempt.kind] += 1
            self._order.ended(attempt, job, self._now_ms)
            yield job

    def _hear(self, job: Job) -> None:
        """Reduces open, shuffles learn of the last map, and the job may be over."""
        maps, reduces = job.totals
        if not job.opened and job.finished[MAPS] >= ceil(self._cluster.slowstart * maps):
            job.opened = True
            job.pending[REDUCES] = list(range(reduces))
            if reduces:
                self._order.pending(job, REDUCES, self._now_ms)
        if job.finished[MAPS] == maps and job.maps_done_ms is None:
            job.maps_done_ms = self._now_ms
            for attempt in self._ran:
                if attempt.job == job.number and attempt.kind == REDUCES:
                    attempt.end_ms = self._end_of_reduce(attempt, job)
        if job.is_done and self._jobs.pop(job.number, None) is not None:
            self._order.left(job, self._now_ms)

    def _end_of_reduce(self, attempt: Attempt, job: Job) -> int | None:
        """When it ends: unknown until the last map is known to be done."""
        if job.maps_done_ms is None:
            return None
        given, latency = job.given, self._cluster.latency_ms
        starts = attempt.launched_ms + latency
        told = max(starts + 2 * latency, job.maps_done_ms + latency)
        last_part = given.shuffle_ms // len(given.hosts)
        left = max(given.shuffle_ms - (told - starts), last_part, 2 * latency + 1)
        return told + left + given.reduce_ms

    # Who is next.

    def _give(self, node: int) -> None:
        given: list[tuple[int, int]] = []
        passed: list[int] = []
        served: list[int] = []
        while (found := self._decide(node, given, passed)) is not None:
            job, kind, task, level = found
            given.append((kind, level))
            served += [job.number] * (kind == MAPS)
            self._launch(node, job, kind, task, level)
            if self._cluster.one_each:
                break
        self._wait.answered(passed, served, self._now_ms)

    def _launch(self, node: int, job: Job, kind: int, task: int, level: int) -> None:
        job.pending[kind].remove(task)
        job.running[kind] += 1
        attempt = Attempt(self._now_ms, node, job.number, kind, task, level)
        if kind == MAPS:
            length = Fraction(job.given.map_ms) * self._cluster.factors[level]
            assert length.denominator == 1, "lengths are chosen so that all factors give whole ms"
            attempt.work_ms = int(length)
            attempt.end_ms = self._now_ms + self._cluster.latency_ms + int(length)
            self._wait.launched(job.number, level)
        else:
            attempt.work_ms = job.given.reduce_ms
            attempt.end_ms = self._end_of_reduce(attempt, job)
        self._at[node].append(attempt)
        self._ran.append(attempt)
        self._order.launched(attempt, job, self._now_ms)

    def _decide(
        self, node: int, given: list[tuple[int, int]], passed: list[int]
    ) -> tuple[Job, int, int, int] | None:
        for kind in self._kinds(node):
            if self._room(node, kind, given) <= 0:
                continue
            for job in self._queue(kind):
                found = self._nearest(job, kind, node)
                if found is None:
                    continue
                if kind == REDUCES or found[1] <= self._wait.allowed(job.number, self._now_ms):
                    return job, kind, *found
                passed.append(job.number)
        return None

    def _queue(self, kind: int) -> list[Job]:
        jobs = list(self._jobs.values())
        self._order.begin(jobs, kind, self._now_ms)
        waiting = [job for job in jobs if job.pending[kind]]
        return sorted(waiting, key=lambda job: self._order.rank(job, kind, self._now_ms))

    def _kinds(self, node: int) -> tuple[int, int]:
        """Map slots are filled first; under Fair the kind of which the node runs less."""
        maps, reduces = (self._running_on(node, kind) for kind in (MAPS, REDUCES))
        turned = self._order.limits == "fair" and reduces < maps
        return (REDUCES, MAPS) if turned else (MAPS, REDUCES)

    def _nearest(self, job: Job, kind: int, node: int) -> tuple[int, int] | None:
        """The pending task nearest to its input, and how near; of equals the lowest."""
        if kind == REDUCES:
            return (job.pending[kind][0], OFF_RACK) if job.pending[kind] else None
        levels = ((self._level(job, task, node), task) for task in job.pending[kind])
        level, task = min(levels, default=(0, -1))
        return None if task < 0 else (task, level)

    def _level(self, job: Job, task: int, node: int) -> int:
        hosts, nodes = job.given.hosts[task], self._cluster.nodes
        if node in hosts:
            return NODE
        return RACK if nodes[node].rack in {nodes[host].rack for host in hosts} else OFF_RACK

    # How much a node may be given.

    def _room(self, node: int, kind: int, given: list[tuple[int, int]]) -> int:
        slots = self._cluster.nodes[node].slots[kind]
        running = self._running_on(node, kind)
        if self._order.limits == "none":
            return slots - running
        of_kind = [level for given_kind, level in given if given_kind == kind]
        load = sum(self._load(job, kind) for job in self._jobs.values())
        share = min(-(-load * slots // max(self._slots(kind), 1)), slots)
        if self._order.limits == "fair":
            return min(share, slots) - running
        if kind == MAPS and OFF_RACK in of_kind:
            return 0
        most = share - (running - len(of_kind))
        if most > 1 and (kind == REDUCES or self._nearly_full(node, kind, len(of_kind))):
            most = 1
        return min(most - len(of_kind), slots - running)

    def _load(self, job: Job, kind: int) -> int:
        """What a job asks of the cluster: under FIFO all that is not done, else what could run."""
        if kind == REDUCES and not job.opened:
            return 0
        if self._order.limits == "fifo":
            return job.totals[kind] - job.finished[kind]
        return job.demand(kind)

    def _nearly_full(self, node: int, kind: int, given: int) -> bool:
        """Whether the padding would fill the cluster; map-only jobs do not count."""
        wanted = sum(job.totals[kind] for job in self._jobs.values() if job.totals[REDUCES])
        if not wanted:
            return False
        padding = 0
        if len(self._joined) > 3:
            padding = min(self._cluster.nodes[node].slots[kind], wanted // 100)
        running = sum(job.running[kind] for job in self._jobs.values())
        return running - given + padding >= self._slots(kind)

    def _running_on(self, node: int, kind: int) -> int:
        return sum(attempt.kind == kind for attempt in self._at[node])

    def _slots(self, kind: int) -> int:
        return sum(self._cluster.nodes[node].slots[kind] for node in self._joined)
