"""What became of the jobs: response times, slowdown by size, how many were there at once."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from callboard.experiments.pages.charts.chart_run import (
    ChartRun,
    NothingToDraw,
    latest_end_ms,
    runs_title,
)
from callboard.experiments.pages.charts.chart_style import (
    COLUMN_INCHES,
    LineStyle,
    house_style,
    new_figure,
    plain_log_axis,
    policy_looks,
    shared_legend,
    whole_ticks,
)
from callboard.experiments.pages.charts.time_windows import (
    set_time_axis,
    window_edges,
    window_means,
)
from callboard.journal.figures.slowdown import slowdowns
from callboard.journal.figures.steps import Steps
from callboard.journal.figures.tables import Flags, Ints, JobColumns
from callboard.journal.tell.time_format import short_duration
from callboard.scheduler.text.quantities import count

_STEPS_MAX = 200
"""A line of more steps is drawn as means over windows."""

_WINDOWS = 150


class SizeClass(NamedTuple):
    """Jobs of `least` to `most` tasks."""

    least: int
    most: float

    @property
    def label(self) -> str:
        if self.most == self.least:
            return f"{self.least}"
        return f"{self.least:,}–{self.most:,}" if self.most < np.inf else f"≥ {self.least:,}"

    def has(self, tasks: Ints) -> Flags:
        return (tasks >= self.least) & (tasks <= self.most)


SIZE_CLASSES = (
    SizeClass(1, 1),
    SizeClass(2, 10),
    SizeClass(11, 100),
    SizeClass(101, 1000),
    SizeClass(1001, np.inf),
)
"""Classes of jobs by their number of tasks, a power of ten each."""


def run_looks(runs: Sequence[ChartRun]) -> list[LineStyle]:
    """The look of each run, which it has in every chart of these runs."""
    return policy_looks([run.label for run in runs], [run.policy for run in runs])


def ecdf_chart(runs: Sequence[ChartRun]) -> Any:
    """Which share of the jobs submitted was done how long after their submission.

    A line ends below 1 if jobs failed, were killed or had not ended.  NothingToDraw if no job has
    completed in any run.
    """
    refuse_without_jobs(runs)
    with house_style():
        figure = new_figure(COLUMN_INCHES, 2.5)
        axes = figure.add_subplot()
        looks = run_looks(runs)
        for place, (run, look) in enumerate(zip(runs, looks, strict=True)):
            _draw_ecdf(axes, run, look, place)
        axes.set_xscale("log")
        plain_log_axis(axes.xaxis)
        axes.set_ylim(0, 1.02)
        axes.grid(axis="both")
        axes.set_xlabel("response time (s)")
        axes.set_ylabel("share of the jobs submitted")
        axes.set_title(runs_title(runs))
        shared_legend(figure, *axes.get_legend_handles_labels())
    return figure


def refuse_without_jobs(runs: Sequence[ChartRun]) -> None:
    """NothingToDraw if no job has completed in any run."""
    if not any(run.jobs.completed.any() for run in runs):
        raise NothingToDraw("no job has completed")


def _draw_ecdf(axes: Any, run: ChartRun, look: LineStyle, place: int) -> None:
    jobs = run.jobs
    done = np.sort(jobs.response_ms[jobs.completed]) / 1000
    at, share = ecdf_steps(done, len(jobs.job))
    label = look.label
    if len(done) < len(jobs.job):
        label += f" ({len(done):,} of {count(len(jobs.job), 'job')})"
    (line,) = axes.step(at, share, where="post", label=label)
    style_line(line, look, place)


def ecdf_steps(
    ordered: NDArray[np.float64], of: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The corners of a line that rises from 0 at the first of these values by a step for each."""
    at = np.concatenate((ordered[:1], ordered))
    return at, np.arange(len(at)) / max(of, 1)


def style_line(line: Any, look: LineStyle, place: int) -> None:
    """Draw a line in the look; markers stand apart from those of the other lines."""
    line.set(color=look.colour, linestyle=look.dashes, linewidth=1.3)
    line.set(marker=look.marker, markersize=4, markevery=(0.03 + 0.05 * place % 0.2, 0.2))


