"""The report's figures, drawn by matplotlib (the extra `ideal`), which nothing else needs."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from callboard.experiments.ideal_study.cells import Point
from callboard.experiments.ideal_study.results import Results
from callboard.experiments.ideal_study.study import FigureSpec
from callboard.experiments.ideal_study.swim import Trace
from callboard.experiments.pages.charts.chart_style import (
    LINE_STYLES,
    LineStyle,
    check_matplotlib,
    house_style,
    new_figure,
    save_chart,
)
from callboard.scheduler.ideal import BLIND

AXES = {"sigma": "error σ", "load": "load", "dn": "d/n"}

_LARGER = {"font.size": 9, "text.parse_math": True}
"""These figures are wider than a paper's column, and have powers of ten at their axes."""


def draw_figures(results: Results, folder: Path, formats: Sequence[str]) -> Iterator[Path]:
    """Draw the study's figures into `folder`.  Raises `MissingExtraError` without matplotlib."""
    check_matplotlib()
    by_name = {trace.name: trace for trace in results.study.traces}
    for spec in results.study.figures:
        traces = [by_name[name] for name in spec.traces if name in by_name]
        with house_style(_LARGER):
            figure = (
                _box_figure(results, spec, traces[0])
                if spec.axis == "sigma"
                else _line_figure(results, spec, traces)
            )
        for ending in formats:
            path = folder / f"{spec.stem}.{ending}"
            save_chart(figure, path, _LARGER)
            yield path


def _box_figure(results: Results, spec: FigureSpec, trace: Trace) -> Any:
    figure = new_figure(6.4, 3.8)
    axes = figure.add_subplot()
    disciplines = results.study.disciplines
    draw_sojourn_boxes(axes, disciplines, spec.points, partial(results.mean_sojourns, trace))
    _label_panel(axes, spec, trace)
    _draw_legend(figure, axes, [LINE_STYLES[name] for name in disciplines])
    return figure


def draw_sojourn_boxes(
    axes: Any,
    disciplines: Sequence[str],
    points: Sequence[Point],
    sojourns: Callable[[str, Point], list[float]],
) -> None:
    """Boxes of the runs' mean sojourns, a group a sigma; blind disciplines as level lines."""
    sighted = [name for name in disciplines if name not in BLIND]
    width = 0.8 / max(1, len(sighted))
    for k, name in enumerate(sighted):
        rows = [sojourns(name, point) for point in points]
        places = [g + (k - (len(sighted) - 1) / 2) * width for g in range(len(rows))]
        _draw_discipline_boxes(axes, rows, places, 0.82 * width, LINE_STYLES[name])
    for name in disciplines:
        if name in BLIND:
            look = LINE_STYLES[name]
            level = sojourns(name, points[0])[0]
            axes.axhline(level, color=look.colour, linestyle=look.dashes, label=look.label)
    axes.set_xticks(range(len(points)), [f"{point.sigma:g}" for point in points])
    axes.set_xlim(-0.55, len(points) - 0.45)
    axes.tick_params(axis="x", length=0)


def _draw_discipline_boxes(
    axes: Any, rows: list[list[float]], places: list[float], width: float, look: LineStyle
) -> None:
    """Quartiles and median; whiskers to the 5th and 95th percentile; the other runs as dots."""
    drawn = axes.boxplot(
        rows, positions=places, widths=width, whis=(5, 95), patch_artist=True, manage_ticks=False
    )
    for box in drawn["boxes"]:
        box.set(facecolor=look.colour, edgecolor=look.colour, alpha=0.55)
    for part in ("whiskers", "caps"):
        for line in drawn[part]:
            line.set(color=look.colour, linewidth=1)
    for line in drawn["medians"]:
        line.set(color="black", linewidth=1.3)
    for line in drawn["fliers"]:
        line.set(marker=".", markersize=3, markeredgecolor=look.colour, alpha=0.7)
    drawn["boxes"][0].set_label(look.label)


def _line_figure(results: Results, spec: FigureSpec, traces: list[Trace]) -> Any:
    """The mean over the runs of the mean sojourn, a panel a trace on one common scale."""
    figure = new_figure(1.2 + 3.1 * len(traces), 3.5)
    panels = figure.subplots(1, len(traces), sharey=True, squeeze=False)[0]
    looks = _line_looks(results.study.disciplines, spec.points)
    for axes, trace in zip(panels, traces, strict=True):
        for name, look in looks.items():
            _draw_mean_line(axes, results, spec, trace, name, look)
        _label_panel(axes, spec, trace)
    for axes in panels[1:]:
        axes.set_ylabel("")
    _draw_legend(figure, panels[0], list(looks.values()))
    return figure


def _line_looks(disciplines: Sequence[str], points: tuple[Point, ...]) -> dict[str, LineStyle]:
    """What to draw, and how.  Without errors nobody is late, so all FSPs are one line, FSP."""
    looks = {name: LINE_STYLES[name] for name in disciplines}
    fsp = [name for name in disciplines if name.startswith("fsp")]
    if all(point.sigma == 0 for point in points) and fsp:
        looks = {name: look for name, look in looks.items() if name not in fsp[:-1]}
        looks[fsp[-1]] = LINE_STYLES["fsp+ps"]._replace(label="FSP")
    return looks


def _fixed_parameters(spec: FigureSpec) -> str:
    """What all points of the figure share, for its title."""
    point = spec.points[0]
    shown = {
        "load": f"load {point.load:g}",
        "dn": f"d/n {point.dn:g}",
        "sigma": f"σ {point.sigma:g}",
    }
    return ", ".join(text for name, text in shown.items() if name != spec.axis)


def _draw_mean_line(
    axes: Any, results: Results, spec: FigureSpec, trace: Trace, name: str, look: LineStyle
) -> None:
    at = [getattr(point, spec.axis) for point in spec.points]
    axes.plot(
        at,
        [fmean(results.mean_sojourns(trace, name, point)) for point in spec.points],
        color=look.colour,
        linestyle=look.dashes,
        marker=look.marker,
        markersize=4,
        markevery=max(1, len(at) // 10),
        linewidth=1.3,
        label=look.label,
    )


def _label_panel(axes: Any, spec: FigureSpec, trace: Trace) -> None:
    axes.set_title(f"{trace.name}, {_fixed_parameters(spec)}", fontsize=9, loc="left")
    axes.set_yscale("log")
    axes.grid(axis="y", which="major", linewidth=0.5, color="#cccccc")
    axes.set_xlabel(AXES[spec.axis])
    axes.set_ylabel("mean sojourn (s)")


def _draw_legend(figure: Any, axes: Any, looks: list[LineStyle]) -> None:
    """The legend beside the panels, in the order of `looks`."""
    handles = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    labels = [look.label for look in looks]
    figure.legend([handles[label] for label in labels], labels, loc="outside right upper")
