"""The pages of the book: each is in it once, every link leads somewhere, tables stay tables."""

import itertools
import re
from functools import cache
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from bench.scaling import PICTURE
from docs.making.figures import EXAMPLES, SWEPT

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
READABLE = [ROOT / "README.md", ROOT / "CHANGELOG.md", *PAGES]

CELL_WORDS_MAX = 45
"""What is longer is prose, and stands better below the table."""

TITLES = {"Tutorial", "How-to", "Reference", "Explanation"}


@cache
def tokens(page: Path) -> list[Token]:
    parser = MarkdownIt("commonmark").enable("table")
    return parser.parse(page.read_text(encoding="utf-8"))


def links(page: Path) -> list[str]:
    """Where a page's links and pictures lead."""
    inside = [child for token in tokens(page) for child in token.children or ()]
    found = [child.attrs.get("href", child.attrs.get("src")) for child in inside]
    return [str(each) for each in found if each is not None]


@cache
def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as they are made of their words."""
    found = tokens(page)
    heads = [after for token, after in itertools.pairwise(found) if is_head(token)]
    words = [re.sub(r"[^\w\- ]", "", head.content.lower()) for head in heads]
    return {each.replace(" ", "-") for each in words}


def is_head(token: Token) -> bool:
    return token.type == "heading_open"


def test_the_contents_name_every_page_once_in_four_parts() -> None:
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    parts = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    assert {part.splitlines()[0] for part in parts} == TITLES
    listed = [name for part in parts for name in re.findall(r"\]\(([\w/-]+\.md)\)", part)]
    assert sorted(listed) == sorted(set(listed))
    assert {DOCS / name for name in listed} == set(PAGES) - {DOCS / "index.md"}


@pytest.mark.parametrize("page", READABLE, ids=lambda page: page.stem)
def test_every_link_within_leads_somewhere(page: Path) -> None:
    for link in links(page):
        if link.startswith(("http:", "https:")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name}: {link}"
        if anchor:
            assert anchor in anchors(target), f"{page.name}: {link}"


@pytest.mark.parametrize("page", READABLE, ids=lambda page: page.stem)
def test_no_cell_of_a_table_is_an_essay(page: Path) -> None:
    found = tokens(page)
    for token, after in itertools.pairwise(found):
        if token.type in ("td_open", "th_open"):
            words = len(after.content.split())
            assert words <= CELL_WORDS_MAX, f"{page.name}: {words} words: {after.content[:60]} …"


@pytest.mark.parametrize("page", READABLE, ids=lambda page: page.stem)
def test_every_page_has_one_title_and_no_level_is_left_out(page: Path) -> None:
    levels = [int(token.tag[1]) for token in tokens(page) if is_head(token)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= level + 1 for level, after in itertools.pairwise(levels))


@pytest.mark.parametrize("page", READABLE, ids=lambda page: page.stem)
def test_no_page_shows_what_only_its_tests_need(page: Path) -> None:
    assert "<BLANKLINE>" not in page.read_text(encoding="utf-8")


def test_every_picture_is_shown_and_a_command_draws_it() -> None:
    """Screens are held to `docs.making.screens` in `tests/tui`, explorations to `trials.papers` in
    `tests/experiments/reproduction`; `callboard ideal` draws its own.
    """
    shown = {link.rpartition("/")[2] for page in READABLE for link in links(page)}
    figures = {path.name for path in (DOCS / "figures").iterdir()}
    assert figures | {path.name for path in (DOCS / "screens").iterdir()} <= shown
    runs = {
        f"{figure}-{each.scenario}.svg" for each in (*EXAMPLES, *SWEPT) for figure in each.figures
    }
    others = figures - runs - {PICTURE.name}
    assert runs <= figures
    assert all(name.startswith(("ideal-sojourn-vs-", "theory-", "explored-")) for name in others)
