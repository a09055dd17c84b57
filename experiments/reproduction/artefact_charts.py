"""What artefacts are drawn as: ours in the house style, the paper's printed numbers as marks."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from callboard.experiments.many.statistics import median_interval
from callboard.experiments.pages.charts.chart_style import (
    BLUE,
    COLUMN_INCHES,
    INK,
    PAGE_INCHES,
    LineStyle,
    house_style,
    new_figure,
    percent_ticks,
    plain_log_axis,
    policy_looks,
    shared_legend,
    whole_ticks,
)
from callboard.experiments.pages.charts.job_charts import ecdf_steps
from callboard.experiments.reproduction.artefact import AnyArtefact
from callboard.experiments.reproduction.evidence import Runs
from callboard.experiments.reproduction.outcome import QuantityOutcome
from callboard.experiments.reproduction.run_figures import (
    EVERY_SIZE,
    RunFigure,
    SizeBin,
    Values,
    in_system,
    pooled_values,
)

PrintedMark = tuple[int, float, float]
"""A number of the paper: its panel, and where it is in it."""

MARK_LABEL = "printed"


def draw_printed_marks(axes: Any, x: Sequence[float], y: Sequence[float]) -> None:
    """The paper's numbers."""
    axes.plot(
        x, y, "D", color=INK, markersize=5, markerfacecolor="none", label=MARK_LABEL, zorder=5
    )


def agreement_chart(artefact: AnyArtefact, found: Sequence[QuantityOutcome]) -> Any:
    """Ours over the paper's number, for every quantity that has one, with its interval."""
    pairs = zip(artefact.quantities, found, strict=True)
    rows = [
        (quantity.label, quantity.printed, each)
        for quantity, each in pairs
        if quantity.printed and each.ours and not quantity.exact
    ]
    with house_style():
        figure = new_figure(PAGE_INCHES, 0.55 + 0.24 * len(rows))
        axes = figure.add_subplot()
        for place, (_, printed, each) in enumerate(rows):
            assert each.ours is not None
            axes.plot([1], [place], "D", color=INK, markersize=5, markerfacecolor="none")
            ends = [(each.ours if end is None else end) / printed for end in (each.low, each.high)]
            axes.plot(ends, [place, place], color=BLUE, linewidth=1.6)
            axes.plot([each.ours / printed], [place], "o", color=BLUE, markersize=4)
        axes.axvline(1, color=INK, linewidth=0.6, zorder=0)
        axes.set_xscale("log")
        plain_log_axis(axes.xaxis)
        low, high = axes.get_xlim()
        axes.set_xlim(min(low, 0.5), max(high, 2.0))
        axes.set_yticks(range(len(rows)), [label for label, *_ in rows])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xlabel("ours / printed: median and 95 % interval over the seeds; ◇ is the print")
        axes.grid(axis="x")
    return figure


def strip_chart(
    samples: Sequence[Runs],
    cells: Sequence[str],
    figure_of: RunFigure,
    label: str,
    *,
    log: bool = False,
) -> Any:
    """A figure of each cell: a mark a seed, and their median as a line."""
    with house_style():
        figure = new_figure(PAGE_INCHES, 2.4)
        axes = figure.add_subplot()
        looks = policy_looks(cells, [cell.split()[-1] for cell in cells])
        for place, (cell, look) in enumerate(
            zip(cells, _one_look_per_policy(cells, looks), strict=True)
        ):
            values = [value for runs in samples if (value := figure_of(runs[cell])) is not None]
            at = [place] * len(values)
            axes.plot(at, values, look.marker, color=look.colour, alpha=0.5, markersize=4)
            if values:
                axes.plot([place - 0.3, place + 0.3], [np.median(values)] * 2, color=look.colour)
        axes.set_xticks(range(len(cells)), [cell.replace(", ", "\n") for cell in cells])
        axes.set_ylabel(label)
        if log:
            axes.set_yscale("log")
            plain_log_axis(axes.yaxis)
        axes.grid(axis="y")
        axes.set_title("a mark for each seed; the line is their median")
    return figure


def _one_look_per_policy(cells: Sequence[str], looks: Sequence[LineStyle]) -> list[LineStyle]:
    """The look of the first cell of the same policy for all of them."""
    first: dict[str, LineStyle] = {}
    return [
        first.setdefault(cell.split()[-1], look) for cell, look in zip(cells, looks, strict=True)
    ]


def response_ecdfs(
    samples: Sequence[Runs],
    cells: Sequence[str],
    bins: Sequence[SizeBin],
    marks: Sequence[PrintedMark] = (),
) -> Any:
    """The share of each bin's jobs done within a time, all seeds together; a panel a bin."""
    panels = [
        {cell: pooled_values(samples, cell, which.responses_s) for cell in cells} for which in bins
    ]
    return ecdf_panels(panels, [which.name for which in bins], "response time (s)", marks)


