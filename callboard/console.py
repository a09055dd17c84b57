"""The console that everything for people is printed on."""

from rich.console import Console
from rich.text import Text

from callboard.journal.tell.names import printable


class PlainConsole(Console):
    """Rich's console, but a reader who has gone is the caller's affair, and nothing is coloured
    unasked.
    """

    def __init__(self, *, stderr: bool = False, width: int | None = None) -> None:
        super().__init__(stderr=stderr, width=width, highlight=False)

    def on_broken_pipe(self) -> None:
        """Raise BrokenPipeError; Rich itself would leave the program with status 1."""
        raise BrokenPipeError


def plain(text: str, style: str = "") -> Text:
    """A user's text just as it is: no markup and no emoji codes are read in it."""
    return Text(printable(text), style)
