"""Explorations drawn: where the printed numbers come out, as lines over settings or as a table of
them.
"""

from collections.abc import Sequence
from typing import Any

from callboard.experiments.pages.charts.chart_style import (
    BLUE,
    GREY,
    INK,
    PAGE_INCHES,
    house_style,
    new_figure,
    plain_log_axis,
    policy_looks,
    shared_legend,
)
from callboard.experiments.reproduction.artefact import Quantity
from callboard.experiments.reproduction.exploration import Exploration, Explored
from callboard.experiments.reproduction.outcome import (
    HOLDS,
    QuantityOutcome,
    ReproductionVerdict,
    number_text,
    paper_text,
)

_MOST_LINES, _MOST_SETTINGS = 3, 8


def exploration_chart(exploration: Exploration, each: Explored) -> Any:
    """Ours over the print at each setting, as lines; as a table where these would be too many."""
    many = len(each.settings) > _MOST_SETTINGS
    if many or len(exploration.quantities) > _MOST_LINES:
        return _table_figure(exploration, each)
    return _lines_over_settings(exploration, each)


def _lines_over_settings(exploration: Exploration, each: Explored) -> Any:
    """A line a quantity, with its interval; the markers are filled where the printed number comes
    out.
    """
    with house_style():
        figure = new_figure(PAGE_INCHES, 3.0)
        axes = figure.add_subplot()
        labels = [quantity.label for quantity in exploration.quantities]
        for place, look in enumerate(policy_looks(labels)):
            scale = _print_or_bound(exploration.quantities[place])
            _draw_line(axes, [row[place] for row in each.rows], scale, look)
        axes.axhline(1, color=INK, linewidth=0.6, zorder=0)
        axes.set_xticks(range(len(each.settings)), each.settings)
        if sum(map(len, each.settings)) > 60:
            axes.tick_params(axis="x", labelrotation=20)
        axes.set_yscale("log")
        plain_log_axis(axes.yaxis)
        axes.set_ylabel("ours / printed")
        axes.grid(axis="y")
        shared_legend(figure, *axes.get_legend_handles_labels())
    return figure


def _print_or_bound(quantity: Quantity[Any]) -> float:
    """What ours is divided by."""
    known = (quantity.printed, quantity.below, quantity.above)
    return next((each for each in known if each), 1.0)


def _draw_line(axes: Any, row: Sequence[QuantityOutcome], scale: float, look: Any) -> None:
    there = [(at, one) for at, one in enumerate(row) if one.ours is not None]
    at = [place for place, _ in there]
    ours = [(one.ours or 0) / scale for _, one in there]
    low = [(one.ours if one.low is None else one.low) / scale for _, one in there]  # type: ignore[operator]
    high = [(one.ours if one.high is None else one.high) / scale for _, one in there]  # type: ignore[operator]
    axes.plot(at, ours, color=look.colour, linestyle=look.dashes, label=look.label)
    axes.fill_between(at, low, high, color=look.colour, alpha=0.15, linewidth=0)
    for place, value, (_, one) in zip(at, ours, there, strict=True):
        face = look.colour if one.verdict in HOLDS else "none"
        axes.plot(place, value, look.marker, color=look.colour, markerfacecolor=face, markersize=5)


_COMES_OUT, _MAY = "comes out", "may: the interval is too wide"
_SHADES = {_COMES_OUT: 0.85, _MAY: 0.25, "does not": 0.0}


def _outcome_word(one: QuantityOutcome) -> str:
    if one.verdict in HOLDS:
        return _COMES_OUT
    return _MAY if one.verdict is ReproductionVerdict.MAY_BE_CHANCE else "does not"


def _table_figure(exploration: Exploration, each: Explored) -> Any:
    """A row a quantity, a column a setting: ours, on dark where the printed number comes out, on
    light where it may.
    """
    from matplotlib.patches import Patch

    rows, columns = len(exploration.quantities), len(each.settings)
    with house_style():
        figure = new_figure(PAGE_INCHES, 1.9 + 0.24 * rows)  # names of settings are long
        axes = figure.add_subplot()
        for y, quantity in enumerate(exploration.quantities):
            for x, row in enumerate(each.rows):
                _draw_box(axes, (x, y), quantity, row[y])
        told = [f"{q.label}: {paper_text(q)}" for q in exploration.quantities]
        axes.set_yticks(range(rows), told)
        axes.set_xticks(range(columns), each.settings, rotation=35, ha="right")
        axes.set_xlim(-0.5, columns - 0.5)
        axes.set_ylim(rows - 0.5, -0.5)
        axes.tick_params(length=0)
        keys = [
            Patch(facecolor=BLUE, alpha=shade, label=word)
            if shade
            else Patch(facecolor="none", edgecolor=GREY, label=word)
            for word, shade in _SHADES.items()
        ]
        shared_legend(figure, keys, list(_SHADES))
    return figure


def _draw_box(
    axes: Any, at: tuple[int, int], quantity: Quantity[Any], one: QuantityOutcome
) -> None:
    from matplotlib.patches import Rectangle

    (x, y), word = at, _outcome_word(one)
    box = Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=BLUE, alpha=_SHADES[word], linewidth=0)
    axes.add_patch(box)
    ink = "#ffffff" if word == _COMES_OUT else INK
    text = number_text(one.ours, share=quantity.share)
    axes.text(x, y, text, ha="center", va="center", fontsize=6.5, color=ink)
