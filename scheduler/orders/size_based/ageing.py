"""Ageing: the virtual cluster, in which every job of one kind is served at once and fairly.

A size-based order asks who would finish first if the cluster were shared.  The virtual cluster
plays that sharing beside the real one (HFSP, III-B): it has the slots that the master knows of,
and divides them by **weighted max-min**: a job of weight w gets min(cap, w · level) slots, its cap
being its number of tasks, and the level such that all slots are used or all caps reached.  As a
job's tasks are served side by side, its cap stays what it was until its virtual end.  What a job
has still to be given is its **virtual size**; it shrinks whether the job really runs or not.
Jobs that have really ended stay until their virtual end, since they would still take their share.

**Exact to a stated bit.**  Times and sizes are whole numbers of 2⁻⁴⁰ ms; the level's integral is
rounded down by less than one such unit at each change, and a job leaves when it has 2⁻²⁴ slot-ms
left.  So virtual sizes are right to 2⁻²⁴ slot-ms for each end before, a millisecond in sixteen
million ends, and equal on every machine.  Between two changes nothing is stored, so it does not
matter how often one looks.

**Cost.**  Jobs of equal cap, weight and speed form a lane; in a lane all shrink alike, so their
order never changes.  Lanes that are capped, and lanes that are not, change over as wholes.  All
uncapped lanes of one weight shrink alike too, so that one sorted list of first jobs serves them.
The capped lanes' caps differ and add up to no more than the slots, so there are at most about
√(2 · slots) of them for each weight.  An event costs O(log jobs) and a step for each lane that
changes over; the smallest virtual size is found among the first of each pace.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from sortedcontainers import SortedDict

from callboard.scheduler.model import PRIORITY_WEIGHTS, JobId, Millis
from callboard.scheduler.orders.size_based.rate_classes import FinishTag, RateClass, RateGroup

UNITS_PER_MS = 1 << 40
"""How many units of time a millisecond has."""

SPEED_ONE = 4
"""The speed of a job that ages at the cluster's own pace; speeds are whole quarters."""

PRIORITY_SPEEDS = {each: int(SPEED_ONE * weight) for each, weight in PRIORITY_WEIGHTS.items()}
"""The weights by priority, as whole speeds."""

WORK_PER_SLOT_MS = UNITS_PER_MS * SPEED_ONE
"""How many units of work one slot does in a millisecond for a job of speed one."""

TOLERANCE = WORK_PER_SLOT_MS >> 24
"""A job with this little left, 2⁻²⁴ slot-ms, has virtually ended: rounding must not delay an end
that falls on a whole millisecond beyond it."""


class VirtualSize(NamedTuple):
    """A job that waits, and its virtual size in slot-milliseconds."""

    job: JobId
    size_ms: float


class VirtualEnd(NamedTuple):
    """A job and the millisecond by which it had virtually ended."""

    job: JobId
    at_ms: Millis


