"""`callboard replay` and `callboard watch`: a run on the screen."""

import argparse
import os
import sys
from pathlib import Path

from callboard.errors import InputError
from journal.reader import Journal
from tui.source import RecordedSource

COLUMNS_LEAST, LINES_LEAST = 60, 20
_AT_ONCE = 20_000
"""How many events are read before the screen comes up; the rest follows behind it."""


def add_replay_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `callboard replay`."""
    parser.description = (
        "Show a recorded run on the screen: play it at any speed, step, go back and forth.  A run"
        " that was cut off is shown as far as it goes."
    )
    parser.add_argument(
        "journal", type=Path, metavar="JOURNAL", help="what `callboard run --journal` has written"
    )
    add_screen_arguments(parser)


def add_screen_arguments(parser: argparse.ArgumentParser) -> None:
    """What every command with a screen takes."""
    parser.add_argument(
        "--theme", choices=("dark", "light"), default="dark", help="colours (t changes them)"
    )


def replay_command(options: argparse.Namespace) -> int:
    """Show a journal on the screen."""
    check_terminal()
    source = RecordedSource(iter(Journal(options.journal)))
    source.read_on(_AT_ONCE)  # what is wrong with the file's beginning is said before the screen
    if source.tape.started is None:
        raise InputError(f"{options.journal}: no run has been recorded in it yet")
    from tui.app import CallboardApp  # it takes a moment to load

    app = CallboardApp(source, theme=options.theme)
    app.run()
    if app.trouble is not None:
        raise app.trouble
    return 0


def check_terminal() -> None:
    """InputError where no screen can be shown, or none that anybody could read."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InputError("this needs a terminal; `callboard show` prints a journal anywhere")
    if os.environ.get("TERM") in (None, "", "dumb"):
        raise InputError("this terminal (TERM=dumb) cannot place text; try another one")
    columns, lines = os.get_terminal_size(sys.stdout.fileno())
    if columns < COLUMNS_LEAST or lines < LINES_LEAST:
        raise InputError(
            f"the terminal has {columns}×{lines} characters; the screen needs"
            f" {COLUMNS_LEAST}×{LINES_LEAST}, and 80×24 for comfort"
        )
