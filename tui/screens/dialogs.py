"""What comes up over the screen: the help, and a line to type into."""

from collections.abc import Callable
from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Label, Static

from callboard.tui.keymap import COMMANDS

_SIGNS = (
    (
        "■ ◇ ◆ ▲",
        "a map, a reduce that fetches map outputs, a reduce, a copy of a straggler;"
        " the colour is the job's, and the brighter, the longer it runs beside others of its job",
    ),
    ("·  ×", "an empty slot, and one of a node that is down"),
    (
        "□",
        "what ran here is over, and the master does not know yet: until the next beat, or, on a"
        " node that is down, until it is given up",
    ),
    ("!", "the master has given this attempt up, and it runs all the same"),
    ("¹ ² ³", "so many attempts are suspended and kept in the node's memory"),
    (
        "× ‖ ≠ ~ ⊘",
        "behind a node's number: down, stands still, link disturbed, slow, out of service.  In"
        " red: the master does not know it is down",
    ),
    ("?", "the node is not down, and the master has given it up for lost"),
    ("°", "in a title: what only the audience knows, and no scheduler is told"),
    ("▾ ✕ ▴ ╷", "marks: a fault strikes, a node is given up, a node is back, a preemption"),
    ("╫", "where two runs beside each other first differ"),
)


class HelpScreen(ModalScreen[None]):
    """All keys and all signs."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,q", "dismiss", "close"),
        Binding("down,j", "scroll(1)", show=False),
        Binding("up,k", "scroll(-1)", show=False),
    ]

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help"):
            yield Static(_signs())
            yield Static(_keys())
            yield Static(Text("ctrl+p finds any of these by name.  esc closes this.", "dim"))

    def action_scroll(self, by: int) -> None:
        self.query_one("#help").scroll_relative(y=3 * by, animate=False)


def _signs() -> Table:
    table = Table.grid(padding=(0, 2))
    table.title = "What the signs mean"
    table.add_column(no_wrap=True, style="bold")
    table.add_column()
    for sign, meaning in _SIGNS:
        table.add_row(sign, meaning)
    return table


def _keys() -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, justify="right", style="bold")
    table.add_column()
    group = ""
    for each in COMMANDS:
        if each.group != group:
            group = each.group
            table.add_row("", "")
            table.add_row("", Text(group.capitalize(), "bold underline"))
        table.add_row(each.shown, each.help)
    return table


class AskScreen(ModalScreen[str | None]):
    """One line to type; what it comes to is told to whoever asked, or None after escape.

    `check` raises ValueError with a message for people.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "leave")]

    def __init__(self, question: str, text: str, check: Callable[[str], object]) -> None:
        super().__init__()
        self._question = question
        self._text = text
        self._check = check

    def compose(self) -> ComposeResult:
        with Vertical(id="ask"):
            yield Label(self._question)
            yield Input(self._text, id="answer")
            yield Label("", id="trouble")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        try:
            self._check(event.value)
        except ValueError as error:
            self.query_one("#trouble", Label).update(Text(str(error)))
            return
        self.dismiss(event.value)

    def action_cancel(self) -> None:
        self.dismiss(None)
