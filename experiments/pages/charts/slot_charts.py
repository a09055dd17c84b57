"""What the slots did: utilisation over time, where maps found their data, shares and dues."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

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
    COLUMN_INCHES,
    INK,
    ORANGE,
    PAGE_INCHES,
    SKY,
    LineStyle,
    chart_text,
    house_style,
    new_figure,
    percent_ticks,
    shared_legend,
)
from callboard.experiments.pages.charts.job_charts import (
    SIZE_CLASSES,
    run_looks,
    style_line,
)
from callboard.experiments.pages.charts.time_windows import (
    set_time_axis,
    window_edges,
    window_means,
)
from callboard.journal.replay.pool_shares import PoolShares
from callboard.journal.tell.names import LOCALITY_NAMES, slot_kind_name
from callboard.scheduler.model import KINDS, MAPS, Locality, Millis, SlotKind

_WINDOWS = 120
_SHARE_WINDOWS = 128
_TITLED_COLUMNS = 2
"""Above more columns the scenario has a line of its own, which goes on above the next ones."""

_POOLS_MAX = 6
"""Pools with a row of their own; the others share one."""

_LEVELS = (
    (Locality.NODE, BLUE, ""),
    (Locality.RACK, SKY, "///"),
    (Locality.OFF_RACK, ORANGE, "\\\\\\"),
)


def utilisation_chart(runs: Sequence[ChartRun]) -> Any:
    """Which share of the map slots and of the reduce slots was held, as means over windows of a
    120th of the time.  NothingToDraw for runs of no length.
    """
    until_ms = latest_end_ms(runs)
    kinds = [kind for kind in KINDS if any(run.slot_history.slots(kind) for run in runs)]
    with house_style():
        figure = new_figure(COLUMN_INCHES, 0.9 + 1.25 * len(kinds))
        panels = figure.subplots(len(kinds), 1, sharex=True, squeeze=False)[:, 0]
        for axes, kind in zip(panels, kinds, strict=True):
            _draw_utilisation(axes, runs, kind, until_ms)
            axes.set_ylim(0, 1.04)
            axes.grid(axis="y")
            percent_ticks(axes.yaxis)
            axes.set_ylabel(f"{slot_kind_name(kind)} slots busy")
        panels[0].set_title(runs_title(runs))
        shared_legend(figure, *panels[0].get_legend_handles_labels())
    return figure


def _draw_utilisation(axes: Any, runs: Sequence[ChartRun], kind: SlotKind, until_ms: int) -> None:
    unit, edges = set_time_axis(axes, until_ms), window_edges(until_ms, _WINDOWS)
    middles = (edges[1:] + edges[:-1]) / 2 / unit.ms
    for place, (run, look) in enumerate(zip(runs, run_looks(runs), strict=True)):
        share = window_means(
            run.slot_history.attempts.busy_slots(kind, run.horizon_ms), edges
        ) / max(run.slot_history.slots(kind), 1)
        known = ~np.isnan(share)
        (line,) = axes.plot(middles[known], share[known], label=look.label)
        style_line(line, look, place)


def locality_chart(runs: Sequence[ChartRun]) -> Any:
    """How near to their data maps were launched: of all of them, and node-local by the size of the
    job.  NothingToDraw if no map was launched.
    """
    levels = [_launches_by_size_and_level(run) for run in runs]
    if not any(each.sum() for each in levels):
        raise NothingToDraw("no map was launched")
    with house_style():
        figure = new_figure(PAGE_INCHES, 1.6 + 0.35 * max(len(runs), 3))
        whole, by_size = figure.subplots(1, 2, width_ratios=(2, 3))
        _draw_locality_levels(whole, runs, levels)
        _draw_locality_by_size(by_size, runs, levels)
        whole.set_title(runs_title(runs))
        shared_legend(figure, *whole.get_legend_handles_labels())
        shared_legend(figure, *by_size.get_legend_handles_labels(), below=True)
    return figure


def _launches_by_size_and_level(run: ChartRun) -> NDArray[np.int64]:
    """Launched maps by class of job (a row) and level of locality."""
    attempts, table = (
        run.slot_history.attempts,
        np.zeros((len(SIZE_CLASSES), len(_LEVELS)), np.int64),
    )
    tasks = run.jobs.maps + run.jobs.reduces
    of_map = attempts.stage == MAPS
    size = tasks[np.searchsorted(run.jobs.job, attempts.job[of_map])]
    for row, each in enumerate(SIZE_CLASSES):
        table[row] = np.bincount(attempts.level[of_map][each.has(size)], minlength=len(_LEVELS))
    return table


def _draw_locality_levels(
    axes: Any, runs: Sequence[ChartRun], levels: Sequence[NDArray[np.int64]]
) -> None:
    shares = np.array([each.sum(axis=0) / max(each.sum(), 1) for each in levels])
    left = np.zeros(len(runs))
    for column, (level, colour, hatch) in enumerate(_LEVELS):
        axes.barh(
            range(len(runs)),
            shares[:, column],
            left=left,
            height=0.6,
            color=colour,
            hatch=hatch,
            edgecolor="white",
            linewidth=0.6,
            label=LOCALITY_NAMES[level],
        )
        left = left + shares[:, column]
    axes.set_yticks(range(len(runs)), [run.label for run in runs])
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    percent_ticks(axes.xaxis)
    axes.set_xlabel("map attempts launched")


def _draw_locality_by_size(
    axes: Any, runs: Sequence[ChartRun], levels: Sequence[NDArray[np.int64]]
) -> None:
    used = [row for row in range(len(SIZE_CLASSES)) if any(each[row].sum() for each in levels)]
    for look, table in zip(run_looks(runs), levels, strict=True):
        rows = [(at, table[row]) for at, row in enumerate(used) if table[row].sum()]
        axes.plot(
            [at for at, _ in rows],
            [counts[Locality.NODE] / counts.sum() for _, counts in rows],
            color=look.colour,
            linestyle=look.dashes,
            marker=look.marker,
            markersize=4,
            linewidth=1.3,
            label=look.label,
        )
    axes.set_xticks(range(len(used)), [SIZE_CLASSES[row].label for row in used])
    axes.set_xlim(-0.4, len(used) - 0.6)
    axes.set_ylim(0, 1.04)
    percent_ticks(axes.yaxis)
    axes.grid(axis="y")
    axes.set_xlabel("tasks of the job")
    axes.set_ylabel("node-local maps")


def shares_chart(runs: Sequence[ChartRun]) -> Any:
    """Slots held and slots due (the fair share) over time, a row a pool and a column a run.

    NothingToDraw where no job was submitted and for runs of no length; ValueError where a run has
    no `shares`.
    """
    until_ms = latest_end_ms(runs)
    tables, pools = _shown_shares([_fewer_samples(_shares_of(run)) for run in runs])
    width = COLUMN_INCHES if len(runs) == 1 else min(PAGE_INCHES, 1.0 + 2.4 * len(runs))
    with house_style():
        figure = new_figure(width, 0.9 + 1.05 * len(pools))
        panels = figure.subplots(len(pools), len(runs), sharex=True, sharey="row", squeeze=False)
        for column, (run, look) in enumerate(zip(runs, run_looks(runs), strict=True)):
            for row, pool in enumerate(pools):
                _draw_share(panels[row][column], tables[column], pool, look, until_ms)
            panels[0][column].set_title(run.label)
        panels[0][0].set_title(_first_title(runs))
        _finish_shares(panels, pools)
        shared_legend(figure, *panels[0][0].get_legend_handles_labels())
    return figure


def _first_title(runs: Sequence[ChartRun]) -> str:
    """The first run, and what all have in common."""
    label, common = runs[0].label, runs_title(runs)
    return f"{label}: {common}" if len(runs) <= _TITLED_COLUMNS else f"{common}\n{label}".lstrip()


def debt_chart(runs: Sequence[ChartRun]) -> Any:
    """What each pool is owed of its fair share over time, in slot-hours, a row a pool and a line a
    run.  NothingToDraw and ValueError as `shares_chart`.
    """
    until_ms = latest_end_ms(runs)
    tables, pools = _shown_shares([_shares_of(run) for run in runs])
    with house_style():
        figure = new_figure(COLUMN_INCHES, 0.9 + 1.05 * len(pools))
        panels = figure.subplots(len(pools), 1, sharex=True, squeeze=False)
        for axes, pool in zip(panels[:, 0], pools, strict=True):
            _draw_debt(axes, runs, tables, pool, until_ms)
            axes.set_ylim(0)
            axes.set_ylabel(f"{chart_text(pool, 18)}\n(slot-hours)")
        panels[0, 0].set_title(runs_title(runs))
        shared_legend(figure, *panels[0, 0].get_legend_handles_labels())
    return figure


def _draw_debt(
    axes: Any, runs: Sequence[ChartRun], tables: Sequence[PoolShares], pool: str, until_ms: Millis
) -> None:
    unit = set_time_axis(axes, until_ms)
    axes.grid(axis="y")
    for place, (table, look) in enumerate(zip(tables, run_looks(runs), strict=True)):
        owed = np.zeros(len(table.at_ms))
        if pool in table.pools:
            owed = table.shortfall_slot_seconds()[table.pools.index(pool)] / 3600
        (line,) = axes.plot(table.at_ms / unit.ms, owed, label=look.label)
        style_line(line, look, place)


def _shares_of(run: ChartRun) -> PoolShares:
    shares = run.slot_history.shares
    if shares is None:
        raise ValueError(f"{run.label}: its shares were not computed")
    return shares


def _shown_shares(tables: Sequence[PoolShares]) -> tuple[list[PoolShares], list[str]]:
    """The shares as they are drawn, and the pools of any of them, each a row."""
    own = _pools_shown(tables)
    shown = [_shares_with_others(table, own) for table in tables]
    pools = list(dict.fromkeys(pool for table in shown for pool in table.pools))
    if not pools:
        raise NothingToDraw("no job was submitted")
    return shown, pools


def _pools_shown(tables: Sequence[PoolShares]) -> list[str]:
    """The pools that have a row of their own: all, or those that held the most in all runs."""
    held: Counter[str] = Counter()
    for table in tables:
        held.update(dict(zip(table.pools, table.held.mean(axis=1).tolist(), strict=True)))
    if len(held) <= _POOLS_MAX:
        return list(held)
    return sorted(held, key=lambda pool: (-held[pool], pool))[: _POOLS_MAX - 1]


def _shares_with_others(table: PoolShares, pools: Sequence[str]) -> PoolShares:
    """The shares of these pools, and those of all others as one."""
    own = [row for row, pool in enumerate(table.pools) if pool in pools]
    rest = [row for row, pool in enumerate(table.pools) if pool not in pools]
    if not rest:
        return table
    held, due = (np.vstack((each[own], each[rest].sum(axis=0))) for each in (table.held, table.due))
    return PoolShares(table.at_ms, (*(table.pools[row] for row in own), "all others"), held, due)


def _fewer_samples(table: PoolShares) -> PoolShares:
    """Means over neighbouring samples, so that single ones do not hide the rest."""
    together = -(-len(table.at_ms) // _SHARE_WINDOWS)
    firsts = np.arange(0, len(table.at_ms), together)
    sizes = np.diff(firsts, append=len(table.at_ms))
    held, due = (np.add.reduceat(each, firsts, axis=1) / sizes for each in (table.held, table.due))
    return PoolShares(table.at_ms[firsts], table.pools, held, due)


def _draw_share(axes: Any, table: PoolShares, pool: str, look: LineStyle, until_ms: Millis) -> None:
    unit = set_time_axis(axes, until_ms)
    axes.grid(axis="y")
    if pool not in table.pools:
        return
    row, at = table.pools.index(pool), table.at_ms / unit.ms
    held, due = table.held[row], table.due[row]
    axes.fill_between(
        at, held, step="post", color=look.colour, alpha=0.4, linewidth=0, label="slots held"
    )
    axes.step(at, due, where="post", color=INK, linewidth=0.8, label="slots due")


def _finish_shares(panels: Any, pools: Sequence[str]) -> None:
    for axes, pool in zip(panels[:, 0], pools, strict=True):
        axes.set_ylim(0)
        axes.set_ylabel(f"{chart_text(pool, 18)}\n(slots)")