def slowdown_ecdfs(samples: Sequence[Runs], kinds: Sequence[str]) -> Any:
    """The share of jobs with at most this slowdown; a panel a workload."""
    panels = [
        {
            policy: pooled_values(samples, f"{kind} {policy}", EVERY_SIZE.slowdowns)
            for policy in ("hfsp", "fair")
        }
        for kind in kinds
    ]
    return ecdf_panels(panels, [kind.upper() for kind in kinds], "slowdown (×)")


def slowdown_ecdfs_of_cells(samples: Sequence[Runs], cells: Sequence[str]) -> Any:
    """The share of jobs with at most this slowdown, cell by cell."""
    panel = {cell: pooled_values(samples, cell, EVERY_SIZE.slowdowns) for cell in cells}
    return ecdf_panels([panel], [""], "slowdown (×)")


def ecdf_panels(
    panels: Sequence[dict[str, Values]],
    titles: Sequence[str],
    label: str,
    marks: Sequence[PrintedMark] = (),
) -> Any:
    """The share of values up to each, a line a name, a panel a title."""
    with house_style():
        figure = new_figure(COLUMN_INCHES if len(panels) == 1 else PAGE_INCHES, 2.5)
        rows = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for place, (axes, lines, title) in enumerate(zip(rows, panels, titles, strict=True)):
            looks = policy_looks(list(lines), [name.split()[-1] for name in lines])
            for look, values in zip(looks, lines.values(), strict=True):
                at, share = ecdf_steps(np.sort(values), len(values))
                axes.step(
                    at,
                    share,
                    where="post",
                    color=look.colour,
                    linestyle=look.dashes,
                    label=look.label,
                )
            mine = [mark for mark in marks if mark[0] == place]
            if mine:
                draw_printed_marks(axes, [x for _, x, _ in mine], [y for *_, y in mine])
            axes.set_xscale("log")
            plain_log_axis(axes.xaxis)
            axes.set_xlabel(label)
            axes.set_title(title)
            axes.grid()
        percent_ticks(rows[0].yaxis)
        rows[0].set_ylabel("share of the jobs")
        shared_legend(figure, *rows[0].get_legend_handles_labels())
    return figure


def jobs_in_system(samples: Sequence[Runs], cells: Sequence[str]) -> Any:
    """The number of jobs in the system over time, of the first seed."""
    with house_style():
        figure = new_figure(COLUMN_INCHES, 2.4)
        axes = figure.add_subplot()
        looks = policy_looks(cells, [cell.split()[-1] for cell in cells])
        for cell, look in zip(cells, looks, strict=True):
            inside = in_system(samples[0][cell])
            axes.step(
                inside.times / 3_600_000,
                inside.counts,
                where="post",
                color=look.colour,
                linestyle=look.dashes,
                label=look.label,
            )
        axes.set_xlabel("time (h)")
        axes.set_ylabel("jobs in the system")
        axes.set_ylim(0)
        whole_ticks(axes.yaxis)
        axes.grid(axis="y")
        axes.set_title(f"seed {samples[0][cells[0]].result.summary.seed}")
        shared_legend(figure, *axes.get_legend_handles_labels())
    return figure


_MANY_POINTS = 20
"""A line of as many points or more is a formula's, and has no markers."""


class Series(NamedTuple):
    """A line over what is varied: medians with intervals."""

    label: str
    points: Sequence[tuple[float, Sequence[float | None]]]


def lines_over(
    series: Sequence[Series],
    x_label: str,
    y_label: str,
    *,
    log: bool = False,
    share: bool = False,
) -> Any:
    """Medians over what is varied, from the second least to the second greatest value of the
    seeds as a band.
    """
    with house_style():
        figure = new_figure(COLUMN_INCHES, 2.6)
        axes = figure.add_subplot()
        looks = policy_looks([each.label for each in series])
        for each, look in zip(series, looks, strict=True):
            at = [x for x, _ in each.points]
            found = [median_interval(values) for _, values in each.points]
            axes.plot(
                at,
                [one.median for one in found],
                color=look.colour,
                linestyle=look.dashes,
                marker=look.marker if len(at) < _MANY_POINTS else "",
                markersize=4,
                label=look.label,
            )
            low = [one.median if one.low is None else one.low for one in found]
            high = [one.median if one.high is None else one.high for one in found]
            axes.fill_between(at, low, high, color=look.colour, alpha=0.15, linewidth=0)
        if log:
            axes.set_yscale("log")
            plain_log_axis(axes.yaxis)
        if share:
            percent_ticks(axes.yaxis)
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        axes.grid(axis="y")
        shared_legend(figure, *axes.get_legend_handles_labels())
    return figure
