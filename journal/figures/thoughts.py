"""What schedulers that share a cell have thought, by `scheduling-attempted`: the paper's measures
(busyness, conflict fraction, waits; EuroSys 2013, §4).
"""

from copy import copy
from typing import Self

import msgspec

from callboard.actors.vocabulary.events import SchedulingAttempted
from callboard.scheduler.model import JobId, Millis


class SchedulerThoughts(msgspec.Struct, frozen=True, kw_only=True):
    """One scheduler's.  A thought is useful if claims were committed and none was in conflict,
    wasted if any was, and in vain if there was no room.  `first_wait_ms` and `whole_wait_ms` are
    what all its `jobs` together have waited in its queue, until their first thoughts and in all.
    """

    scheduler: int
    useful: int = 0
    wasted: int = 0
    in_vain: int = 0
    useful_ms: Millis = 0
    wasted_ms: Millis = 0
    in_vain_ms: Millis = 0
    claims_committed: int = 0
    claims_in_conflict: int = 0
    jobs: int = 0
    first_wait_ms: Millis = 0
    whole_wait_ms: Millis = 0

    def busyness(self, run_ms: Millis) -> float:
        """The share of the time in which it had a thought that brought claims."""
        return (self.useful_ms + self.wasted_ms) / run_ms if run_ms else 0.0

    @property
    def conflict_fraction(self) -> float:
        """Transactions with conflicts for each without."""
        return self.wasted / self.useful if self.useful else 0.0

    @property
    def mean_waits_s(self) -> tuple[float, float]:
        """Seconds that a job has queued for, until the first thought about it and in all."""
        jobs = max(self.jobs, 1)
        return self.first_wait_ms / jobs / 1000, self.whole_wait_ms / jobs / 1000


class ThoughtSums:
    """Sums up the thoughts of every scheduler."""

    def __init__(self) -> None:
        self._sums: dict[int, SchedulerThoughts] = {}
        self._jobs: set[JobId] = set()

    def copy(self) -> Self:
        """The same, to be added to independently."""
        twin = copy(self)
        twin._sums, twin._jobs = self._sums.copy(), self._jobs.copy()
        return twin

    def add(self, event: SchedulingAttempted) -> None:
        """Count one."""
        before = self._sums.get(event.scheduler) or SchedulerThoughts(scheduler=event.scheduler)
        kind = "wasted" if event.conflicted else "useful" if event.committed else "in_vain"
        is_first = event.job not in self._jobs
        self._jobs.add(event.job)
        more = {
            kind: getattr(before, kind) + 1,
            f"{kind}_ms": getattr(before, f"{kind}_ms") + event.thought_ms,
            "claims_committed": before.claims_committed + len(event.committed),
            "claims_in_conflict": before.claims_in_conflict + len(event.conflicted),
            "jobs": before.jobs + is_first,
            "first_wait_ms": before.first_wait_ms + is_first * event.queued_ms,
            "whole_wait_ms": before.whole_wait_ms + event.queued_ms,
        }
        self._sums[event.scheduler] = msgspec.structs.replace(before, **more)

    def schedulers(self) -> tuple[SchedulerThoughts, ...]:
        """Those that have thought, by number."""
        return tuple(self._sums[number] for number in sorted(self._sums))
