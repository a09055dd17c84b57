"""A run's jobs and attempts as columns: what `Metrics` has gathered, joined by id.

All columns of a table are int64 and of one length.  `NEVER` (-1) stands for a time or an outcome
that did not come.  Outcomes are numbered as in `OUTCOME_ORDER`.
"""

from array import array
from collections.abc import Sequence
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


@dataclass(frozen=True, eq=False)
class Occupancies:
    """One row for each time that an attempt took a slot, in the order of attempts, then of time.

    `place` is the attempt's row in its table; `ended_ms` is when it was suspended, `NEVER` for a
    stint that was not ended by that.
    """

    place: Ints
    began_ms: Ints
    slot: Ints
    ended_ms: Ints


@dataclass(frozen=True, eq=False)
class AttemptColumns:
    """One row for each attempt that the master launched, by attempt id.

    `ended_ms` and `ended` are the slot's truth, `closed_ms` and `closed` the master's book; an
    attempt closed twice (a finished map that was lost later) stands as closed last.
    `stated_ms` is the start that the slot stated when the attempt ended, `suspended_ms` for how
    long it says the attempt was suspended (0 while it has not ended).  `slot` is the first that
    it had; `occupancies` are all times that it had one.  `original` is 0 but for copies.
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
        """Which attempts have really begun."""
        return np.not_equal(self.started_ms, NEVER)

    def released_ms(self, horizon_ms: int) -> Ints:
        """When each attempt gave up its slot: at its end, or not before the run's, whatever the
        master has booked.
        """
        return np.where(self.ended_ms != NEVER, self.ended_ms, horizon_ms)

    def left_ms(self, horizon_ms: int) -> Ints:
        """When each stint ended: when the attempt was suspended, else when it gave up its slot."""
        released = self.released_ms(horizon_ms)[self.occupancies.place]
        return np.where(self.occupancies.ended_ms != NEVER, self.occupancies.ended_ms, released)

    def occupied_ms(self, horizon_ms: int) -> Ints:
        """How long each attempt has held slots, all its stints together."""
        lasted = np.zeros(len(self.attempt), np.int64)
        np.add.at(
            lasted, self.occupancies.place, self.left_ms(horizon_ms) - self.occupancies.began_ms
        )
        return lasted


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
        """Which jobs have succeeded."""
        return np.equal(self.outcome, SUCCEEDED)


def column_copy(rows: "array[int]", width: int) -> Ints:
    """A copy of flat rows as one array of `width` columns: the rows may then grow on."""
    return column_view(rows, width).copy()


def column_view(rows: "array[int]", width: int) -> Ints:
    """The same without copying.  The rows cannot grow while anyone holds it: drop it at once."""
    return np.frombuffer(rows, np.int64).reshape(-1, width).T


def blank(length: int) -> Ints:
    """A column of `NEVER`."""
    return np.full(length, NEVER, np.int64)


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


def occupancies(ids: Ints, started: Ints, resumed: Ints, suspended: Ints) -> Occupancies:
    """The nth time that an attempt took a slot was ended by its nth suspension, if there was one;
    every argument after `ids` has the attempt's id first, in the order of events.
    """
    began = np.concatenate((started, resumed), axis=1)
    began = began[:, np.argsort(began[0], kind="stable")]
    suspended = suspended[:, np.argsort(suspended[0], kind="stable")]
    at = places(ids, began[0], "resumption of an attempt never launched:")
    ended_ms = blank(len(at))
    of = np.searchsorted(began[0], suspended[0]) + _nth(suspended[0])
    inside = of < len(at)
    if not inside.all() or (began[0][of] != suspended[0]).any():
        raise ValueError("inconsistent events: suspension of an attempt that had no slot")
    ended_ms[of] = suspended[1]
    last = np.ones(len(at), np.bool_)
    last[:-1] = at[1:] != at[:-1]
    if (ended_ms[~last] == NEVER).any():
        raise ValueError("inconsistent events: resumption of an attempt that had a slot")
    return Occupancies(at, began[1], began[2], ended_ms)


def _nth(ids: Ints) -> Ints:
    """Of sorted ids, which of its equals each is, from 0."""
    return np.arange(len(ids)) - np.searchsorted(ids, ids)


def join_attempts(
    launched: Ints,
    copies: Ints,
    started: Ints,
    shuffled: Ints,
    ended: Ints,
    closed: Ints,
    resumed: Ints,
    suspended: Ints,
    resubmitted: Ints,
) -> AttemptColumns:
    """Join what was told of the attempts; every argument has the attempt's id first."""
    launched = by_id(launched, "launch of attempt")
    ids = launched[0]
    size = len(ids)
    started_ms, slot, shuffled_ms = blank(size), blank(size), blank(size)
    ended_ms, outcome, claimed_ms = blank(size), blank(size), blank(size)
    suspended_ms = np.zeros(size, np.int64)
    closed_ms, booked = blank(size), blank(size)
    copy_of = np.zeros(size, np.int64)
    copy_of[places(ids, copies[0], "copy never launched:")] = copies[1]
    at = places(ids, started[0], "start of an attempt never launched:")
    started_ms[at], slot[at] = started[1], started[2]
    at = places(ids, shuffled[0], "shuffle of an attempt never launched:")
    shuffled_ms[at] = shuffled[1]
    at = places(ids, ended[0], "end of an attempt never launched:")
    ended_ms[at], outcome[at], claimed_ms[at], suspended_ms[at] = ended[1:]
    at = places(ids, closed[0], "closing of an attempt never launched:")
    closed_ms[at], booked[at] = closed[1], closed[2]
    for job, at_ms in resubmitted.T:  # what it had done before is lost
        done = (launched[1] == job) & (closed_ms != NEVER) & (closed_ms <= at_ms)
        booked[done & (booked == SUCCEEDED)] = KILLED
    rows: list[Any] = [*launched, copy_of, started_ms, slot, shuffled_ms]
    rows += [ended_ms, outcome, claimed_ms, suspended_ms, closed_ms, booked]
    rows.append(occupancies(ids, started, resumed, suspended))
    return AttemptColumns(*rows)


