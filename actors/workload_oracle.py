"""The oracle: what jobs really take, for policies that say that they go by it."""

from collections.abc import Sequence

from callboard.actors.config import Tasks
from callboard.actors.job_spec import JobSpec
from callboard.actors.kernel.streams import Stream
from callboard.actors.worker.durations import noisy_length_ms
from callboard.scheduler.model import MAPS, JobId, Millis, Stage


class WorkloadOracle:
    """The true sizes of one run's jobs (`scheduler.estimation.Oracle`)."""

    def __init__(self, jobs: Sequence[JobSpec], tasks: Tasks, seed: int) -> None:
        self._jobs = {spec.job: spec for spec in jobs}
        self._tasks = tasks
        self._sigma = tasks.sigma
        self._noise = Stream(seed, "duration")
        self._errors = Stream(seed, "estimate")
        self._sizes: dict[tuple[JobId, Stage], Millis] = {}

    def size_ms(self, job: JobId, stage: Stage) -> Millis:
        """The phase's tasks at speed 1 with local input, noise included; no reduce's shuffle."""
        address = (job, stage)
        if address not in self._sizes:
            self._sizes[address] = self._total_length_ms(job, stage)
        return self._sizes[address]

    def mean_task_ms(self, job: JobId, stage: Stage, on: str) -> float:
        """The mean of the phase's tasks on nodes of the kind `on`, of speed 1; 0 without any."""
        spec = self._jobs[job]
        count = spec.maps if stage == MAPS else spec.reduces
        return self.size_ms(job, stage) / count * spec.duration_factor_on(on) if count else 0.0

    def requested_task_ms(self, job: JobId) -> Millis | None:
        """What the job's user said that a task takes."""
        return self._jobs[job].requested_ms

    def normal(self, job: JobId, stage: Stage) -> float:
        """A standard normal number that is the phase's own."""
        return self._errors.normal(job, stage)

    def lengths_ms(self, job: JobId, stage: Stage) -> list[Millis]:
        """What each of the phase's tasks takes at speed 1 with local input, noise included; of a
        reduce without its shuffle.
        """
        spec = self._jobs[job]
        skew = dict.fromkeys(spec.skewed[stage], spec.skew)
        return [
            noisy_length_ms(self._noise, self._sigma, job, stage, task, ms * skew.get(task, 1))
            for task, ms in enumerate(spec.nominal_task_lengths_ms(stage, self._tasks))
        ]

    def _total_length_ms(self, job: JobId, stage: Stage) -> Millis:
        spec = self._jobs[job]
        if spec.recorded is None and not self._sigma and not spec.skewed[stage]:
            n, ms = (spec.maps, spec.map_ms) if stage == MAPS else (spec.reduces, spec.reduce_ms)
            return n * ms
        return sum(self.lengths_ms(job, stage))
