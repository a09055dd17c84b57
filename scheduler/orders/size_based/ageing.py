"""Ageing: the virtual cluster, in which every job of one kind is served at once and fairly.

A size-based order asks which job would finish first if the cluster were shared.  The virtual
cluster plays that sharing beside the real one (HFSP, III-B; docs/sizes.md), by **weighted
max-min**: a job of weight w gets min(cap, w · level) slots, its cap being its number of tasks, and
the level such that all slots are used or all caps reached.  What a job has still to be given is its
**virtual size**; it shrinks whether the job really runs or not.

**Exact to a stated bit.**  Times and sizes are whole numbers of 2⁻⁴⁰ ms; the level's integral is
rounded down by less than one such unit at each change, and a job leaves when it has 2⁻²⁴ slot-ms
left.  So virtual sizes are right to 2⁻²⁴ slot-ms for each end before, a millisecond in sixteen
million ends, and equal on every machine, however often one looks.

**Cost.**  Jobs of equal cap, weight and speed form a rate class, in which all shrink alike, so that
their order never changes; capped and uncapped classes change over as wholes.  All uncapped classes
of one weight shrink alike too (a rate group): one sorted list of first jobs serves them.  The
capped ones' caps differ and add up to no more than the slots, so for each weight there are at most
about √(2 · slots).  They are not visited one by one: the first of them is remembered until another
overtakes it (`leading_group`), and a heap knows which is due to end first.  An event costs O(log
jobs) and a step for each class that changes over; only who asks for more than the first job of the
queue looks at every group once.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain
from typing import TypeAlias

from sortedcontainers import SortedDict

from callboard.scheduler.model import PRIORITY_WEIGHTS, JobId, Millis
from callboard.scheduler.orders.size_based.leading_group import WAITING, LeadingGroup
from callboard.scheduler.orders.size_based.rate_classes import FinishTag, RateClass, RateGroup

UNITS_PER_MS = 1 << 40

SPEED_ONE = 4
"""The speed of a job that ages at the cluster's own pace; speeds are whole quarters."""

PRIORITY_SPEEDS = {each: int(SPEED_ONE * weight) for each, weight in PRIORITY_WEIGHTS.items()}

WORK_PER_SLOT_MS = UNITS_PER_MS * SPEED_ONE
"""How many units of work one slot does in a millisecond for a job of speed one."""

TOLERANCE = WORK_PER_SLOT_MS >> 24
"""2⁻²⁴ slot-ms: with so little left a job has virtually ended, not a rounding error later."""


VirtualSize: TypeAlias = tuple[JobId, float]
"""A job and its virtual size in slot-milliseconds."""

VirtualEnd: TypeAlias = tuple[JobId, Millis]
"""A job and the millisecond by which it had virtually ended."""


