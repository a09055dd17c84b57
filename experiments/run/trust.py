"""Who may run code: parts of policies in Python files that a scenario or a journal names.

A file that is named on the command line is meant by the person who types it.  One that comes inside
a scenario or a journal is somebody else's code, and runs only if that is trusted.  Installed
packages were trusted when they were installed.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from callboard.actors.injector import ScheduledFault
from callboard.actors.vocabulary.faults import SwitchPolicy
from callboard.experiments.run.plugins import catalogue
from callboard.scenarios.scenario_file import Scenario
from callboard.scenarios.timeline import PolicyEntry
from callboard.scheduler.policy import PolicySpecError
from callboard.scheduler.registry.spelling import FILE_PART, split_spelling
from callboard.scheduler.text.scenario_error import ScenarioError


class Trust(msgspec.Struct, frozen=True):
    """What may run: any file's code if `all_files`, else that of files that the policies `meant`
    name.
    """

    all_files: bool = False
    meant: tuple[str, ...] = ()

    def allows(self, policy: str) -> bool:
        if self.all_files:
            return True
        own = {path for text in self.meant for path in _files_of_policy(text)}
        return all(path is not None and path in own for path in _files_of_policy(policy))


NO_CODE = Trust(meant=("fifo",))
"""For those who want a world's jobs and cluster, and none of its policies."""


def trust_option(*policies: str) -> str:
    """What a command has to say beside a file with these policies: ` --trust`, or nothing."""
    return "" if all(map(Trust().allows, policies)) else " --trust"


def trusted_scenario(scenario: Scenario, trust: Trust) -> Scenario:
    """The scenario, without policies of its own that are not trusted if others are meant anyway.

    ScenarioError where it wants code to be run that is not trusted.
    """
    for name in scenario.parts:
        _check_trusted(name, f"parts.{name}", trust)
    for place, entry in enumerate(scenario.timeline):
        if isinstance(entry, PolicyEntry):
            _check_trusted(entry.policy, f"timeline[{place}].policy", trust)
    if trust.meant:
        own = tuple(policy for policy in scenario.policies if trust.allows(policy))
        return msgspec.structs.replace(scenario, policies=own or trust.meant)
    for place, policy in enumerate(scenario.policies):
        _check_trusted(policy, f"policies[{place}]", trust)
    return scenario


def check_faults(script: Sequence[ScheduledFault], trust: Trust) -> None:
    """ScenarioError where a recorded change of policy wants code to be run that is not trusted."""
    for each in script:
        if isinstance(each.fault, SwitchPolicy):
            _check_trusted(each.fault.policy, "", trust)


def _check_trusted(policy: str, key: str, trust: Trust) -> None:
    if not trust.allows(policy):
        problem = f"`{policy[:200]}` is code in a Python file, named from within"
        remedy = "if you trust it, say --trust (trust=True); what you name yourself is trusted"
        raise ScenarioError(f"{problem}; {remedy}", key=key)


def _files_of_policy(policy: str) -> Iterator[Path | None]:
    """The files of a policy's parts; None for one that cannot be told."""
    if ".py:" not in policy:
        return
    try:
        pieces = [piece for piece in split_spelling(policy, catalogue().names()) if piece.from_file]
    except PolicySpecError:
        pieces = []
    if not pieces:
        yield None
    for piece in pieces:
        match = FILE_PART.fullmatch(piece.name)
        assert match is not None
        yield Path(match["path"]).resolve()
