"""`callboard report`: a page comes out whole, opens in a browser, or a message says why not."""

import asyncio
import re
import sys
from contextlib import closing
from pathlib import Path
from shutil import copyfile
from sqlite3 import connect

import pytest

from callboard.cli import run_command_line
from callboard.experiments.pages.figure_rows import SLOWDOWN_WORDS
from callboard.experiments.pages.report.document import Document, Prose, ReportSection, ReportTable
from callboard.experiments.pages.report.page import render_page
from callboard.journal.writer import JournalWriter
from callboard.scenarios.scenario_file import find_scenario
from docs.making.browser import CHROMIUM, open_page
from tests.callboard.conftest import Run
from tests.callboard.support import ROOT
from tests.experiments.charts.support import record
from tests.experiments.report.html import ReadPage
from tests.journal.stories import STORY
from tests.support.book_pages import page_text
from tests.support.chromium import open_tab
from tests.support.soak import one_in

pytestmark = pytest.mark.usefixtures("in_this_process")


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a report of two journals and one of a store."""
    folder = tmp_path_factory.mktemp("reports")
    policies = ["--policy", "fifo", "--policy", "fair"]
    run_command_line(["run", "two-jobs", *policies, "--journal", str(folder / "two.journal")])
    store = ["--seeds", "2", "--vary", "tasks.sigma=0.1,0.5", "--store", str(folder / "s.sqlite")]
    run_command_line(["sweep", "two-jobs", *policies, *store, "--cores", "1"])
    journals = [str(folder / f"two-{name}.journal") for name in ("fifo", "fair")]
    for inputs, name in ((journals, "journals"), ([str(folder / "s.sqlite")], "store")):
        words = ["report", *inputs, "--slo", "100", "--to", str(folder / f"{name}.html")]
        assert run_command_line(words) == 0
    return folder


def test_the_commands_that_fill_a_store_name_scenarios_as_they_were_asked_for(
    callboard: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page said `callboard sweep mine`, which no command finds."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    scenario = find_scenario("two-jobs").read_text(encoding="utf-8")
    own = scenario.replace('name = "two-jobs"', 'name = "mine"')
    (tmp_path / "folder" / "mine.toml").write_text(own, encoding="utf-8")
    sweep = ("sweep", "folder/mine.toml", "--policy", "fifo", "--store", "s.sqlite", "--cores", "1")
    assert callboard(*sweep)[0] == 0
    assert callboard("report", "s.sqlite", "--to", "page.html")[0] == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    line = next(line for line in page.splitlines() if "callboard sweep" in line)
    assert "callboard sweep folder/mine.toml --policy fifo --seeds" in line
    assert callboard("sweep", "--show", "--store", "s.sqlite")[0] == 0
    cluster = "The cluster has 4 nodes in 2 racks"
    assert cluster in page
    monkeypatch.chdir(tmp_path / "folder")
    assert callboard("report", "../s.sqlite", "--to", "page.html")[0] == 0
    page = Path("page.html").read_text(encoding="utf-8")  # it was without its story and cluster
    assert cluster in page
    assert "callboard sweep mine.toml --policy fifo --seeds" in page
    assert "cannot be told" not in page
    for change, told in (
        ("reduce_slots = 2", "its runs are not those of mine.toml as it is now."),
        ("", "mine.toml is not there"),
    ):
        Path("mine.toml").write_text(own.replace("reduce_slots = 1", change))
        if not change:
            Path("mine.toml").unlink()
        assert callboard("report", "../s.sqlite", "--to", "page.html")[0] == 0
        page = Path("page.html").read_text(encoding="utf-8")
        assert f"mine: its cluster cannot be told: {told}" in page


@pytest.mark.soak
def test_the_commands_that_play_a_run_again_trust_the_code_that_it_names(
    callboard: Run, tmp_path: Path
) -> None:
    """The page's own command was refused."""
    rule = ROOT / "docs" / "examples" / "one_far_map.py"
    journal, page = tmp_path / "own.journal", tmp_path / "own.html"
    run = ("run", "two-jobs", "--policy", f"fair+{rule}:OneFarMap", "--journal", str(journal))
    assert callboard(*run)[0] == 0
    assert callboard("report", str(journal), "--to", str(page))[0] == 0
    assert f"callboard run {journal} --trust" in page.read_text(encoding="utf-8")
    assert callboard("run", str(journal), "--trust")[0] == 0


@pytest.mark.soak
def test_of_a_sweep_that_was_stopped_it_counts_the_runs_that_were_played(
    reports: Path, callboard: Run, tmp_path: Path
) -> None:
    """It was a report of all that had been asked for."""
    store = copyfile(reports / "s.sqlite", tmp_path / "s.sqlite")
    with closing(connect(store)) as opened, opened:
        opened.execute("DELETE FROM results WHERE key NOT IN (SELECT key FROM results LIMIT 3)")
    status, out, _ = callboard("report", str(store), "--to", str(tmp_path / "page.html"))
    assert (status, out.partition(" written")[0]) == (0, "report of 3 of 8 runs")


