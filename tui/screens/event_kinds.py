"""Which kind of events the log is to tell: a list to choose from."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Label, OptionList
from textual.widgets.option_list import Option

from callboard.journal.tell.show import EVENT_KINDS

ANY_KIND = ""
"""No kind in particular."""


class KindScreen(ModalScreen[str | None]):
    """All kinds of events by the names that `callboard show --kind` takes; None after escape."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "cancel", "leave")]

    def __init__(self, kind: str) -> None:
        super().__init__()
        self._kind = kind

    def compose(self) -> ComposeResult:
        options = [Option("all kinds", id="all"), *(Option(kind, id=kind) for kind in EVENT_KINDS)]
        with Vertical(id="kinds"):
            yield Label("Tell only events of which kind?")
            yield OptionList(*options)

    def on_mount(self) -> None:
        listed = self.query_one(OptionList)
        listed.highlighted = listed.get_option_index(self._kind or "all")
        listed.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(ANY_KIND if event.option_id == "all" else event.option_id)

    def action_cancel(self) -> None:
        self.dismiss(None)
