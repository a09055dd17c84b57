"""Policies to tick, any number of them; and the tour of a scenario, if it has one."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from callboard.journal.replay.palette import Palette

TOUR = "\0tour"
"""Stands for the tour among the policies that are ticked."""

ANOTHER = "\0another"
"""Stands for one that is to be typed in."""

_WORDS = {TOUR: "as a tour, which tells it step by step", ANOTHER: "    another policy …"}


class PolicyBoxes(OptionList):
    """A box for each policy.  It only shows what is ticked."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "app.tick", show=False),
        Binding("enter", "app.watch", show=False),
        Binding("left", "app.focus('scenarios')", show=False),
    ]

    @dataclass
    class Clicked(Message):
        """This policy, or what stands among them, was clicked."""

        policy: str

    _offered: object = None
    _ticked: Collection[str] = ()

    def offer(self, policies: Iterable[str], own: int, ticked: Iterable[str], ink: Palette) -> None:
        """Show these policies, of which the first `own` are the scenario's."""
        offered = (tuple(policies), own, tuple(ticked), ink)
        if offered == self._offered:
            return
        place, self._offered, self._ticked = self.highlighted or 0, offered, set(offered[2])
        colours = [ink.text if nth < own else ink.dim for nth in range(len(offered[0]) + 1)]
        self.clear_options()
        self.add_options(
            Option(Text(self._policy_line(policy), colour), id=policy)
            for policy, colour in zip((*offered[0], ANOTHER), colours, strict=True)
        )
        self.highlighted = min(place, self.option_count - 1)

    def _policy_line(self, policy: str) -> str:
        if policy == ANOTHER:
            return _WORDS[policy]
        return f"[{'x' if policy in self._ticked else ' '}] {_WORDS.get(policy, policy)}"

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.post_message(self.Clicked(event.option_id or ""))
