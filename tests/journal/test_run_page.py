"""The page as a file: one, without a reference to anything else, and names in it are inert."""

import base64
import hashlib
import re

import msgspec
import pytest

from callboard.actors.vocabulary.events import AnyEvent, JobSubmitted, RunStarted
from callboard.journal.export.page_collector import PageCollector
from callboard.journal.export.page_data import page_data
from callboard.journal.export.run_page import run_page
from callboard.journal.replay.palette import DARK, LIGHT
from tests.journal.page_reader import data_of
from tests.journal.stories import STORY

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u2028&lt;'\"$data ${run}"


def evil(event: AnyEvent) -> AnyEvent:
    """The same with names that want to be more."""
    match event:
        case RunStarted():
            return msgspec.structs.replace(event, name=EVIL)
        case JobSubmitted():
            return msgspec.structs.replace(event, name=EVIL, user=EVIL, pool=EVIL)
    return event


def page_of(events: list[AnyEvent]) -> str:
    return run_page(page_data(PageCollector.of_events(events)))


@pytest.fixture(scope="module")
def page() -> str:
    return page_of([*map(evil, STORY)])


def element(page: str, begin: str, end: str) -> str:
    return page.partition(begin)[2].partition(end)[0]


def test_names_come_through_and_are_no_tags(page: str) -> None:
    data = data_of(page)
    shown = EVIL.replace("\u2028", "\\u2028")
    assert data["name"] == data["jobs"]["name"][0] == data["jobs"]["pool"][0] == shown
    assert "<img" not in page
    assert page.count("</script>") == 2
    assert page.count("<script") == 2
    assert "<" not in element(page, 'id="run">', "</script>")
    assert element(page, "<title>", "</title>").startswith("&lt;/script&gt;")


def test_the_browser_runs_the_pages_own_script_and_style_alone(page: str) -> None:
    policy = element(page, 'Content-Security-Policy" content="', '"')
    allowed = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert allowed["default-src"] == allowed["base-uri"] == allowed["form-action"] == "'none'"
    for name, begin in (("script", "<script>"), ("style", "<style>")):
        digest = hashlib.sha256(element(page, begin, f"</{name}>").encode()).digest()
        assert allowed[f"{name}-src"] == f"'sha256-{base64.b64encode(digest).decode()}'"
    assert set(allowed) == {"default-src", "script-src", "style-src", "base-uri", "form-action"}


def test_it_needs_nothing_outside_of_itself(page: str) -> None:
    own = page.replace("http://www.w3.org/2000/svg", "")  # a name, not an address
    assert not re.search(r"https?:|//\w|@import|url\(", re.sub(r"^\s*//.*$", "", own, flags=re.M))
    assert not re.search(r"\b(src|href)=", own.replace("src=x", ""))
    for word in ("eval(", "Function(", "innerHTML", "outerHTML", "document.write", "fetch("):
        assert word not in page, word


def test_it_has_the_screens_colours(page: str) -> None:
    style = element(page, "<style>", "</style>")
    for palette in (DARK, LIGHT):
        assert f"--ground: {palette.ground};" in style
        assert f"--job5: {palette.jobs[5]};" in style
    assert "prefers-color-scheme: dark" in style
