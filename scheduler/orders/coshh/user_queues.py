"""Users in line for one kind of slot, class by class: the choice that COSHH makes at a slot.

First the users below their min share, by how many slots they lack; then all by running / weight;
ties by tasks launched so far / weight, and then by the oldest job that waits.  The figures of the
hybrid paper (Figure 1c) are met with this tie and not with submission alone: of users who run
equally much, the one who has been given less so far is next.

Each class has a line of the users who wait for it, and a user's place in it is the user's own, the
same in all lines.  A fact moves one user, in the lines of the classes of that user's waiting jobs;
who is next for some classes is found at the heads of their lines.
"""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sortedcontainers import SortedList

from callboard.scheduler.model import JobId, Millis

UserKey = tuple[Any, ...]
"""What users are compared by; it ends in their oldest waiting job, so no two are equal."""

WaitingJob = tuple[Millis, JobId]
"""A job with pending tasks, in the order of submission."""


class UserQueue:
    """A user's side for one kind of slot."""

    __slots__ = (
        "_every",
        "inverse_weight",
        "jobs",
        "launched",
        "minimum",
        "name",
        "places",
        "running",
    )

    def __init__(self, name: str, inverse_weight: int, minimum: int) -> None:
        self.name = name
        self.inverse_weight = inverse_weight
        self.minimum = minimum
        self.running = 0
        self.launched = 0
        self.jobs: dict[int, SortedList[WaitingJob]] = {}
        self.places: dict[int, tuple[UserKey, UserKey | None]] = {}
        self._every: SortedList[WaitingJob] = SortedList()

    @property
    def shortfall(self) -> int:
        """How many slots below the min share."""
        return max(self.minimum - self.running, 0)

    def put(self, job: WaitingJob, number: int) -> None:
        """A job waits, in this class."""
        self.jobs.setdefault(number, SortedList()).add(job)
        self._every.add(job)

    def drop(self, job: WaitingJob, number: int) -> None:
        """It waits no longer."""
        self.jobs[number].remove(job)
        self._every.remove(job)
        if not self.jobs[number]:
            del self.jobs[number]

    def keys(self) -> tuple[UserKey, UserKey | None]:
        """The place by share, and the place among those below their min share."""
        oldest = self._every[0]
        share = (self.running * self.inverse_weight, self.launched * self.inverse_weight, oldest)
        return share, (-self.shortfall, self.inverse_weight, oldest) if self.shortfall else None


class UserQueues:
    """The lines of all classes for one kind of slot."""

    def __init__(self) -> None:
        self._by_share: dict[int, SortedList[tuple[UserKey, str]]] = {}
        self._lacking: dict[int, SortedList[tuple[UserKey, str]]] = {}
        self.users: dict[str, UserQueue] = {}

    def refresh(self, user: UserQueue) -> None:
        """Put the user where facts have moved them."""
        keys = user.keys() if user.jobs else None
        for number in [*user.places, *(each for each in user.jobs if each not in user.places)]:
            old = user.places.get(number)
            new = keys if number in user.jobs else None
            if old == new:
                continue
            if old is not None:
                self._remove(number, old, user.name)
                del user.places[number]
            if new is not None:
                self._enter(number, new, user.name)
                user.places[number] = new

    def below_min_share(self, classes: Sequence[int]) -> Iterator[tuple[UserQueue, JobId]]:
        """Users below their min share and their waiting jobs of these classes, first one first."""
        return self._walk(self._lacking, classes)

    def by_share(self, classes: Sequence[int]) -> Iterator[tuple[UserQueue, JobId]]:
        """All users with waiting jobs of these classes and those jobs, first one first."""
        return self._walk(self._by_share, classes)

    def _walk(
        self, lines: dict[int, "SortedList[tuple[UserKey, str]]"], classes: Sequence[int]
    ) -> Iterator[tuple[UserQueue, JobId]]:
        found = [line for number in classes if (line := lines.get(number))]
        users: Iterable[tuple[UserKey, str]] = found[0] if len(found) == 1 else heapq.merge(*found)
        last = None
        for key, name in users:
            if key == last:  # the same user, from another class's line
                continue
            last = key
            user = self.users[name]
            jobs = [user.jobs[number] for number in classes if number in user.jobs]
            for _, job in jobs[0] if len(jobs) == 1 else heapq.merge(*jobs):
                yield user, job

    def _enter(self, number: int, keys: tuple[UserKey, UserKey | None], name: str) -> None:
        by_share, lacking = keys
        self._by_share.setdefault(number, SortedList()).add((by_share, name))
        if lacking is not None:
            self._lacking.setdefault(number, SortedList()).add((lacking, name))

    def _remove(self, number: int, keys: tuple[UserKey, UserKey | None], name: str) -> None:
        by_share, lacking = keys
        _take_out(self._by_share, number, (by_share, name))
        if lacking is not None:
            _take_out(self._lacking, number, (lacking, name))


def _take_out(
    lines: dict[int, "SortedList[tuple[UserKey, str]]"], number: int, place: tuple[UserKey, str]
) -> None:
    """Strike a user from a class's line; an empty line goes, since classes come and go."""
    lines[number].remove(place)
    if not lines[number]:
        del lines[number]
