"""`callboard completion`: every shell gets every command, and bash really completes."""

import shutil
import subprocess
import sys

import pytest

from callboard.cli import COMMAND_SUMMARIES
from tests.callboard import support
from tests.callboard.conftest import Run

pytest.importorskip("shtab")

COMPLETE = """
callboard() {{ "$0" -m callboard "$@"; }}
eval "$(callboard completion bash)"
COMP_WORDS=({words}) COMP_CWORD={at}
_shtab_callboard
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_and_the_options_of_all(callboard: Run, shell: str) -> None:
    status, out, err = callboard("completion", shell)
    assert (status, err) == (0, "")
    assert all(command in out for command in COMMAND_SUMMARIES)
    assert all(option in out for option in ("slowdown", "max-examples", "no-reasons"))


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
@pytest.mark.parametrize(
    ("words", "at", "found"),
    [
        ("callboard exp", 1, {"explain", "export"}),
        ("callboard run --slow", 2, {"--slowdown"}),
        ("callboard completion ''", 2, {"bash", "zsh", "fish"}),
    ],
)
def test_bash_completes(words: str, at: int, found: set[str]) -> None:
    program = COMPLETE.format(words=words, at=at)
    done = subprocess.run(
        ["bash", "-c", program, sys.executable],
        env=support.environment(),
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    assert done.stderr == ""
    assert set(done.stdout.split()) == found
