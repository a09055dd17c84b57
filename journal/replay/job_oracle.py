"""What only the oracle knows of jobs: how large they really are.  The master never asks it."""

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeAlias

from callboard.actors.job_spec import JobSpec
from callboard.actors.vocabulary.events import JobSubmitted, RunStarted
from callboard.scheduler.estimation import Oracle
from callboard.scheduler.model import STAGES, Millis


class JobOracle:
    """The truth about a run's jobs; None for a job that is not in the scenario.  `least_ms` is how
    long a job takes alone, the denominator of its slowdown.
    """

    def __init__(
        self, jobs: Sequence[JobSpec], sizes: Oracle, least_ms: Callable[[JobSpec], Millis]
    ) -> None:
        self._specs = {spec.job: spec for spec in jobs}
        self._sizes = sizes
        self._least_ms = cache(lambda job: least_ms(self._specs[job]))

    @property
    def pools_and_users(self) -> list[tuple[str, str]]:
        """Of each job of the scenario its pool, which may be empty, and its user."""
        return [(spec.pool, spec.user) for spec in self._specs.values()]

    def size_ms(self, submission: JobSubmitted) -> Millis | None:
        """Slot time of all its tasks on nodes of speed 1 with local input, shuffles apart."""
        if self._spec_of_same_job(submission) is None:
            return None
        return sum(self._sizes.size_ms(submission.job, stage) for stage in STAGES)

    def estimated_ms(self, submission: JobSubmitted, sigma: float) -> Millis | None:
        """The same as a policy knows it that is told true sizes with an error of shape `sigma`
        (`scheduler.estimation.OracleSizes`).
        """
        if self._spec_of_same_job(submission) is None:
            return None
        job, sizes = submission.job, self._sizes
        errors = [math.exp(sigma * sizes.normal(job, stage)) for stage in STAGES]
        return sum(round(sizes.size_ms(job, stage) * errors[stage]) for stage in STAGES)

    def least_ms(self, submission: JobSubmitted) -> Millis | None:
        """The least time that the job could take, alone on the empty cluster."""
        spec = self._spec_of_same_job(submission)
        return None if spec is None else self._least_ms(spec.job)

    def _spec_of_same_job(self, submission: JobSubmitted) -> JobSpec | None:
        """The job as the scenario has it, if it is the same."""
        spec, told = self._specs.get(submission.job), submission
        same = spec and (spec.name, spec.maps, spec.reduces) == (told.name, told.maps, told.reduces)
        return spec if same else None


MakeOracle: TypeAlias = Callable[[RunStarted], JobOracle | None]
"""Makes the oracle of the run that begins so, when it is first needed."""
