"""The first screen of `callboard` without arguments: choose one of the library's scenarios."""

from collections.abc import Sequence
from typing import ClassVar

import msgspec
from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from callboard.tui.theme import DARK, register_themes


class LibraryEntry(msgspec.Struct, frozen=True):
    """A scenario to play: its one-line story, the description in its file, and its policies."""

    name: str
    story: str
    about: str
    policies: tuple[str, ...]


class StartChoice(msgspec.Struct, frozen=True):
    """The chosen scenario, policy and theme."""

    scenario: str
    policy: str
    theme: str


class StartApp(App[StartChoice]):
    """A list of scenarios beside the description of the highlighted one."""

    CSS_PATH = "start.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "policy(-1)", show=False, priority=True),
        Binding("right", "policy(1)", show=False, priority=True),
        Binding("t", "theme", show=False),
        Binding("q,escape", "leave", show=False),
        Binding("ctrl+c", "leave", show=False, priority=True),
    ]

    def __init__(self, offers: Sequence[LibraryEntry], first: str) -> None:
        super().__init__()
        self._offers = {offer.name: offer for offer in offers}
        self._first = first
        self._policies = dict.fromkeys(self._offers, 0)
        """The place of the chosen policy of each scenario."""
        self._palettes = register_themes(self, "dark")

    def compose(self) -> ComposeResult:
        yield Static(Text(" callboard: choose a scenario to watch"), id="question")
        with Horizontal(id="stage"):
            yield OptionList(*(Option(name, id=name) for name in self._offers), id="scenarios")
            with VerticalScroll(id="about", can_focus=False):
                yield Static(id="story")
        yield Static(id="policies")
        keys = " ↑ ↓ scenario   ← → policy   enter watch it   t dark or light   q leave"
        yield Static(Text(keys), id="keys")

    def on_mount(self) -> None:
        listed = self.query_one(OptionList)
        listed.highlighted = listed.get_option_index(self._first)
        listed.focus()

    @property
    def _offer(self) -> LibraryEntry:
        listed = self.query_one(OptionList)
        option = listed.highlighted_option
        return self._offers[(option.id if option else None) or self._first]

    def on_option_list_option_highlighted(self) -> None:
        self._tell()

    def _tell(self) -> None:
        offer = self._offer
        palette = self._palettes[self.theme]
        story = Text.assemble((offer.story, "bold"), "\n\n", (offer.about, palette.text))
        self.query_one("#story", Static).update(story)
        line = Text(" under  ", palette.dim)
        for place, policy in enumerate(offer.policies):
            chosen = place == self._policies[offer.name]
            ink = f"bold {palette.ground} on {palette.accent}" if chosen else palette.text
            line.append(f" {policy} ", ink)
            line.append(" ")
        self.query_one("#policies", Static).update(line)

    def action_policy(self, by: int) -> None:
        """The next policy, or the one before."""
        offer = self._offer
        self._policies[offer.name] = (self._policies[offer.name] + by) % len(offer.policies)
        self._tell()

    def on_option_list_option_selected(self) -> None:
        offer = self._offer
        policy = offer.policies[self._policies[offer.name]]
        self.exit(StartChoice(offer.name, policy, self.theme))

    def action_theme(self) -> None:
        self.theme = "light" if self.theme == "dark" else "dark"
        self._tell()

    def action_leave(self) -> None:
        self.exit()

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return {"edge": DARK.edge}
