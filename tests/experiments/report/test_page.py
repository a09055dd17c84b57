"""A document becomes one page that needs nothing else, whatever its texts hold."""

import re
import sys

import pytest

from callboard.experiments.pages.charts.chart_style import INK
from callboard.experiments.pages.charts.gantt_chart import gantt_chart
from callboard.experiments.pages.charts.job_charts import ecdf_chart
from callboard.experiments.pages.report.document import (
    CommandLines,
    Document,
    FactList,
    Prose,
    ReportCell,
    ReportFigure,
    ReportSection,
    ReportTable,
    Verdict,
)
from callboard.experiments.pages.report.inline_svg import DARK_COLOURS, inline_svg
from callboard.experiments.pages.report.page import check_jinja, render_page
from callboard.scheduler.text.missing_extra import MissingExtraError
from tests.experiments.charts.support import story_run
from tests.experiments.report.html import ReadPage

EVIL = '<img src="http://evil.example/x.png" onerror=alert(1)> & "q"'


def everything(text: str) -> Document:
    """A document of all kinds of blocks, which all hold this text."""
    table = ReportTable(headings=(text, text), rows=[[text], [text, ReportCell(text, "best")]])
    figure = ReportFigure(svg=inline_svg(ecdf_chart([story_run()]), "f"), caption=text)
    other = ReportFigure(svg=inline_svg(gantt_chart([story_run()]), "g"), caption=text, wide=True)
    blocks = [
        Prose(text=text, mark="bad"),
        Verdict(word=text, text=text, mark="best"),
        FactList(facts=[(text, [text, text])]),
        table,
        figure,
        other,
        CommandLines(lines=[text, text]),
    ]
    sections = [ReportSection(text, blocks), ReportSection(text, blocks[:3], folded=True)]
    return Document(text, text, sections, text)


def test_every_kind_of_block_is_on_the_page() -> None:
    page = ReadPage(render_page(everything("eggs")))
    assert page.said("h1") == page.said("title") == ["eggs"]
    assert page.said("h2") == page.said("summary") == ["eggs"]
    assert page.said("dt") == ["eggs"] * 2
    assert page.said("dd") == ["eggs"] * 4
    assert page.said("th") == ["eggs"] * 3  # two headings, and one among the rows
    assert page.said("td") == ["eggs"] * 2
    assert page.said("strong") == ["eggs"] * 2
    assert page.said("figcaption") == ["eggs"] * 2
    assert page.said("footer") == ["eggs"]
    assert page.said("pre") == ["eggs eggs"]
    marked = [found["class"] for tag, found in page.tags if tag == "td"]
    assert marked == ["", "number best"]


def test_text_is_never_taken_for_html() -> None:
    html = render_page(everything(EVIL))
    page = ReadPage(html)
    assert page.said("h1") == [" ".join(EVIL.split())]
    assert not [tag for tag, _ in page.tags if tag == "img"]
    assert not page.outside
    assert "<img" not in html


def test_a_page_needs_nothing_outside_of_itself() -> None:
    page = ReadPage(render_page(everything("eggs")))
    assert page.references
    assert not page.outside


def test_references_within_the_page_have_an_end() -> None:
    page = ReadPage(render_page(everything("eggs")))
    ids = [found["id"] for _, found in page.tags if "id" in found]
    assert len(ids) == len(set(ids))
    wanted = {each[1:] for each in page.references if each.startswith("#")}
    assert wanted <= set(ids)


@pytest.mark.soak
def test_equal_documents_are_equal_pages() -> None:
    assert render_page(everything("eggs")) == render_page(everything("eggs"))
    assert render_page(everything("eggs")) != render_page(everything("ham"))


def test_figures_follow_the_dark_page() -> None:
    svg = inline_svg(gantt_chart([story_run()]), "g")
    used = set(re.findall(r"var\(--c-([0-9a-f]{6})", svg))
    assert used <= {colour[1:] for colour in DARK_COLOURS}
    assert INK[1:] in used
    html = render_page(everything("eggs"))
    dark, _, printed = html.partition("prefers-color-scheme: dark")[2].partition("@media print")
    for colour, shade in DARK_COLOURS.items():
        assert f"--c-{colour[1:]}: {shade};" in dark
        assert f"--c-{colour[1:]}: {colour};" in printed


def test_an_svg_in_a_page_says_nothing_of_elsewhere() -> None:
    """Neither names of jobs in comments, nor the drawing program's address."""
    svg = inline_svg(gantt_chart([story_run()]), "g")
    assert "http" not in svg
    assert "<!--" not in svg
    assert "xlink" not in svg
    assert svg.startswith("<svg")


def test_without_jinja(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'callboard\[experiments\]'"):
        check_jinja()


LONG_POLICY = "fair+delay(node=5,rack=5)"


def test_the_lines_of_a_long_policy_end_between_its_parts() -> None:
    """Of `fair+delay(node=5,rack=5)` no line could end within, and the page was wider than a
    phone.  It is read, titled and typed as it is spelled; a number is no policy.
    """
    html = render_page(everything(f"{LONG_POLICY} took 1,538 (+10) s"))
    shown = "fair+<wbr>delay(<wbr>node=5,<wbr>rack=5) took 1,538 (+10) s"
    for tag in ("h1", "p", "dd", "th", "td", "figcaption"):
        assert re.search(rf"<{tag}[^>]*>(<strong>.*</strong> )?{re.escape(shown)}</{tag}>", html), (
            tag
        )
    for tag in ("title", "pre"):
        assert f"<{tag}>{LONG_POLICY} took" in html
    assert ReadPage(html).said("h1") == [f"{LONG_POLICY} took 1,538 (+10) s"]
