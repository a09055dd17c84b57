"""SWIM traces as a workload: the table `[workload]` of kind `swim`.  What is assumed of a line's
tasks is a field of `SwimWorkload`.
"""

from functools import lru_cache
from pathlib import Path

from callboard.actors.config import TASKS_MAX
from callboard.actors.job_spec import JobSpec
from callboard.histories.readers.swim_lines import SwimLine, read_swim
from callboard.scenarios import fields
from callboard.scenarios.file_lookup import locate_trace
from callboard.scenarios.workload_table import WorkloadTable
from callboard.scheduler.text.scenario_error import ScenarioError


class SwimWorkload(WorkloadTable, frozen=True, kw_only=True, tag="swim"):
    """The table `[workload]` with `kind = "swim"`: a trace, and what its lines do not tell.  MB are
    1,000,000 bytes.
    """

    path: str
    """Looked up beside the scenario file, then in the working folder."""
    jobs: fields.JobCount | None = None
    """How many lines to read."""
    time_scale: fields.Factor = 1.0
    """Multiplies submit times: 0.5 doubles the load."""
    block_mb: fields.Megabytes = 128.0
    """Input of one map; for binary megabytes 134.217728."""
    reduce_mb: fields.Megabytes = 1000.0
    """The most shuffle of one reduce."""
    startup_s: fields.Seconds = 2.0
    """Starting a task (a JVM), before any byte."""
    map_mb_per_s: fields.Rate = 5.0
    """At which a map reads and works: a full block takes 27.6 s with the start, as maps of Hadoop 1
    did.
    """
    shuffle_mb_per_s: fields.Rate = 20.0
    """At which a reduce fetches."""
    reduce_mb_per_s: fields.Rate = 20.0
    """At which a reduce sorts and reduces."""
    write_mb_per_s: fields.Rate = 20.0
    """At which one task writes output: a reduce, or a map of a job without reduces."""

    def make_jobs(self, seed: int, base_dir: str | Path = ".") -> list[JobSpec]:  # noqa: ARG002
        path = locate_trace(self.path, Path(base_dir))
        lines = _cached_trace_lines(path, self.jobs, _modification_stamp(path))
        return [swim_job(line, number, self, path) for number, line in enumerate(lines)]


@lru_cache(maxsize=4)
def _cached_trace_lines(
    path: Path,
    limit: int | None,
    stamp: tuple[int, int],  # noqa: ARG001
) -> tuple[SwimLine, ...]:
    """The lines of a trace: seeds and settings play the same ones."""
    return read_swim(path, limit)


def _modification_stamp(path: Path) -> tuple[int, int]:
    """What changes when the file does."""
    stat = path.stat()
    return stat.st_mtime_ns, stat.st_size


def swim_job(line: SwimLine, job: int, workload: SwimWorkload, source: str | Path = "") -> JobSpec:
    """One line as a job by the rules in `SwimWorkload`; what reads nothing still has one map."""
    maps = max(1, fields.ceil_div(line.input_bytes, _bytes_of_megabytes(workload.block_mb)))
    reduces = fields.ceil_div(line.shuffle_bytes, _bytes_of_megabytes(workload.reduce_mb))
    if max(maps, reduces) > TASKS_MAX:
        problem = f"{maps:,} maps and {reduces:,} reduces; the limit is {TASKS_MAX:,}"
        problem += " (make block_mb or reduce_mb larger)"
        raise ScenarioError(problem, source=source, line=line.line)
    shuffled_mb = _shared_mb(line.shuffle_bytes, reduces)
    return JobSpec(
        job=job,
        name=line.name,
        submit_ms=fields.to_ms(line.submit_s * workload.time_scale),
        maps=maps,
        map_ms=fields.task_ms(_map_s(line, maps, workload, map_only=not reduces)),
        reduces=reduces,
        shuffle_ms=fields.to_ms(shuffled_mb / workload.shuffle_mb_per_s),
        reduce_ms=fields.to_ms(_reduce_s(line, reduces, workload)) if reduces else 0,
    )


def _map_s(line: SwimLine, maps: int, workload: SwimWorkload, *, map_only: bool) -> float:
    reading = _shared_mb(line.input_bytes, maps) / workload.map_mb_per_s
    written = line.output_bytes if map_only else 0
    return workload.startup_s + reading + _shared_mb(written, maps) / workload.write_mb_per_s


def _reduce_s(line: SwimLine, reduces: int, workload: SwimWorkload) -> float:
    reducing = _shared_mb(line.shuffle_bytes, reduces) / workload.reduce_mb_per_s
    writing = _shared_mb(line.output_bytes, reduces) / workload.write_mb_per_s
    return workload.startup_s + reducing + writing


def _shared_mb(total_bytes: int, tasks: int) -> float:
    return total_bytes / fields.MEGABYTE / tasks if tasks else 0.0


def _bytes_of_megabytes(megabytes: float) -> int:
    return round(megabytes * fields.MEGABYTE)
