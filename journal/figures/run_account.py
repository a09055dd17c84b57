"""From the sums and tables of a run to its figures, whether actors or the twin played it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from callboard.journal.figures import summary as fig
from callboard.journal.figures.slot_time import SlotTime
from callboard.journal.figures.steps import Steps, steps
from callboard.journal.figures.tables import JobColumns
from callboard.journal.run_records import NEVER
from callboard.scheduler.model import Millis


class RunNames(NamedTuple):
    """What a run is called, and how it ended; None for what is not known."""

    scenario: str
    policy: str
    seed: int
    digest: str | None = None
    reason: str | None = None
    messages: int | None = None
    ties: int | None = None


class RunAccount(NamedTuple):
    """A run up to a moment: its jobs, the time of map and of reduce slots, its attempts, how many
    maps were launched at each level of locality, and how long reduces were in their shuffles.
    """

    until_ms: Millis
    jobs: JobColumns
    slots: tuple[SlotTime, SlotTime]
    attempts: fig.AttemptCounts
    speculation: fig.SpeculationCounts
    levels: Sequence[int]
    shuffle_wait_ms: Millis


def summary_of(run: RunNames, account: RunAccount) -> fig.Summary:
    """All figures."""
    jobs, (maps, reduces) = account.jobs, account.slots
    return fig.Summary(
        scenario=run.scenario,
        policy=run.policy,
        seed=run.seed,
        digest=run.digest,
        reason=run.reason,
        virtual_seconds=account.until_ms / 1000,
        messages=run.messages,
        ties=run.ties,
        jobs=_job_counts(jobs),
        tasks=fig.TaskCounts(int(jobs.maps.sum()), int(jobs.reduces.sum())),
        attempts=account.attempts,
        speculation=account.speculation,
        response_seconds=fig.statistics_in_seconds(jobs.response_ms[jobs.completed]),
        waiting_seconds=fig.statistics_in_seconds(
            jobs.waiting_ms[jobs.completed & (jobs.waiting_ms != NEVER)]
        ),
        locality=fig.LocalityShares(
            *(_ratio_or_none(level, sum(account.levels)) for level in account.levels)
        ),
        slot_seconds=fig.slot_time_in_seconds(maps + reduces),
        slot_ms=fig.SlotKinds(maps + reduces, maps, reduces),
        shuffle_wait_seconds=account.shuffle_wait_ms / 1000,
        utilisation=fig.Utilisation(
            _ratio_or_none(maps.busy, maps.total), _ratio_or_none(reduces.busy, reduces.total)
        ),
        mean_jobs_in_system=jobs_over_time(jobs, account.until_ms).mean(),
        little=little_of(jobs, account.until_ms),
    )


def jobs_over_time(jobs: JobColumns, until_ms: Millis) -> Steps:
    """How many jobs were submitted and not yet finished, over time."""
    left = jobs.finished_ms[jobs.finished_ms != NEVER]
    return steps(jobs.submitted_ms, left, until_ms)


def little_of(jobs: JobColumns, until_ms: Millis) -> fig.Little:
    """Both sides of Little's law (S10)."""
    left = jobs.finished_ms != NEVER
    return fig.Little(
        area=jobs_over_time(jobs, until_ms).integral(),
        responses=int((jobs.finished_ms - jobs.stated_ms)[left].sum()),
        unfinished=int((until_ms - jobs.submitted_ms)[~left].sum()),
    )


def _ratio_or_none(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _job_counts(jobs: JobColumns) -> fig.JobCounts:
    none, succeeded, failed, killed = np.bincount(jobs.outcome - NEVER, minlength=4).tolist()
    return fig.JobCounts(len(jobs.job), succeeded, failed, killed, none)