def slowdown_chart(runs: Sequence[ChartRun]) -> Any:
    """Response time over that of the job alone on the empty cluster, by the number of its tasks.

    Of the completed jobs of a class: the median, and a bar from the 5th to the 95th percentile.
    NothingToDraw if no job has completed; ValueError where a run has no `solo_ms`.
    """
    refuse_without_jobs(runs)
    classes = [
        each for each in SIZE_CLASSES if any(_number_in_class(run.jobs, each) for run in runs)
    ]
    with house_style():
        figure = new_figure(COLUMN_INCHES, 2.5)
        axes = figure.add_subplot()
        looks = run_looks(runs)
        for place, (run, look) in enumerate(zip(runs, looks, strict=True)):
            shift = (place - (len(runs) - 1) / 2) * 0.7 / len(runs)
            _draw_slowdowns(axes, run, look, classes, shift)
        axes.set_yscale("log")
        plain_log_axis(axes.yaxis)
        axes.grid(axis="y")
        axes.set_xlim(-0.6, len(classes) - 0.4)
        axes.set_xticks(range(len(classes)), [_class_label(runs, each) for each in classes])
        axes.tick_params(axis="x", length=0)
        axes.set_xlabel("tasks of the job (and how many jobs)")
        axes.set_ylabel("slowdown (×)")
        axes.set_title(runs_title(runs))
        shared_legend(figure, *axes.get_legend_handles_labels())
    return figure


def _number_in_class(jobs: JobColumns, size: SizeClass) -> int:
    """How many completed jobs are in the class."""
    return int((size.has(jobs.maps + jobs.reduces) & jobs.completed).sum())


def _class_label(runs: Sequence[ChartRun], size: SizeClass) -> str:
    """The class, and how many jobs it has; the most of all runs, which mostly agree."""
    return f"{size.label}\n({max(_number_in_class(run.jobs, size) for run in runs):,})"


def _draw_slowdowns(
    axes: Any, run: ChartRun, look: LineStyle, classes: Sequence[SizeClass], shift: float
) -> None:
    if run.solo_ms is None:
        raise ValueError(f"{run.label}: how long its jobs take alone is not known")
    jobs = run.jobs
    alone_ms = dict(zip(jobs.job.tolist(), run.solo_ms.tolist(), strict=True))
    found = slowdowns(jobs, alone_ms).slowdown
    tasks = (jobs.maps + jobs.reduces)[jobs.completed]
    rows = [(at + shift, found[size.has(tasks)]) for at, size in enumerate(classes)]
    drawn = [(at, *np.percentile(values, (50, 5, 95))) for at, values in rows if len(values)]
    at, middle, low, high = np.array(drawn).reshape(-1, 4).T
    axes.errorbar(
        at,
        middle,
        yerr=(middle - low, high - middle),
        color=look.colour,
        marker=look.marker,
        linestyle="none",
        markersize=4,
        elinewidth=1.1,
        capsize=1.8,
        label=look.label,
    )


def jobs_chart(runs: Sequence[ChartRun]) -> Any:
    """How many jobs were in the system over time.  NothingToDraw if none was ever submitted, and
    for runs of no length.
    """
    if not any(len(run.jobs.job) for run in runs):
        raise NothingToDraw("no job was submitted")
    until_ms = latest_end_ms(runs)
    windows = _WINDOWS if max(len(run.in_system.times) for run in runs) > _STEPS_MAX else 0
    with house_style():
        figure = new_figure(COLUMN_INCHES, 2.3)
        axes = figure.add_subplot()
        unit, edges = set_time_axis(axes, until_ms), window_edges(until_ms, windows)
        for place, (run, look) in enumerate(zip(runs, run_looks(runs), strict=True)):
            at, counts = _jobs_line(run.in_system, edges)
            (line,) = axes.step(at / unit.ms, counts, where="post", label=look.label)
            style_line(line, look, place)
        axes.set_ylim(0)
        axes.grid(axis="y")
        whole_ticks(axes.yaxis)
        means = f"\n(means over {short_duration(until_ms // windows)})" if windows else ""
        axes.set_ylabel(f"jobs in the system{means}")
        axes.set_title(runs_title(runs))
        shared_legend(figure, *axes.get_legend_handles_labels())
    return figure


def _jobs_line(
    steps: Steps, edges: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """When the number changes and what it is from then on; means over windows where `edges` have
    any.
    """
    if len(edges) > 1:
        means = window_means(steps, edges)
        return edges[:-1][~np.isnan(means)], means[~np.isnan(means)]
    at = np.append(steps.times, steps.until_ms).astype(np.float64)
    return at, np.append(steps.counts, steps.counts[-1]).astype(np.float64)
