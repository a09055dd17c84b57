"""What comes up over the screen to choose from, or to fill in."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Label, OptionList
from textual.widgets.option_list import Option

from callboard.experiments.intervention_menu import FormFields, MenuGroup, MenuItem

_LABEL = 20


class MenuScreen(ModalScreen[MenuItem | None]):
    """Groups of things to do; each is chosen by its key, by arrow keys and enter, or by a click.
    None after escape.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "leave")]

    def __init__(self, title: str, groups: Sequence[MenuGroup]) -> None:
        super().__init__()
        self._title = title
        self._groups = groups
        self._items = {item.key: item for group in groups for item in group.items}

    def compose(self) -> ComposeResult:
        options: list[Option | None] = []
        for group in self._groups:
            options += [None] if options else []
            options += [Option(Text(group.heading), disabled=True)]
            options += [Option(_line(item), id=item.key) for item in group.items]
        with Vertical(id="menu") as box:
            box.border_title = self._title
            box.border_subtitle = "a key, or arrows and enter; esc leaves"
            yield OptionList(*options, id="acts", compact=True)

    def on_key(self, event: events.Key) -> None:
        item = self._items.get(event.character or "")
        if item is not None:
            event.stop()
            self.dismiss(item)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(self._items[event.option_id or ""])

    def action_cancel(self) -> None:
        self.dismiss(None)


def _line(item: MenuItem) -> Text:
    return Text.assemble("  ", (item.key, "bold"), f"  {item.title}")


class FormScreen(ModalScreen[FormFields | None]):
    """Fields to fill in; enter goes to the next, and at the last one, as ctrl+s anywhere, tells all
    to whoever asked.  None after escape.

    `check` raises ValueError with a message for people.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "leave"),
        Binding("ctrl+s", "submit", show=False),
        Binding("up", "app.focus_previous", show=False),
        Binding("down", "app.focus_next", show=False),
    ]

    def __init__(
        self, question: str, fields: FormFields, check: Callable[[FormFields], object]
    ) -> None:
        super().__init__()
        self._question = question
        self._fields = fields
        self._check = check

    def compose(self) -> ComposeResult:
        with Vertical(id="form") as box:
            several = len(self._fields) > 1
            box.border_title = self._question
            does = "enter at the last, or ctrl+s, does it" if several else "enter does it"
            box.border_subtitle = f"{does}; esc leaves"
            for name, text in self._fields.items():
                with Horizontal(classes="field"):
                    yield Label(f"{name:>{_LABEL}} ")
                    yield Input(text, name=name, compact=True)
            yield Label("", id="trouble")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        inputs = list(self.query(Input))
        if event.input is not inputs[-1]:
            inputs[inputs.index(event.input) + 1].focus()
        else:
            self.action_submit()

    def action_submit(self) -> None:
        inputs = list(self.query(Input))
        fields = {each.name or "": each.value for each in inputs}
        try:
            self._check(fields)
        except ValueError as error:
            self.query_one("#trouble", Label).update(Text(str(error)))
            return
        self.dismiss(fields)

    def action_cancel(self) -> None:
        self.dismiss(None)
