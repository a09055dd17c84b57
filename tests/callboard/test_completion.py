"""`callboard completion`: every shell gets every command, and bash really completes."""

import shutil
import subprocess
from pathlib import Path

import pytest

from callboard.cli import COMMAND_SUMMARIES
from tests.callboard import support
from tests.callboard.conftest import Run

pytest.importorskip("shtab")

COMPLETE = """
. "$1"
COMP_WORDS=({words}) COMP_CWORD={at}
_shtab_callboard
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `callboard completion bash` prints."""
    path = tmp_path_factory.mktemp("completion") / "bash"
    path.write_text(support.shell("callboard completion bash").stdout)
    return path


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_and_the_options_of_all(callboard: Run, shell: str) -> None:
    status, out, err = callboard("completion", shell)
    assert (status, err) == (0, "")
    assert all(command in out for command in COMMAND_SUMMARIES)
    assert all(option in out for option in ("slowdown", "max-examples", "no-reasons"))


@pytest.mark.soak
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
@pytest.mark.parametrize(
    ("words", "at", "found"),
    [
        ("callboard exp", 1, {"explain", "export"}),
        ("callboard run --slow", 2, {"--slowdown"}),
        ("callboard completion ''", 2, {"bash", "zsh", "fish"}),
        ("callboard run two", 2, {"two-jobs", "two.journal"}),
        ("callboard watch rack", 2, {"rack-outage"}),
        ("callboard check hy", 2, {"hybrid"}),
        ("callboard run --policy mi", 3, {"mine.py"}),
        ("callboard explain t", 2, {"two.journal"}),
    ],
)
def test_bash_completes(words: str, at: int, found: set[str], tmp_path: Path, script: Path) -> None:
    for name in ("two.journal", "mine.py", "two.txt"):
        (tmp_path / name).touch()
    program = COMPLETE.format(words=words, at=at)
    done = subprocess.run(
        ["bash", "-c", program, "bash", str(script)],
        capture_output=True,
        encoding="utf-8",
        check=False,
        cwd=tmp_path,
        timeout=120,
    )
    assert done.stderr == ""
    assert set(done.stdout.split()) == found


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_scenarios_and_policies(callboard: Run, shell: str) -> None:
    _, out, _ = callboard("completion", shell)
    assert "two-jobs" in out
    assert "hybrid" in out
