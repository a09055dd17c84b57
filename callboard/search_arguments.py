"""The arguments that `callboard check` and `callboard hunt` share, and files of what they find."""

import argparse
import shlex
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import get_args

from callboard.arguments import whole_number_type
from callboard.fairness.profiles import SEARCH_PROFILES, SearchProfile


def add_search_arguments(parser: argparse.ArgumentParser, each: str, more: str) -> None:
    """How many scenarios to draw for `each` of what is searched, and why it may be `more`; from
    which seed, and where files go.
    """
    add, at_least = parser.add_argument, partial(whole_number_type, digits=9)
    sizes = "{} or {:,} scenarios{} (default: quick)".format(*SEARCH_PROFILES.values(), each)
    add("--profile", choices=get_args(SearchProfile), default="quick", help=sizes)
    instead = f"that many scenarios instead; {more}"
    add("--max-examples", type=at_least(1), metavar="N", help=instead)
    add("--seed", type=at_least(0), default=1, metavar="N", help="of the scenarios (default: 1)")
    folder = "where files are written (default: here)"
    add("--to", type=Path, default=Path(), metavar="FOLDER", help=folder)


def example_count(options: argparse.Namespace) -> int:
    """How many scenarios to draw."""
    asked: int | None = options.max_examples
    return asked or SEARCH_PROFILES[options.profile]


def command_to_repeat(words: Sequence[str], options: argparse.Namespace) -> str:
    """The command that finds the same again."""
    if options.max_examples:
        words = [*words, "--max-examples", str(options.max_examples)]
    elif options.profile != "quick":
        words = [*words, "--profile", options.profile]
    return shlex.join([*words, "--seed", str(options.seed)])


def write_scenario(text: str, name: str, options: argparse.Namespace) -> Path:
    """Write a scenario that was found; its file."""
    options.to.mkdir(parents=True, exist_ok=True)
    path: Path = options.to / name
    path.write_text(text, encoding="utf-8")
    return path
