"""What the parsers of the command line know of each command."""

import argparse
import re
from collections.abc import Iterator
from typing import NamedTuple

from callboard.cli import COMMAND_SUMMARIES, make_parser


class OptionFacts(NamedTuple):
    """An argument or an option: how it is written, and what it is for."""

    spelling: str
    meaning: str


class CommandFacts(NamedTuple):
    """A command, and its arguments and options in groups with a title."""

    name: str
    summary: str
    about: str
    after: str
    groups: tuple[tuple[str, tuple[OptionFacts, ...]], ...]


def all_commands() -> Iterator[CommandFacts]:
    """Every command, in the order of `callboard --help`."""
    whole = make_parser(*COMMAND_SUMMARIES)
    (parsers,) = (each for each in whole._actions if _has_commands(each))
    assert isinstance(parsers.choices, dict)
    for name, parser in parsers.choices.items():
        about = " ".join((parser.description or "").split())
        groups = tuple(_groups(parser))
        yield CommandFacts(name, COMMAND_SUMMARIES[name], about, parser.epilog or "", groups)


def _has_commands(action: argparse.Action) -> bool:
    return isinstance(action, argparse._SubParsersAction)


def _groups(parser: argparse.ArgumentParser) -> Iterator[tuple[str, tuple[OptionFacts, ...]]]:
    for group in parser._action_groups:
        told = [each for each in group._group_actions if each.dest != "help"]
        if told:
            title = (group.title or "").replace("positional arguments", "arguments")
            yield title, tuple(OptionFacts(_spelling(each), _meaning(each)) for each in told)


def _spelling(action: argparse.Action) -> str:
    value = _value(action)
    if not action.option_strings:
        return value
    return ", ".join(f"{name} {value}".rstrip() for name in action.option_strings)


def _value(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ""
    choices = "" if action.choices is None else f"{{{','.join(map(str, action.choices))}}}"
    name = action.metavar or choices or action.dest
    assert isinstance(name, str)
    return {"*": f"[{name} ...]", "+": f"{name} ...", "?": f"[{name}]"}.get(str(action.nargs), name)


def _meaning(action: argparse.Action) -> str:
    return re.sub(r"\s+", " ", (action.help or "").replace("%%", "%"))
