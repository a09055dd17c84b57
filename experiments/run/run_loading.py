"""From the name of a scenario, file, trace or journal to what is played, with every flaw of the
input told.  A journal's run is played again with all its interventions.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from callboard.actors.architecture import Architecture
from callboard.actors.config import Cluster
from callboard.actors.injector import ScheduledFault
from callboard.actors.vocabulary.events import FaultStruck, RunEnded, RunStarted
from callboard.experiments.run.plugins import (
    catalogue,
    load_policy,
    read_architecture,
)
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.trust import Trust, check_faults, trusted_scenario
from callboard.experiments.user_errors import InputError
from callboard.journal.format import is_journal
from callboard.scenarios.scenario_file import Scenario, ScenarioFile, find_scenario, from_dict
from callboard.scenarios.timeline import PolicyEntry, recorded_entries
from callboard.scheduler.policy import PolicySpecError
from callboard.scheduler.text.scenario_error import ScenarioError

_CHANGE = re.compile(r"([+-]\d{1,6}(?:\.\d+)?)%|([+-]\d{1,6})")
"""A change of a scenario's number, as in `--nodes -20%` and `--nodes +4`."""

SHORTCUTS = {
    "--seed": ("seed", "the root of all randomness"),
    "--nodes": ("cluster.nodes", "how many nodes; or how many more or fewer: +4, -20%%"),
    "--racks": ("cluster.racks", "how many racks they stand in"),
    "--map-slots": ("cluster.map_slots", "map slots a node"),
    "--reduce-slots": ("cluster.reduce_slots", "reduce slots a node"),
    "--jobs": ("workload.jobs", "only the first N jobs"),
    "--map": ("workload.columns", "what the columns of a table mean (`callboard import --help`)"),
}
"""Options that are short for a `--set`: its key, and what it says."""


def load_run(
    name: str,
    overrides: Sequence[str] = (),
    shortcuts: Mapping[str, str] | None = None,
    *,
    faults: bool = True,
    trust: Trust | None = None,
) -> RunSpec:
    """The run of a scenario or journal; see `RunSource`."""
    return RunSource(name, faults=faults, trust=trust).run(overrides, shortcuts)


class RunSource:
    """A scenario, by its name or file, or a journal: what is read once, and played with any seed
    and other overrides; without its timeline if it is to be played without `faults`.

    Without `trust` no code runs that it brings along (`experiments.trust`).
    """

    def __init__(self, name: str, *, faults: bool = True, trust: Trust | None = None) -> None:
        self._name = name
        self._faults = faults
        self._trust = trust or Trust()
        self._path = find_scenario(name)
        self._is_journal = is_journal(self._path)
        self._file: ScenarioFile | None = None
        self.recorded_end: RunEnded | None = None
        """How the run of a journal had ended, once it has been read with its faults."""

    @property
    def base_dir(self) -> Path | None:
        """Where its traces are looked for; None for a journal."""
        return None if self._is_journal else self._path.parent

    def run(
        self, overrides: Sequence[str] = (), shortcuts: Mapping[str, str] | None = None
    ) -> RunSpec:
        """Its run under its first policy; of a journal: the run that it has recorded.

        `overrides` are what `--set` takes, `shortcuts` values by their option (see `SHORTCUTS`).
        Raises ScenarioError, InputError for a bad shortcut, JournalError for damage.
        """
        if self._is_journal:
            if overrides or shortcuts:
                changes = "its policy alone can be another; change the scenario that it came from"
                raise InputError(
                    f"{self._name}: a recorded run is played again as it was; {changes}"
                )
            spec, ended = _recorded_run(self._path, self._trust, faults=self._faults)
            self.recorded_end = ended if self._faults else None
            return spec
        short = {SHORTCUTS[option][0]: option for option in shortcuts or {}}
        try:
            settings = self._shortcut_overrides(shortcuts or {})
            file = self._file_with_overrides(
                [_utf8_argument(each) for each in (*settings, *overrides)]
            )
            with file.placing_errors():
                scenario = file.scenario(check_timeline=False)
                return _spec_of(scenario, self._path, self._trust, faults=self._faults)
        except ScenarioError as error:
            if error.key in short and not _is_set_again(error.key, overrides):
                raise InputError(f"{short[error.key]}: {error.problem}") from None
            raise

    def unscripted_run(self, overrides: Sequence[str]) -> RunSpec:
        """The same of a recorded history as it was: nothing that is scripted happens in it."""
        spec = self.run(overrides)
        timeline = recorded_entries(spec.scenario.timeline)
        if timeline == spec.scenario.timeline:
            return spec
        scenario = msgspec.structs.replace(spec.scenario, timeline=timeline)
        return RunSpec.of(scenario, base_dir=self.base_dir)

    def policies(self, spec: RunSpec, asked: Sequence[str] = ()) -> tuple[str, ...]:
        """The canonical spellings of the policies asked for, or of those that its scenario names.
        PolicySpecError for a bad one, and for an architecture that cannot play this run; of the
        scenario's own a ScenarioError that says where in its file it stands.
        """
        if asked or self._file is None:
            return chosen_policies(spec, asked or spec.scenario.policies)
        read: list[tuple[str, Architecture]] = []
        with self._file.placing_errors():
            for place, text in enumerate(spec.scenario.policies):
                try:
                    read.append(read_architecture(text, spec.scenario.parts))
                except PolicySpecError as error:
                    raise ScenarioError(str(error), key=f"policies[{place}]") from None
        return _playable_spellings(spec, read)

    def cluster(self, overrides: Sequence[str] = ()) -> Cluster | None:
        """The cluster alone; None of a journal, whose run is played as it was."""
        if self._is_journal:
            return None
        file = self._file_with_overrides([_utf8_argument(each) for each in overrides])
        with file.placing_errors():
            return file.scenario(check_timeline=False).cluster

    def _shortcut_overrides(self, shortcuts: Mapping[str, str]) -> list[str]:
        """The shortcuts as overrides; `-20%` of what the scenario has without it is a number, and
        so is `+4`.
        """
        settings = []
        for option, text in shortcuts.items():
            key, change = SHORTCUTS[option][0], _CHANGE.fullmatch(text)
            if change is None and text.endswith("%"):
                raise InputError(f"{option} {text}: a change has a sign, as in +20% or -20%")
            number = text if change is None else self._number_after_change(option, key, change)
            settings.append(f"{key}={number}")
        return settings

    def _number_after_change(self, option: str, key: str, change: re.Match[str]) -> int:
        file = self._file_with_overrides([])
        with file.placing_errors():
            table, name = key.split(".") if "." in key else ("", key)
            scenario = file.scenario(check_timeline=False)
            was = getattr(getattr(scenario, table) if table else scenario, name, None)
        if option == "--seed" or not isinstance(was, int):
            raise InputError(f"{option}: the scenario has no number to change by {change[0]}")
        percent, more = change.groups()
        number = was + int(more) if more else round(was * (1 + float(percent) / 100))
        if number <= 0:
            raise InputError(f"{option} {change[0]} leaves none of {was:,}")
        return number

    def _file_with_overrides(self, overrides: Sequence[str]) -> ScenarioFile:
        if self._file is None:
            self._file = ScenarioFile(self._path, overrides)
        else:
            self._file = self._file.with_overrides(overrides)
        return self._file


