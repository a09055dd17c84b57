"""How large a job's phase is: true sizes, true sizes with an error, what users said, or what can be
learnt.

A **size** is slot time: the sum of what the phase's tasks take, in milliseconds, maps and reduces
apart (HFSP, III-A).  Of a reduce only what follows its shuffle counts, as in HFSP's published code:
the shuffle lasts as long as the job's own maps, and an early reduce would look large.

Only a part that says `size="oracle"` in its parameters, and so in the policy's name, sees the
truth: it is given an `Oracle` when the run is assembled.  So is one that says `size="requested"`,
which asks it only what users said before their jobs ran.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING, Literal, Protocol

from callboard.scheduler.facts import Closed, Fact, JobLeft, Progressed, Suspended
from callboard.scheduler.model import MAPS, SHUFFLE_SHARE, STAGES, AttemptId, JobId, Millis, Stage

if TYPE_CHECKING:
    from callboard.scheduler.view import AttemptView, JobView

SizeSource = Literal["online", "oracle"]
"""Where sizes come from: learnt from completed tasks, or the truth."""


class Oracle(Protocol):
    """The truth about jobs, by addressed draws, so that all policies hear the same."""

    def size_ms(self, job: JobId, stage: Stage) -> Millis:
        """What the phase's tasks really take, on nodes of speed 1 with local input."""

    def mean_task_ms(self, job: JobId, stage: Stage, on: str) -> float:
        """The mean of a task of the phase on nodes of the kind `on`, of speed 1, input local."""

    def requested_task_ms(self, job: JobId) -> Millis | None:
        """What the job's user said before it ran that a task takes; None if nothing was said."""

    def normal(self, job: JobId, stage: Stage) -> float:
        """The phase's own standard normal number, for an error of estimation."""


class WorkLearner:
    """What is told of the work that ends, or is kept."""

    def learn(self, fact: Fact) -> None:
        """Take in a fact, if it is one of these."""
        if isinstance(fact, Closed):
            self.learn_end(fact)
        elif isinstance(fact, Suspended):
            self.learn_suspension(fact)
        elif isinstance(fact, JobLeft):
            self.forget_job(fact.job)

    def learn_end(self, closed: Closed) -> None:
        """Hear of an attempt's end."""

    def learn_suspension(self, suspended: Suspended) -> None:
        """Hear that an attempt is suspended: its work so far is kept."""

    def forget_job(self, job: JobId) -> None:
        """The job has left."""


class Estimator(WorkLearner, ABC):
    """What is believed of the sizes of phases."""

    @abstractmethod
    def size_ms(self, job: JobView, stage: Stage) -> Millis:
        """The whole phase, at first sight or as good as it is known now."""

    @abstractmethod
    def left_ms(self, job: JobView, stage: Stage) -> Millis:
        """What is left of it after the work that the master knows to be done."""


def work_ms(told: Closed | Suspended | Progressed | AttemptView) -> Millis:
    """How long an attempt has worked: a reduce's shuffle does not count."""
    return told.ran_ms - told.shuffled_ms


def share_of_work_done(told: Progressed | AttemptView) -> float:
    """What share of its work an attempt has done, a reduce's shuffle apart (below 0 during it)."""
    if told.stage == MAPS:
        return told.progress
    return (told.progress - SHUFFLE_SHARE) / (1 - SHUFFLE_SHARE)


class DoneWork(WorkLearner):
    """The work that the master knows to be done: that of successful attempts, and what suspended
    ones had done by then.
    """

    def __init__(self) -> None:
        self._done: dict[tuple[JobId, Stage], Millis] = {}
        self._kept: dict[AttemptId, Millis] = {}  # of open attempts that were suspended

    def done_ms(self, job: JobId, stage: Stage) -> Millis:
        return self._done.get((job, stage), 0)

    def learn_end(self, closed: Closed) -> None:
        work = work_ms(closed) if closed.succeeded else 0
        self._add_done_work(closed, work - self._kept.pop(closed.attempt, 0))

    def learn_suspension(self, suspended: Suspended) -> None:
        work = work_ms(suspended)
        self._add_done_work(suspended, work - self._kept.get(suspended.attempt, 0))
        self._kept[suspended.attempt] = work

    def forget_job(self, job: JobId) -> None:
        for stage in STAGES:
            self._done.pop((job, stage), None)

    def _add_done_work(self, told: Closed | Suspended, more: Millis) -> None:
        address = (told.job, told.stage)
        self._done[address] = self._done.get(address, 0) + more


