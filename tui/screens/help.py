"""The help: all keys, and what the signs mean."""

from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from callboard.tui.keymap import Keymap

_SIGNS = (
    (
        "■ ◇ ◆ ▲",
        "a map, a reduce that fetches map outputs, a reduce, a speculative attempt; in the colour"
        " of the job, brighter the longer it has run compared with others of its job; grey where"
        " the other of two runs has the same job there, and where another job is chosen",
    ),
    ("·  ×", "an empty slot, and one of a node that is down"),
    (
        "□",
        "the attempt is over, but the master, or its job's scheduler, does not know yet: until word"
        " of it comes, or, if the node is down, until it gives the node up",
    ),
    ("!", "given up by the master, or its job's scheduler, but it still runs"),
    (
        "¹ ² ³",
        "how many suspended attempts the node keeps in memory; where schedulers leave work with"
        " nodes, how many reservations, or tasks, wait there for a slot",
    ),
    (
        "× ‖ ≠ ~ ⊘",
        "after a node's number: down, paused, link disturbed, slow, out of service; red where its"
        " being down is not known yet",
    ),
    ("?", "the node is up, but has been given up for lost"),
    ("°", "in a title: what the scheduler cannot know"),
    ("▾ ✕ ▴ ╷", "marks: a fault, a node given up, a node back, a preemption"),
    ("╫", "where two compared runs first differ"),
)


class HelpScreen(ModalScreen[None]):
    """All keys and all signs."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,q", "dismiss", "close"),
        Binding("down,j", "scroll(1)", show=False),
        Binding("up,k", "scroll(-1)", show=False),
    ]

    def __init__(self, keymap: Keymap) -> None:
        super().__init__()
        self._keymap = keymap

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help"):
            yield Static(_signs_table())
            yield Static(_keys_table(self._keymap))
            yield Static(Text("ctrl+p finds any of these by name.  esc closes this.", "dim"))

    def action_scroll(self, by: int) -> None:
        self.query_one("#help").scroll_relative(y=3 * by, animate=False)


def _signs_table() -> Table:
    table = Table.grid(padding=(0, 2))
    table.title = "What the signs mean"
    table.add_column(no_wrap=True, style="bold")
    for row in _SIGNS:
        table.add_row(*row)
    return table


def _keys_table(keymap: Keymap) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, justify="right", style="bold")
    table.add_column()
    for heading, commands in keymap.groups.items():
        table.add_row("", "")
        table.add_row("", Text(heading.capitalize(), "bold underline"))
        for each in commands:
            table.add_row(each.key, each.help)
    return table
