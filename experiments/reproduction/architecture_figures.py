"""What is measured for Hawk and Omega, schedulers beside the central master."""

from math import fsum
from statistics import fmean

import numpy as np

from callboard.experiments.reproduction.metered_run import MeteredRun
from callboard.experiments.reproduction.paper_language import Vocabulary, run_figure_vocabulary
from callboard.experiments.reproduction.run_figures import SizeBin

_HAWKS_JOBS = {"short": ("narrow", "wide"), "long": ("long",)}
"""How the names of short and of long jobs begin."""


def response_percentile(run: MeteredRun, percent: float, kind: str) -> float | None:
    """A percentile of the response times of short or long jobs, in ms."""
    jobs = run.result.jobs
    mine = jobs.completed & np.array([name.startswith(_HAWKS_JOBS[kind]) for name in jobs.name])
    return float(np.percentile(jobs.response_ms[mine], percent)) if mine.any() else None


_BATCH = SizeBin(100)


def batch_wait_s(run: MeteredRun) -> float | None:
    """How long a Batch job waits in the queue until it is thought about first, in the mean."""
    thoughts, batch = run.metered["thoughts"], set(_BATCH.jobs(run))
    waits = zip(thoughts["job"], thoughts["first_wait_s"], strict=True)
    return fmean(wait for job, wait in waits if job in batch)


def wasted_thinking_s(run: MeteredRun) -> float | None:
    """How long was thought about claims that were then in conflict."""
    return fsum(run.metered["thoughts"]["wasted_s"])


ARCHITECTURE_FIGURES: Vocabulary = run_figure_vocabulary(
    batch_wait_s, response_percentile, wasted_thinking_s
)
