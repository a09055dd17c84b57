"""What is measured for global preemption (CNSM 2011): of its runs, and of the jobs of workloads."""

import numpy as np

from callboard.experiments.reproduction.metered_run import MeteredRun
from callboard.experiments.reproduction.paper_language import (
    Vocabulary,
    run_figure_vocabulary,
    sample_figure_vocabulary,
)
from callboard.experiments.run.run_spec import RunSpec
from callboard.journal.figures.job_groups import response_statistics, share_of_largest

# Of runs.


def slowdown_statistic(run: MeteredRun, name: str) -> float | None:
    """A measure of Table IV, over the jobs that the paper's figures count."""
    found = run.result.slowdown_of(run.result.counted_jobs)
    value: float | None = None if found is None else getattr(found.statistics, name)
    return value


def snp(run: MeteredRun) -> float | None:
    """The system's normalised performance, of which 1 is ideal."""
    return slowdown_statistic(run, "snp")


def counted_response_s(run: MeteredRun) -> float | None:
    """The mean response time of the jobs that the paper's figures count."""
    return response_statistics(run.result.jobs, run.result.counted_jobs).mean


def long_job_first_maps(run: MeteredRun, place: int) -> float:
    """The most slots of the long job within 150 s; `place` is its in the order of arrivals."""
    return _figure_of_long_job(run, place, "first maps", "most")


def long_job_kills(run: MeteredRun, place: int) -> float:
    """How many of the long job's attempts were killed."""
    return _figure_of_long_job(run, place, "kills", "killed")


def _figure_of_long_job(run: MeteredRun, place: int, meter: str, column: str) -> float:
    """What a meter says of the long job, which has 250 maps, and its place in its name."""
    found, jobs = run.metered[meter], run.result.jobs
    (long,) = (n for n, name in enumerate(jobs.name) if name.endswith(f"250-{place - 1}"))
    by_job = dict(zip(found["job"], found[column], strict=True))
    return float(by_job.get(int(jobs.job[long]), 0))


# Of the jobs of a workload.

_BUSY_JOBS = 130


def busy_jobs_with_maps(spec: RunSpec, maps: int, seconds: float | None = None) -> float:
    """How many of Table III's 130 jobs have that many maps, of that many seconds if it is told."""
    mine = [job for job in spec.jobs[:_BUSY_JOBS] if job.maps == maps]
    return float(sum(seconds is None or job.map_ms == round(1000 * seconds) for job in mine))


def share_between_maps(spec: RunSpec, least: int, most: int) -> float:
    """The share of jobs that have from `least` to `most` maps."""
    return float(np.mean([least <= job.maps <= most for job in spec.jobs]))


def maps_in_all(spec: RunSpec) -> float:
    """How many maps all jobs have together."""
    return float(sum(job.maps for job in spec.jobs))


def maps_of_largest_job(spec: RunSpec) -> float:
    """How many maps the job has that has most."""
    return float(max(job.maps for job in spec.jobs))


def share_of_largest_jobs(spec: RunSpec, count: int) -> float:
    """The share of all maps that so many of the largest jobs have."""
    return share_of_largest(np.array([job.maps for job in spec.jobs]), count)


def share_of_short_gaps(spec: RunSpec, limit_s: float) -> float:
    """The share of gaps between submissions that are shorter."""
    gaps_ms = np.diff(np.sort([job.submit_ms for job in spec.jobs]))
    return float((gaps_ms < 1000 * limit_s).mean())


GP_FIGURES: Vocabulary = {
    **run_figure_vocabulary(
        snp, slowdown_statistic, counted_response_s, long_job_first_maps, long_job_kills
    ),
    **sample_figure_vocabulary(
        busy_jobs_with_maps,
        share_between_maps,
        maps_in_all,
        maps_of_largest_job,
        share_of_largest_jobs,
        share_of_short_gaps,
    ),
}
