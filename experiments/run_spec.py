"""A scenario and its jobs, ready to be played, with every flaw of the input named."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from callboard.actors.injector import ScheduledFault
from callboard.actors.job_spec import JobSpec
from callboard.experiments.plugins import catalogue, load_policy
from callboard.experiments.replay_spec import is_journal, read_replay_spec
from callboard.experiments.user_errors import InputError
from callboard.scenarios import scenario_file
from callboard.scenarios.scenario_error import ScenarioError
from callboard.scenarios.scenario_file import Scenario
from callboard.scenarios.timeline import PolicyEntry
from callboard.scheduler.policy import PolicySpecError

SHORTCUTS = {
    "--nodes": "cluster.nodes",
    "--racks": "cluster.racks",
    "--map-slots": "cluster.map_slots",
    "--reduce-slots": "cluster.reduce_slots",
    "--jobs": "workload.jobs",
    "--seed": "seed",
}
"""Options that are short for a `--set`."""


class PreparedScenario(NamedTuple):
    """A scenario, its jobs, and what happens to its world."""

    scenario: Scenario
    jobs: Sequence[JobSpec]
    script: Sequence[ScheduledFault]


def prepare_scenario(
    name: str,
    overrides: Sequence[str] = (),
    shortcuts: Mapping[str, str] | None = None,
    *,
    faults: bool = True,
) -> PreparedScenario:
    """The scenario by its name or file, changed, and its jobs; without its timeline if it is to be
    played without `faults`.  Of a journal: what was played, and all that was done to it by hand.

    `overrides` are what `--set` takes; `shortcuts` are values by their option (see `SHORTCUTS`).
    Raises ScenarioError, and InputError for a bad shortcut.
    """
    path = scenario_file.find_scenario(name)
    if is_journal(path):
        if overrides or shortcuts:
            changes = "its policy alone can be another; change the scenario that it came from"
            raise InputError(f"{name}: a recorded run is played again as it was; {changes}")
        return _prepare_replay(path, faults=faults)
    short = {SHORTCUTS[option]: option for option in shortcuts or {}}
    settings = [f"{SHORTCUTS[option]}={text}" for option, text in (shortcuts or {}).items()]
    try:
        scenario = scenario_file.load_scenario(
            path, [_decoded(each) for each in (*settings, *overrides)]
        )
        if not faults:
            scenario = msgspec.structs.replace(scenario, timeline=())
        jobs = scenario_file.make_jobs(scenario, path.parent)
        script = scenario_file.make_script(scenario, jobs, path.parent)
        _check_policies(scenario)
    except ScenarioError as error:
        if error.key in short and not _set_again(error.key, overrides):
            raise InputError(f"{short[error.key]}: {error.problem}") from None
        raise _located(error, path) from None
    return PreparedScenario(scenario, jobs, script)


def _prepare_replay(path: Path, *, faults: bool) -> PreparedScenario:
    """What a journal has recorded, to be played again."""
    found = read_replay_spec(path)
    scenario = found.scenario
    if not faults:
        scenario = msgspec.structs.replace(scenario, timeline=())
    try:
        jobs = scenario_file.make_jobs(scenario, path.parent)
        script = scenario_file.make_script(scenario, jobs, path.parent)
        _check_policies(scenario)
    except ScenarioError as error:
        raise _located(error, path) from None
    return PreparedScenario(scenario, jobs, found.with_interventions(script) if faults else ())


def _check_policies(scenario: Scenario) -> None:
    """ScenarioError where parts are set up that there are not, or the timeline puts a policy in
    force that there is not.
    """
    for name, settings in scenario.parts.items():
        try:
            catalogue({name: settings})
        except PolicySpecError as error:
            raise ScenarioError(str(error), key=f"parts.{name}") from None
    for place, entry in enumerate(scenario.timeline):
        if isinstance(entry, PolicyEntry):
            try:
                load_policy(entry.policy, scenario.parts)
            except PolicySpecError as error:
                raise ScenarioError(str(error), key=f"timeline[{place}].policy") from None


def _decoded(argument: str) -> str:
    """The argument, its bytes read as UTF-8 where Python could make no text of them.

    In the locale POSIX Python takes all but ASCII for undecodable.
    """
    try:
        argument.encode()
    except UnicodeEncodeError:
        return os.fsencode(argument).decode("utf-8", "replace")
    return argument


def _set_again(key: str, overrides: Sequence[str]) -> bool:
    """Whether a `--set` came after the shortcut for the same key."""
    return any(each.partition("=")[0].strip() == key for each in overrides)


def _located(error: ScenarioError, path: Path) -> ScenarioError:
    """The error with the scenario's file, if it names no place of its own."""
    if error.source:
        return error
    return ScenarioError(error.problem, source=path, key=error.key, line=error.line)
