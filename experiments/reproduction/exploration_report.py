"""Explorations as one page: where the printed numbers come out, drawn and told."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

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
from callboard.experiments.pages.report.page import write_page
from callboard.experiments.pages.report.report_words import number_ranges
from callboard.experiments.reproduction.artefact import Quantity
from callboard.experiments.reproduction.exploration import Exploration, Explored
from callboard.experiments.reproduction.outcome import (
    HOLDS,
    QuantityOutcome,
    ours_text,
    paper_text,
)
from callboard.experiments.reproduction.region_chart import exploration_chart

Pairs = Sequence[tuple[Exploration, Explored]]


def write_explorations_page(found: Pairs, path: Path) -> None:
    """Write the page, whole or not at all.  MissingExtraError without matplotlib or Jinja2."""
    sections = [
        ReportSection(
            f"{each.artefact}: {each.assumption}",
            list(_exploration_blocks(place, exploration, each)),
        )
        for place, (exploration, each) in enumerate(found)
    ]
    document = Document(
        title="What the papers do not print",
        lead="Swept, to see on which assumption a published number stands.",
        sections=sections,
    )
    write_page(document, path)


def _exploration_blocks(place: int, exploration: Exploration, each: Explored) -> Iterator[Block]:
    yield Prose(text=f"{each.plausible}; seeds {number_ranges(each.seeds)}.")
    figure = exploration_chart(exploration, each)
    caption = "Ours, over the print or over the bound of a sentence; filled where it comes out"
    svg = inline_svg(figure, f"explored-{place}")
    yield ReportFigure(svg=svg, caption=caption, wide=True)
    rows: list[list[ReportCell | str]] = [
        [name, *(_quantity_cell(*pair) for pair in zip(exploration.quantities, row, strict=True))]
        for name, row in zip(each.settings, each.rows, strict=True)
    ]
    headings = [f"{quantity.label}: {paper_text(quantity)}" for quantity in exploration.quantities]
    yield ReportTable(headings=("", *headings), rows=rows)
    yield from (Prose(text=f"{finding}.") for finding in each.findings)
    yield CommandLines(lines=[f"callboard reproduce {each.artefact} --explore"])


def _quantity_cell(quantity: Quantity[Any], found: QuantityOutcome) -> ReportCell:
    return ReportCell(ours_text(quantity, found), "best" if found.verdict in HOLDS else "")