JobLabels: TypeAlias = tuple[str, str, str]
"""A job's name, user and pool."""


def join_jobs(
    submitted: Ints, finished: Ints, owners: Sequence[JobLabels], attempts: AttemptColumns
) -> JobColumns:
    """Join what was told of the jobs; `submitted` has the place in `owners` second."""
    job, place, submitted_ms, maps, reduces = by_id(submitted, "submission of job")
    finished = by_id(finished, "end of job")
    finished_ms, outcome, claimed_ms = (blank(len(job)) for _ in range(3))
    at = places(job, finished[0], "end of a job never submitted:")
    finished_ms[at], outcome[at], claimed_ms[at] = finished[1], finished[2], finished[3]
    first = first_launches(job, attempts)
    owned = [owners[n] for n in place]
    return JobColumns(
        job=job,
        name=tuple(name for name, _, _ in owned),
        user=tuple(user for _, user, _ in owned),
        pool=tuple(pool for _, _, pool in owned),
        submitted_ms=submitted_ms,
        maps=maps,
        reduces=reduces,
        finished_ms=finished_ms,
        outcome=outcome,
        stated_ms=claimed_ms,
        response_ms=np.where(finished_ms == NEVER, NEVER, finished_ms - submitted_ms),
        first_launch_ms=first,
        waiting_ms=np.where(first == NEVER, NEVER, first - submitted_ms),
    )


def first_launches(jobs: Ints, attempts: AttemptColumns) -> Ints:
    """When the first task of each job was launched, or `NEVER`."""
    at = places(jobs, attempts.job, "launch for a job never submitted:")
    far = np.iinfo(np.int64).max
    first = np.full(len(jobs), far, np.int64)
    np.minimum.at(first, at, attempts.launched_ms)
    return np.where(first == far, NEVER, first)
