"""Dialogs over the screen: menus to choose from, and forms to fill in."""

from collections.abc import Callable, Sequence
from itertools import count
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Label, OptionList
from textual.widgets.option_list import Option

from callboard.experiments.intervention_menu import FormFields

_LABEL = 20

MenuLine = tuple[str, str]
"""A key, which may be empty, and the text beside it."""


class MenuScreen(ModalScreen[int | None]):
    """Lines under headings to choose from, by a key, by arrow keys and enter, or by a click.

    The result is the number of the line, counted over all groups, or None after escape.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "leave")]

    def __init__(
        self, title: str, groups: Sequence[tuple[str, Sequence[MenuLine]]], chosen: int = 0
    ) -> None:
        super().__init__()
        self._title = title
        self._groups = groups
        self._keys = [key for _, lines in groups for key, _ in lines]
        self._chosen = chosen

    def compose(self) -> ComposeResult:
        options: list[Option | None] = []
        numbers = count()
        for heading, lines in self._groups:
            options += [None] if options else []
            options += [Option(Text(heading), disabled=True)] if heading else []
            options += [Option(_line(*line), id=str(next(numbers))) for line in lines]
        with Vertical(id="menu") as box:
            box.border_title = self._title
            keys = "a key, or arrows and enter" if any(self._keys) else "arrows and enter"
            box.border_subtitle = f"{keys}; esc closes"
            yield OptionList(*options, id="choices", compact=True)

    def on_mount(self) -> None:
        listed = self.query_one(OptionList)
        listed.highlighted = listed.get_option_index(str(self._chosen))

    def on_key(self, event: events.Key) -> None:
        if event.character and event.character in self._keys:
            event.stop()
            self.dismiss(self._keys.index(event.character))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(int(event.option_id or 0))


def _line(key: str, title: str) -> Text:
    return Text.assemble("  ", (f"{key}  " if key else "", "bold"), title)


class FormScreen(ModalScreen[FormFields | None]):
    """Fields to fill in; enter in the last, or ctrl+s anywhere, submits.  The result is None after
    escape.  `check` raises ValueError with a message for the user.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "leave"),
        Binding("ctrl+s", "submit", show=False),
        Binding("up", "app.focus_previous", show=False),
        Binding("down", "app.focus_next", show=False),
    ]

    def __init__(
        self, question: str, fields: FormFields, check: Callable[[FormFields], object] = dict
    ) -> None:
        super().__init__()
        self._question = question
        self._fields = fields
        self._check = check

    def compose(self) -> ComposeResult:
        with Vertical(id="form") as box:
            several = len(self._fields) > 1
            box.border_title = self._question
            submits = "enter in the last field, or ctrl+s, submits" if several else "enter submits"
            box.border_subtitle = f"{submits}; esc closes"
            for name, text in self._fields.items():
                with Horizontal(classes="field"):
                    yield Label(f"{name:>{_LABEL}} ")
                    yield Input(text, name=name, compact=True)
            yield Label("", id="problem")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        inputs = list(self.query(Input))
        if event.input is not inputs[-1]:
            inputs[inputs.index(event.input) + 1].focus()
        else:
            self.action_submit()

    def action_submit(self) -> None:
        fields = {each.name or "": each.value for each in self.query(Input)}
        try:
            self._check(fields)
        except ValueError as error:
            self.query_one("#problem", Label).update(Text(str(error)))
            return
        self.dismiss(fields)