@pytest.mark.parametrize("name", ["journals", "store"])
def test_a_report_is_one_page_that_needs_nothing_else(reports: Path, name: str) -> None:
    page = ReadPage((reports / f"{name}.html").read_text(encoding="utf-8"))
    assert not page.outside
    assert page.said("h1") == ["two-jobs: fifo, fair"]
    assert {"Results", "Figures", "What failed", "How to run it again"} <= set(page.said("h2"))
    assert sum(tag == "svg" for tag, _ in page.tags) == len(page.said("figcaption")) >= 2


def test_the_rows_of_slowdowns_are_explained_where_they_are(reports: Path) -> None:
    """In the glossary's sentences; the store was filled without slowdowns."""
    journals, store = (
        ReadPage((reports / f"{name}.html").read_text(encoding="utf-8"))
        for name in ("journals", "store")
    )
    assert "What these words mean" in journals.said("summary")
    assert "What these words mean" not in store.said("summary")
    glossary = page_text("glossary.md")
    for word, meaning in SLOWDOWN_WORDS.items():
        assert f"**{word}**: {meaning}" in glossary
        assert meaning in journals.said("dd")


def test_jobs_done_in_time_are_counted(reports: Path) -> None:
    journals = ReadPage((reports / "journals.html").read_text(encoding="utf-8"))
    cells = journals.said("td")
    at = cells.index("jobs done within 100 s")
    assert cells[at + 1 : at + 3] == ["0.0%", "50.0%"]  # FIFO lets the short job wait


@pytest.mark.soak
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
@pytest.mark.parametrize("name", one_in(2, ["journals", "store"]))
def test_a_browser_opens_it(reports: Path, tmp_path: Path, name: str) -> None:
    """The browser's own parser has put every element where it belongs, and draws the figures."""
    page = reports / f"{name}.html"
    probe = tmp_path / f"{name}.html"
    probe.write_text(page.read_text(encoding="utf-8").replace("</body>", f"{_PROBE}</body>"))
    dom = open_page(probe, "--dump-dom", "--virtual-time-budget=1000")
    assert 'id="probe"' in dom
    figures = dom.count("<figcaption>")
    assert f"drawn {figures} of {figures}; wide no; asked 0" in dom
    picture = tmp_path / "page.png"
    open_page(page, f"--screenshot={picture}", "--window-size=1000,1400")
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.soak
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
@pytest.mark.parametrize("name", ["journals", "store"])
def test_on_a_phone_no_column_is_out_of_sight(reports: Path, name: str) -> None:
    """At 390 pixels the second policy's column was beyond the edge, and nothing said so; and nobody
    could read wide figures, which scroll now.
    """
    asyncio.run(_fits_a_phone(reports / f"{name}.html"))


async def _fits_a_phone(page: Path) -> None:
    wider = "(each) => each.scrollWidth > each.clientWidth + 1"
    places = "'.scroll, figure:not(.wide)'"
    boxes = f"[document.documentElement, ...document.querySelectorAll({places})].filter({wider})"
    async with open_tab(page.resolve().as_uri(), 390, 844) as tab:
        await tab.until("document.querySelectorAll('table').length > 1")
        assert await tab.evaluate(f"{boxes}.map((each) => each.innerText).join()") == ""
        scales = await tab.evaluate(
            "[...document.querySelectorAll('figure.wide svg')].map("
            "(svg) => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width)"
        )
        cells = "[...document.querySelectorAll('td')].map((each) => each.innerText)"
        told = " | ".join(await tab.evaluate(cells))
        assert not re.search(r"(h|min) \d+ (min|s)\b", told)  # would break within "18 s"
        assert ("\N{NO-BREAK SPACE}min" in told) is (page.stem == "journals")
        assert bool(scales) is (page.stem == "journals")  # a store's figures are not wide
        assert min(scales, default=1) >= 1  # pixels to a point, of eight a letter


@pytest.mark.soak
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
def test_on_a_phone_four_policies_have_room_beside_whole_words(tmp_path: Path) -> None:
    """The page of a long policy was 458 pixels wide at 390, and titles of rows were broken within
    their words (`respo|nse`), while the long policy's column had half the width.
    """
    policies = ("fair", "fair+delay(node=5,rack=5)", "fifo", "hfsp")
    rows = [[title, *["2,726 ± 4,430 s"] * 4] for title in ("response time", "  longest")]
    table = ReportTable(headings=("", *policies), rows=rows)
    title = f"facebook-morning: {', '.join(policies)}"
    page = tmp_path / "four.html"
    page.write_text(render_page(Document(title, title, [ReportSection("Results", [table])])))
    asyncio.run(_breaks_no_word(page))


