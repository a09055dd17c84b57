"""`callboard` without arguments in a terminal: choose a scenario of the library and watch it."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from callboard.experiments.user_errors import InputError
from callboard.journal.format import is_journal
from callboard.scenarios.library_list import library_entries
from callboard.terminal import check_terminal
from callboard.tui.screens.start import StartApp, StartChoice
from callboard.tui.user_config import load_config

_JOURNALS_MOST = 6


def can_choose() -> bool:
    """Whether there is a terminal in which a scenario can be chosen."""
    try:
        check_terminal()
    except InputError:
        return False
    return True


def choose_scenario(before: StartChoice | None = None, trouble: str = "") -> StartChoice | None:
    """Let the user choose, beginning with what they chose before, and what was wrong with that;
    None if they leave.
    """
    theme = load_config().theme
    app = StartApp(list(library_entries()), recent_journals(Path.cwd()), before, theme)
    app.trouble = trouble
    return app.run()


def recent_journals(folder: Path) -> Sequence[Path]:
    """The journals in a folder that were written last, the newest first."""
    written = {}
    with suppress(OSError):  # of a folder that cannot be read
        for path in folder.glob("*.journal"):
            with suppress(OSError):  # of a link to nowhere, and of what has just gone
                written[path] = path.stat().st_mtime
    newest = sorted(written, key=lambda path: (-written[path], path))
    return [path for path in newest if is_journal(path)][:_JOURNALS_MOST]


def arguments_of(choice: StartChoice) -> list[str]:
    """The command line of what was chosen."""
    theme = ["--theme", choice.theme]
    if choice.journal:
        return ["replay", choice.journal, *theme]
    policies = [word for policy in choice.policies for word in ("--policy", policy)]
    seed = ["--seed", choice.seed] if choice.seed else []
    tour = ["--tour"] if choice.tour else []
    return ["watch", choice.scenario, *policies, *seed, *tour, *theme]
