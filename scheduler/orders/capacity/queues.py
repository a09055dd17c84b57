"""A queue of the Capacity Scheduler: what it is due, what its users hold, who waits in it.

The arithmetic is CapacitySchedulerQueue's (Hadoop 1), for tasks that take one slot each.  Percents
and factors are exactly the decimals that are written, where Hadoop has floats of 32 bits.
"""

from collections import Counter
from collections.abc import Iterator
from heapq import merge
from typing import Annotated

from msgspec import Meta

from callboard.scheduler.model import KINDS, JobId, SlotKind
from callboard.scheduler.orders.fair.water_filling import exact_fraction
from callboard.scheduler.orders.keyed import SortedQueue, SortKey
from callboard.scheduler.part_params import PartParams, Positive
from callboard.scheduler.view import JobView

Percent = Annotated[float, Meta(ge=0, le=100)]
UserLimitPercent = Annotated[int, Meta(ge=1, le=100)]


class QueueParams(PartParams, frozen=True, kw_only=True):
    """What a queue is due and allowed, as in `capacity-scheduler.xml`."""

    capacity: Percent | None = None
    """Its share of the slots, in percent; unset, an equal part of what the others leave of 100."""
    maximum_capacity: Percent | None = None
    """The most of the slots that it may hold, in percent; unset, it may hold all that are free."""
    minimum_user_limit_percent: UserLimitPercent = 100
    """To how much of the queue's slots users that compete are cut down, and no further; 100 serves
    one after the other."""
    user_limit_factor: Positive = 1.0
    """How many times the queue's capacity one user may hold."""
    supports_priority: bool = False
    """Whether its jobs go by priority before they go by submission."""


class SlotBooks:
    """What users hold of one kind of slot in a queue, how many jobs they have that may use it, and
    which of them wait.
    """

    __slots__ = ("held", "jobs", "occupied", "waiting")

    def __init__(self) -> None:
        self.occupied = 0
        self.held: Counter[str] = Counter()
        self.jobs: Counter[str] = Counter()
        self.waiting: dict[str, SortedQueue[JobId]] = {}

    def add_held_slots(self, user: str, more: int) -> None:
        self.occupied += more
        _add_to_count(self.held, user, more)

    def add_jobs(self, user: str, more: int) -> None:
        _add_to_count(self.jobs, user, more)

    def add_waiting_job(self, user: str, job: JobId, key: SortKey) -> None:
        self.waiting.setdefault(user, SortedQueue()).put(job, key)

    def remove_waiting_job(self, user: str, job: JobId) -> None:
        line = self.waiting.get(user)
        if line is not None:
            line.drop(job)
            if not line:
                del self.waiting[user]

    def jobs_below_limit(self, user_limit: int) -> Iterator[JobId]:
        """The waiting jobs of users who hold less than the limit, first one first, lazily."""
        below = [line for user, line in self.waiting.items() if self.held[user] < user_limit]
        for _, job in merge(*below):
            yield job


def _add_to_count(counts: Counter[str], user: str, more: int) -> None:
    """Count; who has none left is not kept."""
    counts[user] += more
    if not counts[user]:
        del counts[user]


class CapacityQueue:
    """A queue, and the books of both kinds of slot."""

    def __init__(self, name: str, params: QueueParams, capacity: Percent) -> None:
        self.name = name
        self.params = params
        self.books = (SlotBooks(), SlotBooks())
        self.percent = capacity
        self._portion = exact_fraction(capacity) / 100
        self._factor = exact_fraction(params.user_limit_factor)
        most = params.maximum_capacity
        self._most = None if most is None else exact_fraction(most) / 100

    def capacity(self, slots: int) -> int:
        """How many of `slots` slots are its capacity."""
        return int(self._portion * slots)

    def usage(self, kind: SlotKind, slots: int) -> float:
        """Occupied / capacity, by which queues are compared; one without a slot counts as full."""
        capacity = self.capacity(slots)
        return self.books[kind].occupied / capacity if capacity else 1.0

    def has_room(self, kind: SlotKind, slots: int) -> bool:
        """Whether one more slot keeps it within its maximum capacity; less than a slot is none."""
        most = 0 if self._most is None else int(self._most * slots)
        return not most or self.books[kind].occupied < most

    def user_limit(self, kind: SlotKind, slots: int) -> int:
        """How many slots each of its users may hold now."""
        books = self.books[kind]
        due = max(self.capacity(slots), 1)
        shared = due if books.occupied < due else books.occupied + 1
        least = -(-shared * self.params.minimum_user_limit_percent // 100)
        return min(max(-(-shared // max(len(books.jobs), 1)), least), int(due * self._factor))

    def allows_user(self, kind: SlotKind, user: str, slots: int) -> bool:
        """Whether the user may have one more slot."""
        held = self.books[kind].held[user]
        return self.has_room(kind, slots) and held < self.user_limit(kind, slots)

    def jobs_to_launch(self, kind: SlotKind, slots: int) -> Iterator[JobId]:
        """The jobs that may have one more slot, first one first, lazily."""
        books = self.books[kind]
        if books.waiting and self.has_room(kind, slots):
            yield from books.jobs_below_limit(self.user_limit(kind, slots))


class CapacityJob:
    """A job in its queue, with what the queue's books say of it."""

    __slots__ = ("enlisted", "job", "key", "queue", "running", "user")

    def __init__(self, queue: CapacityQueue, seen: JobView) -> None:
        self.queue = queue
        self.job = seen.job
        self.user = seen.user
        by_time: SortKey = (seen.submitted_ms,)
        self.key = (seen.priority, *by_time) if queue.params.supports_priority else by_time
        self.running = [0, 0]
        self.enlisted = [False, False]

    def enlist(self, kind: SlotKind) -> None:
        """Count its user as one with a job that may use such slots, from now until it leaves."""
        if not self.enlisted[kind]:
            self.enlisted[kind] = True
            self.queue.books[kind].add_jobs(self.user, 1)

    def refresh(self, kind: SlotKind, seen: JobView) -> None:
        """Take over the view's numbers."""
        self._count_held_slots(kind, seen.running(kind))
        if seen.pending(kind):
            self.queue.books[kind].add_waiting_job(self.user, self.job, self.key)
        else:
            self.queue.books[kind].remove_waiting_job(self.user, self.job)

    def leave(self) -> None:
        for kind in KINDS:
            self._count_held_slots(kind, 0)
            books = self.queue.books[kind]
            books.remove_waiting_job(self.user, self.job)
            if self.enlisted[kind]:
                books.add_jobs(self.user, -1)

    def _count_held_slots(self, kind: SlotKind, running: int) -> None:
        if running != self.running[kind]:
            self.queue.books[kind].add_held_slots(self.user, running - self.running[kind])
            self.running[kind] = running
