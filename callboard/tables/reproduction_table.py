"""The tables of `callboard reproduce`: all artefacts with their verdicts, or a few in full."""

from collections.abc import Mapping, Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from callboard.experiments.pages.report.report_words import number_ranges
from callboard.experiments.reproduction.artefact import AnyArtefact
from callboard.experiments.reproduction.exploration import Exploration, Explored
from callboard.experiments.reproduction.outcome import (
    ArtefactOutcome,
    ReproductionVerdict,
    ours_text,
    paper_text,
    quantity_cells,
    why_words,
)

VERDICT_STYLES = {
    ReproductionVerdict.REPRODUCED: "green",
    ReproductionVerdict.NO_NUMBER: "green",
    ReproductionVerdict.DIRECTION: "yellow",
    ReproductionVerdict.MAY_BE_CHANCE: "yellow",
    ReproductionVerdict.DIFFERS: "red",
    ReproductionVerdict.TOO_FEW_SEEDS: "dim",
    ReproductionVerdict.NOT_RUN: "dim",
}


def catalogue_table(
    artefacts: Sequence[AnyArtefact], outcomes: Mapping[str, ArtefactOutcome]
) -> Table:
    """Every artefact, with its last verdict and its class."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("artefact", no_wrap=True)
    table.add_column("verdict, class")
    table.add_column("the paper")
    paper = None
    for artefact in artefacts:
        if paper not in (None, artefact.paper):
            table.add_section()
        paper = artefact.paper
        outcome = outcomes.get(artefact.id)
        verdict = ReproductionVerdict.NOT_RUN if outcome is None else outcome.verdict
        told = Text(f"{verdict}\n", VERDICT_STYLES[verdict])
        told.append(", ".join(artefact.classes), "dim")
        table.add_row(Text(artefact.id), told, Text(artefact.says))
    return table


def artefact_table(artefact: AnyArtefact, outcome: ArtefactOutcome) -> Table:
    """An artefact in full: each quantity in print and here."""
    title = f"{artefact.id}: {artefact.place}"
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        min_width=78,
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        caption=artefact_caption(artefact, outcome),
        caption_justify="left",
    )
    table.add_column(artefact.paper.value)
    for name in ("paper", "ours"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("class", no_wrap=True)
    for cells in quantity_cells(artefact, outcome):
        verdict = Text(cells.verdict, VERDICT_STYLES[cells.verdict])
        table.add_row(*map(Text, cells[:3]), verdict, Text(cells.of_class))
    return table


def exploration_table(exploration: Exploration, found: Explored) -> Table:
    """An exploration: a row a setting, a column a quantity, and what is found below."""
    table = Table(
        title=f"{found.artefact}: {found.assumption}",
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        caption=_findings_text(found),
        caption_justify="left",
    )
    table.add_column("")
    for quantity in exploration.quantities:
        table.add_column(f"{quantity.label}\n{paper_text(quantity)}", justify="right")
    for name, row in zip(found.settings, found.rows, strict=True):
        pairs = zip(exploration.quantities, row, strict=False)
        cells = [Text(ours_text(q, each), VERDICT_STYLES[each.verdict]) for q, each in pairs]
        table.add_row(Text(name), *cells)
    return table


def _findings_text(found: Explored) -> Text:
    seeds = f"seeds {number_ranges(found.seeds)}"
    return Text("\n".join([f"{found.plausible}; {seeds}", *found.findings]))


def artefact_caption(artefact: AnyArtefact, outcome: ArtefactOutcome) -> Text:
    """What the paper says, the verdict, and why it is no better."""
    text = Text(f"{artefact.says}\n", style="")
    text.append(str(outcome.verdict), VERDICT_STYLES[outcome.verdict])
    why = why_words(artefact, outcome)
    return text.append(f": {why}" if why else "")
