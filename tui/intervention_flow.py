"""From a key to an intervention, through menus and forms.

An intervention happens at the moment that is shown; playing pauses while the user chooses.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from textual.app import App, SystemCommand

from callboard.experiments.live import intervention_menu as menus
from callboard.journal.replay.frame import Frame, RunInfo
from callboard.journal.replay.source import GoTo
from callboard.scheduler.model import Millis
from callboard.scheduler.text.quantities import clock
from callboard.tui.playback import Playback
from callboard.tui.screens.menus import FormScreen, MenuScreen, put_question

_NO_FORK = "this run takes no other policy on its way; `--policy` twice shows two from their start"


class InterventionFlow:
    """Lets the user choose interventions in a run, and how far to play it."""

    def __init__(self, app: App[Any], playback: Playback) -> None:
        self._app = app
        self._playback = playback
        self._moment_ms: Millis | None = None
        """That of which an open menu is, at which what is chosen happens."""

    def intervene(self, target: menus.NodeTarget | None = None) -> None:
        """Offer the interventions in the target, else in the selection; and in the cluster."""
        if (live := self._live_frame_and_run()) is not None:
            frame, run = live
            targets = (
                [target] if target else menus.node_and_rack_targets(self._playback.view.node, run)
            )
            both = " in both runs" if frame.comparison is not None else ""
            title = f"Intervene{both} at {clock(frame.at_ms)}"
            self._offer_choice(title, menus.intervention_menu(frame, run, targets))

    def fork(self) -> None:
        if (live := self._live_frame_and_run()) is None:
            return
        if menus.can_fork(*live):
            self._offer_choice(f"Fork at {clock(live[0].at_ms)}", [menus.fork_menu(*live)])
        else:
            self._playback.show_refusal(_NO_FORK)

    def ask_where_to_stop(self) -> None:
        if (frame := self._playback.frame) is not None:
            waiting = self._playback.player.until is not None
            self._offer_choice("Play until …", [menus.until_menu(frame, waiting)])

    def palette_commands(self) -> Iterator[SystemCommand]:
        """All interventions, for the command palette."""
        frame, run = self._playback.frame, self._playback.run
        if not self._playback.source.live or frame is None or run is None:
            return
        targets = menus.node_and_rack_targets(self._playback.view.node, run)
        for group in menus.intervention_menu(frame, run, targets):
            for item in group.items:
                do = partial(
                    self._app.call_later, self._follow_palette_command, group.heading, item
                )
                yield SystemCommand(f"{group.subject}: {item.title}", f"keys: x {item.key}", do)

    def _follow_palette_command(self, heading: str, item: menus.MenuItem) -> None:
        assert self._playback.frame is not None
        self._moment_ms = self._playback.frame.at_ms
        self._follow_item(heading, item, lambda: None)

    def _live_frame_and_run(self) -> tuple[Frame, RunInfo] | None:
        """The frame and the run, if it is live; else a message says that it cannot be changed."""
        frame, run = self._playback.frame, self._playback.run
        if not self._playback.is_live_or_warns():
            return None
        return None if frame is None or run is None else (frame, run)

    def _offer_choice(self, title: str, groups: Sequence[menus.MenuGroup]) -> None:
        """Pause, offer a choice, do what was chosen, and go on as before.  Of a run that plays a
        later frame may be on its way; the screen stays at the moment of which the choice is.
        """
        resume = self._playback.player.hold()
        if self._playback.frame is not None:
            self._moment_ms = self._playback.frame.at_ms
            self._playback.ask_frame(GoTo(self._moment_ms))
        self._open_menu(title, groups, resume)

    def _open_menu(
        self, title: str, groups: Sequence[menus.MenuGroup], resume: Callable[[], None]
    ) -> None:
        items = [item for group in groups for item in group.items]
        lines = [(each.heading, [(i.key, i.title) for i in each.items]) for each in groups]

        def chosen(number: int) -> None:
            self._follow_item(title, items[number], resume)

        put_question(self._app, MenuScreen(title, lines), chosen, resume)

    def _follow_item(self, title: str, item: menus.MenuItem, resume: Callable[[], None]) -> None:
        match item.then:
            case menus.MenuGroup() as group:
                self._open_menu(title, [group], resume)
            case menus.MenuForm() as form:
                self._fill_in_form(form, resume)
            case choice:
                self._carry_out_choice(choice, resume)

    def _fill_in_form(self, form: menus.MenuForm, resume: Callable[[], None]) -> None:
        def filled(fields: menus.FormFields) -> None:
            self._carry_out_choice(form.read(fields), resume)

        dialog = FormScreen(form.question, form.fields, form.read)
        put_question(self._app, dialog, filled, resume)

    def _carry_out_choice(self, choice: menus.MenuChoice, resume: Callable[[], None]) -> None:
        """An intervention happens at the moment that is shown, however far the run has come."""
        resume()
        playback = self._playback
        match choice:
            case menus.NodeTarget():
                self.intervene(choice)
            case menus.PlayUntil():
                playback.player.play_until(choice.move, choice.text)
                playback.ask_frame()
            case _:
                if self._moment_ms is not None:
                    playback.ask_frame(GoTo(self._moment_ms))
                playback.intervene(choice)
