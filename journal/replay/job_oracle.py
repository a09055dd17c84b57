"""What only the oracle knows of jobs: how large they really are.  The master never asks it."""

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from callboard.actors.job_spec import JobSpec
from callboard.actors.vocabulary.events import JobSubmitted, NodeFacts, RunStarted
from callboard.scheduler.estimation import Oracle
from callboard.scheduler.model import MAPS, STAGES, Millis, Stage, slot_kind


class JobOracle:
    """The truth about a run's jobs; None for a job that is not in the scenario."""

    def __init__(self, jobs: Sequence[JobSpec], sizes: Oracle, nodes: Sequence[NodeFacts]) -> None:
        self._specs = {spec.job: spec for spec in jobs}
        self._sizes = sizes
        self._slots = (sum(n.map_slots for n in nodes), sum(n.reduce_slots for n in nodes))
        self._machines = {(n.node_type, n.speed) for n in nodes}

    def size_ms(self, submission: JobSubmitted) -> Millis | None:
        """Slot time of all its tasks on nodes of speed 1 with local input, shuffles apart."""
        if self._spec(submission) is None:
            return None
        return sum(self._sizes.size_ms(submission.job, stage) for stage in STAGES)

    def estimated_ms(self, submission: JobSubmitted, sigma: float) -> Millis | None:
        """The same as a policy knows it that is told true sizes with an error of shape `sigma`
        (`scheduler.estimation.OracleSizes`).
        """
        if self._spec(submission) is None:
            return None
        job, sizes = submission.job, self._sizes
        errors = [math.exp(sigma * sizes.normal(job, stage)) for stage in STAGES]
        return sum(round(sizes.size_ms(job, stage) * errors[stage]) for stage in STAGES)

    def least_ms(self, submission: JobSubmitted) -> float | None:
        """The least time that the job could take: all slots for it, all input local, the fastest
        nodes, no wait for a heartbeat, and shuffles done while maps run.
        """
        spec = self._spec(submission)
        if spec is None:
            return None
        fastest = max(speed / spec.factor(kind) for kind, speed in self._machines)
        return sum(self._phase_ms(spec, stage) for stage in STAGES) / fastest

    def _phase_ms(self, spec: JobSpec, stage: Stage) -> float:
        """The phase's work over all slots, but no less than a task of it takes."""
        tasks = spec.maps if stage == MAPS else spec.reduces
        if not tasks:
            return 0.0
        slots = self._slots[slot_kind(stage)]
        return self._sizes.size_ms(spec.job, stage) / min(tasks, max(slots, 1))

    def _spec(self, submission: JobSubmitted) -> JobSpec | None:
        """The job as the scenario has it, if it is the same."""
        spec, told = self._specs.get(submission.job), submission
        same = spec and (spec.name, spec.maps, spec.reduces) == (told.name, told.maps, told.reduces)
        return spec if same else None


MakeOracle: TypeAlias = Callable[[RunStarted], JobOracle | None]
"""Makes the oracle of the run that begins so, when it is first needed."""
