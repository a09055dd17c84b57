"""`callboard` without arguments in a terminal: choose a scenario of the library and watch it."""

from callboard.experiments.user_errors import InputError
from callboard.scenarios import scenario_file
from callboard.screen import check_terminal
from callboard.tui.screens.start import LibraryEntry, StartChoice


def can_choose() -> bool:
    """Whether there is a terminal in which a scenario can be chosen."""
    try:
        check_terminal()
    except InputError:
        return False
    return True


def library_entries() -> list[LibraryEntry]:
    """The scenarios of the library."""
    found = []
    for name, path, story in scenario_file.library_scenarios():
        text = path.read_text(encoding="utf-8")
        found.append(
            LibraryEntry(
                name, story, scenario_description(text), scenario_file.load_scenario(path).policies
            )
        )
    return found


def scenario_description(text: str) -> str:
    """What a scenario's file says before its first setting, without what only a shell needs."""
    paragraphs, lines = [], []
    for line in [*text.splitlines(), ""]:
        if line.startswith("#"):
            said = line.removeprefix("#").removeprefix(" ")
            if said and not said.startswith(" "):
                lines.append(said)
                continue
        if lines:
            paragraphs.append(" ".join(lines))
            lines = []
        if not line.startswith("#"):
            break
    return "\n\n".join(paragraphs)


def choose_scenario() -> StartChoice | None:
    """Let a person choose; None if they leave."""
    from callboard.tui.screens.start import StartApp

    return StartApp(library_entries(), scenario_file.DEFAULT_SCENARIO).run()