class OracleSizes(DoneWork, Estimator):
    """True sizes, each times exp(sigma · z): the simulator report's error model (2.1).  Nothing is
    left of an underestimated phase before it ends.
    """

    def __init__(self, oracle: Callable[[], Oracle], sigma: float) -> None:
        super().__init__()
        self._oracle = oracle
        self._sigma = sigma

    def size_ms(self, job: JobView, stage: Stage) -> Millis:
        oracle = self._oracle()
        true_ms = oracle.size_ms(job.job, stage)
        if not self._sigma:
            return true_ms
        return round(true_ms * exp(self._sigma * oracle.normal(job.job, stage)))

    def left_ms(self, job: JobView, stage: Stage) -> Millis:
        return max(self.size_ms(job, stage) - self.done_ms(job.job, stage), 0)


@dataclass(slots=True, eq=False)
class RunningMean:
    """A mean that grows with its numbers."""

    total: Millis = 0
    count: int = 0

    def add(self, ms: Millis, count: int = 1) -> None:
        self.total += ms
        self.count += count

    def times(self, n: int) -> Millis | None:
        """n tasks of the mean length, rounded to a millisecond; None without any to go by."""
        return round(n * self.total / self.count) if self.count else None


class PhaseMeans(WorkLearner):
    """Mean task times of single phases, and of all jobs' tasks of a stage."""

    def __init__(self) -> None:
        self.own: dict[tuple[JobId, Stage], RunningMean] = {}
        self._all = {stage: RunningMean() for stage in STAGES}

    def learn_end(self, closed: Closed) -> None:
        ms = work_ms(closed)
        self.own.setdefault((closed.job, closed.stage), RunningMean()).add(ms)
        self._all[closed.stage].add(ms)

    def tasks_ms(self, job: JobId, stage: Stage, n: int) -> Millis | None:
        """n tasks as long as the phase's own, or as all of its stage; None without any to go by."""
        return (self.own.get((job, stage)) or self._all[stage]).times(n)

    def forget_job(self, job: JobId) -> None:
        """The job has left; its tasks still count among all."""
        for stage in STAGES:
            self.own.pop((job, stage), None)


class OnlineSizes(Estimator):
    """Tasks × mean time: of the job's own ended tasks, else of all, else `guess_ms`."""

    def __init__(self, guess_ms: Millis) -> None:
        self._guess_ms = guess_ms
        self._means = PhaseMeans()

    def size_ms(self, job: JobView, stage: Stage) -> Millis:
        return self.tasks_ms(job.job, stage, job.total(stage))

    def left_ms(self, job: JobView, stage: Stage) -> Millis:
        return self.tasks_ms(job.job, stage, job.total(stage) - job.finished(stage))

    def tasks_ms(self, job: JobId, stage: Stage, n: int) -> Millis:
        known = self._means.tasks_ms(job, stage, n)
        return n * self._guess_ms if known is None else known

    def learn_end(self, closed: Closed) -> None:
        if closed.succeeded:
            self._means.learn_end(closed)

    def forget_job(self, job: JobId) -> None:
        self._means.forget_job(job)


class RequestedSizes(OnlineSizes):
    """Tasks × what the job's user said that one takes; of jobs of which nothing was said, as
    `OnlineSizes`.
    """

    def __init__(self, oracle: Callable[[], Oracle], guess_ms: Millis) -> None:
        super().__init__(guess_ms)
        self._oracle = oracle

    def tasks_ms(self, job: JobId, stage: Stage, n: int) -> Millis:
        requested_ms = self._oracle().requested_task_ms(job)
        return super().tasks_ms(job, stage, n) if requested_ms is None else n * requested_ms
