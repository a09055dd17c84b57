"""Output that is closed, full, no longer read, or cannot say every letter."""

from pathlib import Path

import pytest

from tests.callboard.support import python, shell
from tests.support.soak import one_in

CLOSED = "callboard: standard output is closed; send it to a file or to /dev/null\n"
FULL = "callboard: output: No space left on device\n"


@pytest.mark.parametrize("command", ["run two-jobs", "run two-jobs --json", "policies"])
def test_closed_output_is_one_message(command: str) -> None:
    done = shell(f"callboard {command} >&-")
    assert (done.returncode, done.stderr) == (2, CLOSED)


@pytest.mark.soak
@pytest.mark.parametrize("command", ["run two-jobs", "run two-jobs --json", "policies", "--help"])
def test_full_output_is_one_message(command: str) -> None:
    done = shell(f"callboard {command} >/dev/full")
    assert (done.returncode, done.stderr) == (2, FULL)


@pytest.mark.soak
def test_closed_error_output_does_no_harm(tmp_path: Path) -> None:
    done = shell('callboard run two-jobs --journal "$1" 2>&-', str(tmp_path / "a.journal"))
    assert done.returncode == 0
    assert "response time" in done.stdout
    assert shell('callboard show "$1"', str(tmp_path / "a-fair.journal")).returncode == 0
    assert shell("callboard run nosuch 2>&-").stdout == ""


@pytest.mark.parametrize("command", ["run two-jobs", "run two-jobs --json", "scenarios"])
def test_a_reader_who_has_gone_is_no_error(command: str) -> None:
    """The only reader closes its end before the program starts, so that every write fails."""
    program = (
        "import os, subprocess, sys\n"
        "read, write = os.pipe()\n"
        "os.close(read)\n"
        f"command = [sys.executable, '-m', 'callboard', *{command.split()!r}]\n"
        "sys.exit(subprocess.run(command, stdout=write).returncode)\n"
    )
    done = python(program)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.soak
@pytest.mark.parametrize(
    "changes",
    one_in(
        3,
        [
            {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
            {"PYTHONIOENCODING": "latin-1"},
            {"PYTHONIOENCODING": "ascii"},
        ],
    ),
)
def test_letters_that_the_encoding_lacks_are_replaced(
    tmp_path: Path, changes: dict[str, str]
) -> None:
    journal = str(tmp_path / "a.journal")
    run = 'callboard run two-jobs --policy fair --slowdown --journal "$1" --set "story=€ 老"'
    for command in (run, 'callboard show "$1"', "callboard scenarios", "callboard run €"):
        done = shell(command, journal, **changes)
        assert "Traceback" not in done.stderr
        assert "Error" not in done.stderr
        assert done.returncode == (2 if command.endswith("€") else 0)
