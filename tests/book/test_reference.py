"""The pages of the reference are what the code says today."""

import pytest

from callboard.cli import COMMAND_SUMMARIES
from callboard.journal.tell.show import EVENT_KINDS
from callboard.scheduler.registry.shipped import PARTS
from docs.making.book.__main__ import DOCS, PAGES
from docs.making.book.scenario_page import documented_structs
from docs.making.book.struct_fields import field_rows


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_what_the_code_says(name: str) -> None:
    """On failure: `make reference`."""
    written = (DOCS / name).read_text(encoding="utf-8")
    assert written == PAGES[name](), f"docs/{name} is of old; run `make reference`"


def test_every_field_and_parameter_says_what_it_means() -> None:
    """On failure: a sentence in three quotes, below the field."""
    silent = [
        f"{struct.__name__}.{name}"
        for struct in (*documented_structs(), *(part.Params for part in PARTS.values()))
        for name, _, _, meaning in field_rows(struct)
        if not meaning
    ]
    assert not silent


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("commands", [f"`callboard {name}`" for name in COMMAND_SUMMARIES]),
        ("events", [f"`{name}`" for name in EVENT_KINDS]),
        ("parts", [f"`{name}`" for name in PARTS]),
    ],
)
def test_everything_has_a_section(page: str, names: list[str]) -> None:
    lines = PAGES[f"reference/{page}.md"]().splitlines()
    headings = {line.lstrip("#").strip() for line in lines if line.startswith("#")}
    assert set(names) <= headings


def test_the_man_page_has_every_command_and_no_line_that_roff_would_take_for_its_own() -> None:
    lines = PAGES["callboard.1"]().splitlines()
    known = (".\\", ".TH", ".SH", ".SS", ".TP", ".B ", ".I ", ".P", ".br", ".nf", ".fi")
    assert all(line.startswith(known) for line in lines if line.startswith((".", "'")))
    assert all(f".SS callboard {name}" in lines for name in COMMAND_SUMMARIES)
