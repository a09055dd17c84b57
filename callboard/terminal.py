"""Whether there is a terminal that a screen can be shown in.  It loads nothing of the engine."""

import os
import sys

from callboard import web
from callboard.experiments.user_errors import InputError

COLUMNS_LEAST, LINES_LEAST = 60, 20


def check_terminal() -> None:
    """InputError where no screen can be shown, or only one too small to read."""
    if web.is_browser_process():
        return
    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        raise InputError("this needs a terminal; `callboard show` prints a journal anywhere")
    kind = os.environ.get("TERM", "")
    if not kind:
        raise InputError(
            "TERM is not set, so what this terminal can do is not known; try TERM=xterm"
        )
    if kind == "dumb":
        raise InputError("this terminal (TERM=dumb) cannot place text; try another one")
    columns, lines = os.get_terminal_size(sys.stdout.fileno())
    if columns < COLUMNS_LEAST or lines < LINES_LEAST:
        raise InputError(
            f"the terminal has {columns}×{lines} characters; the screen needs"
            f" {COLUMNS_LEAST}×{LINES_LEAST}, and 80×24 for comfort"
        )
