"""The first screen of `callboard` without arguments: choose one of the library's scenarios."""

from collections.abc import Sequence
from typing import ClassVar

import msgspec
from rich.text import Text
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from callboard.journal.replay.palette import DARK, Palette
from callboard.tui.theme import register_themes


class LibraryEntry(msgspec.Struct, frozen=True):
    """A scenario to play: its one-line story, the description in its file, and its policies."""

    name: str
    story: str
    about: str
    policies: tuple[str, ...]


class StartChoice(msgspec.Struct, frozen=True):
    """The chosen scenario, its policies, one or two, and the theme."""

    scenario: str
    policies: tuple[str, ...]
    theme: str


POLICIES_MOST = 2
"""How many runs a screen has room for."""

_KEYS = " ↑ ↓ scenario  ← → policy  space also another  enter watch  ? keys  esc leave"
_HELP = """\
Type a few letters: only scenarios with them in their name or story stay.  Backspace takes a letter
back, esc all of them.

↑ ↓       another scenario
← →       another policy of it
space     mark the policy; two that are marked are shown beside each other
enter     watch it; leaving the run leads back here
/         type to filter, from anew
ctrl+t    dark or light
esc, q    leave
"""


class StartApp(App[StartChoice]):
    """A list of scenarios beside the description of the highlighted one."""

    CSS_PATH = "start.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "policy(-1)", show=False, priority=True),
        Binding("right", "policy(1)", show=False, priority=True),
        Binding("ctrl+t", "theme", show=False),
        Binding("escape", "step_back", show=False),
        Binding("ctrl+c", "leave", show=False, priority=True),
    ]

    def __init__(self, offers: Sequence[LibraryEntry], first: str, theme: str = "dark") -> None:
        super().__init__()
        self._filter = ""
        self._help = False
        self._marked: dict[str, tuple[str, ...]] = {offer.name: () for offer in offers}
        self._offers = {offer.name: offer for offer in offers}
        self._first = first
        self._policies = dict.fromkeys(self._offers, 0)
        """The place of the chosen policy of each scenario."""
        self._palettes = register_themes(self, theme)

    def compose(self) -> ComposeResult:
        yield Static(id="question")
        with Horizontal(id="stage"):
            yield OptionList(*(Option(name, id=name) for name in self._offers), id="scenarios")
            with VerticalScroll(id="about", can_focus=False):
                yield Static(id="story")
        yield Static(id="policies")
        yield Static(Text(_KEYS), id="keys")

    def on_mount(self) -> None:
        listed = self.query_one(OptionList)
        listed.highlighted = listed.get_option_index(self._first)
        listed.focus()
        self._tell()

    @property
    def _offer(self) -> LibraryEntry | None:
        """The highlighted scenario, if any passes the filter."""
        option = self.query_one(OptionList).highlighted_option
        return None if option is None else self._offers[option.id or self._first]

    def on_option_list_option_highlighted(self) -> None:
        self._help = False
        self._tell()

    def _tell(self) -> None:
        palette, offer = self._palettes[self.theme], self._offer
        typed = f"  /{self._filter}▏" if self._filter else "  (type to filter)"
        question = Text.assemble(" callboard: choose a scenario to watch", (typed, palette.dim))
        self.query_one("#question", Static).update(question)
        if self._help:
            story = Text(_HELP, palette.text)
        elif offer is None:
            story = Text(f"no scenario has {self._filter!r} in its name or story", palette.text)
        else:
            story = Text.assemble((offer.story, "bold"), "\n\n", (offer.about, palette.text))
        self.query_one("#story", Static).update(story)
        line = Text() if offer is None else self._policy_line(offer, palette)
        self.query_one("#policies", Static).update(line)

    def _policy_line(self, offer: LibraryEntry, palette: Palette) -> Text:
        line = Text(" under  ", palette.dim)
        for place, policy in enumerate(offer.policies):
            chosen = place == self._policies[offer.name]
            ink = f"bold {palette.ground} on {palette.accent}" if chosen else palette.text
            line.append(f"{'✓' if policy in self._marked[offer.name] else ' '}{policy} ", ink)
            line.append(" ")
        return line

    def on_key(self, event: events.Key) -> None:
        """Letters filter; a few keys that no name begins with do other things."""
        typed = event.character if event.is_printable else None
        if event.key == "backspace":
            self._narrow(self._filter[:-1])
        elif typed == "/":
            self._narrow("")
        elif typed == "?":
            self._help = not self._help
            self._tell()
        elif typed == " ":
            self._mark()
        elif typed == "q" and not self._filter:
            self.exit()
        elif typed:
            self._narrow(self._filter + typed.lower())

    def _narrow(self, text: str) -> None:
        """Show only the scenarios with this text, the highlighted one still if it has it."""
        self._filter, self._help = text, False
        offer, listed = self._offer, self.query_one(OptionList)
        names = [
            name for name, each in self._offers.items() if text in f"{name} {each.story}".lower()
        ]
        listed.clear_options()
        listed.add_options([Option(name, id=name) for name in names])
        if names:
            listed.highlighted = names.index(offer.name) if offer and offer.name in names else 0
        self._tell()

    def _mark(self) -> None:
        """Mark the policy, or no longer; of more than there is room for the first gives way."""
        if (offer := self._offer) is None:
            return
        policy, marked = offer.policies[self._policies[offer.name]], self._marked[offer.name]
        kept = tuple(each for each in marked if each != policy)
        kept += () if policy in marked else (policy,)
        self._marked[offer.name] = kept[-POLICIES_MOST:]
        self._tell()

    def action_policy(self, by: int) -> None:
        """The next policy, or the one before."""
        if (offer := self._offer) is not None:
            self._policies[offer.name] = (self._policies[offer.name] + by) % len(offer.policies)
            self._tell()

    def on_option_list_option_selected(self) -> None:
        if (offer := self._offer) is not None:
            policy = offer.policies[self._policies[offer.name]]
            marked = self._marked[offer.name] or (policy,)
            self.exit(StartChoice(offer.name, marked, self.theme))

    def action_step_back(self) -> None:
        """Out of the help, then out of the filter, then leave."""
        if self._help or self._filter:
            self._narrow("")
        else:
            self.exit()

    def action_theme(self) -> None:
        self.theme = "light" if self.theme == "dark" else "dark"
        self._tell()

    def action_leave(self) -> None:
        self.exit()

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return {"edge": DARK.edge}
