"""What the pages on experiments say that commands print is true."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from callboard.commands import sweep_command
from callboard.experiments.many.task_pool import OtherWorkers
from tests.support.book_pages import play_page

pytest.importorskip("scipy")
pytest.importorskip("pandas")
pytest.importorskip("SALib")


@contextmanager
def in_a_thread(*_: object) -> Iterator[OtherWorkers]:
    """Stands for the processes of a sweep."""
    with ThreadPoolExecutor(1) as executor:
        yield OtherWorkers(executor, 1)


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
    monkeypatch.setattr(sweep_command, "local_workers", in_a_thread)
    assert len(play_page(page, capsys)) > 3
