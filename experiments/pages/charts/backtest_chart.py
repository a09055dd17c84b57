"""A history and what was predicted: tasks that ran at once, over time."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from callboard.experiments.pages.charts.chart_run import NothingToDraw
from callboard.experiments.pages.charts.chart_style import (
    GREY,
    PAGE_INCHES,
    chart_text,
    house_style,
    new_figure,
    policy_looks,
    shared_legend,
)
from callboard.experiments.pages.charts.time_windows import (
    set_time_axis,
    window_edges,
    window_means,
)
from callboard.journal.figures.steps import Steps
from callboard.journal.tell.names import slot_kind_name
from callboard.scheduler.model import KINDS

_WINDOWS = 160


class Occupancy(NamedTuple):
    """Who says so, and how many maps and reduces ran at once."""

    label: str
    busy: tuple[Steps, Steps]


def backtest_chart(title: str, recorded: Occupancy | None, played: Sequence[Occupancy]) -> Any:
    """A panel for maps and one for reduces: what was recorded as an area, what each policy would
    have run as a line, means over windows.  NothingToDraw for a run of no length.
    """
    every = [*([recorded] if recorded else []), *played]
    until_ms = max(each.until_ms for one in every for each in one.busy)
    kinds = [kind for kind in KINDS if any(one.busy[kind].peak() for one in every)]
    if not until_ms or not kinds:
        raise NothingToDraw("nothing ran")
    with house_style():
        figure = new_figure(PAGE_INCHES, 0.9 + 1.35 * len(kinds))
        panels = figure.subplots(len(kinds), 1, sharex=True, squeeze=False)[:, 0]
        for axes, kind in zip(panels, kinds, strict=True):
            _draw_occupancy(axes, recorded, played, kind, until_ms)
            axes.set_ylabel(f"{slot_kind_name(kind)}s at once")
            axes.set_ylim(bottom=0)
            axes.grid(axis="y")
        panels[0].set_title(chart_text(title))
        shared_legend(figure, *panels[0].get_legend_handles_labels())
    return figure


def _draw_occupancy(
    axes: Any, recorded: Occupancy | None, played: Sequence[Occupancy], kind: int, until_ms: int
) -> None:
    unit, edges = set_time_axis(axes, until_ms), window_edges(until_ms, _WINDOWS)
    middles = (edges[1:] + edges[:-1]) / 2 / unit.ms
    if recorded is not None:
        means = window_means(recorded.busy[kind], edges)
        axes.fill_between(middles, means, color=GREY, alpha=0.45, lw=0, label=recorded.label)
    looks = policy_looks([each.label for each in played])
    for each, look in zip(played, looks, strict=True):
        means = window_means(each.busy[kind], edges)
        label = chart_text(look.label)
        axes.plot(middles, means, color=look.colour, ls=look.dashes, lw=1.1, label=label)
