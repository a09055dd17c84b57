"""Slots held and slots due over time, by pool: the shares beside the entitlements.

As in `journal.replay.history`, there are at most `_SAMPLES_MAX` samples however long the run.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from callboard.actors.vocabulary import events as ev
from callboard.journal.figures.tables import Ints
from callboard.journal.replay.fair_share import FairShares
from callboard.journal.run_records import NO_SLOT, AttemptRecord, JobRecord
from callboard.journal.run_state import RunState
from callboard.scheduler.model import JobId, Millis
from callboard.scheduler.orders.fair.fair import DEFAULT_POOL

ALL_JOBS = "all jobs"
"""The one group of a run without pools and with one user."""

_SAMPLES_MAX = 512
_FIRST_STEP_MS = 1000


@dataclass(frozen=True, eq=False)
class PoolShares:
    """Slots of both kinds by pool (a row) and moment (a column).

    `held` are those that its attempts really hold, `due` is its fair share (`FairShares`).
    """

    at_ms: Ints
    pools: tuple[str, ...]
    held: NDArray[np.float64]
    due: NDArray[np.float64]

    def shortfall_slot_seconds(self) -> NDArray[np.float64]:
        """What each pool is owed at each moment, in slot-seconds: it grows by what a pool lacks of
        its share and falls by what it holds above it, not below 0.  Between samples both stay.
        """
        owed = np.zeros_like(self.due)
        steps = np.diff(self.at_ms) / 1000
        for column, seconds in enumerate(steps):
            lack = (self.due[:, column] - self.held[:, column]) * seconds
            owed[:, column + 1] = np.maximum(owed[:, column] + lack, 0)
        return owed


class ShareSampler:
    """Looks at a run's state before each event, and takes the samples that are due.

    `take_due_samples` is called before the state takes an event in, `count_held_slots` after that.
    """

    def __init__(self, run: RunState) -> None:
        self.run = run
        self.lost = bytearray()
        """Which nodes the master, or a scheduler of several, has given up."""
        self._held: Counter[JobId] = Counter()
        self._samples: list[dict[JobId, tuple[int, float]]] = []
        self._step_ms = _FIRST_STEP_MS
        self._due_ms: Millis = 0

    @cached_property
    def _fair_shares(self) -> FairShares:
        assert self.run.started is not None
        return FairShares(self.run.started)

    def take_due_samples(self, event: ev.AnyEvent) -> None:
        """Take the samples before this event; nothing has happened since the last one."""
        while self._due_ms < event.at_ms:
            self._samples.append(self._slots_held_and_due())
            self._due_ms += self._step_ms
            if len(self._samples) > _SAMPLES_MAX:
                self._samples = self._samples[::2]
                self._step_ms *= 2
                self._due_ms = len(self._samples) * self._step_ms

    def count_held_slots(self, event: ev.AnyEvent, attempt: AttemptRecord | None) -> None:
        """Count the slots that are held; `attempt` is the one that the event is about."""
        match event:
            case ev.RunStarted() | ev.FaultStruck() | ev.NodeEvent():
                self.lost = bytearray(node.is_given_up for node in self.run.nodes.values())
            case ev.AttemptStarted() | ev.AttemptResumed() if attempt is not None:
                self._held[attempt.launch.job] += 1
            case ev.AttemptSuspended() if attempt is not None:
                self._held[attempt.launch.job] -= 1
            case ev.AttemptEnded() if attempt is not None and attempt.slot != NO_SLOT:
                self._held[attempt.launch.job] -= 1

    def table(self) -> PoolShares:
        """The samples so far and one of now, by pool."""
        samples = [*self._samples, self._slots_held_and_due()]
        at_ms = np.arange(len(samples), dtype=np.int64) * self._step_ms
        at_ms[-1] = self.run.now_ms
        pool_of = self._pool_or_user_by_job()
        pools = tuple(sorted(set(pool_of.values())))
        rows = {pool: row for row, pool in enumerate(pools)}
        held = np.zeros((len(pools), len(samples)), np.float64)
        due = np.zeros((len(pools), len(samples)), np.float64)
        for column, sample in enumerate(samples):
            for job, (slots, share) in sample.items():
                held[rows[pool_of[job]], column] += slots
                due[rows[pool_of[job]], column] += share
        return PoolShares(at_ms, pools, held, due)

    def _slots_held_and_due(self) -> dict[JobId, tuple[int, float]]:
        """Slots held and due of each job that is in the system or still holds some."""
        due = self._fair_shares.shares_at(self)
        jobs = due.keys() | {job for job, slots in self._held.items() if slots}
        return {job: (self._held[job], due.get(job, 0.0)) for job in jobs}

    def _pool_or_user_by_job(self) -> dict[JobId, str]:
        """What each job is counted under: the pool that shares for it; without such the pool that
        it states, or its user, whichever tells jobs apart.
        """
        jobs = self.run.jobs
        for told in (self._fair_shares.pool_of, _stated_pool, _user_or_nobody):
            groups = {number: told(job) for number, job in jobs.items()}
            if len(set(groups.values())) > 1:
                return groups
        return dict.fromkeys(jobs, ALL_JOBS)


def _stated_pool(job: JobRecord) -> str:
    return job.pool or DEFAULT_POOL


def _user_or_nobody(job: JobRecord) -> str:
    return job.submission.user or "nobody"
