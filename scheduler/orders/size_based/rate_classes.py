"""Rate classes of the virtual cluster: jobs that shrink alike, so that their order stands still.

A **rate class** holds the jobs of one cap, weight and speed.  A job's key is what the class had
given each member when it came + its work, so its work left is `key - served now`, and keys are in
the order of work left.  A **rate group** holds the classes whose members shrink by the same amount
for the same progress of a clock, with the first job of each; capped classes go by the time, open
ones by the integral of the water level.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from sortedcontainers import SortedDict, SortedList

from callboard.scheduler.model import JobId, Millis

FinishTag: TypeAlias = tuple[int, Millis, JobId]
"""A job in a rate class: its key, submit time and number, by which members are in order."""


class RateGroup:
    """The classes that shrink alike, by their first jobs: of all (0) and of those that wait (1).
    `rate` is the work that each member is given for one unit of the group's clock.
    """

    __slots__ = ("capped", "due", "first", "heads", "noted", "rate")

    def __init__(self, capped: bool, rate: int) -> None:
        self.capped = capped
        self.rate = rate
        self.heads: tuple[SortedDict[FinishTag, RateClass], SortedDict[FinishTag, RateClass]] = (
            SortedDict(),
            SortedDict(),
        )
        self.first: list[FinishTag | None] = [None, None]
        """The first of each side's heads."""
        self.due: int | None = None
        """When the first job of all will have been served, if the group is capped."""
        self.noted: FinishTag | None = None
        """The first waiting job when its change was last noted."""

    def put_head(self, side: int, head: FinishTag, rate_class: RateClass) -> None:
        self.heads[side][head] = rate_class
        first = self.first[side]
        if first is None or head < first:
            self.first[side] = head

    def drop_head(self, side: int, head: FinishTag) -> None:
        heads = self.heads[side]
        del heads[head]
        if self.first[side] == head:
            self.first[side] = heads.peekitem(0)[0] if heads else None


class RateClass:
    """Jobs of one cap, weight and speed; `base + rate · clock` is the work given to each from the
    start.
    """

    def __init__(self, cap: int, weight: int, speed: int) -> None:
        self.cap = cap
        self.weight = weight
        self.speed = speed
        self.ratio = Fraction(cap, weight)
        self.queues: tuple[SortedList[FinishTag], SortedList[FinishTag]] = (
            SortedList(),
            SortedList(),
        )
        self.base = 0
        self.group: RateGroup | None = None
        self.capped = False
        """Whether its members get their cap and not the level."""

    def __len__(self) -> int:
        return len(self.queues[0])

    def rate(self, capped: bool) -> int:
        """The work a member is given for one unit of the clock it would go by."""
        return (self.cap if capped else self.weight) * self.speed

    def served(self, clock: int) -> int:
        """The work given to each member so far, when its group's clock shows `clock`."""
        return self.base + (self.group.rate * clock if self.group else 0)

    def move_to_group(self, group: RateGroup | None, before: int, after: int) -> None:
        """Change to another group, whose clock shows `after` when the old one shows `before`."""
        served = self.served(before)
        for side in (0, 1):
            self._drop_head(side)
        self.group = group
        self.capped = group is not None and group.capped
        self.base = served - (group.rate * after if group else 0)
        for side in (0, 1):
            self._add_head(side)

    def add_job(self, entry: FinishTag, side: int) -> None:
        jobs = self.queues[side]
        if jobs and jobs[0] < entry:
            jobs.add(entry)
            return
        self._drop_head(side)
        jobs.add(entry)
        self._add_head(side)

    def remove_job(self, entry: FinishTag, side: int) -> None:
        jobs = self.queues[side]
        if jobs[0] != entry:
            jobs.remove(entry)
            return
        self._drop_head(side)
        del jobs[0]
        self._add_head(side)

    def _absolute_head(self, side: int) -> FinishTag:
        """The first entry, with a key that can be compared across the group's classes."""
        key, submitted_ms, job = self.queues[side][0]
        return (key - self.base, submitted_ms, job)

    def _drop_head(self, side: int) -> None:
        if self.group is not None and self.queues[side]:
            self.group.drop_head(side, self._absolute_head(side))

    def _add_head(self, side: int) -> None:
        if self.group is not None and self.queues[side]:
            self.group.put_head(side, self._absolute_head(side), self)
