"""A recorded run, to be played again: the same scenario, and what was done to its world by hand."""

from collections import Counter
from pathlib import Path

import msgspec

from callboard.actors.injector import ScheduledFault
from callboard.actors.vocabulary.events import FaultStruck, RunStarted
from callboard.experiments.user_errors import InputError
from callboard.journal.format import MAGIC
from callboard.journal.reader import Journal
from callboard.scenarios.scenario_file import Scenario, from_dict


class ReplaySpec(msgspec.Struct, frozen=True):
    """What a journal tells of what was played: the scenario, of whose policies only the one that
    was in force at the start is left, and all that struck.
    """

    scenario: Scenario
    faults: tuple[ScheduledFault, ...]

    def with_interventions(self, script: tuple[ScheduledFault, ...]) -> tuple[ScheduledFault, ...]:
        """The scenario's own script, and what struck without being in it.

        A run that was left early has not come to all of its script.
        """
        own = Counter(script)
        interventions = []
        for fault in self.faults:
            if own[fault]:
                own[fault] -= 1
            else:
                interventions.append(fault)
        return (*script, *interventions)


def is_journal(path: Path) -> bool:
    """Whether a journal is there, and not a scenario or a trace, or what cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def read_replay_spec(path: Path) -> ReplaySpec:
    """What the journal tells.  InputError if no run begins in it, JournalError for damage."""
    events = iter(Journal(path))
    started = next(events, None)
    if not isinstance(started, RunStarted):
        raise InputError(f"{path}: no run has been recorded in it yet")
    scenario = msgspec.structs.replace(
        from_dict(started.scenario, path), policies=(started.policy,)
    )
    struck = (
        ScheduledFault(each.at_ms, each.fault) for each in events if isinstance(each, FaultStruck)
    )
    return ReplaySpec(scenario, tuple(struck))
