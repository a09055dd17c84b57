"""A run on the screen: the arguments, the checks of the terminal, and showing it."""

import argparse
import os
import sys

from callboard import web
from callboard.actors.kernel.kernel import KernelError
from callboard.experiments.user_errors import InputError
from callboard.journal.replay.source import Source

COLUMNS_LEAST, LINES_LEAST = 60, 20


def add_screen_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of every command with a screen."""
    themes, colours = ("dark", "light"), "colours (t changes them)"
    parser.add_argument("--theme", choices=themes, default="dark", help=colours)


def show_on_screen(
    source: Source, theme: str, *, follow: bool = False, recorded: bool = False
) -> int:
    """Show a run until the user leaves; the exit status.  `recorded`: it goes into a journal."""
    from callboard.tui.app import CallboardApp  # it takes a moment to load

    app = CallboardApp(source, theme=theme, recorded=recorded)
    if follow:
        app.playback.follow()
    app.run()
    if app.failure is not None:
        raise app.failure
    if app.playback.frame is not None and app.playback.frame.failure:
        raise KernelError(app.playback.frame.failure)
    return app.return_code or 0


def check_terminal() -> None:
    """InputError where no screen can be shown, or only one too small to read."""
    if web.is_child():
        return
    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        raise InputError("this needs a terminal; `callboard show` prints a journal anywhere")
    if os.environ.get("TERM") in (None, "", "dumb"):
        raise InputError("this terminal (TERM=dumb) cannot place text; try another one")
    columns, lines = os.get_terminal_size(sys.stdout.fileno())
    if columns < COLUMNS_LEAST or lines < LINES_LEAST:
        raise InputError(
            f"the terminal has {columns}×{lines} characters; the screen needs"
            f" {COLUMNS_LEAST}×{LINES_LEAST}, and 80×24 for comfort"
        )
