"""The examples of docs/statistics.md are true."""

import doctest
from pathlib import Path

import pytest

pytest.importorskip("scipy")

PAGE = Path(__file__).parents[2] / "docs" / "statistics.md"


def test_the_examples_print_what_the_page_says() -> None:
    found = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert found.attempted > 10
    assert found.failed == 0
