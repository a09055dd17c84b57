"""The gantt as a page: it has every bar, runs nothing of a stranger's, and asks for nothing."""

import json
import re
from pathlib import Path

import msgspec
import pytest

from callboard.cli import run_command_line
from callboard.experiments.pages.charts import gantt_page as page_module
from callboard.experiments.pages.charts.chart_run import NothingToDraw
from callboard.experiments.pages.charts.gantt_page import PageOfRuns, PageRun, gantt_page
from callboard.journal.figures.tables import FAILED, KILLED
from docs.making.browser import CHROMIUM, open_page
from tests.experiments.charts.support import record, story_run
from tests.journal.stories import START, STORY

DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)


def data_of(page: str) -> PageOfRuns:
    (found,) = DATA.findall(page)
    return msgspec.json.decode(found, type=PageOfRuns)


def test_every_time_that_an_attempt_held_a_slot_is_a_bar() -> None:
    run = story_run("fair")
    attempts = run.slot_history.attempts
    (shown,) = data_of(gantt_page([run])).runs
    held = attempts.occupancies
    assert shown.began_ms == held.began_ms.tolist()
    assert shown.lasted_ms == (attempts.occupancy_ends_ms(run.horizon_ms) - held.began_ms).tolist()
    assert shown.rows == sum(each.map_slots + each.reduce_slots for each in START.nodes)
    assert max(shown.row) < shown.rows == shown.first[-1]
    assert [shown.jobs[at] for at in shown.job] == [
        run.jobs.name[run.jobs.job.tolist().index(job)] for job in attempts.job[held.place]
    ]
    outcomes = [attempts.closed[at] for at in held.place]
    assert [bool(each) for each in shown.lost] == [each in (FAILED, KILLED) for each in outcomes]


def test_hostile_names_are_text_and_the_page_asks_for_nothing() -> None:
    evil = "</script><script>alert(1)</script>\x1b[2J\n"
    story = [msgspec.structs.replace(STORY[0], name=evil), *STORY[1:]]
    named = [
        msgspec.structs.replace(each, name=evil, user=evil) if hasattr(each, "user") else each
        for each in story
    ]
    page = gantt_page([story_run("fifo", named)], evil)
    assert page.count("<script") == 2
    assert "\x1b" not in page
    assert "http://" not in page
    assert "default-src 'none'" in page
    assert json.loads(DATA.findall(page)[0])["runs"][0]["jobs"][0].startswith("</script>")


def test_more_bars_than_a_browser_draws_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NothingToDraw, match="no attempt has held a slot"):
        gantt_page([story_run("fifo", STORY[:3])])
    monkeypatch.setattr(page_module, "PAGE_BARS_MAX", 2)
    with pytest.raises(NothingToDraw, match=r"bars are too many for a page \(2\)"):
        gantt_page([story_run()])


def test_only_the_gantt_of_journals_is_a_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal, to = str(record(tmp_path / "a.journal", STORY)), tmp_path / "a.html"
    asked = ["plot", journal, "gantt", "--to", str(to), "--title", "Mine"]
    assert run_command_line(asked) == 0
    assert "<title>Mine</title>" in to.read_text(encoding="utf-8")
    for words in (["ecdf"], []):
        assert run_command_line(["plot", journal, *words, "--to", str(tmp_path / "b.html")]) == 2
        assert "only the gantt of journals is drawn as a page" in capsys.readouterr().err


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
def test_its_script_runs_in_a_browser(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text(gantt_page([story_run("fifo"), story_run("fair")]), encoding="utf-8")
    dom = open_page(path, "--dump-dom", "--virtual-time-budget=1000")
    assert re.findall(r"<h2>(.*?)</h2>", dom) == ["fifo", "fair"]
    assert dom.count("<canvas") == 2
    assert "failed, killed or lost" in dom


def test_a_page_run_says_all_that_its_script_reads() -> None:
    """Each `run.` in the script is a field, or the script would draw nothing without a word."""
    script = (Path(page_module.__file__).parent / "page" / "gantt.js").read_text(encoding="utf-8")
    read = set(re.findall(r"\brun\.(\w+)", script))
    assert read == set(PageRun.__struct_fields__)