async def _breaks_no_word(page: Path) -> None:
    async with open_tab(page.resolve().as_uri(), 390, 844) as tab:
        await tab.until("document.querySelectorAll('td').length == 10")
        assert await tab.evaluate("document.documentElement.scrollWidth") == 390
        assert await tab.evaluate(_LINES_OF_TITLES) == {"response": 1, "time": 1, "longest": 1}
        widths = "[...document.querySelectorAll('thead th.number')].map((each) => each.clientWidth)"
        others = await tab.evaluate(widths)
        assert max(others) < 2 * min(others)


_LINES_OF_TITLES = r"""Object.fromEntries(
  [...document.querySelectorAll("td:first-child")].flatMap((cell) => {
    const text = cell.firstChild;
    return [...text.data.matchAll(/\S+/g)].map((word) => {
      const range = document.createRange();
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      return [word[0], range.getClientRects().length];
    });
  }))"""
"""On how many lines each word of the titles of rows stands."""


_PROBE = """<p id="probe"></p><script>
const drawn = [...document.querySelectorAll("figure svg")].filter(
  (svg) => svg.getBoundingClientRect().width > 100 && svg.getBBox().height > 50).length;
const wide = document.documentElement.scrollWidth > window.innerWidth ? "yes" : "no";
const asked = performance.getEntriesByType("resource").filter(
  (each) => !each.name.startsWith("data:")).length;
document.getElementById("probe").textContent =
  `drawn ${drawn} of ${document.querySelectorAll("figure").length}; wide ${wide}; asked ${asked}`;
</script>"""
"""Counts the figures that have a size, whether the page must be scrolled sideways, and what it has
asked the network for.
"""


def test_bad_input_is_said_and_leaves_nothing(callboard: Run, tmp_path: Path) -> None:
    journal = record(tmp_path / "a.journal", STORY)
    nothing = tmp_path / "nothing.journal"
    JournalWriter(nothing).close()
    text = tmp_path / "text"
    text.write_text("no journal")
    store = tmp_path / "s.sqlite"
    other = tmp_path / "other.sqlite"
    sweep = ["sweep", "two-jobs", "--policy", "fair", "--cores", "1", "--store"]
    assert run_command_line([*sweep, str(store)]) == 0
    other.write_bytes(b"SQLite format 3\0")
    before = sorted(tmp_path.iterdir())
    html = str(tmp_path / "a.html")
    for inputs, more, said in (
        ([journal], ("--to", str(tmp_path / "a.pdf")), "end its name in .html"),
        ([journal], ("--to", str(text / "a.html")), "is a file, and no folder"),
        ([journal], ("--to", ""), "the name is empty"),
        ([nothing], ("--to", html), "no run has been recorded in it yet"),
        ([text], ("--to", html), "not a Callboard journal"),
        ([other], ("--to", html), "not a Callboard journal"),
        ([tmp_path / "none"], ("--to", html), "No such file"),
        ([store, journal], ("--to", html), "a store has a report of its own; name it alone"),
    ):
        status, _, err = callboard("report", *map(str, inputs), *more)
        assert status == 2, said
        assert said in err
    assert sorted(tmp_path.iterdir()) == before


def test_a_time_may_be_in_minutes(callboard: Run, reports: Path, tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    status, _, _ = callboard(
        "report", str(reports / "s.sqlite"), "--slo", "1:40", "--to", str(page)
    )
    assert (status, "jobs done within 100 s" in page.read_text("utf-8")) == (0, True)


@pytest.mark.parametrize("seconds", ["0", "-3", "soon", "inf"])
def test_a_time_must_be_one(callboard: Run, seconds: str) -> None:
    with pytest.raises(SystemExit):
        callboard("report", "a.journal", "--slo", seconds, "--to", "a.html")


@pytest.mark.parametrize("module", ["jinja2", "matplotlib.figure", "scipy.special"])
def test_without_its_packages(
    callboard: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    journal = record(tmp_path / "a.journal", STORY)
    monkeypatch.setitem(sys.modules, module, None)
    status, _, err = callboard("report", str(journal), "--to", str(tmp_path / "a.html"))
    assert status == 2
    assert "pip install 'callboard[experiments]'" in err


def test_a_document_of_another_kind_is_a_page_too() -> None:
    """The page knows nothing of runs."""
    document = Document("Eggs", "Ham.", [ReportSection("Spam", [Prose(text="and eggs")])])
    assert ReadPage(render_page(document)).said("h2") == ["Spam"]
