"""The papers' artefacts as one page: a section a paper, and every figure with the print in it."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from callboard.experiments.many.result_store import ResultStore
from callboard.experiments.pages.charts.chart_style import COLUMN_INCHES
from callboard.experiments.pages.report.document import (
    Block,
    CommandLines,
    Document,
    Emphasis,
    FactList,
    Heading,
    Prose,
    ReportCell,
    ReportFigure,
    ReportSection,
    ReportTable,
    Verdict,
)
from callboard.experiments.pages.report.inline_svg import inline_svg
from callboard.experiments.pages.report.page import write_page
from callboard.experiments.pages.report.report_words import number_ranges
from callboard.experiments.reproduction.artefact import (
    CLASS_MEANINGS,
    PAPER_TITLES,
    AnyArtefact,
    Paper,
)
from callboard.experiments.reproduction.artefact_charts import agreement_chart
from callboard.experiments.reproduction.outcome import (
    VERDICT_MEANINGS,
    ArtefactOutcome,
    ReproductionVerdict,
    quantity_cells,
    tally_words,
    unreproduced_artefacts,
    verdict_counts_by_class,
    why_words,
)
from callboard.experiments.reproduction.reproduce import Asked, found_samples

_MARKS: dict[ReproductionVerdict, Emphasis] = {
    ReproductionVerdict.REPRODUCED: "best",
    ReproductionVerdict.NO_NUMBER: "best",
    ReproductionVerdict.DIRECTION: "",
    ReproductionVerdict.MAY_BE_CHANCE: "",
    ReproductionVerdict.DIFFERS: "bad",
    ReproductionVerdict.TOO_FEW_SEEDS: "dim",
    ReproductionVerdict.NOT_RUN: "dim",
}


def write_papers_page(
    wanted: Sequence[Asked], found: Sequence[ArtefactOutcome], store: ResultStore, path: Path
) -> None:
    """Write the page, whole or not at all.  MissingExtraError without matplotlib or Jinja2."""
    write_page(papers_document(wanted, found, store), path)


def papers_document(
    wanted: Sequence[Asked], found: Sequence[ArtefactOutcome], store: ResultStore
) -> Document:
    """What the page says; samples are read from the store."""
    outcomes = {each.id: each for each in found}
    sections = [_verdict_section([each.artefact for each in wanted], outcomes)]
    for paper in Paper:
        mine = [each for each in wanted if each.artefact.paper is paper]
        blocks = [block for each in mine for block in _artefact_blocks(each, outcomes, store)]
        if blocks:
            sections.append(ReportSection(PAPER_TITLES[paper], blocks))
    sections.append(_digest_section(found))
    return Document(
        title="The papers, reproduced",
        lead=f"{tally_words(found)}.",
        sections=sections,
    )


def _verdict_section(
    artefacts: Sequence[AnyArtefact], outcomes: Mapping[str, ArtefactOutcome]
) -> ReportSection:
    """All verdicts; those that nobody has explained stand first."""
    apart = unreproduced_artefacts(artefacts, outcomes)
    others = [each for each in artefacts if each not in apart]
    rows: list[list[ReportCell | str]] = [
        [each.id, each.place, _verdict_cell(outcomes[each.id]), why_words(each, outcomes[each.id])]
        for each in (*apart, *others)
    ]
    meanings = [(verdict.value, [meaning]) for verdict, meaning in VERDICT_MEANINGS.items()]
    table = ReportTable(headings=("artefact", "place", "verdict", "why"), rows=rows, text_columns=4)
    classes = class_table(artefacts, outcomes)
    return ReportSection("Verdicts", [FactList(facts=meanings), classes, table])


def class_table(
    artefacts: Sequence[AnyArtefact], outcomes: Mapping[str, ArtefactOutcome]
) -> ReportTable:
    """How many single figures of each class have each verdict."""
    counts = verdict_counts_by_class(artefacts, outcomes)
    verdicts = [each for each in ReproductionVerdict if any(row[each] for row in counts.values())]
    rows: list[list[ReportCell | str]] = [
        [
            which,
            CLASS_MEANINGS[which],
            str(row.total()),
            *(str(row[verdict] or "") for verdict in verdicts),
        ]
        for which, row in counts.items()
    ]
    return ReportTable(headings=("class", "", "figures", *verdicts), rows=rows, text_columns=2)


def _verdict_cell(outcome: ArtefactOutcome) -> ReportCell:
    return ReportCell(str(outcome.verdict), _MARKS[outcome.verdict])


def _artefact_blocks(
    each: Asked, outcomes: Mapping[str, ArtefactOutcome], store: ResultStore
) -> Iterator[Block]:
    """One artefact: its sentence, figure, numbers, verdict and command."""
    artefact, outcome = each.artefact, outcomes[each.artefact.id]
    yield Heading(text=f"{artefact.id}: {artefact.place}")
    yield Prose(text=artefact.says)
    yield from _artefact_figures(each, outcome, store)
    rows: list[list[ReportCell | str]] = [
        [*cells[:3], ReportCell(str(cells.verdict), _MARKS[cells.verdict]), cells.of_class]
        for cells in quantity_cells(artefact, outcome)
    ]
    if rows:
        yield ReportTable(headings=("", "paper", "ours", "verdict", "class"), rows=rows)
    if artefact.fitted_on:
        yield Prose(text=f"Fitted: {artefact.fitted_on}")
    holds = outcome.verdict is ReproductionVerdict.NO_NUMBER
    why = "What it says in words holds." if holds else why_words(artefact, outcome)
    yield Verdict(word=str(outcome.verdict), text=why, mark=_MARKS[outcome.verdict])
    seeds = f"   # seeds {number_ranges(outcome.seeds)}" if len(outcome.seeds) > 1 else ""
    yield CommandLines(lines=[f"callboard reproduce {artefact.id}{seeds}"])


def _artefact_figures(each: Asked, outcome: ArtefactOutcome, store: ResultStore) -> Iterator[Block]:
    artefact = each.artefact
    if artefact.draw is not None:
        samples = found_samples(each, store)
        if samples:
            yield _report_figure(artefact, "ours", artefact.draw(samples), artefact.place)
    numbers = [each for each in artefact.quantities if each.printed and not each.exact]
    if numbers and outcome.quantities:
        figure = agreement_chart(artefact, outcome.quantities)
        yield _report_figure(artefact, "print", figure, "Ours beside the print")


def _report_figure(artefact: AnyArtefact, kind: str, figure: object, caption: str) -> ReportFigure:
    wide = figure.get_figwidth() > COLUMN_INCHES  # type: ignore[attr-defined]
    svg = inline_svg(figure, f"{artefact.id}-{kind}")
    return ReportFigure(svg=svg, caption=caption, wide=wide)


def _digest_section(found: Sequence[ArtefactOutcome]) -> ReportSection:
    """Which runs these are, each once."""
    rows = {each: None for outcome in found for each in outcome.digests}
    cells = [[name, str(seed), digest] for name, seed, digest in rows]
    table = ReportTable(headings=("run", "seed", "digest"), rows=cells, text_columns=3)
    return ReportSection("Digests", [table], folded=True)
