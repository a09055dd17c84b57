"""Explorations as one page: where the printed numbers come out, drawn and told."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from callboard.actors.version import __version__
from callboard.experiments.pages.charts.chart_style import (
    INK,
    PAGE_INCHES,
    house_style,
    legend_above,
    new_figure,
    plain_log_axis,
    policy_looks,
)
from callboard.experiments.pages.report.document import (
    Block,
    CommandLines,
    Document,
    Prose,
    ReportCell,
    ReportFigure,
    ReportSection,
    ReportTable,
)
from callboard.experiments.pages.report.inline_svg import inline_svg
from callboard.experiments.pages.report.page import render_page
from callboard.experiments.pages.report.report_words import number_ranges
from callboard.experiments.reproduction.artefact import Quantity
from callboard.experiments.reproduction.exploration import Exploration, Explored
from callboard.experiments.reproduction.outcome import (
    HOLDS,
    QuantityOutcome,
    ours_text,
    paper_text,
)
from callboard.experiments.whole_files import whole_file

Pairs = Sequence[tuple[Exploration, Explored]]


def write_explorations_page(found: Pairs, path: Path) -> None:
    """Write the page, whole or not at all.  MissingExtraError without matplotlib or Jinja2."""
    sections = [
        ReportSection(
            f"{each.artefact}: {each.assumption}", list(_blocks(place, exploration, each))
        )
        for place, (exploration, each) in enumerate(found)
    ]
    page = Document(
        title="What the papers do not print",
        lead="Swept, to see on which assumption a published number stands.",
        sections=sections,
        colophon=f"Made by Callboard {__version__}, a simulator of a shared MapReduce cluster.",
    )
    with whole_file(path) as part:
        part.write_text(render_page(page), encoding="utf-8")


def _blocks(place: int, exploration: Exploration, each: Explored) -> Iterator[Block]:
    yield Prose(text=f"{each.plausible}; seeds {number_ranges(each.seeds)}.")
    figure = exploration_chart(exploration, each)
    caption = "Ours over the print (or over the bound of a sentence); filled where it comes out"
    svg = inline_svg(figure, f"explored-{place}")
    yield ReportFigure(svg=svg, caption=caption, wide=True)
    rows: list[list[ReportCell | str]] = [
        [name, *(_cell(*pair) for pair in zip(exploration.quantities, row, strict=True))]
        for name, row in zip(each.settings, each.rows, strict=True)
    ]
    headings = [f"{quantity.label}: {paper_text(quantity)}" for quantity in exploration.quantities]
    yield ReportTable(headings=("", *headings), rows=rows)
    yield from (Prose(text=f"{finding}.") for finding in each.findings)
    yield CommandLines(lines=[f"callboard reproduce {each.artefact} --explore"])


def _cell(quantity: Quantity[Any], found: QuantityOutcome) -> ReportCell:
    return ReportCell(ours_text(quantity, found), "best" if found.verdict in HOLDS else "")


def exploration_chart(exploration: Exploration, each: Explored) -> Any:
    """Ours over the print at each setting, a line a quantity, with its interval; the markers are
    filled where the printed number comes out.
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
        legend_above(figure, *axes.get_legend_handles_labels())
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
