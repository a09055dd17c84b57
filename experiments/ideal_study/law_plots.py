"""The picture of theory: mean response over the load, lines by formula, points as played."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from callboard.experiments.ideal_study.law_systems import LawSystem, ServedBy, exact_mean
from callboard.experiments.ideal_study.law_verdicts import LawLine
from callboard.experiments.pages.charts.chart_style import (
    LINE_STYLES,
    LineStyle,
    check_matplotlib,
    house_style,
    new_figure,
    plain_log_axis,
    save_chart,
    shared_legend,
)

LAW_NAMES = {"fifo": "FCFS", "las": "FB", "gittins": "Gittins"}
"""Theory's names, where they are not ours."""

_CURVE = 25
"""Loads at which a line is computed."""


def discipline_label(served: ServedBy) -> str:
    """As in `FCFS` or `PSJF-E, σ 0.5`."""
    name = LAW_NAMES.get(served.discipline, served.discipline.upper())
    return f"{name}-E, σ {served.sigma:g}" if served.sigma else name


def draw_laws(lines: Sequence[LawLine], path: Path) -> None:
    """Mean response, as a multiple of the mean size, over the load: a panel a law.  Raises
    `MissingExtraError` without matplotlib.
    """
    check_matplotlib()
    laws = list(dict.fromkeys(line.system.law for line in lines))
    with house_style():
        figure = new_figure(1.0 + 3.2 * len(laws), 3.9)
        panels = figure.subplots(1, len(laws), sharey=True, squeeze=False)[0]
        for axes, law in zip(panels, laws, strict=True):
            _draw_law_panel(axes, [line for line in lines if line.system.law == law])
        panels[0].set_ylabel("mean response / mean size")
        handles, labels = panels[0].get_legend_handles_labels()
        shared_legend(figure, handles, labels)
    save_chart(figure, path)


def _draw_law_panel(axes: Any, lines: Sequence[LawLine]) -> None:
    for served in dict.fromkeys(line.served for line in lines):
        _draw_response_curve(
            axes, [line for line in lines if line.served == served], _line_style(served)
        )
    axes.set_title(lines[0].system.law)
    axes.set_xlabel("load ρ")
    axes.set_yscale("log")
    plain_log_axis(axes.yaxis)
    axes.grid(axis="y", which="major")


def _draw_response_curve(axes: Any, lines: Sequence[LawLine], look: LineStyle) -> None:
    """The exact line, and what was played: filled where it is equal within the margin, hollow where
    it is not told.
    """
    system, size = lines[0].system, lines[0].system.single_server.moment(1)
    loads = [line.system.load for line in lines]
    at = 1 - np.geomspace(1 - min(loads), 1 - max(loads), _CURVE)  # closer where lines are steep
    exact = [
        exact_mean(LawSystem(system.law, float(x), system.servers), lines[0].served) or np.nan
        for x in at
    ]
    axes.plot(
        at,
        np.array(exact) / size,
        color=look.colour,
        linestyle=look.dashes,
        linewidth=1.2,
        marker=look.marker,  # for the legend
        markersize=4.5,
        markevery=[],
        label=look.label,
    )
    for line in lines:
        axes.errorbar(
            [line.system.load],
            [line.played.mean / size],
            yerr=[(line.played.half or 0.0) / size],
            fmt=look.marker,
            color=look.colour,
            markersize=4.5,
            markerfacecolor=look.colour if line.is_equal else "white",
            elinewidth=1,
        )


def _line_style(served: ServedBy) -> LineStyle:
    look = LINE_STYLES[served.discipline]._replace(label=discipline_label(served))
    return look._replace(dashes=(0, (4, 2))) if served.sigma else look._replace(dashes="solid")
