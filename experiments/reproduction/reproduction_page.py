"""The artefacts and their outcomes as Markdown."""

from collections.abc import Iterator, Mapping, Sequence

from callboard.experiments.many.statistics import MEDIAN_SAMPLES
from callboard.experiments.pages.report.document import ReportCell, ReportTable
from callboard.experiments.pages.report.markdown_table import markdown_lines
from callboard.experiments.pages.report.report_words import number_ranges
from callboard.experiments.reproduction.artefact import (
    MANY_SEEDS,
    MORE_SEEDS,
    NUMBER_MARGIN,
    PAPER_TITLES,
    SHARE_MARGIN,
    AnyArtefact,
    Paper,
)
from callboard.experiments.reproduction.exploration import Explored
from callboard.experiments.reproduction.outcome import (
    FORMULA_SAMPLES,
    VERDICT_MEANINGS,
    ArtefactOutcome,
    ReproductionVerdict,
    quantity_cells,
    tally_words,
    unreproduced_artefacts,
    why_words,
)
from callboard.experiments.reproduction.reproduction_report import class_table

_HEAD = """\
`callboard reproduce --all` plays what the tables, figures and sentences of eight papers are about,
and sets ours beside what they print; `callboard reproduce hfsp-fig-6` plays one of them, `--quick`
with one seed, and `--report papers.html` draws them all. This page is what `--markdown` wrote. What
a paper says and prints, and what of ours is held to it, is in a file a paper, in
`experiments/reproduction/papers/`.

Ours is the median over the seeds with its 95 % interval, which is that of the sign test (a mean's
is Student's, that of a figure of all runs together the bootstrap's; a formula's is of 99 %). The
whole interval is judged, not its middle. A printed number is *reproduced* if ours is equivalent to
it by two one-sided tests of 2.5 %, so if the interval lies within {number} of it, of a share within
{points} points; and within half its own distance from a limit, which is 1 for an improvement and 0
or 100 % for a share. A worked example must be met exactly. A formula must lie in the interval, and
the interval within those margins. Where the paper has a curve or a sentence, the bound that the
sentence sets is in the column *paper*. An order of magnitude is a factor of 10; *consistently* is
in 95 % of the runs. Below {fewest} seeds, for a formula
{formula}, there is no verdict.

`--explore` sweeps what a paper does not print over a stated range, on seeds that do not judge, and
says at which settings its number comes out, or that it comes out at none. In its pictures ours is
drawn over the print, with a marker that is filled where the number comes out; or written, on dark
where it does, on light where it may. `python -m trials.flips` plays all of this on fresh seeds, and
counts the verdicts that are others then. It was done twice on seeds that nobody had used: from
90001 on 3 of 52 artefacts with a sure verdict became *may be chance*, which had differed, and from
99001 on 3 of 65, as did 14 of their 297 figures with a sure verdict. None became sure of something
else, but one figure, *reproduced* for *differs*. What lies near its border, so that intervals half
as wide again would change its verdict, is judged on {more} or {most} seeds, and so are the three of
the second time since."""


def markdown_page(
    artefacts: Sequence[AnyArtefact],
    found: Sequence[ArtefactOutcome],
    explorations: Sequence[Explored] = (),
) -> str:
    """The whole page; `found` are the outcomes of the artefacts, in their order."""
    by_id = {each.id: each for each in found}
    lines = ["# The papers, reproduced", "", *_head_lines(artefacts, by_id), ""]
    for paper in Paper:
        mine = [each for each in artefacts if each.paper is paper and each.id in by_id]
        ids = {each.id for each in mine}
        if mine:
            lines += [f"## {PAPER_TITLES[paper]}", ""]
            lines += _artefact_table_lines(mine, by_id)
            for artefact in unreproduced_artefacts(mine, by_id):
                lines += _reason_line(artefact, by_id[artefact.id])
            lines += [
                f"- **{each.id}** is fitted: {each.fitted_on}" for each in mine if each.fitted_on
            ]
            lines += _exploration_lines([each for each in explorations if each.artefact in ids])
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _exploration_lines(found: Sequence[Explored]) -> Iterator[str]:
    """Where the printed numbers come out if what is not printed is swept."""
    if not found:
        return
    yield ""
    yield "What is not printed, swept (`--explore`; seeds of their own):"
    yield ""
    for each in found:
        ends = f"{each.settings[0]} … {each.settings[-1]}"
        told = f"{each.assumption} ({ends}: {each.plausible})"
        yield f"- **{each.artefact}**: {told}. {'. '.join(each.findings)}."
    for each in found:
        if each.picture:
            yield ""
            yield f"![{each.artefact}: {each.assumption}](figures/{each.picture})"


def _head_lines(
    artefacts: Sequence[AnyArtefact], outcomes: Mapping[str, ArtefactOutcome]
) -> Iterator[str]:
    yield from _HEAD.format(
        number=f"{100 * NUMBER_MARGIN:.0f} %",
        points=f"{100 * SHARE_MARGIN:.0f}",
        fewest=MEDIAN_SAMPLES,
        formula=FORMULA_SAMPLES,
        more=MORE_SEEDS,
        most=MANY_SEEDS,
    ).splitlines()
    yield ""
    meanings = [
        [str(verdict), meaning]
        for verdict, meaning in VERDICT_MEANINGS.items()
        if verdict is not ReproductionVerdict.NOT_RUN
    ]
    yield from markdown_lines(ReportTable(headings=("verdict", ""), rows=meanings, text_columns=2))
    yield ""
    there = [each for each in artefacts if each.id in outcomes]
    yield f"{tally_words([outcomes[each.id] for each in there])}. Of their single figures:"
    yield ""
    yield from markdown_lines(class_table(there, outcomes))


def _artefact_table_lines(
    artefacts: Sequence[AnyArtefact], outcomes: Mapping[str, ArtefactOutcome]
) -> Iterator[str]:
    rows = list[list[ReportCell | str]]()
    for artefact in artefacts:
        outcome = outcomes[artefact.id]
        seeds = f" Seeds {number_ranges(outcome.seeds)}." if len(outcome.seeds) > 1 else ""
        says = f"{artefact.place}. {artefact.says}{seeds}"
        name, verdict = ReportCell(artefact.id, "best"), ReportCell(str(outcome.verdict), "best")
        rows.append([name, says, "", "", verdict, ""])
        rows += (["", *cells] for cells in quantity_cells(artefact, outcome))
    head = ("artefact", "what", "paper", "ours", "verdict", "class")
    table = ReportTable(headings=head, rows=rows, text_columns=2, words=(4, 5))
    yield from (*markdown_lines(table), "")


def _reason_line(artefact: AnyArtefact, outcome: ArtefactOutcome) -> Iterator[str]:
    yield f"- **{artefact.id}**: {why_words(artefact, outcome)}"
