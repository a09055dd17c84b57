"""Saving a run from the screen, and the question before one is lost that was changed by hand."""

import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from textual.app import App

from callboard.experiments.journal_paths import file_path, fresh_name, slug
from callboard.experiments.live.intervention_menu import FormFields
from callboard.experiments.live.live_requests import Save
from callboard.experiments.user_errors import InputError
from callboard.tui.playback import Playback
from callboard.tui.screens.menus import FormScreen, MenuScreen, put_question

_LOST = "Changed by hand, and not recorded: leave?"
_LOST_LINES = (
    ("s", "stay"),
    ("c", "save it as a scenario file, and leave …"),
    ("j", "save it as a journal, and leave …"),
    ("l", "leave, and lose it"),
)
_WAYS = (
    ("c", "a scenario file: what was done stands in its timeline …"),
    ("j", "a journal: what has happened so far, to be replayed or played again …"),
)
_ENDINGS = (".toml", ".journal")
"""Of the two ways."""


class SaveFlow:
    """From a key to a file.  No file is replaced without a question, and no time passes meanwhile:
    what is saved is what the question was asked of.
    """

    def __init__(self, app: App[Any], playback: Playback) -> None:
        self._app = app
        self._playback = playback
        self.told: str | None = None
        """What was saved last, and how it is played; for the terminal, once the screen is left."""

    def ask_before_leaving(self, leave: Callable[[], None]) -> None:
        """Offer to stay, to save the run first, or to lose it."""
        stay = self._playback.player.hold()

        def chosen(number: int | None) -> None:
            if number in (1, 2):
                self._ask_name(number == 2, leave, stay)
            elif number == 3:
                leave()
            else:
                stay()

        self._app.push_screen(MenuScreen(_LOST, [("", _LOST_LINES)]), chosen)

    def ask_how(self) -> None:
        """Offer both ways to save the run in front."""
        go_on = self._playback.player.hold()

        def chosen(number: int) -> None:
            self._ask_name(number == 1, go_on, go_on)

        frame = self._playback.frame
        which = f" under {frame.policy}" if frame is not None and frame.comparison else ""
        menu = MenuScreen(f"Save the run{which} as", [("", _WAYS)])
        put_question(self._app, menu, chosen, go_on)

    def _ask_name(
        self, as_journal: bool, then: Callable[[], None], give_up: Callable[[], None]
    ) -> None:
        """Save under a name, and `then`; or `give_up`."""

        def filled(fields: FormFields) -> None:
            path = _named_path(fields)
            save = Save(str(path), as_journal)
            if path.exists():
                self._ask_to_replace(save, then, give_up)
            else:
                self._save_run(save, then, give_up)

        question = "Save as which journal?" if as_journal else "Save as which scenario file?"
        run = self._playback.run
        name = _free_name(run.name if run is not None else "run", _ENDINGS[as_journal])
        form = FormScreen(question, {"file": name}, _named_path)
        put_question(self._app, form, filled, give_up)

    def _ask_to_replace(
        self, save: Save, then: Callable[[], None], give_up: Callable[[], None]
    ) -> None:
        def chosen(number: int | None) -> None:
            if number:
                self._save_run(Save(save.path, save.as_journal, replace=True), then, give_up)
            else:
                self._ask_name(save.as_journal, then, give_up)

        lines = (("n", "no, another name …"), ("r", "replace it; what it held is lost"))
        self._app.push_screen(
            MenuScreen(f"{save.path} exists.  Replace it?", [("", lines)]), chosen
        )

    def _save_run(self, save: Save, then: Callable[[], None], give_up: Callable[[], None]) -> None:
        self._playback.save(save, partial(self._report_saved, save, then), give_up)

    def _report_saved(self, save: Save, then: Callable[[], None]) -> None:
        plays = f"`callboard watch {shlex.quote(save.path)}` plays it"
        self._app.notify(f"saved; {plays}")
        self.told = f"saved as {save.path}; {plays}"
        then()


def _named_path(fields: FormFields) -> Path:
    """The file that was named; ValueError for what cannot be one."""
    try:
        path = file_path("the file", fields["file"].strip())
    except InputError as error:
        raise ValueError(str(error)) from None
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {path.parent}")
    return path


def _free_name(run: str, ending: str) -> str:
    """A name in the working folder that no file has."""
    return fresh_name(f"{slug(run)}-by-hand", lambda name: Path(name + ending).exists()) + ending
