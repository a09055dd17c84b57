"""A run's jobs and attempts as columns: what `Metrics` has gathered, joined by id.

All columns of a table are int64 and of one length.  `NEVER` (-1) stands for a time or an outcome
that did not come.  Outcomes are numbered as in `OUTCOME_ORDER`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from callboard.actors.vocabulary.events import Outcome
from callboard.journal.run_records import NEVER

Ints: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

OUTCOME_ORDER = tuple(Outcome)
OUTCOME_NUMBERS: dict[Outcome, int] = {outcome: n for n, outcome in enumerate(OUTCOME_ORDER)}
SUCCEEDED, FAILED, KILLED = (OUTCOME_NUMBERS[outcome] for outcome in OUTCOME_ORDER)

WIDTHS = {
    "submitted": 5,
    "finished": 4,
    "launched": 8,
    "speculative": 2,
    "started": 3,
    "resumed": 3,
    "suspended": 2,
    "shuffled": 2,
    "ended": 5,
    "closed": 3,
    "resubmitted": 2,
    "power": 3,
}
"""What `Metrics` gathers: its rows, each with an id first, and how many numbers are in one."""

Rows: TypeAlias = Mapping[str, Ints]
"""The same as columns."""

JobLabels: TypeAlias = tuple[str, str, str]
"""A job's name, user and pool."""


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
    `original` other than 0.
    """

    attempt: Ints
    job: Ints
    kind: Ints
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

    @property
    def ran(self) -> Flags:
        return np.not_equal(self.started_ms, NEVER)

    def released_ms(self, horizon_ms: int) -> Ints:
        """When each attempt really was over, or the end of the run."""
        return np.where(self.ended_ms != NEVER, self.ended_ms, horizon_ms)

    def left_ms(self, horizon_ms: int) -> Ints:
        """When each occupancy ended: when the attempt was suspended, else when it was over."""
        released = self.released_ms(horizon_ms)[self.occupancies.place]
        return np.where(self.occupancies.ended_ms != NEVER, self.occupancies.ended_ms, released)

    def occupied_ms(self, horizon_ms: int) -> Ints:
        """How long each attempt has held slots in all."""
        held_ms = np.zeros(len(self.attempt), np.int64)
        lasted = self.left_ms(horizon_ms) - self.occupancies.began_ms
        np.add.at(held_ms, self.occupancies.place, lasted)
        return held_ms


@dataclass(frozen=True, eq=False)
class JobColumns:
    """One row for each submitted job, by job id.

    `outcome`, `finished_ms` and `response_ms` (from submission to the end) are `NEVER` while the
    job is unfinished; `first_launch_ms` and `waiting_ms` (from submission to the first launch)
    while none of its tasks was launched.  `stated_ms` is the submission time that the job
    stated when it finished.
    """

    job: Ints
    name: tuple[str, ...]
    user: tuple[str, ...]
    pool: tuple[str, ...]
    submitted_ms: Ints
    maps: Ints
    reduces: Ints
    finished_ms: Ints
    outcome: Ints
    stated_ms: Ints
    response_ms: Ints
    first_launch_ms: Ints
    waiting_ms: Ints

    @property
    def completed(self) -> Flags:
        return np.equal(self.outcome, SUCCEEDED)


def places(known: Ints, wanted: Ints, what: str) -> Ints:
    """Where each of `wanted` stands in the sorted `known`.  Raises ValueError if one does not."""
    found = np.searchsorted(known, wanted)
    if not len(known):
        missing = np.ones(len(wanted), np.bool_)
    else:
        missing = known[np.minimum(found, len(known) - 1)] != wanted
    if missing.any():
        raise ValueError(f"inconsistent events: {what} {wanted[missing][0]}")
    return found


def by_id(table: Ints, what: str) -> Ints:
    """The columns ordered by the first of them.  Raises ValueError if an id comes twice."""
    ids = table[0]
    if not (ids[1:] > ids[:-1]).all():
        table = table[:, np.argsort(ids, kind="stable")]
        twice = table[0, 1:] == table[0, :-1]
        if twice.any():
            raise ValueError(f"inconsistent events: {what} {table[0, 1:][twice][0]} twice")
    return table


def occupancies(ids: Ints, rows: Rows) -> Occupancies:
    """The nth time that an attempt took a slot was ended by its nth suspension, if any."""
    began = np.concatenate((rows["started"], rows["resumed"]), axis=1)
    began = began[:, np.argsort(began[0], kind="stable")]
    suspended = rows["suspended"][:, np.argsort(rows["suspended"][0], kind="stable")]
    at = places(ids, began[0], "resumption of an attempt never launched:")
    ended_ms = np.full(len(at), NEVER)
    nth = np.arange(suspended.shape[1]) - np.searchsorted(suspended[0], suspended[0])
    of = np.searchsorted(began[0], suspended[0]) + nth
    inside = of < len(at)
    if not inside.all() or (began[0][of] != suspended[0]).any():
        raise ValueError("inconsistent events: suspension of an attempt that had no slot")
    ended_ms[of] = suspended[1]
    last = np.ones(len(at), np.bool_)
    last[:-1] = at[1:] != at[:-1]
    if (ended_ms[~last] == NEVER).any():
        raise ValueError("inconsistent events: resumption of an attempt that had a slot")
    return Occupancies(at, began[1], began[2], ended_ms)


def joined(ids: Ints, rows: Ints, what: str) -> Ints:
    """The columns after the first, in the order of `ids`; `NEVER` where there is no row of an id.

    Raises ValueError for a row of another id.
    """
    found = np.full((len(rows) - 1, len(ids)), NEVER)
    found[:, places(ids, rows[0], what)] = rows[1:]
    return found


def join_attempts(rows: Rows) -> AttemptColumns:
    """Join what was told of the attempts."""
    launched = by_id(rows["launched"], "launch of attempt")
    ids = launched[0]
    (original,) = joined(ids, rows["speculative"], "speculative attempt never launched:")
    started = joined(ids, rows["started"], "start of an attempt never launched:")
    shuffled = joined(ids, rows["shuffled"], "shuffle of an attempt never launched:")
    *ended, suspended_ms = joined(ids, rows["ended"], "end of an attempt never launched:")
    closed_ms, closed = joined(ids, rows["closed"], "closing of an attempt never launched:")
    for job, at_ms in rows["resubmitted"].T:  # what it had done before is lost
        done = (launched[1] == job) & (closed_ms != NEVER) & (closed_ms <= at_ms)
        closed[done & (closed == SUCCEEDED)] = KILLED
    columns: list[Any] = [*launched, np.maximum(original, 0), *started, *shuffled, *ended]
    columns += [np.maximum(suspended_ms, 0), closed_ms, closed, occupancies(ids, rows)]
    return AttemptColumns(*columns)


def join_jobs(rows: Rows, labels: Sequence[JobLabels], attempts: AttemptColumns) -> JobColumns:
    """Join what was told of the jobs, and of their attempts."""
    job, place, submitted_ms, maps, reduces = by_id(rows["submitted"], "submission of job")
    finished = by_id(rows["finished"], "end of job")
    finished_ms, outcome, stated_ms = joined(job, finished, "end of a job never submitted:")
    first_ms = first_launches(job, attempts)
    name, user, pool = ([labels[at][part] for at in place] for part in range(3))
    return JobColumns(
        job=job,
        name=tuple(name),
        user=tuple(user),
        pool=tuple(pool),
        submitted_ms=submitted_ms,
        maps=maps,
        reduces=reduces,
        finished_ms=finished_ms,
        outcome=outcome,
        stated_ms=stated_ms,
        response_ms=np.where(finished_ms == NEVER, NEVER, finished_ms - submitted_ms),
        first_launch_ms=first_ms,
        waiting_ms=np.where(first_ms == NEVER, NEVER, first_ms - submitted_ms),
    )


def first_launches(jobs: Ints, attempts: AttemptColumns) -> Ints:
    """When the first task of each job was launched, or `NEVER`."""
    at = places(jobs, attempts.job, "launch for a job never submitted:")
    far = np.iinfo(np.int64).max
    first = np.full(len(jobs), far, np.int64)
    np.minimum.at(first, at, attempts.launched_ms)
    return np.where(first == far, NEVER, first)