def chosen_policies(spec: RunSpec, asked: Sequence[str]) -> tuple[str, ...]:
    """The canonical spellings of policies for a run.  PolicySpecError for a bad one, and for an
    architecture that cannot play this run.
    """
    return _playable_spellings(
        spec, [read_architecture(text, spec.scenario.parts) for text in asked]
    )


def _playable_spellings(spec: RunSpec, read: Sequence[tuple[str, Architecture]]) -> tuple[str, ...]:
    """The spellings; PolicySpecError for an architecture that cannot play this run."""
    for _, architecture in read:
        architecture.check(spec.jobs, spec.script)
    return tuple(spelling for spelling, _ in read)


def _spec_of(scenario: Scenario, path: Path, trust: Trust, *, faults: bool) -> RunSpec:
    if not faults:
        scenario = msgspec.structs.replace(scenario, timeline=())
    scenario = trusted_scenario(scenario, trust)
    spec = RunSpec.of(scenario, base_dir=path.parent)
    _check_policies(scenario)
    return spec


def _recorded_run(path: Path, trust: Trust, *, faults: bool) -> tuple[RunSpec, RunEnded | None]:
    """What a journal has recorded, under the policy that was in force at its start, and its end.

    A run that was left early has not come to all of its script, and plays the rest of it now.
    """
    from callboard.journal.reader import Journal

    events = iter(Journal(path))
    started = next(events, None)
    if not isinstance(started, RunStarted):
        raise InputError(f"{path}: no run has been recorded in it yet")
    scenario = from_dict(started.scenario, path, check_timeline=False)
    scenario = msgspec.structs.replace(scenario, policies=(started.policy,))
    recorded, ended = [], None
    for event in events:
        if isinstance(event, FaultStruck):
            recorded.append(ScheduledFault(event.at_ms, event.fault))
        elif isinstance(event, RunEnded):
            ended = event
    try:
        check_faults(recorded if faults else (), trust)
        spec = _spec_of(scenario, path, trust, faults=faults)
    except ScenarioError as error:
        raise error.in_file(path) from None
    beside = faults_not_among(recorded, spec.script) if faults else ()
    return msgspec.structs.replace(spec, script=(*spec.script, *beside)), ended


def faults_not_among(
    faults: Iterable[ScheduledFault], known: Iterable[ScheduledFault]
) -> Iterator[ScheduledFault]:
    """The faults beyond those known: of one that comes twice and is known once, the second."""
    left = Counter(known)
    for fault in faults:
        if left[fault]:
            left[fault] -= 1
        else:
            yield fault


def _check_policies(scenario: Scenario) -> None:
    """ScenarioError where a table of parts or an entry of the timeline names no part."""
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


def _utf8_argument(argument: str) -> str:
    """The argument, its bytes read as UTF-8 where Python could make no text of them.

    In the locale POSIX Python takes all but ASCII for undecodable.
    """
    try:
        argument.encode()
    except UnicodeEncodeError:
        return os.fsencode(argument).decode("utf-8", "replace")
    return argument


def _is_set_again(key: str, overrides: Sequence[str]) -> bool:
    """Whether a `--set` came after the shortcut for the same key."""
    return any(each.partition("=")[0].strip() == key for each in overrides)
