"""docs/policies.md lists every shipped part, and its examples are true."""

import re
import tomllib
from pathlib import Path

import pytest

from callboard.scheduler.registry.parts import PART_BASES, make_policy, part_kind, spelling_of_table
from callboard.scheduler.registry.shipped import PARTS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "policies.md").read_text(encoding="utf-8")
ROWS = {row[0]: row for row in re.findall(r"^\| `([^`]+)` \| (\w+) \|(.*)\|$", TEXT, re.MULTILINE)}


def test_the_table_lists_every_part_and_no_other() -> None:
    assert {name: row[1] for name, row in ROWS.items() if row[1] in PART_BASES} == {
        name: part_kind(part) for name, part in PARTS.items()
    }


@pytest.mark.parametrize("name", PARTS)
def test_a_row_names_tests_that_are_there(name: str) -> None:
    rest = ROWS[name][2]
    tests = re.findall(r"`(tests/[^`]+)`", rest)
    assert tests
    assert all((ROOT / test).is_file() for test in tests)


def test_the_tables_in_the_text_are_the_same_policy() -> None:
    block = re.search(r"```toml\n(policies = .*?)```", TEXT, re.DOTALL)
    assert block is not None
    policies = tomllib.loads(block[1])["policies"]
    spelled = [each if isinstance(each, str) else spelling_of_table(each) for each in policies]
    assert spelled == ["fair+delay(node=5)"] * 3
    assert make_policy(spelled[0]).locality.name == "delay"


def test_the_example_is_the_file() -> None:
    block = re.search(r"<!-- example -->\n```python\n(.*?)```", TEXT, re.DOTALL)
    assert block is not None
    assert block[1] == (ROOT / "docs" / "examples" / "shortest_queue.py").read_text("utf-8")


def test_the_other_examples_are_in_their_files() -> None:
    part = r"<!-- part of (examples/\w+.py) -->\n```python\n(.*?)```"
    blocks = re.findall(part, TEXT, re.DOTALL)
    assert len(blocks) == 4
    for name, code in blocks:
        assert code in (ROOT / "docs" / name).read_text("utf-8")
