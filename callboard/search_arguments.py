"""What `callboard check` and `callboard hunt` both take, and how they show and write what they
find.
"""

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from callboard.arguments import whole_number
from callboard.experiments.user_errors import InputError
from callboard.fairness.profiles import SEARCH_PROFILES, SearchProfile


def add_search_arguments(parser: argparse.ArgumentParser) -> None:
    """How hard to look, from where, and where what is found goes."""
    add = parser.add_argument
    add(
        "--profile",
        choices=get_args(SearchProfile),
        default="quick",
        help="{} or {:,} scenarios a property (default: quick)".format(*SEARCH_PROFILES.values()),
    )
    add(
        "--max-examples",
        type=whole_number(1, digits=9),
        metavar="N",
        help="that many scenarios instead",
    )
    add(
        "--seed",
        type=whole_number(0, digits=9),
        default=1,
        metavar="N",
        help="of the scenarios (default: 1)",
    )
    add(
        "--to",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="where files are written (default: here)",
    )


def example_count(options: argparse.Namespace) -> int:
    """How many scenarios to draw."""
    asked: int | None = options.max_examples
    return asked or SEARCH_PROFILES[options.profile]


def check_folder(options: argparse.Namespace) -> None:
    """InputError if what is found cannot be written where it should be."""
    if options.to.exists() and not options.to.is_dir():
        raise InputError(f"--to {options.to}: not a folder")


def command_to_repeat(words: Sequence[str], options: argparse.Namespace) -> str:
    """The command that finds the same again."""
    effort: tuple[str, ...] = ()
    if options.max_examples:
        effort = "--max-examples", str(options.max_examples)
    elif options.profile != "quick":
        effort = "--profile", options.profile
    return shlex.join([*words, *effort, "--seed", str(options.seed)])


def write_scenario(text: str, name: str, options: argparse.Namespace) -> Path:
    """Write a scenario that was found; its file."""
    options.to.mkdir(parents=True, exist_ok=True)
    path: Path = options.to / name
    path.write_text(text, encoding="utf-8")
    return path
