"""`docs/journal.md` says what is so, and the format's version guards the vocabulary."""

import hashlib
import re
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from callboard.actors.vocabulary.events import NodeFacts
from callboard.journal.checks.checker import Checker
from callboard.journal.figures.summary import Summary
from callboard.journal.format import CHUNK_BYTES, HEADER, MAGIC, RECORD_BYTES_MAX, VERSION
from callboard.journal.tell.diff import diff_journals, diff_lines
from callboard.journal.tell.show import EVENT_KINDS, ShowOptions, show
from callboard.journal.writer import FLUSH_SECONDS, JournalWriter
from callboard.scheduler.reasons import Claimant, Detail, Refusal, Shortage, Skip, Why
from tests.journal.stories import STORY, cut_at

DOCS = (Path(__file__).parents[2] / "docs" / "journal.md").read_text(encoding="utf-8")

VOCABULARY = {
    1: "75f4f7dcd22607ac",
    2: "16dac453ad1ac7a5",
    3: "7e93ad5f95ae4cb9",
    4: "14dd814b1a43f245",
    5: "aa692c70460763ed",
    6: "bf29a8c0ee6203d6",
    8: "5096752a763ce3de",
    11: "a2ac9df3206e8831",
    16: "9a9a4961f932fcd7",
    19: "53cb3af9ee4b3445",
    25: "cd35a7c95744ac7d",
    26: "f5ae69a1d88647d1",
}
"""By format version: the first digits of a hash over every event's name and fields."""

STORY_BYTES = {
    1: "dc556fd56370dd74",
    2: "d7cafe527da41b08",
    3: "98dd7542f16d3f32",
    4: "5092aa7916f9fb23",
    5: "747fe49f09b3d205",
    6: "0a4493512cdfbbbc",
    8: "be602bdaeeb8b11f",
    11: "14e9803323096972",
    16: "771317cc413e0957",
    19: "576ba3a79507a3d9",
    25: "338102c6f6a79bb0",
    26: "55c3e2fbac5c7a6c",
}
"""By format version: the first digits of the SHA-256 of the story's journal."""


def block(name: str) -> list[str]:
    """The fenced block that follows the comment `<!-- name -->`."""
    found = re.search(rf"<!-- {name} -->\n```[a-z]*\n(.*?)\n```", DOCS, re.DOTALL)
    assert found is not None, f"docs/journal.md lacks the block {name}"
    return found[1].splitlines()


def test_the_fields_of_a_reason_in_the_docs_are_its_fields() -> None:
    table = DOCS[DOCS.index("| Field | What it says |") :].split("\n\n")[0]
    first_cells = [row.split("|")[1] for row in table.splitlines()[2:]]
    assert tuple(re.findall(r"`(\w+)`", " ".join(first_cells))) == Why.__struct_fields__


@pytest.fixture
def journals(tmp_path: Path) -> tuple[Path, Path]:
    for name, events in (("tiny", STORY), ("tiny-2s", cut_at(2000))):
        with JournalWriter(tmp_path / f"{name}.journal") as sink:
            for event in events:
                sink(event)
    return tmp_path / "tiny.journal", tmp_path / "tiny-2s.journal"


def test_the_example_of_show_is_true(journals: tuple[Path, Path]) -> None:
    assert block("show") == list(show(journals[0], ShowOptions(job=1)))


def test_the_example_of_diff_is_true(journals: tuple[Path, Path]) -> None:
    found = diff_journals(*journals)
    assert block("diff") == list(diff_lines(found, "tiny.journal", "tiny-2s.journal"))


def test_the_numbers_of_the_format_are_true() -> None:
    for words in (
        f"`{MAGIC.hex(' ')}`",
        f"version, now {VERSION}",
        f"{CHUNK_BYTES // 1024} KiB",
        f"{(RECORD_BYTES_MAX + 1) // 1024**2} MiB",
        f"{FLUSH_SECONDS:g} s",
    ):
        assert words in DOCS, words
    assert MAGIC + bytes((VERSION, 0)) == HEADER


def test_every_figure_is_explained() -> None:
    for field in Summary.__struct_fields__:
        assert f"`{field}" in DOCS, field


def test_a_changed_vocabulary_needs_a_new_version() -> None:
    """Events are arrays: a field more or less, and old journals would be read wrongly.

    On failure raise `journal.format.VERSION`, and note the new hash under it.
    """
    tagged: tuple[type[msgspec.Struct], ...] = get_args(Claimant | Detail | Refusal)
    structs = [*EVENT_KINDS.values(), NodeFacts, Why, Skip, Shortage, *tagged]
    told = [(struct.__name__, struct.__struct_fields__) for struct in structs]
    assert hashlib.sha256(repr(told).encode()).hexdigest()[:16] == VOCABULARY[VERSION]


def test_the_bytes_of_a_version_stay(journals: tuple[Path, Path]) -> None:
    """On failure raise `journal.format.VERSION`, and note the new hash under it."""
    found = hashlib.sha256(journals[0].read_bytes()).hexdigest()[:16]
    assert found == STORY_BYTES[VERSION]


def test_every_rule_has_a_row() -> None:
    """With its class, and a test in which it is broken on purpose."""
    page = (Path(__file__).parents[2] / "docs" / "checks.md").read_text(encoding="utf-8")
    rows = {
        row.split("|")[1].strip(): row for row in page.splitlines() if re.match(r"\| [SPOY]\d", row)
    }
    rules = {rule.id: type(rule).__name__ for rule in Checker().rules}
    everywhere, some_architectures = (
        {f"S{n}" for n in range(1, 16)},
        {"P1", "P2", "P3", "P4", "P5", "P6", "O1", "O2", "O3", "Y1", "Y2", "Y3"},
    )
    assert rows.keys() == rules.keys() == everywhere | some_architectures
    assert all(f"| `{name}` |" in rows[number] for number, name in rules.items())
    broken_in = re.compile("test_(checks|planted_bugs|reservation_rules)")
    assert all(broken_in.search(row) for row in rows.values())
