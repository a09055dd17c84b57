"""What a sweep came to: means by setting with intervals, paired differences, sensitivities."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from math import inf, isfinite, isnan, nan
from typing import Any

import msgspec

from callboard.experiments.many.seed_runs import Figure
from callboard.experiments.many.statistics import Interval
from callboard.experiments.many.sweeps.played_cell import PlayedCell, Setting
from callboard.experiments.pages.charts.cell_table import (
    CellTable,
    parsed_numbers,
    policy_labels,
)
from callboard.experiments.pages.charts.chart_run import NothingToDraw
from callboard.experiments.pages.charts.chart_style import (
    BLUE,
    COLUMN_INCHES,
    INK,
    ORANGE,
    PAGE_INCHES,
    LineStyle,
    chart_text,
    few_ticks,
    house_style,
    label_lines,
    new_figure,
    plain_axis,
    plain_log_axis,
    policy_looks,
    shared_legend,
    whole_ticks,
    wrap_titles,
)
from callboard.experiments.pages.charts.key_words import (
    key_words,
    setting_parts,
    unambiguous_key_words,
)
from callboard.experiments.pages.charts.measures import COUNTED, MEASURES, Measure
from callboard.scheduler.text.quantities import count

_LOG_FROM = 30
"""If the greatest value of a key is that many times the least, its axis is logarithmic."""

_PRESSED = 0.5
"""If the least value is so much of the greatest, an axis from 0 would mostly be empty."""

_PANELS_MAX = 6
_ROWS_MAX = 60
"""Settings in one picture, a row each."""


def intervals_chart(cells: Iterable[PlayedCell], measure: Measure = MEASURES["mean"]) -> Any:
    """The measure's mean over the seeds, with its 95 % interval, of each policy by what was varied:
    lines over a key whose values are numbers (a panel for each value of a second key), else dots.

    NothingToDraw if no cell has the figure.
    """
    table = CellTable(cells)
    return _lines_or_dots(
        table, table.interval, measure, table.policies, measure.label, "no run has it"
    )


def differences_chart(cells: Iterable[PlayedCell], measure: Measure = MEASURES["mean"]) -> Any:
    """The measure's difference to the first policy, seed by seed, with its 95 % interval; below
    zero is less than the first.  NothingToDraw if there is but one policy, or no two results of
    one seed.
    """
    table = CellTable(cells)
    if len(table.policies) < 2:
        raise NothingToDraw("there is only one policy")
    first = chart_text(policy_labels(table.policies)[0], 20)
    label = f"{measure.label.replace(' (', f' minus {first}’s (')}"
    lacks = "no two runs of one seed to compare"
    return _lines_or_dots(
        table, table.difference, measure, table.policies[1:], label, lacks, zero=True
    )


def _lines_or_dots(
    table: CellTable,
    of: Callable[[Setting, str, Figure], Interval],
    measure: Measure,
    policies: Sequence[str],
    label: str,
    lacks: str,
    *,
    zero: bool = False,
) -> Any:
    """Lines or dots, as the keys that were varied allow; NothingToDraw with what it `lacks`
    where the measure has no words for that.
    """
    found = {(s, p): of(s, p, measure.figure) for s in table.settings for p in policies}
    if all(isnan(each.mean) for each in found.values()):
        raise NothingToDraw(measure.missing_in_words or lacks)
    with house_style():
        axis, panels = _line_key(table), _key_split_into_panels(table)
        draw = _line_figure if axis and (len(table.varied) == 1 or panels) else _dot_figure
        if draw is _dot_figure and len(table.settings) > _ROWS_MAX:
            raise NothingToDraw(f"{len(table.settings):,} settings are too many for one picture")
        figure = draw(table, found, policies, label)
        for axes in figure.axes:
            if zero:
                _mark_zero(axes, across=draw is _line_figure)
        if not zero:
            _begin_at_zero(figure, found.values(), label, upright=draw is _line_figure)
        _set_value_ticks(figure, label, upright=draw is _line_figure)
        wrap_titles(figure)
    return figure


def _set_value_ticks(figure: Any, label: str, *, upright: bool) -> None:
    """The ticks of the axis of values: whole ones for what is counted."""
    for axes in figure.axes:
        axis = axes.yaxis if upright else axes.xaxis
        plain_axis(axis)
        if COUNTED in label or not upright:
            few_ticks(axis, whole=COUNTED in label)


def _begin_at_zero(figure: Any, drawn: Iterable[Interval], label: str, *, upright: bool) -> None:
    """Let the axis of values begin at 0, and where that would press all of them together, say that
    it does not.  No measure is below 0; an interval that is, is cut there, and that is said too.
    """
    ends = [each.mean + side * (each.half or 0.0) for each in drawn for side in (-1, 1)]
    known = [end for end in ends if isfinite(end)]
    pressed = _PRESSED * max(known) < min(known) < max(known)
    for axes in figure.axes:
        if pressed:
            _replace_value_axis_label(axes, f"{label}; not from 0", upright=upright)
            continue
        (axes.set_ylim if upright else axes.set_xlim)(0)
        if min(known) < 0:
            _replace_value_axis_label(axes, f"{label};\ncut at 0", upright=upright)


def _replace_value_axis_label(axes: Any, label: str, *, upright: bool) -> None:
    get, put = (axes.get_ylabel, axes.set_ylabel) if upright else (axes.get_xlabel, axes.set_xlabel)
    if get():
        put(label)


def _mark_zero(axes: Any, *, across: bool) -> None:
    mark = axes.axhline if across else axes.axvline
    mark(0, color=INK, linewidth=0.8, linestyle=(0, (4, 2)), zorder=0)


def _line_key(table: CellTable) -> str:
    """The key to draw lines over: with numbers, and the most of them; empty if there is none."""
    numeric = {k: len(v) for k, v in table.varied.items() if _is_numeric_everywhere(table, k)}
    return max(numeric, key=lambda key: numeric[key]) if numeric else ""


def _is_numeric_everywhere(table: CellTable, key: str) -> bool:
    return _is_in_every_setting(table, key) and parsed_numbers(table.varied[key]) is not None


def _is_in_every_setting(table: CellTable, key: str) -> bool:
    """Whether every setting has a value for it; the points of a design need not."""
    return all(key in dict(setting) for setting in table.settings)


def _key_split_into_panels(table: CellTable) -> str:
    """The key that has a panel for each value; empty if there is none, or too many values."""
    others = [key for key in table.varied if key != _line_key(table)]
    if len(others) != 1 or not _is_in_every_setting(table, others[0]):
        return ""
    return others[0] if len(table.varied[others[0]]) <= _PANELS_MAX else ""


def _sorted_by_number(values: Sequence[str]) -> list[str]:
    """Numbers from the least on; of words, which have no order, the one in which they come."""
    numbers = parsed_numbers(values)
    if numbers is None:
        return list(values)
    return [value for _, value in sorted(zip(numbers, values, strict=True))]


def _rows_in_order(table: CellTable) -> list[Setting]:
    """The settings by the numbers of their keys, the first key first; as they come where not all
    have the same keys.
    """
    if not all(_is_in_every_setting(table, key) for key in table.varied):
        return list(table.settings)
    places = {key: _sorted_by_number(values).index for key, values in table.varied.items()}

    def place(setting: Setting) -> list[int]:
        values = dict(setting)
        return [of(values[key]) for key, of in places.items()]

    return sorted(table.settings, key=place)


_Found = Mapping[tuple[Setting, str], Interval]


def _looks_of_policies(table: CellTable, policies: Sequence[str]) -> list[LineStyle]:
    """The looks of these among all policies of the table, so that a policy keeps its own."""
    labels = [chart_text(label) for label in policy_labels(table.policies)]
    looks = policy_looks(labels, table.policies)
    return [looks[table.policies.index(policy)] for policy in policies]


def _line_figure(table: CellTable, found: _Found, policies: Sequence[str], label: str) -> Any:
    """A line a policy over the numbers of a key, a panel for each value of another."""
    key, by = _line_key(table), _key_split_into_panels(table)
    groups = _sorted_by_number(table.varied[by]) if by else [""]
    width = COLUMN_INCHES if len(groups) == 1 else PAGE_INCHES
    columns = min(len(groups), 3)
    rows = -(-len(groups) // columns)
    figure = new_figure(width, 0.5 + 2.1 * rows)
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for axes, value in zip(panels.flat, groups, strict=False):
        settings = [each for each in table.settings if not by or (by, value) in each]
        _draw_lines(axes, settings, key, found, policies, _looks_of_policies(table, policies))
        if axes.get_xscale() == "linear":
            _choose_x_ticks(axes, [float(dict(setting)[key]) for setting in table.settings])
        of_panel = chart_text(f"{unambiguous_key_words(by, list(table.varied))} = {value}")
        axes.set_title(of_panel if by else _scenario_and_seeds(table))
    for axes in panels.flat[len(groups) :]:
        axes.set_visible(False)
    for axes in panels[:, 0]:
        axes.set_ylabel(label.replace(" minus ", "\nminus "))
    for axes in panels[-1]:
        axes.set_xlabel(key_words(key))
    shared_legend(figure, *panels[0][0].get_legend_handles_labels())
    return figure


def _draw_lines(
    axes: Any,
    settings: Sequence[Setting],
    key: str,
    found: _Found,
    policies: Sequence[str],
    looks: Sequence[LineStyle],
) -> None:
    values = [float(dict(setting)[key]) for setting in settings]
    order = sorted(range(len(settings)), key=values.__getitem__)
    logarithmic = min(values) > 0 and max(values) / min(values) >= _LOG_FROM
    for row, (policy, look) in enumerate(zip(policies, looks, strict=True)):
        at = _shifted_values(
            [values[place] for place in order], row - (len(looks) - 1) / 2, logarithmic
        )
        _draw_error_bars(axes, at, [found[settings[place], policy] for place in order], look)
    if logarithmic:
        axes.set_xscale("log")
        plain_log_axis(axes.xaxis)
    axes.grid(axis="y")


def _choose_x_ticks(axes: Any, values: Sequence[float]) -> None:
    """The ticks of an axis that panels share, of all their values."""
    plain_axis(axes.xaxis)
    if ticks := _ticks_at_values(values):
        axes.set_xticks(ticks)
    elif all(value.is_integer() for value in values):
        whole_ticks(axes.xaxis)


def _ticks_at_values(values: Sequence[float]) -> list[float]:
    """The values themselves, where they are few and stand apart, so that each has its tick."""
    ticks = sorted(set(values))
    room = (ticks[-1] - ticks[0]) / _OWN_TICKS
    apart = all(later - sooner >= room for sooner, later in pairwise(ticks))
    return ticks if len(ticks) <= _OWN_TICKS and apart else []


_OWN_TICKS = 6


def _shifted_values(values: Sequence[float], steps: float, logarithmic: bool) -> list[float]:
    """The values moved a little, so that the bars of several policies do not hide each other."""
    if logarithmic:
        return [value * (values[-1] / values[0]) ** (0.01 * steps) for value in values]
    return [value + 0.01 * steps * (values[-1] - values[0]) for value in values]


def _draw_error_bars(
    axes: Any, at: Sequence[float], means: Sequence[Interval], look: LineStyle
) -> None:
    axes.errorbar(
        at,
        [each.mean for each in means],
        yerr=[_half_width(each) for each in means],
        color=look.colour,
        linestyle=look.dashes,
        linewidth=1.3,
        marker=look.marker,
        markersize=4,
        elinewidth=0.9,
        capsize=2,
        label=look.label,
    )


def _half_width(found: Interval) -> float:
    """The half width; nothing is drawn where it is not known."""
    return nan if found.half is None else found.half


def _dot_figure(table: CellTable, found: _Found, policies: Sequence[str], label: str) -> Any:
    """A dot with its interval for each policy, under each other by setting."""
    settings, looks = _rows_in_order(table), _looks_of_policies(table, policies)
    rows = len(settings)
    names = [label_lines(setting_parts(each, list(table.varied))) for each in settings]
    lines = max(name.count("\n") for name in names) + 1
    row_inches = max(0.16 + 0.16 * len(policies), 0.12 + 0.14 * lines)
    figure = new_figure(COLUMN_INCHES, 0.9 + rows * row_inches)
    axes = figure.add_subplot()
    for place, (policy, look) in enumerate(zip(policies, looks, strict=True)):
        shift = (place - (len(policies) - 1) / 2) * 0.8 / len(policies)
        means = [found[setting, policy] for setting in settings]
        axes.errorbar(
            [each.mean for each in means],
            [row + shift for row in range(rows)],
            xerr=[_half_width(each) for each in means],
            color=look.colour,
            linestyle="none",
            marker=look.marker,
            markersize=4.5,
            elinewidth=1.1,
            capsize=2,
            label=look.label,
        )
    axes.set_yticks(range(rows), names)
    axes.set_ylim(rows - 0.45, -0.55)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
    axes.set_xlabel(label)
    axes.set_title(_scenario_and_seeds(table))
    shared_legend(figure, *axes.get_legend_handles_labels())
    return figure


def _scenario_and_seeds(table: CellTable) -> str:
    """The scenario, if there is one, and how many seeds, where each policy has as many in each
    setting.
    """
    scenarios = {cell.scenario for cell in table.cells}
    parts = [chart_text(name) for name in scenarios] if len(scenarios) == 1 else []
    numbers = table.numbers_of_runs
    low, high = min(numbers, default=0), max(numbers, default=0)
    return ", ".join([*parts, count(high, "seed") if low == high else f"{low} to {high} seeds"])


class Sensitivity(msgspec.Struct, frozen=True):
    """How much a key moves a figure: an index with half the width of its interval.

    `value` alone is drawn as one bar (Morris' μ*, or Sobol's total index), `first` beside it is
    the part that the key has without others (Sobol's first-order index).
    """

    key: str
    value: float
    half: float | None = None
    first: float | None = None
    first_half: float | None = None


def tornado_chart(
    found: Sequence[Sensitivity],
    label: str,
    first_label: str = "",
    title: str = "",
    axis_label: str = "",
) -> Any:
    """A bar for each key, the most important on top.  NothingToDraw without finite indices."""
    known = [each for each in found if isfinite(each.value)]
    if not known:
        raise NothingToDraw("there are no sensitivities")
    known.sort(key=lambda each: (-each.value, each.key))
    both = any(each.first is not None for each in known)
    with house_style():
        figure = new_figure(COLUMN_INCHES, 0.9 + 0.32 * len(known))
        axes = figure.add_subplot()
        height = 0.36 if both else 0.6
        values = [(each.value, each.half) for each in known]
        _draw_bars(axes, values, -height / 2 if both else 0, height, (label, BLUE, ""))
        if both:
            firsts = [(nan if e.first is None else e.first, e.first_half) for e in known]
            _draw_bars(axes, firsts, height / 2, height, (first_label, ORANGE, "////"))
            shared_legend(figure, *axes.get_legend_handles_labels())
        axes.set_yticks(range(len(known)), [label_lines([key_words(each.key)]) for each in known])
        axes.set_ylim(len(known) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x")
        axes.set_xlim(left=min(0.0, min((e.value - (e.half or 0) for e in known), default=inf)))
        axes.set_xlabel(axis_label or label)
        axes.set_title(chart_text(title))
        wrap_titles(figure)
    return figure


def _draw_bars(
    axes: Any,
    values: Sequence[tuple[float, float | None]],
    shift: float,
    height: float,
    look: tuple[str, str, str],
) -> None:
    label, colour, hatch = look
    axes.barh(
        [row + shift for row in range(len(values))],
        [value for value, _ in values],
        xerr=[nan if half is None else half for _, half in values],
        height=height,
        color=colour,
        hatch=hatch or None,
        edgecolor="white",
        error_kw={"elinewidth": 0.9, "capsize": 2, "ecolor": INK},
        label=label,
    )
