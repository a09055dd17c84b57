"""Dialogs over the screen: menus to choose from, and forms to fill in."""

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any, ClassVar, TypeVar

from rich.text import Text
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widgets import Input, Label, OptionList
from textual.widgets.option_list import Option

from callboard.experiments.live.intervention_menu import FormFields

_LABEL = 20

MenuLine = tuple[str, str]
"""A key, which may be empty, and the text beside it."""


_Answer = TypeVar("_Answer")


def put_question(
    app: App[Any],
    dialog: Screen[_Answer | None],
    then: Callable[[_Answer], object],
    give_up: Callable[[], object] = lambda: None,
) -> None:
    """Put up a dialog, and do `then` with what it comes to, or `give_up` after escape."""

    def answered(answer: _Answer | None) -> None:
        if answer is None:
            give_up()
        else:
            then(answer)

    app.push_screen(dialog, answered)


class MenuScreen(ModalScreen[int | None]):
    """Lines under headings to choose from, by a key, by arrow keys and enter, or by a click.
    Letters that are no keys lead to the line that begins with them, but for those whose capital or
    small letter is one: `k` kills a node, `K` a rack.  Where lines have no keys, typing leaves only
    those with the text.

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
        self._titles = [title.lower() for _, lines in groups for _, title in lines]
        told = [key for key in self._keys if key]
        assert len(set(told)) == len(told), f"two lines with one key: {told}"
        self._chosen = chosen
        self._typed = ""

    def compose(self) -> ComposeResult:
        with Vertical(id="menu") as box:
            box.border_title = self._title
            box.border_subtitle = self._choosing_hint
            yield OptionList(*self._options(), id="choices", compact=True)

    @property
    def _choosing_hint(self) -> str:
        """How to choose."""
        keys = "a key, or arrows and enter" if any(self._keys) else "type, or arrows and enter"
        return f"{keys}; esc closes"

    def _options(self) -> Iterator[Option | None]:
        """The lines with the text that was typed, under their headings, with gaps between."""
        numbers, begun = count(), False
        for heading, lines in self._groups:
            numbered = [(next(numbers), *line) for line in lines]
            kept = [each for each in numbered if self._typed in each[2].lower()]
            if not kept:
                continue
            if begun:
                yield None
            begun = True
            if heading:
                yield Option(Text(heading), disabled=True)
            for number, key, title in kept:
                yield Option(_line(key, title), id=str(number))

    def on_mount(self) -> None:
        listed = self.query_one(OptionList)
        listed.highlighted = listed.get_option_index(str(self._chosen))

    def on_key(self, event: events.Key) -> None:
        letter = (event.character or "") if event.is_printable else ""
        has_keys = any(self._keys)
        if event.key != "backspace" and not (letter.strip() if has_keys else letter):
            return
        event.stop()
        typed = self._typed + letter.lower() if letter else self._typed[:-1]
        if not has_keys:
            self._narrow(typed)
        elif letter in self._keys and not (self._typed and self._beginning_with(typed)):
            self.dismiss(self._keys.index(letter))
        elif letter.swapcase() in self._keys and not self._typed:
            told = f"{letter} is no key here, and {letter.swapcase()} is another one; esc closes"
            self.query_one("#menu").border_subtitle = Content(told)
        else:
            self._go_to(typed)

    def _beginning_with(self, typed: str) -> list[int]:
        return [n for n, title in enumerate(self._titles) if title.startswith(typed)]

    def _go_to(self, typed: str) -> None:
        """To the first line that begins with that text; where none does, say so."""
        box, found = self.query_one("#menu"), self._beginning_with(typed)
        key = " has that key or" * (len(typed) == 1)
        told = self._choosing_hint if found else f"no line{key} begins with {typed}; esc closes"
        box.border_subtitle = Content(told)
        if found:
            listed = self.query_one(OptionList)
            listed.highlighted = listed.get_option_index(str(found[0]))
            self._typed = typed
            box.border_title = Content(f"{self._title}  {typed}▏" if typed else self._title)

    def _narrow(self, typed: str) -> None:
        """Leave the lines with that text; what no line has is not taken."""
        before, self._typed = self._typed, typed
        options = list(self._options())
        if not options:
            self._typed = before
            return
        listed = self.query_one(OptionList)
        listed.clear_options()
        listed.add_options(options)
        listed.action_first()
        box = self.query_one("#menu")
        box.border_title = f"{self._title}  /{typed}" if typed else self._title

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
