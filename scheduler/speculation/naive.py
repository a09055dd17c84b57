"""Hadoop's first rule, on by default in Hadoop 1: a task that is 20 % behind gets a second attempt.

TaskInProgress.hasSpeculativeTask (1.2.1): a task that runs once gets another attempt if its job's
average progress is 0.2 or more above its own and 60 s have passed since it was *created*, which is
when the job came.  The average is over all of the job's tasks of the stage, 1 for those done and 0
for those not begun.  There is no cap; the first that matches is taken, here by job number, then by
index.
"""

from typing import Annotated

from msgspec import Meta

from callboard.scheduler.model import SlotKind, stage_on
from callboard.scheduler.part_params import PartParams, Timeout
from callboard.scheduler.reasons import BehindAverage, Reason
from callboard.scheduler.speculation import stragglers
from callboard.scheduler.speculation.stragglers import RunningByJob, Straggler
from callboard.scheduler.view import AttemptView, ClusterView

PROGRESS_UNIT = 1_000_000
"""Progress is compared in millionths, so that 20 % is 20 %."""


class Naive(stragglers.StragglerRule):
    """Speculate on tasks behind their job's average."""

    name = "naive"
    summary = "copy any task that is 20 % behind its job's average, as Hadoop 1 does"

    class Params(PartParams, frozen=True, kw_only=True):
        """When a task is behind."""

        gap: Annotated[float, Meta(gt=0, le=1)] = 0.2
        """How far behind the average, as a share of the whole."""
        lag_s: Timeout = 60.0
        """How long ago its job must have come."""

    def __init__(self, params: Params | None = None) -> None:
        super().__init__()
        self.params = params or Naive.Params()

    def find(self, kind: SlotKind, running: RunningByJob, view: ClusterView) -> list[Straggler]:
        found: list[Straggler] = []
        for number in sorted(running):
            job = view.job(number)
            if view.now_ms - job.submitted_ms < 1000 * self.params.lag_s:
                continue
            stage = stage_on(kind)
            total, done = job.total(stage), job.finished(stage) * PROGRESS_UNIT
            done += sum(_best_progress_by_task(running[number]).values())
            behind = round(self.params.gap * PROGRESS_UNIT) * total
            for attempt in sorted(running[number], key=lambda each: each.task):
                if not attempt.alone or attempt.killing:
                    continue
                if done - _progress_millionths(attempt) * total >= behind:
                    what = (attempt.attempt, number, attempt.node, stragglers.time_left_ms(attempt))
                    detail = BehindAverage(attempt.progress, done, total)
                    found.append(Straggler(*what, Reason.BEHIND_AVERAGE, detail))
        return found


def _progress_millionths(attempt: AttemptView) -> int:
    return round(attempt.progress * PROGRESS_UNIT)


def _best_progress_by_task(attempts: list[AttemptView]) -> dict[int, int]:
    """How far each running task is: as far as its further attempt."""
    best: dict[int, int] = {}
    for attempt in attempts:
        best[attempt.task] = max(best.get(attempt.task, 0), _progress_millionths(attempt))
    return best
