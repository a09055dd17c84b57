"""A run's attempts as columns, for exports: what a run itself keeps no room for.

As in `journal.figures.tables`, all columns are int64, and `NEVER` stands for what did not come.
"""

from array import array
from dataclasses import dataclass
from typing import Any

import numpy as np

from callboard.actors.vocabulary import events as ev
from callboard.journal.figures.steps import Steps, steps
from callboard.journal.figures.tables import KILLED, OUTCOME_NUMBERS, SUCCEEDED, Ints
from callboard.journal.run_records import NEVER, NO_SLOT, AttemptRecord
from callboard.journal.run_state import RunState
from callboard.scheduler.model import AttemptId, JobId, Millis, SlotKind

_WIDTH = 19
"""How many numbers a row of `AttemptColumns` has."""


@dataclass(frozen=True, eq=False)
class Occupancies:
    """One row for each time that an attempt took a slot, in the order of attempts, then of time.

    `place` is the attempt's row in its table; `ended_ms` is when it was suspended, `NEVER` where
    nothing did.
    """

    place: Ints
    began_ms: Ints
    slot: Ints
    ended_ms: Ints


@dataclass(frozen=True, eq=False)
class AttemptColumns:
    """One row for each attempt that the master launched, by attempt id.

    `ended_ms` and `ended` are what really happened, `closed_ms` and `closed` what the master has
    booked, last if it closed the attempt twice (a finished map that was lost later).
    `stated_ms` is the start that the slot stated when the attempt ended, `suspended_ms` for how
    long it said that it was suspended (0 while it has not ended).  `slot` is the first that
    it had; `occupancies` are all times that it had one.  Only speculative attempts have an
    `original` other than 0.  Setup and cleanup tasks are of the `kind` of maps, and have a `stage`
    of their own; a `level` says something of maps alone.
    """

    attempt: Ints
    job: Ints
    kind: Ints
    stage: Ints
    task: Ints
    number: Ints
    node: Ints
    level: Ints
    launched_ms: Ints
    original: Ints
    started_ms: Ints
    slot: Ints
    shuffled_ms: Ints
    ended_ms: Ints
    ended: Ints
    stated_ms: Ints
    suspended_ms: Ints
    closed_ms: Ints
    closed: Ints
    occupancies: Occupancies

    def attempt_ends_ms(self, horizon_ms: int) -> Ints:
        """When each attempt really was over, or the end of the run."""
        return np.where(self.ended_ms != NEVER, self.ended_ms, horizon_ms)

    def occupancy_ends_ms(self, horizon_ms: int) -> Ints:
        """When each occupancy ended: when the attempt was suspended, else when it was over."""
        released = self.attempt_ends_ms(horizon_ms)[self.occupancies.place]
        return np.where(self.occupancies.ended_ms != NEVER, self.occupancies.ended_ms, released)

    def occupied_ms(self, horizon_ms: int) -> Ints:
        """How long each attempt has held slots in all."""
        held_ms = np.zeros(len(self.attempt), np.int64)
        lasted = self.occupancy_ends_ms(horizon_ms) - self.occupancies.began_ms
        np.add.at(held_ms, self.occupancies.place, lasted)
        return held_ms

    def busy_slots(self, kind: SlotKind, horizon_ms: int) -> Steps:
        """How many slots of the kind were held, over time."""
        mine = (self.kind == kind)[self.occupancies.place]
        return steps(
            self.occupancies.began_ms[mine], self.occupancy_ends_ms(horizon_ms)[mine], horizon_ms
        )


class AttemptCollector:
    """Gathers the rows of attempts as they are over; it looks at events after `RunState` does."""

    def __init__(self, run_state: RunState) -> None:
        self._run_state = run_state
        self._rows = array("q")
        self._occupancies = array("q")
        self._lost: list[tuple[AttemptId, Millis, int]] = []
        self._resubmitted: list[tuple[JobId, Millis]] = []

    def note_event(self, event: ev.AnyEvent, attempt: AttemptRecord | None) -> None:
        """Take in an event; `attempt` is the one that it is about."""
        match event:
            case ev.AttemptSuspended() if attempt is not None:
                self._occupancies.extend(_occupancy_row(attempt, event.at_ms))
            case ev.AttemptEnded() | ev.AttemptClosed() if attempt is not None:
                if attempt.closed is not None and attempt.ended is not None:
                    self._rows.extend(_attempt_row(attempt))
                if attempt.ended is event and attempt.slot != NO_SLOT:
                    self._occupancies.extend(_occupancy_row(attempt, NEVER))
            case ev.MapOutputsLost():
                outcome = OUTCOME_NUMBERS[event.outcome]
                self._lost += [(number, event.at_ms, outcome) for number in event.attempts]
            case ev.JobResubmitted():
                self._resubmitted.append((event.job, event.at_ms))

    def table(self) -> AttemptColumns:
        """All attempts so far."""
        rows, occupancies = self._rows[:], self._occupancies[:]
        for attempt in self._run_state.attempts.values():
            rows.extend(_attempt_row(attempt))
            if attempt.holds_slot:
                occupancies.extend(_occupancy_row(attempt, NEVER))
        columns = _columns_by_attempt(rows, _WIDTH)
        ids, job, closed_ms, closed = columns[0], columns[1], columns[-2], columns[-1]
        for number, at_ms, outcome in self._lost:
            at = np.searchsorted(ids, number)
            closed_ms[at], closed[at] = at_ms, outcome
        for number, at_ms in self._resubmitted:  # what it had done before is lost
            closed[(job == number) & (closed == SUCCEEDED) & (closed_ms <= at_ms)] = KILLED
        held = _columns_by_attempt(occupancies, 4)
        occupied = Occupancies(np.searchsorted(ids, held[0]), *held[1:])
        every: list[Any] = [*columns, occupied]
        return AttemptColumns(*every)


def _columns_by_attempt(rows: "array[int]", width: int) -> Ints:
    """The rows as columns, by attempt, which is the first; those of one attempt stay in order."""
    columns = np.frombuffer(rows, np.int64).reshape(-1, width).T
    return columns[:, np.argsort(columns[0], kind="stable")]


def _occupancy_row(attempt: AttemptRecord, ended_ms: Millis) -> tuple[int, ...]:
    return attempt.launch.attempt, attempt.began_ms, attempt.slot, ended_ms


def _attempt_row(attempt: AttemptRecord) -> tuple[int, ...]:
    launch, started, shuffled = attempt.launch, attempt.started, attempt.shuffled
    ended, closed = attempt.ended, attempt.closed
    task = launch.attempt, launch.job, launch.kind, launch.stage, launch.task, launch.number
    return (
        *task,
        launch.node,
        launch.level,
        launch.at_ms,
        launch.original,
        *((NEVER, NEVER) if started is None else (started.at_ms, started.slot)),
        NEVER if shuffled is None else shuffled.at_ms,
        *((NEVER, NEVER, NEVER, 0) if ended is None else _end_columns(ended)),
        *((NEVER, NEVER) if closed is None else (closed.at_ms, OUTCOME_NUMBERS[closed.outcome])),
    )


def _end_columns(ended: ev.AttemptEnded) -> tuple[int, ...]:
    return ended.at_ms, OUTCOME_NUMBERS[ended.outcome], ended.started_ms, ended.suspended_ms
