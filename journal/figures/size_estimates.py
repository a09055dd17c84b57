"""What an order took jobs' phases for, beside what they really came to."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from callboard.journal.figures.tables import Ints
from callboard.journal.run_records import NEVER, JobRecord, PhaseRecord
from callboard.scheduler.model import JobId, Millis, Stage


@dataclass(frozen=True, eq=False)
class PhaseSizes:
    """One row for each stage that the order has measured (`size-estimated`), of completed jobs, by
    job and stage.

    `kind` is the stage, in stores of results too.  `estimated_ms` is the slot time for which the
    order took the whole stage; `real_ms` what its tasks took where they ran.  Shuffles count in
    neither.
    """

    job: Ints
    kind: Ints
    estimated_ms: Ints
    real_ms: Ints

    def errors(self, stage: Stage, jobs: Collection[JobId] | None = None) -> NDArray[np.float64]:
        """Estimated over real size of the maps, or of the reduces; of these jobs alone if named."""
        chosen = self.kind == stage
        if jobs is not None:
            chosen = chosen & np.isin(self.job, list(jobs))
        errors: NDArray[np.float64] = self.estimated_ms[chosen] / self.real_ms[chosen]
        return errors


def phase_sizes(jobs: Iterable[JobRecord]) -> PhaseSizes:
    """The table of these jobs."""
    rows = [
        (job.submission.job, stage, phase.estimated_ms, real_ms)
        for job in sorted(jobs, key=lambda job: job.submission.job)
        for stage, phase in job.phases.items()
        if phase.estimated_ms != NEVER and (real_ms := _real_phase_ms(phase, job.total(stage))) > 0
    ]
    return PhaseSizes(*np.array(rows, np.int64).reshape(-1, 4).T)


def _real_phase_ms(phase: PhaseRecord, tasks: int) -> Millis:
    """What all tasks took; 0 while some are not done.  One that ran again is as long as both."""
    if phase.done < tasks:
        return 0
    return round(phase.work_ms * tasks / phase.succeeded)
