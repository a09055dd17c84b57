"""What has happened since it was last asked, as columns: each event's kind, place and cause.

On a calm cluster the events of an instant stand by round, then by who tells them: the master, in
the order in which it acts, then slots by node, then jobs.  What a heartbeat brings about is of
round 0, and so are ends that were due; attempts start in round 1, and jobs hear of what was booked;
what takes no time ends a round after it began.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from callboard.twin import columns as c
from callboard.twin.columns import Tables

_Numbers = NDArray[np.int64]

LAUNCHED, STARTED, SHUFFLED, ENDED, CLOSED, ESTIMATED, SUBMITTED, INITIALISED, FINISHED = range(9)
"""The kinds of events; those up to `CLOSED` are of attempts."""

UNCAUSED = -1

# What jobs did that other events go back to, as columns: `_READY` is when they had been
# initialised, if that took time, else their submission.
_READY, _PREPARED, _LETS_REDUCE, _ENDS_MAPS, _ENDS_TASKS, _CLEANED, _SUBMITTED = range(7)
_BITS = ((c.LETS_REDUCE, _LETS_REDUCE), (c.ENDS_MAPS, _ENDS_MAPS), (c.ENDS_TASKS, _ENDS_TASKS))

_OF_SLOTS, _OF_JOBS = 1 << 44, 1 << 60
"""From where on slots and jobs stand among those who tell."""
_SLOT_BITS = 16


class ToldBatch(NamedTuple):
    """Events of one kind: their rows in the table that has them, when they were, their places among
    all that was asked for at once, and the numbers of their causes.
    """

    kind: int
    rows: _Numbers
    at_ms: _Numbers
    places: _Numbers
    causes: _Numbers


class _Batch(NamedTuple):
    """Events of one kind, and by what they are sorted."""

    kind: int
    rows: _Numbers
    at_ms: _Numbers
    rounds: _Numbers | int
    tellers: _Numbers


class EventColumns:
    """The events of a run, from when to when it is asked; the first is number 1."""

    def __init__(self, w: Tables) -> None:
        self._until_ms = -1
        self._submitted = self._initialised = 0
        self._known = 0
        """How many events have been told."""
        self._of_jobs = np.full((len(w.jobs), 7), UNCAUSED, np.int64)
        self._of_attempts = np.full((0, 5), UNCAUSED, np.int64)
        """Of each row of the log: the numbers of its attempt's events, by kind."""
        self._free = np.zeros((2, 0), np.int64)
        """Attempts whose ends freed slots that are free still, and the numbers of these events."""

    def take_columns(self, w: Tables) -> list[ToldBatch]:
        """All since it was last taken.  Rows must then be dropped (`drop_told`)."""
        log, now_ms = w.log[: w.state[c.LOG_TOP]], int(w.state[c.NOW])
        batches = [
            *self._attempt_batches(w, log, now_ms),
            _estimate_batch(w),
            *self._job_batches(w, now_ms),
        ]
        known = len(self._of_attempts)
        fresh = np.full((len(log) - known, 5), UNCAUSED, np.int64)
        self._of_attempts = np.concatenate([self._of_attempts, fresh])
        places = _event_places(batches)
        for batch, own in zip(batches, places, strict=True):
            numbers = self._known + 1 + own
            if batch.kind <= CLOSED:
                self._of_attempts[batch.rows, batch.kind] = numbers
            elif batch.kind == SUBMITTED:
                self._of_jobs[batch.rows, _SUBMITTED] = numbers
                self._of_jobs[batch.rows, :2] = numbers[:, None]
            elif batch.kind == INITIALISED:
                self._of_jobs[batch.rows, :2] = numbers[:, None]
        self._note_closes(log, batches[CLOSED].rows)
        causes = self._cause_columns(w, log, batches)
        self._known += sum(len(batch.rows) for batch in batches)
        self._until_ms, self._submitted = now_ms, int(w.state[c.DUE])
        self._initialised = int(w.state[c.READY_DUE])
        return [
            ToldBatch(batch.kind, batch.rows, batch.at_ms, own, why)
            for batch, own, why in zip(batches, places, causes, strict=True)
        ]

    def drop_told(self, w: Tables) -> None:
        """Take the attempts out of the log whose ends have been told, with all that was told."""
        top = int(w.state[c.LOG_TOP])
        kept = np.flatnonzero(w.log[:top, c.LOG_CLOSED] == c.NONE)
        moved = np.zeros(top, np.int64)
        moved[kept] = np.arange(len(kept))
        w.log[: len(kept)] = w.log[kept]
        self._of_attempts = self._of_attempts[kept]
        taken = np.flatnonzero(w.berths[:, c.OF_JOB] != c.NONE)
        w.berths[taken, c.LOG_ROW] = moved[w.berths[taken, c.LOG_ROW]]
        w.state[c.LOG_TOP] = len(kept)
        w.state[c.REFUSED_TOP] = w.state[c.ESTIMATES_TOP] = 0

    # Which events there are, and in what order.

    def _attempt_batches(self, w: Tables, log: _Numbers, now_ms: int) -> list[_Batch]:
        launched = np.arange(len(self._of_attempts), len(log))
        begun_ms, over_ms = log[:, c.LOG_LAUNCHED] + w.given[c.LATENCY], log[:, c.LOG_ENDED]
        begun, shuffled, over, closed = (
            np.flatnonzero((self._until_ms < at_ms) & (at_ms <= now_ms))
            for at_ms in (begun_ms, log[:, c.LOG_SHUFFLED], over_ms, log[:, c.LOG_CLOSED])
        )
        slots = _OF_SLOTS + (log[:, c.LOG_NODE] << _SLOT_BITS) + log[:, c.LOG_SLOT]
        last_began_ms = np.where(_are_reduces(log), log[:, c.LOG_SHUFFLED], begun_ms)
        rounds = np.where(over_ms == last_began_ms, np.where(_are_reduces(log), 1, 2), 0)
        told = log[:, c.LOG_LAUNCH_TOLD], log[:, c.LOG_CLOSE_TOLD]
        return [
            _Batch(LAUNCHED, launched, log[launched, c.LOG_LAUNCHED], 0, told[0][launched]),
            _Batch(STARTED, begun, begun_ms[begun], 1, slots[begun]),
            _Batch(SHUFFLED, shuffled, log[shuffled, c.LOG_SHUFFLED], 0, slots[shuffled]),
            _Batch(ENDED, over, over_ms[over], rounds[over], slots[over]),
            _Batch(CLOSED, closed, log[closed, c.LOG_CLOSED], 0, told[1][closed]),
        ]

    def _job_batches(self, w: Tables, now_ms: int) -> list[_Batch]:
        jobs, due = w.jobs, int(w.state[c.DUE])
        submitted = np.arange(self._submitted, due)
        ready = w.lists[c.READY_LIST, self._initialised : w.state[c.READY_DUE]].copy()
        ended_ms = jobs[:due, c.FINISHED]
        ended = np.flatnonzero((self._until_ms < ended_ms) & (ended_ms <= now_ms))
        tellers = _OF_JOBS + 2 * jobs[:due, c.NUMBER]
        return [
            _Batch(SUBMITTED, submitted, jobs[submitted, c.SUBMIT], 1, tellers[submitted]),
            _Batch(INITIALISED, ready, jobs[ready, c.READY], 1, tellers[ready]),
            _Batch(FINISHED, ended, ended_ms[ended], 1, tellers[ended] + 1),
        ]

    # Causes.

    def _note_closes(self, log: _Numbers, closed: _Numbers) -> None:
        """Note what booked ends let jobs do, and which slots they freed."""
        numbers, jobs = self._of_attempts[closed, CLOSED], log[closed, c.LOG_JOB]
        stages, bits = log[closed, c.LOG_STAGE], log[closed, c.LOG_MADE_WAY]
        for bit, column in _BITS:
            found = bits & bit != 0
            self._of_jobs[jobs[found], column] = numbers[found]
        for stage, column in ((c.OF_SETUP, _PREPARED), (c.OF_CLEANUP, _CLEANED)):
            found = stages == stage
            self._of_jobs[jobs[found], column] = numbers[found]
        free = np.concatenate([self._free, [log[closed, c.LOG_ATTEMPT], numbers]], axis=1)
        self._free = free[:, np.argsort(free[0])]

    def _cause_columns(self, w: Tables, log: _Numbers, batches: list[_Batch]) -> list[_Numbers]:
        of = self._of_attempts
        launched, begun, shuffled, over, closed, measured, submitted, ready, ended = (
            batch.rows for batch in batches
        )
        by = w.estimates[measured, c.ESTIMATE_BY]
        closes = self._close_numbers_of(by)  # before launches take them
        return [
            self._causes_of_launches(log, launched),
            of[begun, LAUNCHED],
            self._causes_of_shuffles(w, log, shuffled),
            np.where(_are_reduces(log[over]), of[over, SHUFFLED], of[over, STARTED]),
            of[closed, ENDED],
            np.where(by == c.NONE, UNCAUSED, closes),
            np.full(len(submitted), UNCAUSED, np.int64),
            self._of_jobs[ready, _SUBMITTED],
            self._first_known_cause(ended, _CLEANED, _ENDS_TASKS),
        ]

    def _close_numbers_of(self, attempts: _Numbers) -> _Numbers:
        """The numbers of the booked ends of these, whose slots are free; else any number."""
        if not self._free.size:
            return np.full(len(attempts), UNCAUSED, np.int64)
        found = np.searchsorted(self._free[0], attempts).clip(max=self._free.shape[1] - 1)
        numbers: _Numbers = self._free[1, found]
        return numbers

    def _causes_of_launches(self, log: _Numbers, launched: _Numbers) -> _Numbers:
        """What freed the slot; of one that was never held, and of tasks that no policy sees, what
        made the task pending.
        """
        rows = log[launched]
        jobs, stages, freed_by = rows[:, c.LOG_JOB], rows[:, c.LOG_STAGE], rows[:, c.LOG_FREED_BY]
        waiting = [
            self._first_known_cause(jobs, _PREPARED),
            self._first_known_cause(jobs, _LETS_REDUCE),
            self._first_known_cause(jobs, _READY),
            self._first_known_cause(jobs, _ENDS_TASKS),
        ]
        of_tasks = stages == c.OF_TASKS
        pending = np.choose(np.where(of_tasks, rows[:, c.LOG_KIND], stages + 1), waiting)
        taken = freed_by != c.NONE
        causes = np.where(of_tasks & taken, self._close_numbers_of(freed_by), pending)
        self._free = self._free[:, ~np.isin(self._free[0], freed_by[taken])]
        return causes

    def _causes_of_shuffles(self, w: Tables, log: _Numbers, shuffled: _Numbers) -> _Numbers:
        """The booking of the last map for a reduce that waited for it, else its own start."""
        jobs = log[shuffled, c.LOG_JOB]
        asked_ms = log[shuffled, c.LOG_LAUNCHED] + 2 * w.given[c.LATENCY]
        waited = asked_ms <= w.jobs[jobs, c.MAPPED]
        started = self._of_attempts[shuffled, STARTED]
        causes: _Numbers = np.where(waited, self._of_jobs[jobs, _ENDS_MAPS], started)
        return causes

    def _first_known_cause(self, jobs: _Numbers, *columns: int) -> _Numbers:
        """The first of these that the job has, or else what let its maps run."""
        found: _Numbers = self._of_jobs[jobs, _PREPARED]
        for column in reversed(columns):
            own = self._of_jobs[jobs, column]
            found = np.where(own != UNCAUSED, own, found)
        return found


def _estimate_batch(w: Tables) -> _Batch:
    rows = np.arange(w.state[c.ESTIMATES_TOP])
    found = w.estimates[rows]
    return _Batch(ESTIMATED, rows, found[:, c.ESTIMATE_MS], 0, found[:, c.ESTIMATE_TOLD])


def _are_reduces(log: _Numbers) -> NDArray[np.bool_]:
    """Which attempts are reduces."""
    of_tasks, reduces = log[:, c.LOG_STAGE] == c.OF_TASKS, log[:, c.LOG_KIND] == c.REDUCES_HERE
    shuffling: NDArray[np.bool_] = of_tasks & reduces
    return shuffling


def _event_places(batches: list[_Batch]) -> list[_Numbers]:
    """Where the events of each stand among all of them."""
    rounds = np.concatenate([4 * batch.at_ms + batch.rounds for batch in batches])
    tellers = np.concatenate([batch.tellers for batch in batches])
    places = np.empty(len(rounds), np.int64)
    places[np.lexsort((tellers, rounds))] = np.arange(len(rounds))
    ends = np.cumsum([len(batch.rows) for batch in batches])
    return np.split(places, ends[:-1])
