"""A page of the book, played: its commands print what stands below them, in a folder of its own."""

import doctest
import re
import shlex
from pathlib import Path

import pytest

from callboard.cli import run_command_line

DOCS = Path(__file__).parents[2] / "docs"
CONSOLE = re.compile(
    r"^```console\n\$ ((?:[^\n]*\\\n)*[^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
FENCE = r"```python\n(.*?)^```$"
CHANGE = re.compile(rf"^<!-- change (\S+) -->\n{FENCE}.*?^{FENCE}", re.MULTILINE | re.DOTALL)
WRITE = re.compile(r"^<!-- write (\S+) -->\n```(?:toml|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LOOSELY = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def page_text(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def play_page(name: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Run a page's commands, write its files and change them, in their order; the commands.

    A command in a block `console` prints what the block says, `...` for what it leaves out, and
    empty lines as they are.  A block after `<!-- write FILE -->` is a file; two blocks of Python
    after `<!-- change FILE -->` are what a file has, and has after the change.
    """
    text, played = page_text(name), []
    steps = [*CONSOLE.finditer(text), *CHANGE.finditer(text), *WRITE.finditer(text)]
    for step in sorted(steps, key=lambda step: step.start()):
        if step.re is CHANGE:
            _change(Path(step[1]), step[2], step[3])
        elif step.re is WRITE:
            Path(step[1]).write_text(step[2], encoding="utf-8")
        else:
            check_command(step[1], step[2], capsys)
            played.append(step[1])
    return played


def check_command(command: str, wanted: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Run one command; it prints what is wanted."""
    program, *arguments = shlex.split(command.replace("\\\n", " "))
    assert program == "callboard"
    assert run_command_line(arguments) == (arguments[0] == "diff")  # the journals differ
    printed = "".join(capsys.readouterr())
    alike = doctest.OutputChecker().check_output(_short(wanted), _short(printed), LOOSELY)
    assert alike, f"{command}\n{printed}"


def _short(text: str) -> str:
    """With short lines below headings: how long they are depends on how long computing took."""
    return re.sub("─+", "─", text)


def _change(path: Path, before: str, after: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(before) == 1, before
    path.write_text(text.replace(before, after), encoding="utf-8")
