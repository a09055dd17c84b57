"""The first screen of `callboard` without arguments: choose a scenario of the library, policies to
play it under and a seed; or a journal to look at.

It comes up before the engine is loaded; what only that can tell is filled in (`tui.start_facts`).
"""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import msgspec
from rich.console import Group
from rich.table import Table
from rich.text import Text
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Input, Label, OptionList, Static
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from callboard.journal.replay.palette import DARK, Palette
from callboard.journal.tell.shortening import cut_within
from callboard.scenarios.library_list import DEFAULT_SCENARIO, LibraryEntry
from callboard.tui.screens.policy_boxes import ANOTHER, TOUR, PolicyBoxes
from callboard.tui.theme import next_theme, register_themes

if TYPE_CHECKING:
    from callboard.tui.start_facts import StartFacts


class StartChoice(msgspec.Struct, frozen=True):
    """What was chosen.  Without policies they are the scenario's first, or the tour's; without a
    `seed` it is the scenario's.  A `journal`, if there is one, is replayed instead.
    """

    scenario: str
    policies: tuple[str, ...] = ()
    theme: str = "dark"
    seed: str = ""
    tour: bool = False
    journal: str = ""


POLICIES_MOST = 2
"""How many runs a screen has room for."""

_RECORDED = "recorded in this folder"
_WIDE = 130
"""From this width in columns on, the list has portraits beside the names."""

_LIST, _LIST_WIDE, _LIST_FRAME = 27, 70, 4
"""The columns of the list, and those of them that its border, its bar and a margin take."""

_NAME, _PICTURE = 19, 20
_TALL = 36

_KEYS = " type filters  ↑ ↓ scenario  → policies  tab seed  enter watch  ? keys  esc "
_HELP_BEFORE = (
    "Type a few letters: only scenarios with them in their name, story or group stay.  Backspace"
    " takes a letter back, esc all of them.\n"
)
_HELP = {
    "↑ ↓": "another scenario, or a recorded run",
    "→ ←": "to its policies, and back",
    "space": "there: tick one, or take the tick away; two that are ticked are compared",
    "tab": "on: the description, policies, the seed",
    "enter": "watch; leaving the run leads back here",
    "/": "type to filter, from anew",
    "ctrl+t": "another theme",
    "esc": "leave, once nothing is typed",
    "ctrl+q": "leave at once",
}
_HELP_AFTER = (
    "\nLength is what a run takes at least: with all slots busy while there is work.  The picture"
    " shows the work that arrives over that time; ▾ marks faults."
)