class VirtualCluster:
    """The virtual cluster of one kind of slot; `pace` is how fast virtual time runs (½: the
    published code's quirk), `by_finish` orders by virtual end at present rates, not by virtual
    size.
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
        self._capped_groups: dict[int, RateGroup] = {}  # by rate
        self._open_groups: dict[int, RateGroup] = {}
        self._leading = LeadingGroup(by_finish=by_finish)
        self._dues: list[tuple[int, int]] = []  # a heap of the capped groups' dues and steps
        self._spare = 0  # slots that the capped rate classes leave
        self._weight = 0  # of all jobs in open rate classes
        self._time = 0  # of the last change
        self._level = 0  # the integral of the level until then
        self._next: int | None = None  # when the next job virtually ends

    # What happens to it.  Time must have been settled up to `now_ms` before each.

    def advance_to(self, now_ms: Millis) -> list[VirtualEnd]:
        """Let the time come to `now_ms`; the jobs that virtually ended meanwhile, in order."""
        ended: list[VirtualEnd] = []
        now = now_ms * self._unit
        while self._next is not None and self._next <= now:
            self._advance_clocks(self._next)
            at_ms = -(-self._time // self._unit)
            ended += [(job, at_ms) for job in self._take_out_the_served()]
            self._find_level()
        return ended

    def resize(self, slots: int, now_ms: Millis) -> None:
        if slots != self._slots:
            self._advance_clocks(now_ms * self._unit)
            self._spare += slots - self._slots
            self._slots = slots
            self._find_level()

    def serve_job(
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
        """Serve a job of this size from now on, in the place of what was left of it; False if there
        is nothing to be served.
        """
        self._advance_clocks(now_ms * self._unit)
        if job in self._places:
            self._take_out_job(job)
        work = round(size_ms * WORK_PER_SLOT_MS)
        if work > TOLERANCE and tasks > 0:
            self._insert_job(job, self._rate_class(tasks, weight, speed), work, submitted_ms)
        self._find_level()
        return job in self._places

    def reweigh(self, job: JobId, now_ms: Millis, *, weight: int, speed: int) -> None:
        place = self._places.get(job)
        if place is None:
            return
        self._advance_clocks(now_ms * self._unit)
        rate_class, entry = place
        key, submitted_ms, _ = entry
        work = key - rate_class.served(self._class_clock(rate_class))
        self._take_out_job(job)
        self._insert_job(job, self._rate_class(rate_class.cap, weight, speed), work, submitted_ms)
        self._find_level()

    def set_waiting(self, job: JobId, waits: bool) -> None:
        """Say whether the job really has something to launch: `queue` gives those that have."""
        if waits == (job in self._waiting):
            return
        (self._waiting.add if waits else self._waiting.remove)(job)
        if (place := self._places.get(job)) is not None:
            rate_class, entry = place
            (rate_class.add_job if waits else rate_class.remove_job)(entry, WAITING)
            self._note_change(rate_class.group)

    def size_ms(self, job: JobId, now_ms: Millis) -> float:
        """The job's virtual size in slot-ms; 0 if it has virtually ended."""
        place = self._places.get(job)
        if place is None:
            return 0.0
        rate_class, entry = place
        assert rate_class.group is not None
        served = rate_class.served(self._group_clock(rate_class.group, now_ms * self._unit))
        return (entry[0] - served) / WORK_PER_SLOT_MS

    def queue(self, now_ms: Millis, *, waiting: bool = True) -> Iterator[VirtualSize]:
        """The waiting jobs, or all, lazily: by virtual size, virtual end, submit time, number.  The
        first is found without looking at all groups: mostly no other is asked for.
        """
        now, side = now_ms * self._unit, int(waiting)
        if waiting:
            first = self._first_waiting(now)
            if first is None:
                return
            yield first
        heap = self._first_candidates(side, now)
        heapq.heapify(heap)
        told = waiting
        while heap:
            (_, _, _, job), left, group, head, place, clock = heapq.heappop(heap)
            if not told:
                yield (job, left / WORK_PER_SLOT_MS)
            told = False
            if place == 0:
                self._push_next_job(heap, group, side, head + 1, 0, clock)
            self._push_next_job(heap, group, side, head, place + 1, clock)

    def _first_waiting(self, now: int) -> VirtualSize | None:
        """The first of the queue of those that wait."""
        leading = self._leading.leader_at(now, self._capped_groups)
        candidates = [] if leading is None else [self._group_candidate(leading, WAITING, now)]
        for group in self._open_groups.values():
            if group.first[WAITING] is not None:
                candidates.append(self._group_candidate(group, WAITING, now))
        if not candidates:
            return None
        (_, _, _, job), left, *_ = min(candidates) if len(candidates) > 1 else candidates[0]
        return (job, left / WORK_PER_SLOT_MS)

    def _first_candidates(self, side: int, now: int) -> list[_Candidate]:
        """The first job of every group."""
        groups = chain(self._capped_groups.values(), self._open_groups.values())
        having = (group for group in groups if group.first[side] is not None)
        return [self._group_candidate(group, side, now) for group in having]

    def _group_candidate(self, group: RateGroup, side: int, now: int) -> _Candidate:
        first = group.first[side]
        assert first is not None
        key, submitted_ms, job = first
        clock = now if group.capped else self._group_clock(group, now)
        left = key - group.rate * clock
        end = self._time_to_serve(group, left)
        if self._by_finish:
            return ((end, left, submitted_ms, job), left, group, 0, 0, clock)
        return ((left, end, submitted_ms, job), left, group, 0, 0, clock)

    def _push_next_job(
        self, heap: list[_Candidate], group: RateGroup, side: int, head: int, place: int, clock: int
    ) -> None:
        firsts = group.heads[side]
        if head >= len(firsts):
            return
        rate_class = firsts.peekitem(head)[1]
        jobs = rate_class.queues[side]
        if place >= len(jobs):
            return
        key, submitted_ms, job = jobs[place]
        left = key - rate_class.served(clock)
        end = self._time_to_serve(group, left)
        keys = (end, left) if self._by_finish else (left, end)
        rank = (*keys, submitted_ms, job)
        heapq.heappush(heap, (rank, left, group, head, place, clock))

    def _group_clock(self, group: RateGroup, now: int) -> int:
        """What the group's clock shows at `now`, at or after the last change."""
        if group.capped:
            return now
        gained = (now - self._time) * self._spare // self._weight if self._weight else 0
        return self._level + gained

    def _class_clock(self, rate_class: RateClass) -> int:
        """What the clock that the rate class goes by showed at the last change."""
        return self._time if rate_class.capped else self._level

    def _advance_clocks(self, now: int) -> None:
        if self._weight:
            self._level += (now - self._time) * self._spare // self._weight
        self._time = now

    def _time_to_serve(self, group: RateGroup, left: int) -> int:
        """How long the group's members take at present rates to be given so much, rounded up."""
        if group.capped:
            return -(-left // group.rate)
        return -(-left * self._weight // (group.rate * max(self._spare, 1)))

    def _take_out_the_served(self) -> list[JobId]:
        served: list[tuple[Millis, JobId]] = []
        for group in list(self._open_groups.values()):
            while (first := group.first[0]) is not None:
                if first[0] - group.rate * self._level > TOLERANCE:
                    break
                self._take_out_job(first[2])
                served.append(first[1:])
        while (due := self._next_due_group()) is not None and self._dues[0][0] <= self._time:
            heapq.heappop(self._dues)
            due.due = None
            first = due.first[0]
            assert first is not None
            self._take_out_job(first[2])
            served.append(first[1:])
        return [job for _, job in sorted(served)]

    def _take_out_job(self, job: JobId) -> None:
        rate_class, entry = self._places.pop(job)
        rate_class.remove_job(entry, 0)
        if job in self._waiting:
            rate_class.remove_job(entry, WAITING)
        self._add_to_totals(rate_class, -1)
        self._note_change(rate_class.group)
        if not rate_class:
            self._refile_rate_class(rate_class, None)
            del self._rate_classes[rate_class.cap, rate_class.weight, rate_class.speed]

    def _insert_job(
        self, job: JobId, rate_class: RateClass, work: int, submitted_ms: Millis
    ) -> None:
        entry = (rate_class.served(self._class_clock(rate_class)) + work, submitted_ms, job)
        self._places[job] = (rate_class, entry)
        rate_class.add_job(entry, 0)
        if job in self._waiting:
            rate_class.add_job(entry, WAITING)
        self._add_to_totals(rate_class, 1)
        self._note_change(rate_class.group)

    def _rate_class(self, cap: int, weight: int, speed: int) -> RateClass:
        rate_class = self._rate_classes.get((cap, weight, speed))
        if rate_class is None:
            rate_class = self._rate_classes[cap, weight, speed] = RateClass(cap, weight, speed)
            self._refile_rate_class(rate_class, False)
        return rate_class

    def _add_to_totals(self, rate_class: RateClass, jobs: int) -> None:
        if rate_class.capped:
            self._spare -= jobs * rate_class.cap
        else:
            self._weight += jobs * rate_class.weight

    def _refile_rate_class(self, rate_class: RateClass, capped: bool | None) -> None:
        """Put the rate class among the capped or the open ones, or nowhere."""
        label = (rate_class.ratio, rate_class.weight, rate_class.speed)
        old, before = rate_class.group, self._class_clock(rate_class)
        if old is not None:
            del (self._capped if old.capped else self._open)[label]
        if capped is None:
            rate_class.move_to_group(None, before, 0)
        else:
            group = self._group_with_rate(capped, rate_class.rate(capped))
            rate_class.move_to_group(group, before, self._time if capped else self._level)
            (self._capped if capped else self._open)[label] = rate_class
            self._note_change(group)
        if old is not None:
            self._note_change(old)
            if not old.heads[0]:
                self._groups_by_rate(old.capped).pop(old.rate, None)

    def _groups_by_rate(self, capped: bool) -> dict[int, RateGroup]:
        return self._capped_groups if capped else self._open_groups

    def _group_with_rate(self, capped: bool, rate: int) -> RateGroup:
        groups = self._groups_by_rate(capped)
        group = groups.get(rate)
        if group is None:
            group = groups[rate] = RateGroup(capped, rate)
        return group

    def _note_change(self, group: RateGroup | None) -> None:
        """A capped group's first jobs may be others now."""
        if group is None or not group.capped:
            return
        if group.first[WAITING] != group.noted:
            group.noted = group.first[WAITING]
            self._leading.note_change(group)
        first = group.first[0]
        due = None if first is None else -((TOLERANCE - first[0]) // group.rate)
        if due is not None and due != group.due:
            heapq.heappush(self._dues, (due, group.rate))
        group.due = due

    def _change_side(self, rate_class: RateClass) -> None:
        jobs, capped = len(rate_class), rate_class.capped
        self._add_to_totals(rate_class, -jobs)
        self._refile_rate_class(rate_class, not capped)
        self._add_to_totals(rate_class, jobs)

    def _find_level(self) -> None:
        """Find the level: no capped class's ratio above it, no open one's at or below it.  Each
        change raises the level, so classes never turn back and this ends.
        """
        while True:
            if self._capped and self._could_use_more(self._capped.peekitem(-1)[1]):
                self._change_side(self._capped.peekitem(-1)[1])
            elif self._open and not self._could_use_more(self._open.peekitem(0)[1]):
                self._change_side(self._open.peekitem(0)[1])
            else:
                break
        self._next = self._next_end()

    def _could_use_more(self, rate_class: RateClass) -> bool:
        """Whether the rate class's members could use more slots than the level gives them."""
        if not self._weight:
            return self._spare < 0
        return rate_class.cap * self._weight > self._spare * rate_class.weight

    def _next_end(self) -> int | None:
        best: int | None = None
        for group in self._open_groups.values():
            first = group.first[0]
            if first is None or self._spare <= 0:
                continue
            left = first[0] - group.rate * self._level
            at = self._time + self._time_to_serve(group, max(left - TOLERANCE // 2, 0))
            best = at if best is None else min(best, at)
        return self._next_capped_end(best)

    def _next_capped_end(self, best: int | None) -> int | None:
        """The earlier of `best` and the capped groups' next end, none of which is before its due:
        those that are due before the best one found are few.
        """
        looked_at: list[tuple[int, int]] = []
        while (group := self._next_due_group()) is not None:
            assert group.due is not None
            if best is not None and group.due > best:
                break
            first = group.first[0]
            assert first is not None
            at = max(self._time, -((TOLERANCE // 2 - first[0]) // group.rate))
            best = at if best is None else min(best, at)
            looked_at.append(heapq.heappop(self._dues))
        for each in looked_at:
            heapq.heappush(self._dues, each)
        return best

    def _next_due_group(self) -> RateGroup | None:
        """The capped group that is due first; what is out of date is dropped."""
        while self._dues:
            due, rate = self._dues[0]
            group = self._capped_groups.get(rate)
            if group is not None and group.due == due:
                return group
            heapq.heappop(self._dues)
        return None


_Candidate: TypeAlias = tuple[tuple[int, int, int, int], int, RateGroup, int, int, int]
"""Rank, work left, group, its class's place in the group, its place in the class, the clock."""
