"""Recorded jobs as a workload: the table `[workload]` of kind `recorded`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from callboard.actors.config import ATTEMPTS_MAX
from callboard.actors.job_spec import JobSpec
from callboard.scenarios import fields
from callboard.scenarios.file_lookup import file_beside
from callboard.scenarios.workload_table import WorkloadTable
from callboard.scheduler.model import Millis
from callboard.scheduler.text.scenario_error import ScenarioError

if TYPE_CHECKING:
    from callboard.histories.model.tasks_file import ClusterRecording, RecordedJob

HISTORY_KEYS = ("workload.path", "workload.digest")
"""What an error is about whose history is not there, or is another one."""

_MISSING = "beside the scenario or the journal; neither holds the tasks themselves: copy it there"
_FOREIGN = (
    "is not the file that was imported with this scenario, or is damaged; put that one back, import"
    " the history again, or take the line out"
)


class RecordedWorkload(WorkloadTable, frozen=True, kw_only=True, tag="recorded"):
    """The table `[workload]` with `kind = "recorded"`: jobs whose every task was recorded."""

    path: str
    """A file that `callboard import` wrote, a history that it can read, or a folder of them; looked
    up beside the scenario file alone.
    """
    jobs: fields.JobCount | None = None
    """How many jobs to take, by time of submission."""
    time_scale: fields.Factor = 1.0
    """Multiplies submit times: 0.5 doubles the load."""
    begin_s: fields.Seconds = 0.0
    """When the first is submitted: a round of heartbeats after the start every node has joined."""
    failures: Literal["recorded", "none"] = "recorded"
    """Whether attempts fail and are killed, and users kill their jobs, as they did; or only
    durations are taken.
    """
    initialisation: Literal["recorded", "none"] | fields.Seconds = "recorded"
    """How long a job is initialised before any task of it may run: as long as it was, not at all,
    or that many seconds.
    """
    columns: str = ""
    """What the columns of a table mean, as `callboard import --map` takes it."""
    digest: str | None = None
    """The file's, as `callboard import` has written both: another file is refused."""

    def make_jobs(self, seed: int, base_dir: str | Path = ".") -> list[JobSpec]:  # noqa: ARG002
        return self.jobs_of(self.recording(Path(base_dir)).jobs)

    def recording(self, base_dir: Path) -> "ClusterRecording":
        """What its file has recorded.  ScenarioError as `located_file`, and for what cannot be
        read.
        """
        from callboard.histories.recording_file import load_recording

        return load_recording(self.located_file(base_dir), self.columns).recording

    def jobs_of(self, recorded: "Sequence[RecordedJob]") -> list[JobSpec]:
        """What it plays of these, which are in the order of their submission."""
        return [self._job_spec(number, job) for number, job in enumerate(recorded[: self.jobs])]

    def located_file(self, base_dir: Path) -> Path:
        """Where its file is, or one of its name beside the journal; ScenarioError if neither is
        there, or it is another than was imported.
        """
        path = file_beside(base_dir, self.path)
        if path is None:
            problem = f'there is no file of recorded tasks "{self.path[:200]}" {_MISSING}'
            raise ScenarioError(problem, key=HISTORY_KEYS[0])
        if self.digest is None:
            return path
        from callboard.histories.model.tasks_file import tasks_digest

        if tasks_digest(path) != self.digest:
            raise ScenarioError(f'"{self.path[:200]}" {_FOREIGN}', key=HISTORY_KEYS[1])
        return path

    def _job_spec(self, number: int, job: "RecordedJob") -> JobSpec:
        tasks, as_recorded = job.tasks, self.failures == "recorded"
        if not as_recorded and tasks.failures:
            tasks = msgspec.structs.replace(tasks, failures={})
        return JobSpec(
            job=number,
            name=job.name,
            submit_ms=fields.to_ms(self.begin_s) + round(job.submit_ms * self.time_scale),
            maps=len(tasks.map_ms),
            reduces=len(tasks.rest_ms),
            **tasks.mean_lengths(),
            user=job.user,
            pool=job.pool,
            priority=job.priority,
            recorded=tasks,
            killed_ms=job.killed_ms if as_recorded else None,
            requested_ms=job.requested_ms,
            initialisation_ms=self._initialisation_ms(job),
            setup_ms=job.setup_ms,
            cleanup_ms=job.cleanup_ms,
            demands=job.demands,
            max_attempts=job.max_attempts if as_recorded else ATTEMPTS_MAX,
        )

    def _initialisation_ms(self, job: "RecordedJob") -> Millis:
        if isinstance(self.initialisation, float):
            return fields.to_ms(self.initialisation)
        return job.initialisation_ms if self.initialisation == "recorded" else 0
