"""`callboard` without arguments in a terminal: choose a scenario of the library and watch it."""

from itertools import groupby, takewhile

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
        about = scenario_description(path.read_text(encoding="utf-8"))
        policies = scenario_file.load_scenario(path).policies
        found.append(LibraryEntry(name, story, about, policies))
    return found


def scenario_description(text: str) -> str:
    """The paragraphs at the top of a scenario's file, but for indented lines of shell."""
    comments = takewhile(lambda line: line.startswith("#"), text.splitlines())
    lines = [line.removeprefix("#").removeprefix(" ") for line in comments]
    blocks = groupby(lines, lambda line: line != "" and not line.startswith(" "))
    return "\n\n".join(" ".join(block) for prose, block in blocks if prose)


def choose_scenario(before: StartChoice | None = None) -> StartChoice | None:
    """Let the user choose, beginning with what they chose before; None if they leave."""
    from callboard.tui.screens.start import StartApp

    first = before.scenario if before else scenario_file.DEFAULT_SCENARIO
    return StartApp(library_entries(), first, before.theme if before else "dark").run()
