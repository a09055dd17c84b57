"""How users share the slots over time: fairness and dissatisfaction as the hybrid paper has them.

(Rasooli and Down, "A Hybrid Scheduling Approach for Scalable Heterogeneous Hadoop Systems", II-D.)
The paper says what the two measure and prints no formula.  Here, for one kind of slot and one
moment, over the users who have unfinished tasks of that kind:

- a user's *share* is the slots held, as the master has booked them, beyond the min share, for its
  weight (the paper's priority); *unfairness* is how far shares lie from their mean, added up: 0
  where all users have the same;
- *dissatisfaction* is the part of the min share that a user lacks, times the weight, added up.  A
  user lacks nothing who holds a slot for each unfinished task.

Both are added over the two kinds of slot, and averaged over the time in which there was something
to share out: for the first, two users and a task without a slot; for the second, a user with a min
share.
"""

from collections.abc import Iterable, Mapping
from typing import Self

import msgspec

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.events import Outcome
from callboard.journal.run_records import AttemptRecord
from callboard.journal.run_state import RunState
from callboard.scheduler.left_to_right_sum import left_to_right_sum
from callboard.scheduler.model import KINDS, MAP, AttemptId, JobId, Millis, SlotKind
from callboard.scheduler.part_params import ShareParams

_DUE = ShareParams()


class UserShares(msgspec.Struct, frozen=True):
    """Means over time, less is better; None where there never was anything to compare.

    `unfairness` is in slots, `dissatisfaction` in weighted parts of min shares.
    """

    unfairness: float | None = None
    dissatisfaction: float | None = None


class _User:
    """What a user holds and has left to do, by kind."""

    def __init__(self, due: ShareParams) -> None:
        self.weight = due.weight
        self.minima = (due.min_maps, due.min_reduces)
        self.held = [0, 0]
        self.unfinished = [0, 0]

    def has_waiting_tasks(self, kind: SlotKind) -> bool:
        return self.unfinished[kind] > self.held[kind]

    def weighted_excess(self, kind: SlotKind) -> float:
        return max(self.held[kind] - self.minima[kind], 0) / self.weight

    def weighted_min_share_lack(self, kind: SlotKind) -> float:
        minimum = self.minima[kind]
        lacks = min(minimum, self.unfinished[kind]) - self.held[kind]
        return self.weight * lacks / minimum if lacks > 0 else 0.0


class _Mean:
    """A mean over the times when there is a value."""

    def __init__(self) -> None:
        self._value: float | None = None
        self._since_ms = self._known_ms = 0
        self._sum = 0.0

    def set(self, value: float | None, now_ms: Millis) -> None:
        if self._value is not None:
            self._sum += self._value * (now_ms - self._since_ms)
            self._known_ms += now_ms - self._since_ms
        self._value, self._since_ms = value, now_ms

    def mean(self) -> float | None:
        return self._sum / self._known_ms if self._known_ms else None


class UserShareMeter:
    """A sink of a run's events; `users` are those who are due more or less than others."""

    def __init__(self, users: Mapping[str, ShareParams] | None = None) -> None:
        self._due = users or {}
        self._state = RunState()
        self.users: dict[str, _User] = {}
        self._left: dict[JobId, list[int]] = {}
        """Unfinished tasks of the jobs in the system, by kind."""
        self._holding: set[AttemptId] = set()
        self._unfairness, self._dissatisfaction = _Mean(), _Mean()

    @classmethod
    def of_events(
        cls, events: Iterable[ev.AnyEvent], users: Mapping[str, ShareParams] | None = None
    ) -> Self:
        meter = cls(users)
        for event in events:
            meter.observe(event)
        return meter

    def observe(self, event: ev.AnyEvent) -> None:
        """Take in one event; ValueError or IllegalTransition where it contradicts those before."""
        attempt = self._state.observe(event)
        if self._take_in_change(event, attempt):
            self._unfairness.set(self._current_unfairness(), event.at_ms)
            self._dissatisfaction.set(self._current_dissatisfaction(), event.at_ms)

    def unfairness_and_dissatisfaction(self) -> UserShares:
        """The figures up to the last change."""
        return UserShares(self._unfairness.mean(), self._dissatisfaction.mean())

    def _take_in_change(self, event: ev.AnyEvent, attempt: AttemptRecord | None) -> bool:
        match event:
            case ev.JobSubmitted():
                self.users.setdefault(event.user, _User(self._due.get(event.user, _DUE)))
                self._add_job_tasks(event.job, event.maps, event.reduces)
            case ev.JobResubmitted():
                told = self._state.jobs[event.job].submission
                self._remove_job_tasks(event.job)
                self._add_job_tasks(event.job, told.maps, told.reduces)
            case ev.JobFinished():
                self._remove_job_tasks(event.job)
            case ev.MapOutputsLost():
                self._change_unfinished_tasks(event.job, MAP, len(event.attempts))
            case ev.AttemptEvent() if attempt is None or attempt.unseen:
                return False
            case ev.AttemptLaunched() | ev.AttemptResumed() if attempt is not None:
                self._set_slot_held(attempt, event.attempt, held=True)
            case ev.AttemptSuspended() if attempt is not None:
                self._set_slot_held(attempt, event.attempt, held=False)
            case ev.AttemptClosed() if attempt is not None:
                self._set_slot_held(attempt, event.attempt, held=False)
                if event.outcome is Outcome.SUCCEEDED:
                    self._change_unfinished_tasks(attempt.launch.job, attempt.launch.kind, -1)
            case _:
                return False
        return True

    def _user_of_job(self, job: JobId) -> _User:
        return self.users[self._state.jobs[job].submission.user]

    def _set_slot_held(self, attempt: AttemptRecord, number: AttemptId, *, held: bool) -> None:
        if held != (number in self._holding):
            (self._holding.add if held else self._holding.remove)(number)
            self._user_of_job(attempt.launch.job).held[attempt.launch.kind] += 1 if held else -1

    def _add_job_tasks(self, job: JobId, *tasks: int) -> None:
        self._left[job] = [0, 0]
        for kind in KINDS:
            self._change_unfinished_tasks(job, kind, tasks[kind])

    def _remove_job_tasks(self, job: JobId) -> None:
        for kind in KINDS:
            self._change_unfinished_tasks(job, kind, -self._left[job][kind])
        del self._left[job]

    def _change_unfinished_tasks(self, job: JobId, kind: SlotKind, tasks: int) -> None:
        if job in self._left:
            self._left[job][kind] += tasks
            self._user_of_job(job).unfinished[kind] += tasks

    def _users_with_tasks(self, kind: SlotKind) -> list[_User]:
        return [user for user in self.users.values() if user.unfinished[kind]]

    def _current_unfairness(self) -> float | None:
        total, compared = 0.0, False
        for kind in KINDS:
            users = self._users_with_tasks(kind)
            if len(users) > 1 and any(user.has_waiting_tasks(kind) for user in users):
                compared = True
                shares = [user.weighted_excess(kind) for user in users]
                mean = left_to_right_sum(shares) / len(shares)
                total += left_to_right_sum(abs(each - mean) for each in shares)
        return total if compared else None

    def _current_dissatisfaction(self) -> float | None:
        lacking = [
            user.weighted_min_share_lack(kind)
            for kind in KINDS
            for user in self._users_with_tasks(kind)
            if user.minima[kind]
        ]
        return left_to_right_sum(lacking) if lacking else None
