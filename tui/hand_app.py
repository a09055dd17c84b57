"""The half of the screen with which one does something: to the world, to time, to compare runs.

Everything is done at the moment that is shown; while a person makes up their mind, time stands
still.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar, cast

from textual import events
from textual.app import SystemCommand

from callboard.experiments.intervention_menu import (
    FormFields,
    MenuChoice,
    MenuForm,
    MenuGroup,
    MenuItem,
    NodeTarget,
    PlayUntil,
    fork_menu,
    intervention_menu,
    targets_of_node,
    until_menu,
)
from callboard.experiments.interventions import (
    Intervention,
    InterventionRequest,
    Keep,
    LiveSource,
)
from callboard.journal.replay.frame import Frame, RunInfo
from callboard.journal.replay.source import GoTo, Source, Step, StepKind
from callboard.journal.tell.names import clock
from callboard.tui.panels.detail import DetailPane
from callboard.tui.panels.pane import Pane
from callboard.tui.panels.slots import SlotsPane
from callboard.tui.panels.status_line import StatusLine
from callboard.tui.screens.comparison_view import ComparisonView
from callboard.tui.screens.menus import FormScreen, MenuScreen
from callboard.tui.time_app import TimeApp

RECORDED_REFUSAL = "this run is recorded and stays as it was; `callboard watch` plays one anew"

AnyPane = TypeVar("AnyPane", bound=Pane)


class HandApp(TimeApp):
    """Menus of what can be done, and two runs beside each other."""

    paired = False
    """Whether two runs are shown."""
    only_differences = True
    """Whether of two runs only the slots that differ stand out."""

    def __init__(self, source: Source, *, ticking: bool = True) -> None:
        super().__init__(source, ticking=ticking)
        self._in_use: dict[bool, list[Pane]] = {}

    # What is on the screen.

    @property
    def stage_name(self) -> str:
        """The part of the screen in use: for one run, or for two."""
        return "pair" if self.paired else "stage"

    def pane_in_use(self, kind: type[AnyPane]) -> AnyPane:
        """The pane of a kind in that part; of two sides the one in front."""
        panes = self.query_one(f"#{self.stage_name}").query(kind)
        return next(pane for pane in panes if pane.side in (None, self.view.lead))

    def draw(self, frame: Frame) -> None:
        if (frame.comparison is not None) is not self.paired:
            self._pair_up(frame)
        both = (frame, frame)
        if frame.comparison is not None:
            both = frame.comparison.frames(frame)
            self.query_one(ComparisonView).label_sides(frame.comparison)
        for pane in self._panes():
            pane.palette = self.palette
            if isinstance(pane, SlotsPane) and pane.side is not None:
                pane.other_run = both[1 - pane.side] if self.only_differences else None
            pane.show(frame if pane.side is None else both[pane.side])

    def _panes(self) -> list[Pane]:
        """Those in use; which there are stays the same."""
        if self.paired not in self._in_use:
            unused = "stage" if self.paired else "pair"
            self._in_use[self.paired] = [
                pane
                for pane in self.query(Pane)
                if all(each.id != unused for each in pane.ancestors)
            ]
        return self._in_use[self.paired]

    def _pair_up(self, frame: Frame) -> None:
        """Show two runs from now on, or one again."""
        self.paired = frame.comparison is not None
        self.screen_stack[0].set_class(self.paired, "-paired")
        run = self.query_one(StatusLine).run
        if self.paired and run is not None:
            self.query_one(ComparisonView).set_run(run)
        self.set_view(lead=0)
        self.action_focus_pane("jobs")

    def pair_name(self, name: str) -> str:
        """Which pane of a pair stands for this one of a single run: the figures for the detail if
        nothing is selected, or if that is where one is.
        """
        nothing = self.view.job is None and self.view.node is None
        if name == "detail" and (nothing or self.pane_in_use(DetailPane) is self.focused):
            return "figures"
        return name

    def action_focus_pane(self, name: str) -> None:
        """To a pane, by its name."""
        raise NotImplementedError

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Whoever goes to a pane of one of two runs has it in front."""
        side = event.widget.side if isinstance(event.widget, Pane) else None
        if self.paired and side is not None and side != self.view.lead:
            self.update_view(lead=side)

    # Doing something.

    def action_interfere(self) -> None:
        self._offer_interventions(None)

    def _offer_interventions(self, target: NodeTarget | None) -> None:
        """A menu of what can be done to nodes; else to what is selected, and to the cluster."""
        if (now := self._now()) is None:
            return
        frame, run = now
        targets = targets_of_node(self.view.node, run) if target is None else [target]
        self._choose(f"Interfere{self._where(frame)}", intervention_menu(frame, run, targets))

    def action_fork(self) -> None:
        if (now := self._now()) is not None:
            group = fork_menu(*now)
            self._choose(f"Fork at {clock(now[0].at_ms)}", [group])

    def _now(self) -> tuple[Frame, RunInfo] | None:
        """What is shown of a run that can be interfered with; of any other it is said why not."""
        run = self.query_one(StatusLine).run
        if not self._live_or_said():
            return None
        return None if self.frame is None or run is None else (self.frame, run)

    def _live_or_said(self) -> bool:
        if not self.source.live:
            self.notify(RECORDED_REFUSAL, severity="warning", timeout=8)
        return self.source.live

    def _where(self, frame: Frame) -> str:
        both = " in both runs" if frame.comparison is not None else ""
        return f"{both} at {clock(frame.at_ms)}"

    def _choose(self, title: str, groups: Sequence[MenuGroup]) -> None:
        """Let one thing be chosen and done, at the moment that is shown."""
        playing, self.player.playing = self.player.playing, False
        go_on = partial(self._done_choosing, playing)
        self.push_screen(MenuScreen(title, groups), lambda item: self._follow(title, item, go_on))

    def _follow(self, title: str, item: MenuItem | None, go_on: Callable[[], None]) -> None:
        """Do what was chosen, or ask what is still to be known."""
        match None if item is None else item.then:
            case None:
                go_on()
            case MenuGroup() as group:
                follow = partial(self._follow, title, go_on=go_on)
                self.push_screen(MenuScreen(title, [group]), follow)
            case MenuForm() as form:

                def filled(fields: FormFields | None) -> None:
                    if fields is None:
                        go_on()
                    else:
                        self._take(form.read(fields), go_on)

                self.push_screen(FormScreen(form.question, form.fields, form.read), filled)
            case wish:
                self._take(wish, go_on)

    def _take(self, wanted: MenuChoice, go_on: Callable[[], None]) -> None:
        if isinstance(wanted, NodeTarget):
            go_on()
            self._offer_interventions(wanted)
            return
        go_on()
        if isinstance(wanted, PlayUntil):
            self.player.play_until(wanted.move, wanted.text)
            self.ask()
        else:
            self.do(wanted)

    def _done_choosing(self, playing: bool) -> None:
        self.player.playing = playing

    def do(self, intervention: Intervention) -> None:
        """Do it at the moment that is shown, wherever the run is by now."""
        if self.frame is not None:
            self.ask(GoTo(self.frame.at_ms))
        self.intervene(intervention)

    def intervene(self, intervention: Intervention) -> None:
        """Ask a live run for it."""
        if not self._live_or_said():
            return
        self.measure()
        self._waiting += 1
        source = cast(LiveSource, self.source)
        source.intervene(InterventionRequest(intervention, self.view), self.answered)

    # Two runs.

    def action_parting(self) -> None:
        if self._paired_or_said():
            self.player.stop()
            self.ask(Step(StepKind.DIVERGENCE))

    def action_front(self) -> None:
        if self._paired_or_said():
            self.update_view(lead=1 - self.view.lead)
            focused = self.focused
            if isinstance(focused, Pane) and focused.side is not None:
                name = (focused.id or "").split("-")[1]
                self.query_one(ComparisonView).show_pane(name, self.view.lead).focus()

    def action_keep(self) -> None:
        if self._paired_or_said():
            self.intervene(Keep(self.view.lead))

    def action_differences(self) -> None:
        if self._paired_or_said():
            self.only_differences = not self.only_differences
            self.ask()

    def _paired_or_said(self) -> bool:
        if not self.paired:
            self.notify("this is for two runs beside each other; f forks one", timeout=5)
        return self.paired

    # Until.

    def action_until(self) -> None:
        """Let it be chosen where time is to stop of itself, and let it go until then."""
        if self.frame is None:
            return
        self._choose("Play until …", [until_menu(self.frame, self.player.until is not None)])

    # The palette.

    def interventions_by_name(self) -> Iterator[SystemCommand]:
        """What can be done to what is selected and to the cluster, for the command palette."""
        run = self.query_one(StatusLine).run
        if not self.source.live or self.frame is None or run is None:
            return
        for group in intervention_menu(self.frame, run, targets_of_node(self.view.node, run)):
            for item in group.items:
                do = partial(self.call_later, self._follow, group.heading, item, lambda: None)
                yield SystemCommand(f"{group.whom}: {item.title}", f"keys: x {item.key}", do)
