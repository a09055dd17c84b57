"""The command line inside the test's own process."""

from collections.abc import Callable

import pytest

from callboard.cli import run_command_line
from callboard.commands import forecast_command, reproduce_command, sweep_command
from tests.support.in_this_process import here

POOLED = (forecast_command, sweep_command, reproduce_command)
"""The commands that start processes of their own."""

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def callboard(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line; exit status, standard output, standard error."""

    def run(*arguments: str) -> tuple[int, str, str]:
        status = run_command_line(arguments)
        out, err = capsys.readouterr()
        return status, out, err

    return run


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands compute here.  What comes of processes is for test_seeds, test_stops, test_progress,
    tests/experiments/test_task_pool.py and test_sweep.py.
    """
    for command in POOLED:
        monkeypatch.setattr(command, "local_workers", here)
