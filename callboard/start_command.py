"""`callboard` without arguments in a terminal: choose a scenario of the library and watch it."""

import os
import sys

from callboard.screen_commands import COLUMNS_LEAST, LINES_LEAST
from scenarios import spec
from tui.start import Choice, Offer


def wanted() -> bool:
    """Whether there is a terminal in which a scenario can be chosen."""
    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        return False
    if os.environ.get("TERM") in (None, "", "dumb"):
        return False
    columns, lines = os.get_terminal_size(sys.stdout.fileno())
    return columns >= COLUMNS_LEAST and lines >= LINES_LEAST


def offers() -> list[Offer]:
    """The scenarios of the library."""
    found = []
    for name, path, story in spec.library():
        text = path.read_text(encoding="utf-8")
        found.append(Offer(name, story, about(text), spec.load(path).policies))
    return found


def about(text: str) -> str:
    """What a scenario's file says before its first setting, without what only a shell needs."""
    paragraphs, lines = [], []
    for line in [*text.splitlines(), ""]:
        if line.startswith("#"):
            said = line.removeprefix("#").removeprefix(" ")
            if said and not said.startswith(" "):
                lines.append(said)
                continue
        if lines:
            paragraphs.append(" ".join(lines))
            lines = []
        if not line.startswith("#"):
            break
    return "\n\n".join(paragraphs)


def choose() -> Choice | None:
    """Let a person choose; None if they leave."""
    from tui.start import StartApp

    return StartApp(offers(), spec.DEFAULT).run()
