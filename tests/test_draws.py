"""Drawn tests draw the same, whatever else has been imported by then."""

import importlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


def drawn() -> list[int]:
    """What a test draws."""
    found: list[int] = []

    @given(st.lists(st.integers(100, 10**9), min_size=20))
    @settings(derandomize=True, max_examples=100, deadline=None)
    def draw(numbers: list[int]) -> None:
        found.extend(numbers)

    draw()
    return found


def test_it_does_not_hang_on_the_modules_that_are_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = drawn()
    (tmp_path / "full_of_constants.py").write_text(f"CONSTANTS = {list(range(5000, 6000))}")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("full_of_constants")
    assert drawn() == before