class ScenarioList(OptionList):
    """Scenarios and journals under headings."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "app.watch", show=False),
        Binding("right", "app.focus('policies')", show=False),
    ]


class StartApp(App[StartChoice]):
    """A list of scenarios beside what the highlighted one is like."""

    CSS_PATH = "start.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+t", "theme", show=False, priority=True),
        Binding("escape", "step_back", show=False),
        Binding("ctrl+c", "leave", show=False, priority=True),
    ]

    def __init__(
        self,
        offers: Sequence[LibraryEntry],
        journals: Sequence[Path] = (),
        before: StartChoice | None = None,
        theme: str = "dark",
    ) -> None:
        super().__init__()
        self._offers = {offer.name: offer for offer in offers}
        self._journals = {str(path): path for path in journals}
        self._before = before or StartChoice(DEFAULT_SCENARIO, theme=theme)
        self._ticked = {name: offer.policies[:1] for name, offer in self._offers.items()}
        if before is not None and before.scenario in self._ticked:
            self._ticked[before.scenario] = before.policies + ((TOUR,) if before.tour else ())
        self._typed: list[str] = []
        """Policies that were typed in."""
        self._facts: StartFacts | None = None
        self._filter, self._help, self._said = "", False, ""
        self.trouble = ""
        """What was wrong with what was chosen before; it stays until another is chosen."""
        self._palettes = register_themes(self, self._before.theme)

    def compose(self) -> ComposeResult:
        yield Static(id="question")
        with Horizontal(id="stage"):
            yield ScenarioList(id="scenarios", compact=True)
            with Vertical(id="beside"):
                with VerticalScroll(id="about"):
                    yield Static(id="story")
                yield PolicyBoxes(id="policies", compact=True)
                with Horizontal(id="seeding"):
                    yield Label(" seed ")
                    seed = self._before.seed
                    yield Input(seed, id="seed", compact=True, max_length=18, restrict="[0-9]*")
        yield Static(id="said")
        yield Static(id="keys")

    def on_mount(self) -> None:
        self.query_one("#policies").border_title = "policies: space ticks, two are compared"
        self._list_scenarios(self._before.journal or self._before.scenario)
        self.query_one("#scenarios").focus()
        self.run_worker(self._gather_facts, thread=True, group="facts")

    def _gather_facts(self) -> None:
        """In a thread: load the engine, and what it knows of the scenarios."""
        from callboard.tui.start_facts import gather_facts

        worker = get_current_worker()
        facts = gather_facts(self._offers, self._journals.values())
        if not worker.is_cancelled:
            self.call_from_thread(self._show_facts, facts)

    def _show_facts(self, facts: "StartFacts") -> None:
        self._facts = facts
        self._list_scenarios(self._highlighted_id)

    def on_resize(self) -> None:
        self.call_after_refresh(self._list_scenarios, self._highlighted_id)

    # The list.

    @property
    def _highlighted_id(self) -> str:
        """The scenario, or the path of the journal, that the bar is on; empty for none."""
        option = self.query_one(ScenarioList).highlighted_option
        return "" if option is None else option.id or ""

    @property
    def _highlighted_offer(self) -> LibraryEntry | None:
        return self._offers.get(self._highlighted_id)

    def _list_scenarios(self, highlighted: str) -> None:
        """List what passes the filter, with the bar on this one if it does."""
        listed = self.query_one(ScenarioList)
        listed.set_class(self._is_wide, "-wide")
        listed.clear_options()
        listed.add_options(list(self._scenario_options()))
        found = [option.id for option in listed.options]
        if highlighted in found:
            listed.highlighted = found.index(highlighted)
        else:
            listed.action_first()
        if not found:  # else the bar comes to another place, and that is told
            self._refresh_texts()

    @property
    def _is_wide(self) -> bool:
        return self.size.width >= _WIDE

    def _scenario_options(self) -> Iterator[Option]:
        kept = [offer for offer in self._offers.values() if self._filter in _searchable_text(offer)]
        journals = [each for each in self._journals if self._filter in Path(each).name.lower()]
        if journals:
            yield self._group_heading(_RECORDED)
            room = (_LIST_WIDE if self._is_wide else _LIST) - _LIST_FRAME
            for each in journals:
                yield Option(Text(f" {cut_within(Path(each).name, room)}"), id=each)
        for nth, group in enumerate(dict.fromkeys(offer.group for offer in kept)):
            yield self._group_heading(group, with_columns=nth == 0)
            for offer in kept:
                if offer.group == group:
                    yield Option(
                        Text(f" {offer.name:<{_NAME}}{self._portrait_row(offer.name)}"),
                        id=offer.name,
                    )

    def _group_heading(self, text: str, *, with_columns: bool = False) -> Option:
        """A heading; of the first group with the names of the columns, where there are any."""
        if not (with_columns and self._is_wide and self._facts):
            return Option(Text(text, "bold"), disabled=True)
        from callboard.tui.panels.portrait_view import COLUMN_HEADS

        dim = self._palettes[self.theme].dim
        heads = Text.assemble((f"{text:<{_NAME + 1}}", "bold"), (COLUMN_HEADS, f"not bold {dim}"))
        return Option(heads, disabled=True)

    def _portrait_row(self, name: str) -> str:
        if not self._is_wide or self._facts is None:
            return ""
        from callboard.tui.panels.portrait_view import portrait_row

        return portrait_row(self._facts.portraits[name], _PICTURE)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_list.id == "scenarios":
            self._help, self._said = False, ""
            self._refresh_texts()

    def on_click(self, event: events.Click) -> None:
        if event.chain == 2 and self.query_one(ScenarioList).has_focus:
            self.action_watch()

    # What is told of the one that the bar is on.

    def _refresh_texts(self) -> None:
        palette, offer = self._palettes[self.theme], self._highlighted_offer
        typed = f"  /{self._filter}▏" if self._filter else "  (type to filter)"
        question = Text.assemble(" callboard: choose a scenario to watch", (typed, palette.dim))
        self.query_one("#question", Static).update(question, layout=False)
        self.query_one("#about").border_title = (
            None if self._help else Path(self._highlighted_id).name
        )
        self.query_one("#story", Static).update(self._story_text(palette))
        said = self._said or self.trouble
        self.query_one("#said", Static).update(Text(said))
        leads = "back" if self._filter or self._help else "out"
        self.query_one("#keys", Static).update(Text(_KEYS + leads), layout=False)
        self.query_one("#said").display = bool(said)
        for each in ("#policies", "#seeding"):
            self.query_one(each).display = offer is not None and not self._help
        if offer is not None:
            self._offer_policies(offer, palette)

    def _story_text(self, palette: Palette) -> Text | Group:
        offer, here = self._highlighted_offer, self._highlighted_id
        if self._help:
            return _help_text(palette.text)
        if offer is not None:
            portrait = self._portrait_text(offer.name, palette)
            return Text.assemble(
                (offer.story, "bold"), "\n\n", portrait, (offer.about, palette.text)
            )
        if here:
            known = self._facts.recorded[here] if self._facts is not None else "…"
            return Text.assemble((known, "bold"), "\n\n", ("enter shows the run", palette.text))
        return Text(f"no scenario has {self._filter!r} in its name or story", palette.text)

    def _portrait_text(self, name: str, palette: Palette) -> Text:
        if self._facts is None:
            return Text("…\n\n", palette.dim)
        from callboard.tui.panels.portrait_view import portrait_text

        width = self.query_one("#story").content_size.width
        rows = 4 if self.size.height >= _TALL else 1
        return portrait_text(self._facts.portraits[name], palette, width, rows).append("\n")

    def _offer_policies(self, offer: LibraryEntry, palette: Palette) -> None:
        first = ((TOUR,) if offer.has_tour else ()) + offer.policies
        orders = self._facts.orders if self._facts is not None else ()
        ticked = self._ticked[offer.name]
        shown = dict.fromkeys((*first, *ticked, *self._typed, *orders))
        seed = self.query_one("#seed", Input)
        seed.placeholder = f"the scenario's own, {offer.seed}"
        self.query_one(PolicyBoxes).offer(shown, len(first), ticked, palette)

    # Keys.

    async def on_event(self, event: events.Event) -> None:
        """Over a slow line keys come in bursts: do each here and now, against what those before it
        have led to.  A field's and a dialog's own keys go their usual way.
        """
        if not isinstance(event, events.Key) or event.is_forwarded or self._is_typing:
            await super().on_event(event)
            return
        bound, highlighted = self.screen.active_bindings.get(event.key), self._highlighted_id
        if bound is None:
            self._handle_typing(event)
        elif bound.enabled:
            await self.run_action(bound.binding.action, bound.node)
            if self._highlighted_id != highlighted and self.is_running:
                self._refresh_texts()

    @property
    def _is_typing(self) -> bool:
        return isinstance(self.focused, Input) or len(self.screen_stack) > 1

    async def action_focus(self, widget_id: str) -> None:
        """At once, not when all keys of a burst are done with."""
        self.screen.set_focus(self.query_one(f"#{widget_id}"))

    def action_tick(self) -> None:
        """Tick what the bar is on, among the policies."""
        chosen = self.query_one(PolicyBoxes).highlighted_option
        if chosen is not None:
            self._toggle_policy(chosen.id or "")

    def _handle_typing(self, event: events.Key) -> None:
        """Letters filter; a few keys that no name begins with do other things."""
        typed = event.character if event.is_printable else None
        if event.key == "backspace":
            self._filter_scenarios(self._filter[:-1])
        elif typed == "/":
            self._filter_scenarios("")
        elif typed == "?":
            self._help = not self._help
            self._refresh_texts()
        elif typed and typed != " ":
            self._filter_scenarios(self._filter + typed.lower())

    def _filter_scenarios(self, text: str) -> None:
        """Show only what has this text, the highlighted one still if it has it."""
        self._filter, self._help, self._said, self.trouble = text, False, "", ""
        self._list_scenarios(self._highlighted_id)

    def on_policy_boxes_clicked(self, event: PolicyBoxes.Clicked) -> None:
        self._toggle_policy(event.policy)

    def _toggle_policy(self, policy: str) -> None:
        """Tick it or no longer.  The tour has policies of its own, so it is ticked alone; instead
        of another policy there is a question.
        """
        if (offer := self._highlighted_offer) is None:
            return
        if policy == ANOTHER:
            self._ask_another_policy()
            return
        before = self._ticked[offer.name]
        kept = tuple(each for each in before if each != policy)
        if policy not in before:
            kept = (TOUR,) if policy == TOUR else _with_policy(kept, policy)
        self._ticked[offer.name], self._said, self.trouble = kept, "", ""
        self._refresh_texts()

    def _ask_another_policy(self) -> None:
        """Let a policy be typed in; it is offered from then on, and ticked here."""
        from callboard.experiments.run.plugins import canonical_policy
        from callboard.tui.screens.menus import FormScreen, put_question

        def check(fields: dict[str, str]) -> str:
            return canonical_policy(fields["policy"].strip())

        def filled(fields: dict[str, str]) -> None:
            if (offer := self._highlighted_offer) is not None:
                self._typed.append(check(fields))
                ticked = self._ticked[offer.name]
                self._ticked[offer.name] = _with_policy(ticked, self._typed[-1])
                self._refresh_texts()

        question = "Which policy?  As for --policy: fair+delay(node=5,rack=5)+kill"
        put_question(self, FormScreen(question, {"policy": ""}, check), filled)

    def on_input_submitted(self) -> None:
        self.action_watch()

    def action_watch(self) -> None:
        """Leave with what is chosen; of more policies than a screen has room for say where to."""
        offer, here = self._highlighted_offer, self._highlighted_id
        if offer is None:
            if here:
                self.exit(StartChoice(DEFAULT_SCENARIO, theme=self.theme, journal=here))
            return
        seed, ticked = self.query_one("#seed", Input).value, self._ticked[offer.name]
        policies = tuple(each for each in ticked if each != TOUR)
        if len(policies) > POLICIES_MOST:
            self._said = too_many_policies_text(offer.name, policies, seed)
            self._refresh_texts()
            return
        self.exit(StartChoice(offer.name, policies, self.theme, seed, TOUR in ticked))

    def action_step_back(self) -> None:
        """Out of the help, then out of the filter, then leave."""
        if self._help or self._filter:
            self._filter_scenarios("")
        else:
            self.exit()

    def action_theme(self) -> None:
        self.theme = next_theme(self.theme)
        self._list_scenarios(self._highlighted_id)

    def action_leave(self) -> None:
        self.exit()

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return {"edge": DARK.edge}


def _help_text(ink: str) -> Group:
    """The keys, and what they do beside them, in lines as wide as there is room."""
    keys = Table.grid(padding=(0, 2, 0, 0))
    keys.add_column(no_wrap=True)
    for key, does in _HELP.items():
        keys.add_row(Text(key, ink), Text(does, ink))
    return Group(Text(_HELP_BEFORE, ink), keys, Text(_HELP_AFTER, ink))


def _searchable_text(offer: LibraryEntry) -> str:
    return f"{offer.name} {offer.story} {offer.group}".lower()


def _with_policy(ticked: tuple[str, ...], policy: str) -> tuple[str, ...]:
    return (*(each for each in ticked if each != TOUR), policy)


def too_many_policies_text(scenario: str, policies: Sequence[str], seed: str) -> str:
    """How to compare more than a screen can show."""
    asked = " ".join(f"--policy {shlex.quote(each)}" for each in policies)
    seeded = f" --seed {seed}" if seed else ""
    return (
        f" A screen has room for {POLICIES_MOST} runs.  A table of {len(policies)}, in a shell:"
        f"\n callboard run {scenario} {asked}{seeded}"
    )
