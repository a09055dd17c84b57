"""How long a job's tasks take by estimate, which is said when the job is submitted.

It is the mean of its tasks as the workload states it: nominal lengths, or what recorded tasks took,
before noise, stragglers and slow nodes.  Hawk and Eagle take it from earlier runs of the same job
(Hawk, ATC 2015, §3.8), and their simulator from the trace.
"""

from collections.abc import Sequence

from callboard.actors.job_spec import JobSpec
from callboard.scheduler.model import CLEANUP, MAPS, REDUCES, SETUP, JobId, Millis, Stage


class TaskEstimates:
    """Of the jobs of one run; a job is long whose tasks take `cutoff` seconds or more."""

    def __init__(self, jobs: Sequence[JobSpec], cutoff: float) -> None:
        self._jobs = {spec.job: spec for spec in jobs}
        self._cutoff_ms = 1000 * cutoff

    def task_ms(self, job: JobId, stage: Stage) -> Millis:
        """The mean task of a stage; of a reduce with its whole shuffle."""
        spec = self._jobs[job]
        return {
            MAPS: spec.map_ms,
            REDUCES: spec.shuffle_ms + spec.reduce_ms,
            SETUP: spec.setup_ms,
            CLEANUP: spec.cleanup_ms,
        }[stage]

    def is_long(self, job: JobId) -> bool:
        """Whether its maps and reduces are long, on the average of them all."""
        spec = self._jobs[job]
        total_ms = spec.maps * spec.map_ms + spec.reduces * self.task_ms(job, REDUCES)
        return total_ms >= self._cutoff_ms * (spec.maps + spec.reduces)
