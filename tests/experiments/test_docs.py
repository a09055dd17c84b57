"""What the pages on experiments say that commands print is true."""

import os
from pathlib import Path

import pytest

from callboard.commands import sweep_command
from tests.support.book_pages import play_page
from tests.support.in_this_process import here

pytest.importorskip("scipy")
pytest.importorskip("pandas")
pytest.importorskip("SALib")


@pytest.mark.soak
@pytest.mark.parametrize("page", ["experiments.md", "yarn.md", "figures.md", "report.md"])
def test_the_commands_print_what_the_page_says(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In this process: that several say the same to the byte is for tests/callboard/test_seeds.py
    and tests/experiments/test_sweep.py, and processes cost more here than what they compute.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    monkeypatch.setattr(sweep_command, "local_workers", here)
    assert len(play_page(page, capsys)) > 3
