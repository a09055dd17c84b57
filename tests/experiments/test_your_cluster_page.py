"""docs/your-cluster.md takes a reader from a history to a what-if table, as its commands print."""

import doctest
import re
import shlex
import shutil
from pathlib import Path

import pytest

from callboard.cli import run_command_line
from tests.support.traces import trace

pytest.importorskip("scipy")
pytest.importorskip("matplotlib")

PAGE = (Path(__file__).parents[2] / "docs" / "your-cluster.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```console\n\$ (.*?)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
OWN = [(command, wanted) for command, wanted in BLOCKS if "trace.json.gz" not in command]
OF_A_TRACE = [(command, wanted) for command, wanted in BLOCKS if "trace.json.gz" in command]
LOOSELY = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def check(command: str, wanted: str, capsys: pytest.CaptureFixture[str]) -> None:
    program, *arguments = shlex.split(command)
    assert program == "callboard"
    assert run_command_line(arguments) == 0
    printed = "".join(capsys.readouterr())
    assert doctest.OutputChecker().check_output(wanted, printed, LOOSELY), f"{command}\n{printed}"


def test_the_commands_from_a_history_to_a_plan_print_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert {command.split()[1] for command, _ in OWN} == {
        *("run", "export", "import", "calibrate", "backtest", "explain")
    }
    for command, wanted in OWN:
        check(command, wanted, capsys)
    assert (tmp_path / "busy.svg").is_file()
    assert (tmp_path / "sls" / "fair-scheduler.xml").is_file()


def test_the_commands_on_a_real_trace_print_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(trace("rumen/folder-input-trace.json.gz"), tmp_path / "trace.json.gz")
    monkeypatch.chdir(tmp_path)
    assert len(OF_A_TRACE) == 3
    for command, wanted in OF_A_TRACE:
        check(command, wanted, capsys)
