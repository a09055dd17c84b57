"""Which jobs may run within the caps on running jobs (FairScheduler.updateRunnability).

Jobs are taken in the order of admission, by priority and submission; a job is admitted if each of
its pools and its user still has a place.  That is defined over all jobs, and a change is settled
from its own place on: a job that comes behind a full pool changes nothing for others, one that
comes before it takes the place of the last one there, and one that leaves lets in the next that
waits for what it had.  Only such jobs are looked at, in the order of admission, so that what each
finds is final.
"""

from heapq import heappop, heappush
from typing import TypeAlias

from sortedcontainers import SortedList

from callboard.scheduler.model import JobId
from callboard.scheduler.orders.keyed import SortKey

CapHolder: TypeAlias = tuple[str, str]
"""Whose running jobs are counted: a pool's or a user's, and its name."""

RunningJobsCap: TypeAlias = tuple[CapHolder, int]
"""Whose running jobs are counted, and how many there may be."""

_Place: TypeAlias = tuple[SortKey, JobId]


class _Line:
    """The jobs that one cap counts, in the order of admission."""

    __slots__ = ("admitted", "cap", "holder", "waiting")

    def __init__(self, holder: CapHolder, cap: int) -> None:
        self.holder = holder
        self.cap = cap
        self.admitted: SortedList[_Place] = SortedList()
        self.waiting: SortedList[_Place] = SortedList()

    def has_room(self, place: _Place) -> bool:
        """Whether fewer than the cap are admitted before the place."""
        return len(self.admitted) < self.cap or self.admitted.bisect_left(place) < self.cap

    def admit(self, place: _Place) -> _Place | None:
        """Admit a job; another one for which there is no room any more."""
        self.admitted.add(place)
        return self.admitted[self.cap] if len(self.admitted) > self.cap else None

    def put_off(self, place: _Place) -> _Place | None:
        """Take an admitted job out; behind which place there is room for one more now, if any."""
        at = self.admitted.index(place)
        del self.admitted[at]
        last = self.cap - 1
        if at > last or len(self.admitted) < last:
            return None  # it was one too many, or there was room before
        return place if at == last else self.admitted[last - 1]

    def next_waiting(self, place: _Place) -> _Place | None:
        """The first job behind the place that waits, if there is room for it here."""
        at = self.waiting.bisect_right(place)
        if at == len(self.waiting) or not self.has_room(self.waiting[at]):
            return None
        return self.waiting[at]


class Admission:
    """The jobs with caps, and which of them are admitted."""

    def __init__(self) -> None:
        self._lines: dict[CapHolder, _Line] = {}
        self._places: dict[JobId, tuple[_Place, list[_Line]]] = {}
        self._admitted: set[JobId] = set()

    def __contains__(self, job: JobId) -> bool:
        return job in self._places

    def enter(self, job: JobId, key: SortKey, caps: list[RunningJobsCap]) -> list[JobId]:
        """A job comes, whose place is by `key`; the jobs that are admitted or put off by that."""
        place = (key, job)
        lines = [self._lines.get(whose) or self._new_line(whose, cap) for whose, cap in caps]
        for line in lines:
            line.waiting.add(place)
        self._places[job] = (place, lines)
        return self._settle_places([place], set())

    def _new_line(self, holder: CapHolder, cap: int) -> _Line:
        line = self._lines[holder] = _Line(holder, cap)
        return line

    def leave(self, job: JobId) -> list[JobId]:
        """A job goes; the others that are admitted or put off by that."""
        place, lines = self._places.pop(job)
        was_admitted = job in self._admitted
        self._admitted.discard(job)
        looked_at: list[_Place] = []
        freed: set[CapHolder] = set()
        for line in lines:
            if was_admitted:
                self._free_place(line, place, looked_at, freed)
            else:
                line.waiting.remove(place)
            if not line.admitted and not line.waiting:
                del self._lines[line.holder]
        return self._settle_places(looked_at, freed)

    def _settle_places(self, looked_at: list[_Place], freed: set[CapHolder]) -> list[JobId]:
        """Look at these places (a heap), and at those that their changes concern, all behind."""
        changed: list[JobId] = []
        while looked_at:
            place = heappop(looked_at)
            job = place[1]
            lines = self._places[job][1]
            fits = all(line.has_room(place) for line in lines)
            if fits is not (job in self._admitted):
                changed.append(job)
                if fits:
                    self._admit_job(place, lines, looked_at)
                else:
                    self._put_off_job(place, lines, looked_at, freed)
            for line in lines:
                if line.holder in freed:
                    _push_place(looked_at, line.next_waiting(place))
        return changed

    def _admit_job(self, place: _Place, lines: list[_Line], looked_at: list[_Place]) -> None:
        self._admitted.add(place[1])
        for line in lines:
            line.waiting.remove(place)
            _push_place(looked_at, line.admit(place))

    def _put_off_job(
        self, place: _Place, lines: list[_Line], looked_at: list[_Place], freed: set[CapHolder]
    ) -> None:
        self._admitted.remove(place[1])
        for line in lines:
            self._free_place(line, place, looked_at, freed)
            line.waiting.add(place)

    def _free_place(
        self, line: _Line, place: _Place, looked_at: list[_Place], freed: set[CapHolder]
    ) -> None:
        behind = line.put_off(place)
        if behind is not None:
            freed.add(line.holder)
            _push_place(looked_at, line.next_waiting(behind))


def _push_place(looked_at: list[_Place], place: _Place | None) -> None:
    if place is not None and place not in looked_at:
        heappush(looked_at, place)
