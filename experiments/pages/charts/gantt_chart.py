"""What each slot did when: bars where slots are few, else how busy each node was."""

from collections.abc import Callable, Sequence
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
    BLUE,
    BROWN,
    BUSY_COLOURS,
    DOWN,
    GREEN,
    GREY,
    GRID,
    INK,
    ORANGE,
    PAGE_INCHES,
    PINK,
    SKY,
    SLATE,
    VERMILION,
    chart_text,
    house_style,
    new_figure,
    shared_legend,
)
from callboard.experiments.pages.charts.time_windows import busy_in_windows, set_time_axis
from callboard.journal.figures import tables
from callboard.journal.figures.slot_time import slots_of
from callboard.journal.figures.tables import Flags, Ints
from callboard.journal.replay.cluster_state import slot_offsets
from callboard.journal.run_records import NEVER
from callboard.journal.tell.names import node_name, slot_kind_name
from callboard.scheduler.model import KINDS, SlotKind

_BAR_ROWS_MAX = 64
_BARS_MAX = 4000
"""With more slots or more bars in a run, nodes are drawn by how busy they were."""

_RASTER_FROM = 1500
"""As many bars are drawn as pixels."""

_HEAT_ROWS_MAX = 100
_HEAT_WINDOWS = 400

GROUP_COLOURS = (BLUE, ORANGE, GREEN, PINK, SKY, VERMILION, BROWN, SLATE)
_GROUP_HATCHES = ("", "", "", "....", "----", "||||", "xxxx", "++++")


class SlotBars(NamedTuple):
    """A run's occupancies: the slot's row, when, by which attempt (its row), and whether the
    attempt failed or was killed.
    """

    row: Ints
    began_ms: Ints
    ended_ms: Ints
    attempt: Ints
    lost: Flags


def gantt_chart(runs: Sequence[ChartRun]) -> Any:
    """What each slot did, a panel a run: bars by job, by pool or by kind of task, whichever has few
    enough colours; in a large cluster the share of each node's slots that was held.

    NothingToDraw if no attempt ever held a slot.
    """
    bars = [slot_bars(run) for run in runs]
    if not any(len(each.row) for each in bars):
        raise NothingToDraw("no attempt has held a slot")
    small = all(
        _slot_count(run) <= _BAR_ROWS_MAX and len(each.row) <= _BARS_MAX
        for run, each in zip(runs, bars, strict=True)
    )
    return _bar_figure(runs, bars) if small else _heat_figure(runs, bars)


def _slot_count(run: ChartRun) -> int:
    return sum(run.slot_history.slots(kind) for kind in KINDS)


def slot_bars(run: ChartRun) -> SlotBars:
    """When attempts held the slots of a run, a bar each."""
    attempts, held = run.slot_history.attempts, run.slot_history.attempts.occupancies
    first = np.array(slot_offsets(run.slot_history.nodes), np.int64)
    outcome = np.where(attempts.closed != NEVER, attempts.closed, attempts.ended)
    lost = (outcome == tables.FAILED) | (outcome == tables.KILLED)
    return SlotBars(
        row=first[attempts.node[held.place]] + held.slot,
        began_ms=held.began_ms,
        ended_ms=attempts.occupancy_ends_ms(run.horizon_ms),
        attempt=held.place,
        lost=lost[held.place],
    )


# Bars.


def _bar_figure(runs: Sequence[ChartRun], bars: Sequence[SlotBars]) -> Any:
    heights = [max(_slot_count(run) * 0.085, 0.6) for run in runs]
    groups, name_of = colour_grouping(runs)
    until_ms = latest_end_ms(runs)
    with house_style():
        figure = new_figure(PAGE_INCHES, sum(heights) + 0.35 * len(runs) + 0.8)
        panels = figure.subplots(len(runs), 1, sharex=True, squeeze=False, height_ratios=heights)[
            :, 0
        ]
        for axes, run, each in zip(panels, runs, bars, strict=True):
            unit = set_time_axis(axes, until_ms)
            _draw_down_times(axes, run, unit.ms, slot_offsets(run.slot_history.nodes))
            _draw_bars(axes, each, groups, name_of(run), unit.ms)
            _name_rows(axes, run)
        _title_panels(panels, runs)
        _bar_legend(figure, groups, bars, runs)
    return figure


