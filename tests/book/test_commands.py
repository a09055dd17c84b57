"""Every command in a page could be typed: it parses, and its scenarios and policies are there.

Those in blocks `console` are also run, by the tests of their pages.
"""

import re
import shlex
from pathlib import Path

import pytest

from callboard.cli import COMMAND_SUMMARIES, make_parser
from callboard.experiments.run.plugins import canonical_policy
from callboard.scenarios.library_list import LIBRARY
from docs.making.book.command_facts import all_commands

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PARSER = make_parser(*COMMAND_SUMMARIES)
OPTIONS = {
    command.name: {
        word.split()[0]
        for _, options in command.groups
        for option in options
        for word in option.spelling.split(", ")
    }
    for command in all_commands()
}
"""By command."""

LINE = re.compile(r"^(?:    |\$ |  )(?:\.venv/bin/)?(callboard .+)$", re.MULTILINE)
INLINE = re.compile(r"`(callboard [^`]+)`")
ELSEWHERE = ("./", "/", ".py")
"""What a policy's spelling has that is of a file."""


def commands(page: Path) -> list[str]:
    """The commands in a page's blocks, a line each, but for those cut short."""
    text = re.sub(r" *\\\n *", " ", page.read_text(encoding="utf-8"))
    found = [
        re.split(r" {2,}| (?:&&|\||>) ", line)[0] for line in LINE.findall(text)
    ]  # the rest explains
    return [each for each in dict.fromkeys(found) if is_whole(each)]


def is_whole(command: str) -> bool:
    """Whether it is one to be typed, with no `…` and no word in capitals for another."""
    words = command.split("#")[0].split()
    if len(words) == 1 or words[1] not in COMMAND_SUMMARIES:
        return False
    return not re.search(r"…|\.\.\.|\b[A-Z]{3,}\b", command)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_says_to_type_can_be_typed(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in commands(page):
        try:
            options = PARSER.parse_args(shlex.split(command, comments=True)[1:])
        except SystemExit:
            pytest.fail(f"{command}\n{capsys.readouterr().err}")
        for name in named_scenarios(options):
            assert (LIBRARY / f"{name}.toml").is_file() or Path(name).suffix, command
        for policy in named_policies(options):
            if not any(mark in policy for mark in ELSEWHERE):
                canonical_policy(policy)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_options_that_the_text_names_are_there(page: Path) -> None:
    for words in map(str.split, INLINE.findall(page.read_text(encoding="utf-8"))):
        known = OPTIONS.get(words[1], set())
        named = {word.partition("=")[0] for word in words if word.startswith("--")}
        assert named <= {*known, "--help", "--version"}, " ".join(words)


def named_scenarios(options: object) -> list[str]:
    one = [getattr(options, "scenario", None)]
    return [name for name in [*getattr(options, "scenarios", []), *one] if name]


def named_policies(options: object) -> list[str]:
    found = getattr(options, "policy", None) or []
    return [found] if isinstance(found, str) else list(found)


def test_there_are_commands() -> None:
    assert len(commands(ROOT / "docs" / "what-to-try.md")) > 35
    assert sum(len(commands(page)) for page in PAGES) > 150
