"""Users in line for one kind of slot, class by class: the choice that COSHH makes at a slot.

First the users below their min share, by how many slots they lack; then all by running / weight;
ties by tasks launched so far / weight, then by the oldest waiting job.  With submission alone as
tie the figures of the hybrid paper (Figure 1c) are not met.

Each class has a queue of the users who wait for it, with one key of a user's in all queues.  A fact
moves one user, in the queues of the classes of that user's waiting jobs.  These are kept by cohort,
so that those that change their class together are not looked at one by one.
"""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from sortedcontainers import SortedList

from callboard.scheduler.model import JobId, Millis
from callboard.scheduler.orders.coshh.cohorts import Cohort
from callboard.scheduler.orders.keyed import SortedQueue, SortKey

WaitingJob = tuple[Millis, JobId]
"""A job with pending tasks, in the order of submission."""


@dataclass(slots=True, eq=False)
class UserQueue:
    """A user's side for one kind of slot; `queues` are the classes in whose queues the user is."""

    name: str
    inverse_weight: int
    minimum: int
    running: int = 0
    launched: int = 0
    waiting: dict[Cohort, SortedList[WaitingJob]] = field(default_factory=dict)
    queues: set[int] = field(default_factory=set)
    _every: SortedList[WaitingJob] = field(default_factory=SortedList)

    @property
    def shortfall(self) -> int:
        return max(self.minimum - self.running, 0)

    def put(self, job: WaitingJob, cohort: Cohort) -> None:
        self.waiting.setdefault(cohort, SortedList()).add(job)
        self._every.add(job)

    def drop(self, job: WaitingJob, cohort: Cohort) -> None:
        self.waiting[cohort].remove(job)
        self._every.remove(job)
        if not self.waiting[cohort]:
            del self.waiting[cohort]

    def waiting_of(self, classes: Sequence[int]) -> list[SortedList[WaitingJob]]:
        """The user's waiting jobs of these classes, each list in order."""
        return [jobs for cohort, jobs in self.waiting.items() if cohort.number in classes]

    def share_and_shortfall_keys(self) -> tuple[SortKey, SortKey | None]:
        """The places by share and by shortfall; the oldest waiting job makes them differ."""
        oldest = self._every[0]
        share = (self.running * self.inverse_weight, self.launched * self.inverse_weight, oldest)
        return share, (-self.shortfall, self.inverse_weight, oldest) if self.shortfall else None


QueuesByClass = dict[int, SortedQueue[str]]


class UserQueues:
    """The queues of all classes for one kind of slot."""

    def __init__(self) -> None:
        self._by_share: QueuesByClass = {}
        self._lacking: QueuesByClass = {}
        self.users: dict[str, UserQueue] = {}

    def refresh(self, user: UserQueue) -> None:
        classes = {cohort.number for cohort in user.waiting}
        for number in user.queues - classes:
            _move_user(self._by_share, number, user.name, None)
            _move_user(self._lacking, number, user.name, None)
        user.queues = classes
        if classes:
            by_share, lacking = user.share_and_shortfall_keys()
            for number in classes:
                _move_user(self._by_share, number, user.name, by_share)
                _move_user(self._lacking, number, user.name, lacking)

    def jobs_below_min_share(self, classes: Sequence[int]) -> Iterator[tuple[UserQueue, JobId]]:
        return self._walk_users(self._lacking, classes)

    def jobs_by_share(self, classes: Sequence[int]) -> Iterator[tuple[UserQueue, JobId]]:
        return self._walk_users(self._by_share, classes)

    def _walk_users(
        self, queues: QueuesByClass, classes: Sequence[int]
    ) -> Iterator[tuple[UserQueue, JobId]]:
        found = [queue for number in classes if (queue := queues.get(number))]
        users: Iterable[tuple[SortKey, str]] = found[0] if len(found) == 1 else heapq.merge(*found)
        last = None
        for key, name in users:
            if key == last:  # the same user, from another class's line
                continue
            last = key
            user = self.users[name]
            jobs = user.waiting_of(classes)
            for _, job in jobs[0] if len(jobs) == 1 else heapq.merge(*jobs):
                yield user, job


def _move_user(queues: QueuesByClass, number: int, name: str, key: SortKey | None) -> None:
    """Move a user in a class's queue, or take it out; an empty queue is dropped."""
    queue = queues.get(number)
    if key is not None:
        if queue is None:
            queue = queues[number] = SortedQueue()
        queue.put(name, key)
    elif queue is not None:
        queue.drop(name)
        if not queue:
            del queues[number]