def _title_panels(panels: Sequence[Any], runs: Sequence[ChartRun]) -> None:
    """What panels are of; above the first also what all have in common."""
    common = "; ".join(filter(None, (runs_title(runs), _slot_order_words(runs))))
    for axes, run in zip(panels, runs, strict=True):
        axes.set_title(f"{run.label}: {common}" if axes is panels[0] and common else run.label)


def _slot_order_words(runs: Sequence[ChartRun]) -> str:
    """Which rows of a node are which, where it has both kinds of slots."""
    return "of each node map slots above reduce slots" if has_both_kinds(runs) else ""


def has_both_kinds(runs: Sequence[ChartRun]) -> bool:
    """Whether some node has map slots and reduce slots."""
    nodes = [node for run in runs for node in run.slot_history.nodes]
    return any(all(slots_of(node, kind) for kind in KINDS) for node in nodes)


_NameOf = Callable[[ChartRun], list[str]]
"""The group of each of a run's attempts."""


def colour_grouping(runs: Sequence[ChartRun]) -> tuple[list[str], _NameOf]:
    """What colours tell: jobs if they are few, else pools, else users, else maps from reduces."""
    for name_of in (_jobs_of_attempts, _pools_of_attempts, _users_of_attempts):
        groups = list(dict.fromkeys(name for run in runs for name in name_of(run)))
        if 1 < len(groups) <= len(GROUP_COLOURS):
            return groups, name_of
    return [slot_kind_name(kind) for kind in KINDS], _kinds_of_attempts


def _jobs_of_attempts(run: ChartRun) -> list[str]:
    return [run.jobs.name[row] for row in _job_row_of_attempts(run)]


def _pools_of_attempts(run: ChartRun) -> list[str]:
    return [run.jobs.pool[row] or "default" for row in _job_row_of_attempts(run)]


def _users_of_attempts(run: ChartRun) -> list[str]:
    return [run.jobs.user[row] or "nobody" for row in _job_row_of_attempts(run)]


def _kinds_of_attempts(run: ChartRun) -> list[str]:
    return [slot_kind_name(SlotKind(kind)) for kind in run.slot_history.attempts.kind.tolist()]


def _job_row_of_attempts(run: ChartRun) -> list[int]:
    return [int(row) for row in np.searchsorted(run.jobs.job, run.slot_history.attempts.job)]


def _draw_bars(
    axes: Any, bars: SlotBars, groups: Sequence[str], names: Sequence[str], unit_ms: int
) -> None:
    """A rectangle for each time that an attempt held a slot."""
    from matplotlib.collections import PolyCollection

    began, ended = bars.began_ms / unit_ms, bars.ended_ms / unit_ms
    low, high = bars.row - 0.42, bars.row + 0.42
    corners = np.stack(
        [
            np.stack(each, axis=1)
            for each in ((began, low), (ended, low), (ended, high), (began, high))
        ],
        axis=1,
    )
    group = np.array([groups.index(name) for name in names], np.int64)[bars.attempt]
    drawn = [(group == at, colour, hatch) for at, (colour, hatch) in enumerate(_group_looks())]
    drawn.append((bars.lost, "none", "///////"))
    for mine, colour, hatch in drawn:
        axes.add_collection(
            PolyCollection(
                corners[mine],
                facecolor=colour,
                hatch=hatch or None,
                edgecolor="white" if colour != "none" else INK,
                linewidth=0.3,
                rasterized=len(bars.row) > _RASTER_FROM,
            )
        )


def _group_looks() -> list[tuple[str, str]]:
    return list(zip(GROUP_COLOURS, _GROUP_HATCHES, strict=True))


def _draw_down_times(axes: Any, run: ChartRun, unit_ms: int, first: Sequence[int] = ()) -> None:
    """Grey out nodes while they were down; `first` are their first rows, else each has one."""
    from matplotlib.patches import Rectangle

    for each in run.slot_history.down:
        low, high = first[each.node : each.node + 2] if len(first) else (each.node, each.node + 1)
        place = each.began_ms / unit_ms, low - 0.5
        size = (each.ended_ms - each.began_ms) / unit_ms, high - low
        axes.add_patch(
            Rectangle(place, *size, facecolor=DOWN, edgecolor=GREY, hatch="xxx", linewidth=0)
        )


def _down_node_handles(runs: Sequence[ChartRun]) -> list[Any]:
    """What the legend says of nodes that were down, if any was."""
    from matplotlib.patches import Patch

    if not any(run.slot_history.down for run in runs):
        return []
    return [Patch(facecolor=DOWN, edgecolor=GREY, hatch="xxx", linewidth=0, label="node down")]