class VirtualCluster:
    """The virtual cluster of one kind of slot.

    `pace` is how fast virtual time runs: 1, or ½ for the published code's quirk.  `by_finish`
    orders jobs by their virtual end at present rates instead of by virtual size; the two differ
    only where caps or weights do.
    """

    def __init__(self, *, pace: Fraction = Fraction(1), by_finish: bool = False) -> None:
        self._unit = int(UNITS_PER_MS * pace)
        self._by_finish = by_finish
        self._slots = 0
        self._places: dict[JobId, tuple[RateClass, FinishTag]] = {}
        self._waiting: set[JobId] = set()
        self._rate_classes: dict[tuple[int, int, int], RateClass] = {}
        self._capped: SortedDict[tuple[Fraction, int, int], RateClass] = SortedDict()
        self._open: SortedDict[tuple[Fraction, int, int], RateClass] = SortedDict()
        self._rate_groups: dict[tuple[bool, int], RateGroup] = {}
        self._spare = 0  # slots that the capped lanes leave
        self._weight = 0  # of all jobs in open lanes
        self._time = 0  # of the last change
        self._level = 0  # the integral of the level until then
        self._next: int | None = None  # when the next job virtually ends

    # What happens to it.  Time must have been settled up to `now_ms` before each.

    def advance_to(self, now_ms: Millis) -> list[VirtualEnd]:
        """Let the time come to `now_ms`; the jobs that virtually ended meanwhile, in order."""
        ended: list[VirtualEnd] = []
        while self._next is not None and self._next <= now_ms * self._unit:
            self._step(self._next)
            at_ms = -(-self._time // self._unit)
            ended += [VirtualEnd(job, at_ms) for job in self._take_out_the_served()]
            self._balance()
        return ended

    def resize(self, slots: int, now_ms: Millis) -> None:
        """The cluster has so many slots from now on."""
        if slots != self._slots:
            self._step(now_ms * self._unit)
            self._spare += slots - self._slots
            self._slots = slots
            self._balance()

    def serve(
        self,
        job: JobId,
        size_ms: float,
        tasks: int,
        now_ms: Millis,
        *,
        submitted_ms: Millis = 0,
        weight: int = 1,
        speed: int = SPEED_ONE,
    ) -> bool:
        """Serve a job of this size from now on; False if there is nothing to be served.

        A job that is here already gets the new size instead of what was left of the old one.
        """
        self._step(now_ms * self._unit)
        if job in self._places:
            self._take_out(job)
        work = round(size_ms * WORK_PER_SLOT_MS)
        if work > TOLERANCE and tasks > 0:
            self._insert(job, self._rate_class(tasks, weight, speed), work, submitted_ms)
        self._balance()
        return job in self._places

    def reweigh(self, job: JobId, now_ms: Millis, *, weight: int, speed: int) -> None:
        """Serve what is left of a job with this weight and speed from now on."""
        place = self._places.get(job)
        if place is None:
            return
        self._step(now_ms * self._unit)
        lane, entry = place
        work = entry.key - lane.served(self._clock(lane))
        self._take_out(job)
        self._insert(job, self._rate_class(lane.cap, weight, speed), work, entry.submitted_ms)
        self._balance()

    def set_waiting(self, job: JobId, waits: bool) -> None:
        """Say whether the job really has something to launch: `queue` gives those that have."""
        if waits == (job in self._waiting):
            return
        (self._waiting.add if waits else self._waiting.remove)(job)
        if (place := self._places.get(job)) is not None:
            lane, entry = place
            (lane.add if waits else lane.remove)(entry, 1)

    # What one may ask.

    def size_ms(self, job: JobId, now_ms: Millis) -> float:
        """The job's virtual size in slot-ms; 0 if it has virtually ended."""
        place = self._places.get(job)
        if place is None:
            return 0.0
        lane, entry = place
        assert lane.pace is not None
        return (
            entry.key - lane.served(self._shown(lane.pace, now_ms * self._unit))
        ) / WORK_PER_SLOT_MS

    def queue(self, now_ms: Millis, *, waiting: bool = True) -> Iterator[VirtualSize]:
        """The waiting jobs, or all, smallest first, lazily; ties by virtual end, submit time,
        number.
        """
        now, side = now_ms * self._unit, int(waiting)
        heap: list[_Candidate] = []
        for pace in self._rate_groups.values():
            self._offer(heap, pace, side, 0, 0, self._shown(pace, now))
        while heap:
            (_, _, _, job), left, pace, head, place, clock = heapq.heappop(heap)
            yield VirtualSize(job, left / WORK_PER_SLOT_MS)
            if place == 0:
                self._offer(heap, pace, side, head + 1, 0, clock)
            self._offer(heap, pace, side, head, place + 1, clock)

    def _offer(
        self, heap: list[_Candidate], pace: RateGroup, side: int, head: int, place: int, clock: int
    ) -> None:
        """Put the job at `place` of the pace's `head`th lane on the heap, if there is one."""
        firsts = pace.heads[side]
        if head >= len(firsts):
            return
        lane = firsts.peekitem(head)[1]
        jobs = lane.queues[side]
        if place >= len(jobs):
            return
        entry = jobs[place]
        left = entry.key - lane.served(clock)
        end = self._until(pace, left)
        keys = (end, left) if self._by_finish else (left, end)
        rank = (*keys, entry.submitted_ms, entry.job)
        heapq.heappush(heap, (rank, left, pace, head, place, clock))

    # Clocks.

    def _shown(self, pace: RateGroup, now: int) -> int:
        """What the pace's clock shows at `now`, at or after the last change."""
        if pace.capped:
            return now
        gained = (now - self._time) * self._spare // self._weight if self._weight else 0
        return self._level + gained

    def _clock(self, lane: RateClass) -> int:
        """What the clock that the lane goes by showed at the last change."""
        return self._time if lane.capped else self._level

    def _step(self, now: int) -> None:
        """Make `now` the time of the last change."""
        if self._weight:
            self._level += (now - self._time) * self._spare // self._weight
        self._time = now

    def _until(self, pace: RateGroup, left: int) -> int:
        """How long the pace's members take at present rates to be given so much, rounded up."""
        if pace.capped:
            return -(-left // pace.step)
        return -(-left * self._weight // (pace.step * max(self._spare, 1)))

    # Jobs in and out, lanes from pace to pace.

    def _take_out_the_served(self) -> list[JobId]:
        """Take out whoever has virtually ended by the last change."""
        served: list[FinishTag] = []
        for pace in list(self._rate_groups.values()):
            clock = self._time if pace.capped else self._level
            while pace.heads[0]:
                (key, submitted_ms, job), _ = pace.heads[0].peekitem(0)
                if key - pace.step * clock > TOLERANCE:
                    break
                self._take_out(job)
                served.append(FinishTag(0, submitted_ms, job))
        return [entry.job for entry in sorted(served)]

    def _take_out(self, job: JobId) -> None:
        lane, entry = self._places.pop(job)
        lane.remove(entry, 0)
        if job in self._waiting:
            lane.remove(entry, 1)
        self._count(lane, -1)
        if not lane:
            self._file_under(lane, None)
            del self._rate_classes[lane.cap, lane.weight, lane.speed]

    def _insert(self, job: JobId, lane: RateClass, work: int, submitted_ms: Millis) -> None:
        """Put a job that has so much work left into a lane."""
        entry = FinishTag(lane.served(self._clock(lane)) + work, submitted_ms, job)
        self._places[job] = (lane, entry)
        self._put_in(lane, entry)

    def _put_in(self, lane: RateClass, entry: FinishTag) -> None:
        lane.add(entry, 0)
        if entry.job in self._waiting:
            lane.add(entry, 1)
        self._count(lane, 1)

    def _rate_class(self, cap: int, weight: int, speed: int) -> RateClass:
        """The lane for such jobs, open if it is new."""
        lane = self._rate_classes.get((cap, weight, speed))
        if lane is None:
            lane = self._rate_classes[cap, weight, speed] = RateClass(cap, weight, speed)
            self._file_under(lane, False)
        return lane

    def _count(self, lane: RateClass, jobs: int) -> None:
        """So many jobs more in the lane."""
        if lane.capped:
            self._spare -= jobs * lane.cap
        else:
            self._weight += jobs * lane.weight

    def _file_under(self, lane: RateClass, capped: bool | None) -> None:
        """Put the lane among the capped or the open ones, or nowhere."""
        label = (lane.ratio, lane.weight, lane.speed)
        old, before = lane.pace, self._clock(lane)
        if old is not None:
            del (self._capped if old.capped else self._open)[label]
        if capped is None:
            lane.move(None, before, 0)
        else:
            step = lane.step(capped)
            pace = self._rate_groups.setdefault((capped, step), RateGroup(capped, step))
            lane.move(pace, before, self._time if capped else self._level)
            (self._capped if capped else self._open)[label] = lane
        if old is not None and not old.heads[0]:
            self._rate_groups.pop((old.capped, old.step), None)

    def _change_side(self, lane: RateClass) -> None:
        """Change a lane over, from open to capped or back."""
        jobs, capped = len(lane), lane.capped
        self._count(lane, -jobs)
        self._file_under(lane, not capped)
        self._count(lane, jobs)

    def _balance(self) -> None:
        """Find the level: no capped lane's ratio above it, no open lane's at or below it.

        Each change of a lane that is on the wrong side raises the level, so this ends; lanes
        turned one way are never turned back by the others of that way.
        """
        while True:
            if self._capped and self._above(self._capped.peekitem(-1)[1]):
                self._change_side(self._capped.peekitem(-1)[1])
            elif self._open and not self._above(self._open.peekitem(0)[1]):
                self._change_side(self._open.peekitem(0)[1])
            else:
                break
        self._next = self._next_end()

    def _above(self, lane: RateClass) -> bool:
        """Whether the lane's members could use more slots than the level gives them."""
        if not self._weight:
            return self._spare < 0
        return lane.cap * self._weight > self._spare * lane.weight

    def _next_end(self) -> int | None:
        """When the next job virtually ends if nothing else happens before."""
        best: int | None = None
        for pace in self._rate_groups.values():
            if not pace.heads[0] or not (pace.capped or self._spare > 0):
                continue
            clock = self._time if pace.capped else self._level
            left = pace.heads[0].peekitem(0)[0].key - pace.step * clock
            at = self._time + self._until(pace, max(left - TOLERANCE // 2, 0))
            best = at if best is None else min(best, at)
        return best


_Candidate: TypeAlias = tuple[tuple[int, int, int, int], int, RateGroup, int, int, int]
"""Rank, work left, pace, place of its lane in the pace, its place in the lane, the clock."""
