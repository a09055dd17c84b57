"""The parameters of schedulers that share a cell."""

from typing import Annotated

from msgspec import Meta

from callboard.actors.omega.cell_state import Conflicts, Transaction
from callboard.scheduler.model import Millis
from callboard.scheduler.part_params import PartParams, Portion

_Seconds = Annotated[float, Meta(ge=0, le=1e9)]
_Schedulers = Annotated[int, Meta(ge=1, le=1000)]


class ThinkParams(PartParams, frozen=True, kw_only=True):
    """How long schedulers think, and about whose jobs longer; times in seconds."""

    t_job: _Seconds = 0.01
    """A thought takes so long for a job (decision time, EuroSys 2013, §4)."""
    t_task: _Seconds = 0.005
    """And so long more for each of its tasks that are on no node yet."""
    service: str = "service"
    """The pool of the Service jobs; all others are Batch."""
    service_t_job: _Seconds | None = None
    """`t_job` of Service jobs. Unset: that of all."""
    service_t_task: _Seconds | None = None
    """`t_task` of Service jobs. Unset: that of all."""
    retry: Annotated[float, Meta(ge=0.001, le=1e6)] = 1.0
    """What could not be placed comes back to the queue so much later."""

    def think_ms(self, tasks: int, *, service: bool) -> Millis:
        """How long a thought about that many tasks of a job takes."""
        t_job, t_task = self.t_job, self.t_task
        if service:
            t_job = t_job if self.service_t_job is None else self.service_t_job
            t_task = t_task if self.service_t_task is None else self.service_t_task
        return round(1000 * (t_job + t_task * tasks))

    @property
    def retry_ms(self) -> Millis:
        return round(1000 * self.retry)


class OmegaParams(ThinkParams, frozen=True, kw_only=True):
    """Who shares the cell, and what happens where two claim the same."""

    t_task: _Seconds = 0.01
    """And so long more for each of its tasks that are on no node yet."""
    schedulers: _Schedulers = 1
    """How many there are for Batch jobs, which go to them in turn; Service jobs have one more."""
    conflicts: Conflicts = "fit"
    """A claim conflicts if its task has no room any more (`fit`), or if its node has been claimed
    at all since the scheduler looked (`sequence`)."""
    commit: Transaction = "incremental"
    """Whether a job's tasks that do not conflict are committed beside those that do."""


class MonolithicParams(ThinkParams, frozen=True, kw_only=True):
    """How long the only scheduler thinks."""


class MesosParams(ThinkParams, frozen=True, kw_only=True):
    """Who is offered resources, and when."""

    schedulers: _Schedulers = 1
    """How many frameworks there are for Batch jobs, which go to them in turn; Service jobs have one
    more."""
    gather: _Seconds = 1.0
    """What becomes free gathers for so long before it is offered."""
    allocation: _Seconds = 0.001
    """The allocator thinks so long about each offer."""
    minimum: Portion = 0.0
    """Nothing is offered unless this share of every resource is free."""
    parallel: bool = False
    """Whether a framework thinks about several offers at a time, as in the released simulator."""