def _name_rows(axes: Any, run: ChartRun) -> None:
    """Nodes on the y axis, with a line between any two; slots are too many to be named."""
    first = slot_offsets(run.slot_history.nodes)
    axes.set_ylim(first[-1] - 0.5, -0.5)
    every = max(1, round(len(run.slot_history.nodes) / 16))
    named = run.slot_history.nodes[::every]
    axes.set_yticks(
        [(first[each.node] + first[each.node + 1] - 1) / 2 for each in named],
        [node_name(each.node) for each in named],
    )
    axes.tick_params(axis="y", length=0)
    for edge in first[1:-1]:
        axes.axhline(edge - 0.5, color=GRID, linewidth=0.4, zorder=0)


def _bar_legend(
    figure: Any, groups: Sequence[str], bars: Sequence[SlotBars], runs: Sequence[ChartRun]
) -> None:
    from matplotlib.patches import Patch

    handles = [
        Patch(facecolor=colour, hatch=hatch or None, edgecolor="white", label=chart_text(name, 24))
        for name, (colour, hatch) in zip(groups, _group_looks(), strict=False)
    ]
    if any(each.lost.any() for each in bars):
        handles.append(
            Patch(facecolor="none", hatch="///////", edgecolor=INK, label="failed, killed or lost")
        )
    handles += _down_node_handles(runs)
    shared_legend(figure, handles, [str(handle.get_label()) for handle in handles])


# Large clusters.


def _heat_figure(runs: Sequence[ChartRun], bars: Sequence[SlotBars]) -> Any:
    """A panel a run and kind of slot."""
    until_ms = latest_end_ms(runs)
    drawn = [
        (run, each, kind)
        for run, each in zip(runs, bars, strict=True)
        for kind in KINDS
        if run.slot_history.slots(kind)
    ]
    with house_style():
        figure = new_figure(PAGE_INCHES, 0.6 + 1.5 * len(drawn))
        panels = figure.subplots(len(drawn), 1, sharex=True, squeeze=False)[:, 0]
        for axes, (run, each, kind) in zip(panels, drawn, strict=True):
            image = _draw_heat(axes, run, each, kind, until_ms)
            common = f": {runs_title(runs)}" if axes is panels[0] else ""
            axes.set_title(f"{run.label}, {slot_kind_name(kind)} slots{common}")
        bar = figure.colorbar(image, ax=list(panels), pad=0.01, aspect=30)
        bar.set_label("share of the node's slots held")
        bar.outline.set_linewidth(0.5)
        for handle in _down_node_handles(runs):
            shared_legend(figure, [handle], [handle.get_label()])
    return figure


def _draw_heat(axes: Any, run: ChartRun, bars: SlotBars, kind: SlotKind, until_ms: int) -> Any:
    """How busy each node's slots of a kind were, or those of as many neighbours together as there
    are more nodes than rows.
    """
    nodes = run.slot_history.nodes
    per_row = -(-len(nodes) // _HEAT_ROWS_MAX)
    unit = set_time_axis(axes, until_ms)
    image = axes.imshow(
        _held_shares(run, bars, kind, per_row, until_ms),
        cmap=BUSY_COLOURS,
        vmin=0,
        vmax=1,
        aspect="auto",
        interpolation="nearest",
        extent=(0, until_ms / unit.ms, -(-len(nodes) // per_row) * per_row - 0.5, -0.5),
    )
    axes.set_ylabel("node" if per_row == 1 else f"node ({per_row} a row)")
    axes.yaxis.get_major_locator().set_params(integer=True)
    _draw_down_times(axes, run, unit.ms)
    return image


def _held_shares(
    run: ChartRun, bars: SlotBars, kind: SlotKind, per_row: int, until_ms: int
) -> NDArray[np.float64]:
    """The share of the slots of a kind that was held, by row of nodes and window of time."""
    history = run.slot_history
    row_of_node = np.arange(len(history.nodes)) // per_row
    slots = np.bincount(row_of_node, weights=[slots_of(each, kind) for each in history.nodes])
    mine = history.attempts.kind[bars.attempt] == kind
    row = row_of_node[history.attempts.node[bars.attempt[mine]]]
    shape = (len(slots), _HEAT_WINDOWS)
    held = busy_in_windows(row, bars.began_ms[mine], bars.ended_ms[mine], shape, until_ms)
    shares: NDArray[np.float64] = held / np.maximum(slots, 1)[:, None]
    return shares
