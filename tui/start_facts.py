"""What the first screen shows beside names and stories: portraits of scenarios, the orders there
are, what journals hold.  It loads the engine, so the screen comes up before this does.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from callboard.actors.vocabulary.events import RunStarted
from callboard.journal.format import JournalError
from callboard.journal.reader import Journal
from callboard.scenarios.library_list import LIBRARY
from callboard.scenarios.portrait import ScenarioPortrait, portrait_of
from callboard.scheduler.registry.parts import part_kind
from callboard.scheduler.registry.shipped import PARTS
from callboard.scheduler.text.quantities import count, printable


class StartFacts(msgspec.Struct, frozen=True):
    """Portraits by the name of a scenario, the orders that ship, and what journals have recorded by
    their path.
    """

    portraits: Mapping[str, ScenarioPortrait]
    orders: tuple[str, ...]
    recorded: Mapping[str, str]


def gather_facts(scenarios: Iterable[str], journals: Iterable[Path]) -> StartFacts:
    """The facts about these scenarios of the library and these journals."""
    return StartFacts(
        {name: portrait_of(LIBRARY / f"{name}.toml") for name in scenarios},
        tuple(name for name, part in PARTS.items() if part_kind(part) == "order"),
        {str(path): _journal_summary(path) for path in journals},
    )


def _journal_summary(path: Path) -> str:
    """What a journal has recorded, in a line; or why it cannot be read."""
    try:
        started = next(iter(Journal(path)), None)
    except JournalError as error:
        return error.problem
    except OSError as error:
        return str(error.strerror)
    if not isinstance(started, RunStarted):
        return "no run has been recorded in it yet"
    run = f"{started.name} under {started.policy}, seed {started.seed}"
    return printable(f"{run}, on {count(len(started.nodes), 'node')}")
