"""One figure of several runs, side by side."""

from collections.abc import Sequence
from typing import Any

from callboard.experiments.pages.charts.chart_run import ChartRun, NothingToDraw, runs_title
from callboard.experiments.pages.charts.chart_style import (
    COLUMN_INCHES,
    few_ticks,
    house_style,
    new_figure,
    plain_axis,
)
from callboard.experiments.pages.charts.job_charts import run_looks
from callboard.experiments.pages.charts.measures import MEASURES, Measure
from callboard.experiments.run.run_result import RunResult


def measure_chart(runs: Sequence[ChartRun], measure: Measure = MEASURES["mean"]) -> Any:
    """A bar a run, from 0, with its figure at the end; NothingToDraw if no run has it."""
    values = [_measured_value(run, measure) for run in runs]
    if all(value is None for value in values):
        raise NothingToDraw(measure.missing_in_words or "no run has it")
    with house_style():
        figure = new_figure(COLUMN_INCHES, 0.75 + 0.3 * len(runs))
        axes = figure.add_subplot()
        for row, (value, look) in enumerate(zip(values, run_looks(runs), strict=True)):
            _draw_bar(axes, row, value, look.colour)
        axes.set_yticks(range(len(runs)), [run.label for run in runs])
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(len(runs) - 0.4, -0.6)
        axes.set_xlim(0, 1.25 * max(value or 0 for value in values) or 1)
        plain_axis(axes.xaxis)
        few_ticks(axes.xaxis)
        axes.set_xlabel(measure.label)
        axes.set_title(runs_title(runs))
    return figure


def _measured_value(run: ChartRun, measure: Measure) -> float | None:
    if measure.of_summary is not None:
        return measure.of_summary(run.summary)
    return measure.figure(RunResult.of_recorded_run(run.summary, run.jobs, run.solo_ms))


def _draw_bar(axes: Any, row: int, value: float | None, colour: str) -> None:
    axes.barh(row, value or 0, height=0.6, color=colour)
    told = "none" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    axes.annotate(told, (value or 0, row), (3, 0), textcoords="offset points", va="center")
