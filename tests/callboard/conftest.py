"""The command line inside the test's own process."""

from collections.abc import Callable

import pytest

from callboard.cli import run_command_line

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def callboard(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line; exit status, standard output, standard error."""

    def run(*arguments: str) -> tuple[int, str, str]:
        status = run_command_line(arguments)
        out, err = capsys.readouterr()
        return status, out, err

    return run
