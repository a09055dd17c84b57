"""The artefacts and their outcomes as Markdown."""

from collections.abc import Iterator, Mapping, Sequence

from callboard.experiments.report.report_words import number_ranges
from callboard.experiments.reproduction.artefact import (
    NUMBER_TOLERANCE,
    PAPER_TITLES,
    SHARE_TOLERANCE,
    AnyArtefact,
    Paper,
)
from callboard.experiments.reproduction.outcome import (
    VERDICT_MEANINGS,
    ArtefactOutcome,
    ReproductionVerdict,
    ours_text,
    paper_text,
    tally_words,
    verdict_text,
    why_words,
)

_HEAD = """\
`callboard reproduce --all` plays what the tables, figures and sentences of five papers are about,
and sets ours beside what they print; `callboard reproduce hfsp-fig-6` plays one of them, `--quick`
with few seeds, and `--report papers.html` draws them all. This page is what `--markdown` wrote.

Ours is the median over the seeds with its 95 % interval, which is that of the sign test. No
parameter was chosen by looking at these seeds. A printed number is *reproduced* if ours is within
{share} of it, a printed share if it is within {points} points, and an improvement if it is also no
farther from the printed one than half of that; a worked example must be met exactly. Where the
paper has a curve or a sentence, the bound that the sentence sets is in the column *paper*, and *may
be chance* says that the interval reaches beyond it."""


def markdown_page(artefacts: Sequence[AnyArtefact], found: Sequence[ArtefactOutcome]) -> str:
    """The whole page; `found` are the outcomes of the artefacts, in their order."""
    by_id = {each.id: each for each in found}
    lines = ["# The papers, reproduced", "", *_head(found), ""]
    for paper in Paper:
        mine = [each for each in artefacts if each.paper is paper and each.id in by_id]
        if mine:
            lines += [f"## {PAPER_TITLES[paper]}", ""]
            lines += _table(mine, by_id)
            for artefact in unexplained_first(mine, by_id):
                lines += _why(artefact, by_id[artefact.id])
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def unexplained_first(
    artefacts: Sequence[AnyArtefact], outcomes: Mapping[str, ArtefactOutcome]
) -> list[AnyArtefact]:
    """Those that are not reproduced, and of them those without a reason first."""
    apart = [each for each in artefacts if why_words(each, outcomes[each.id])]
    return sorted(apart, key=lambda each: bool(each.why))


def _head(found: Sequence[ArtefactOutcome]) -> Iterator[str]:
    yield from _HEAD.format(
        share=f"{NUMBER_TOLERANCE:.0%}", points=f"{100 * SHARE_TOLERANCE:.0f}"
    ).splitlines()
    yield ""
    yield "| verdict | |"
    yield "|---|---|"
    for verdict, meaning in VERDICT_MEANINGS.items():
        if verdict is not ReproductionVerdict.NOT_RUN:
            yield f"| {verdict} | {meaning} |"
    yield ""
    yield f"{tally_words(found)}."


def _table(
    artefacts: Sequence[AnyArtefact], outcomes: Mapping[str, ArtefactOutcome]
) -> Iterator[str]:
    yield "| artefact | what | paper | ours | verdict |"
    yield "|---|---|---:|---:|---|"
    for artefact in artefacts:
        outcome = outcomes[artefact.id]
        seeds = f" Seeds {number_ranges(outcome.seeds)}." if len(outcome.seeds) > 1 else ""
        says = f"{artefact.place}. {artefact.says}{seeds}"
        yield f"| **{artefact.id}** | {says} | | | **{outcome.verdict}** |"
        for quantity, each in zip(artefact.quantities, outcome.quantities, strict=False):
            cells = (quantity.label, paper_text(quantity), ours_text(quantity, each))
            yield f"| | {' | '.join(cells)} | {verdict_text(quantity, each)} |"
    yield ""


def _why(artefact: AnyArtefact, outcome: ArtefactOutcome) -> Iterator[str]:
    yield f"- **{artefact.id}**: {why_words(artefact, outcome)}"
