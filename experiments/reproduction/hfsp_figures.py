"""What is measured for HFSP: its jobs by bin, task lengths, errors of estimates, bursts."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from callboard.experiments.pages.length_figures import pooled_seconds, relative_to_job, task_lengths
from callboard.experiments.reproduction.artefact_charts import (
    PrintedMark,
    Series,
    ecdf_panels,
    lines_over,
)
from callboard.experiments.reproduction.evidence import Runs
from callboard.experiments.reproduction.metered_run import MeteredRun
from callboard.experiments.reproduction.paper_language import (
    Vocabulary,
    chart_vocabulary,
    run_figure_vocabulary,
    sample_figure_vocabulary,
)
from callboard.experiments.reproduction.run_figures import (
    SizeBin,
    Values,
    in_system,
    mean_of_responses_s,
)
from callboard.experiments.reproduction.sample_figure import figure_of
from callboard.experiments.run.run_spec import RunSpec
from callboard.journal.figures.job_groups import jobs_of_size
from callboard.scheduler.model import MAPS, REDUCES, Stage

_STAGES = {"maps": MAPS, "reduces": REDUCES}


def share_in_bin(run: MeteredRun, which: SizeBin) -> float:
    """The share of jobs that are in a bin (Table I)."""
    maps = run.result.jobs.maps
    return float(((maps >= which.least) & (maps <= which.most)).mean())


def peak_in_burst(run: MeteredRun, start_h: float, end_h: float) -> float:
    """The most jobs in the system in a burst or within ten minutes after it."""
    inside = in_system(run)
    low = np.searchsorted(inside.times, 3_600_000 * start_h, side="right") - 1
    high = np.searchsorted(inside.times, 3_600_000 * end_h + 600_000)
    return float(inside.counts[low:high].max())


def most_arrivals(spec: RunSpec, within_s: float) -> float:
    """The most jobs that come within so long."""
    at_ms = np.sort([job.submit_ms for job in spec.jobs])
    last = np.searchsorted(at_ms, at_ms + 1000 * within_s, side="right")
    return float((last - np.arange(len(at_ms))).max())


def response_ratio_over_gaps(samples: Sequence[Runs], gaps_s: Sequence[int]) -> object:
    """HFSP's mean response time over Fair's, over the mean gap between jobs."""
    points = []
    for gap_s in gaps_s:
        hfsp, fair = (f"{policy}, {gap_s} s" for policy in ("hfsp", "fair"))
        figure = figure_of(hfsp, mean_of_responses_s) / figure_of(fair, mean_of_responses_s)
        points.append((gap_s, [figure(runs) for runs in samples]))
    return lines_over([Series("hfsp over fair", points)], "mean gap (s)", "mean response time")


# How long tasks are.


def _lengths_s(spec: RunSpec, stage: Stage) -> Values:
    return pooled_seconds(task_lengths(spec, stage))


def _lengths_over_job_mean(spec: RunSpec, stage: Stage) -> Values:
    return relative_to_job(task_lengths(spec, stage))


def share_of_short_maps(spec: RunSpec, limit_s: float) -> float:
    """The share of maps that take less."""
    return float((_lengths_s(spec, MAPS) < limit_s).mean())


def orders_of_magnitude(spec: RunSpec) -> float:
    """Between the 1st and the 99th percentile of the reduces."""
    low, high = np.percentile(_lengths_s(spec, REDUCES), (1, 99))
    return float(np.log10(high / low))


def share_near_job_mean(spec: RunSpec, stage: str) -> float:
    """Of tasks that take from half to one and a half times their mean."""
    values = _lengths_over_job_mean(spec, _STAGES[stage])
    return float(((values >= 0.5) & (values <= 1.5)).mean())


def length_ecdfs(samples: Sequence[RunSpec]) -> Any:
    """The share of tasks up to each length."""
    return _ecdfs_by_stage(samples, _lengths_s, "task length (s)")


def relative_task_length_ecdfs(samples: Sequence[RunSpec]) -> Any:
    """The share of tasks up to each length over their job's mean."""
    return _ecdfs_by_stage(samples, _lengths_over_job_mean, "task length / its job's mean")


def _ecdfs_by_stage(samples: Sequence[Any], of: Callable[[Any, Stage], Values], label: str) -> Any:
    panel = {
        name: np.concatenate([of(each, stage) for each in samples])
        for name, stage in _STAGES.items()
    }
    return ecdf_panels([panel], [""], label)


# How wrong estimates are.

_LARGER = SizeBin(10)  # bins 2 to 4


def _estimate_errors(runs: Runs, stage: Stage, which: SizeBin = _LARGER) -> Values:
    """Estimated over real sizes of the bin's jobs, of all workloads."""
    found = [np.empty(0)]
    for run in runs.values():
        if run.result.phase_sizes is not None:
            mine = jobs_of_size(run.result.jobs, which.least, which.most)
            found.append(run.result.phase_sizes.errors(stage, mine))
    return np.concatenate(found)


def _pooled_errors(samples: Sequence[Runs], stage: str, which: SizeBin = _LARGER) -> Values:
    return np.concatenate([_estimate_errors(runs, _STAGES[stage], which) for runs in samples])


def share_of_errors(
    samples: Sequence[Runs], stage: str, least: float = 0, most: float = np.inf
) -> float | None:
    """The share of jobs of all runs whose error is between the two."""
    values = _pooled_errors(samples, stage)
    return float(((values >= least) & (values <= most)).mean()) if len(values) else None


def error_quantile(
    samples: Sequence[Runs], stage: str, which: SizeBin, quantile: float
) -> float | None:
    """A quantile of the errors of all runs together."""
    values = _pooled_errors(samples, stage, which)
    return float(np.quantile(values, quantile)) if len(values) else None


def share_near_real_size(samples: Sequence[Runs], stage: str, which: SizeBin) -> float | None:
    """The share of a bin's jobs that are taken for 0.9 to 1.1 of their size."""
    values = _pooled_errors(samples, stage, which)
    return float((abs(values - 1) <= 0.1).mean()) if len(values) else None


def error_ecdfs(samples: Sequence[Runs]) -> Any:
    """The share of jobs up to each error, a line a stage."""
    return _ecdfs_by_stage(samples, _estimate_errors, "estimated / real size")


def errors_by_bin(
    samples: Sequence[Runs], stage: str, bins: Sequence[SizeBin], marks: Sequence[PrintedMark]
) -> Any:
    """The same of one stage, a line a bin."""
    panel = {which.name: _pooled_errors(samples, stage, which) for which in bins}
    return ecdf_panels([panel], [stage], "estimated / real size", marks)


HFSP_FIGURES: Vocabulary = {
    **run_figure_vocabulary(share_in_bin, peak_in_burst),
    **sample_figure_vocabulary(
        error_quantile,
        share_of_errors,
        most_arrivals,
        orders_of_magnitude,
        share_near_job_mean,
        share_near_real_size,
        share_of_short_maps,
    ),
    **chart_vocabulary(
        error_ecdfs,
        errors_by_bin,
        response_ratio_over_gaps,
        length_ecdfs,
        relative_task_length_ecdfs,
    ),
}
