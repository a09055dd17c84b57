"""The scenario file (`docs/scenarios.md`): what it may hold, and every way to come by one.

All bad input raises `ScenarioError`, which names the file, the key and, if it can, the line.
"""

import heapq
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Self

import msgspec
from msgspec import Meta

from callboard.actors.config import Cluster, Tasks, node_facts
from callboard.actors.injector import ScheduledFault
from callboard.actors.job_spec import JobSpec
from callboard.histories.readers.swim_lines import is_swim
from callboard.scenarios import validation
from callboard.scenarios.fields import Seed
from callboard.scenarios.generators import GeneratedWorkload
from callboard.scenarios.library_list import LIBRARY, library_names
from callboard.scenarios.listed_jobs import ListedWorkload
from callboard.scenarios.old_keys import with_new_keys
from callboard.scenarios.overrides import WITH_SETTINGS, apply_overrides
from callboard.scenarios.recorded_workload import RecordedWorkload
from callboard.scenarios.swim_trace import SwimWorkload
from callboard.scenarios.timeline import Timeline
from callboard.scenarios.toml_reader import line_of_key, parse_toml
from callboard.scenarios.total_tasks import check_total_tasks
from callboard.scheduler.policy import PolicySpecError
from callboard.scheduler.registry.parts import spelling_of_table
from callboard.scheduler.registry.shipped import PARTS
from callboard.scheduler.text.key_path import KeyPath, dotted, parse_key, value_at
from callboard.scheduler.text.likely_file import likely_file
from callboard.scheduler.text.scenario_error import ScenarioError
from callboard.scheduler.text.strict_decoder import DecodeError, decode_strictly
from callboard.scheduler.text.text_file import read_text

_CLASS = re.compile(r"^class (\w+)", re.MULTILINE)
Name = Annotated[str, Meta(min_length=1, max_length=200)]
Workload = SwimWorkload | GeneratedWorkload | ListedWorkload | RecordedWorkload


class Scenario(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A scenario file, decoded and checked."""

    name: Name
    """What results are labelled with."""
    story: str = ""
    """One line, for lists."""
    seed: Seed = 1
    """The root of all randomness."""
    policies: Annotated[tuple[Name, ...], Meta(min_length=1)] = ("fifo", "fair")
    """Played one after the other on the same jobs.  That they exist is checked where they are
    played; one of a Python file needs `--trust`, or `--policy` with that file.
    """
    parts: dict[Name, dict[str, Any]] = msgspec.field(default_factory=dict)
    """Parameters by the name of a part of policies, for every policy that does not say otherwise:
    so pools can be set up once, as in Hadoop's allocation file.
    """
    cluster: Cluster = Cluster()
    """The nodes, and how they report."""
    tasks: Tasks = Tasks()
    """How long tasks take where they run."""
    workload: Workload
    """The jobs; `kind` says which of four kinds of table it is."""
    timeline: Timeline = ()
    """What happens to the world; `what` says which kind of entry each table is."""


class ScenarioFile:
    """A scenario file, or what else can be played as the scenario that plays it, overrides put in:
    a SWIM trace, or a history that `histories` can read, told by its content.
    """

    def __init__(self, path: str | Path, overrides: Sequence[str] = ()) -> None:
        self.path = Path(path)
        self._text = ""
        """The file's, where lines can be told from it."""
        foreign = self.path.suffix != ".toml"
        self._recording = False
        if foreign and _is_swim_trace(self.path):
            self._written = _scenario_of_trace(self.path)
        elif foreign and _is_recording(self.path):
            self._recording = True
            self._written = _scenario_of_recording(self.path, overrides)
        elif foreign and self.path.suffix == ".tsv":  # a damaged trace, which says where
            self._written = _scenario_of_trace(self.path)
        else:
            self._text = _text_of(self.path) if foreign else read_text(self.path)
            self._written = with_new_keys(_toml_of_any_file(self._text, self.path))
        self._changed = apply_overrides(self._written, overrides)

    def with_overrides(self, overrides: Sequence[str]) -> Self:
        """The same file with these overrides instead; it is not read again, unless it is a history,
        which they may say how to read.
        """
        twin = copy(self)
        if self._recording:
            twin._written = _scenario_of_recording(self.path, overrides)
        twin._changed = apply_overrides(twin._written, overrides)
        return twin

    def scenario(self, *, check_timeline: bool = True) -> Scenario:
        """The scenario; see `from_dict`."""
        return from_dict(self._changed, self.path, check_timeline=check_timeline)

    @contextmanager
    def placing_errors(self) -> Iterator[None]:
        """Let a ScenarioError name the line of its key, or the override that brought it about."""
        try:
            yield
        except ScenarioError as error:
            raise self._with_line(error.in_file(self.path)) from None

    def _with_line(self, error: ScenarioError) -> ScenarioError:
        if error.source != str(self.path):  # of a trace
            return error
        key = parse_key(error.key)
        there = key
        while there and value_at(self._changed, there) is None:  # what is missing has a table
            there = there[:-1]
        before, now = value_at(self._written, there), value_at(self._changed, there)
        if there and before is not now and before != now:
            source = f"{error.source} {WITH_SETTINGS}"
            return ScenarioError(error.problem, source=source, key=error.key)
        line = line_of_key(self._text, key) or line_of_key(self._text, key[:-1])
        return ScenarioError(error.problem, source=error.source, key=error.key, line=line)


def load_scenario(path: str | Path, overrides: Sequence[str] = ()) -> Scenario:
    """The scenario in a file, with `dotted.key=value` overrides put in."""
    file = ScenarioFile(path, overrides)
    with file.placing_errors():
        return file.scenario()


def _toml_of_any_file(text: str, path: Path) -> dict[str, Any]:
    """The file's text as TOML, whatever it is called; ScenarioError says what else was tried."""
    try:
        return parse_toml(text, path)
    except ScenarioError as error:
        if path.suffix == ".toml" or not text.strip():
            raise
        from callboard.histories.recording_file import known_formats

        if path.suffix == ".py":
            named = _CLASS.search(text)
            file = path if path.is_absolute() else f"./{path}"
            policy = f"--policy {file}:{named[1] if named else 'NAME'}"
            problem = f"this is Python; `callboard run two-jobs {policy}` plays a policy of it"
            raise ScenarioError(problem, source=path) from None
        else_ = f"nor is it of another known format: {known_formats()}"
        raise ScenarioError(f"{error.problem}; {else_}", source=path, line=error.line) from None


def _is_swim_trace(path: Path) -> bool:
    if path.is_dir():
        return False
    from callboard.histories.readers.unpacked_text import first_bytes

    return is_swim(first_bytes(path, 1000))


def _text_of(path: Path) -> str:
    """The text of a file that may be meant for a history; what is none is told as `import` does."""
    from callboard.histories.recording_file import why_not_text

    if not path.is_dir() and (why := why_not_text(path)):
        raise ScenarioError(why, source=path)
    return read_text(path)


def _is_recording(path: Path) -> bool:
    from callboard.histories.recording_file import is_recording

    return is_recording(path)


def _scenario_of_recording(path: Path, overrides: Sequence[str]) -> dict[str, Any]:
    from callboard.scenarios.recording_scenario import scenario_of_history

    return scenario_of_history(path, overrides)


def _scenario_of_trace(path: Path) -> dict[str, Any]:
    play = {"kind": "swim", "path": str(path.absolute())}
    return {"name": path.stem, "story": f"The SWIM trace {path.name}.", "workload": play}


def from_dict(raw: object, source: str | Path = "", *, check_timeline: bool = True) -> Scenario:
    """Plain data, as tomllib gives it, as a checked scenario; `source` is named in errors. A caller
    that makes the timeline's script (`make_fault_script`) need not have it checked here.
    """
    spelled = _with_spelled_policies(with_new_keys(raw), source)
    try:
        scenario = decode_strictly(spelled, Scenario, "the scenario")
    except DecodeError as error:
        told = f"{error}{_hint_for_problem(str(error), error.key, spelled)}"
        raise ScenarioError(told, source=source, key=dotted(error.key)) from None
    scenario = _with_counted_racks(scenario, spelled)
    try:
        _check_scenario(scenario)
        if check_timeline:
            make_fault_script(scenario)
    except ScenarioError as error:
        raise error.in_file(source) from None
    return scenario


def _with_counted_racks(scenario: Scenario, raw: object) -> Scenario:
    """As many racks as are given sizes, where their number is not stated."""
    sizes = scenario.cluster.rack_sizes
    if not sizes or value_at(raw, ("cluster", "racks"), None) is not None:
        return scenario
    cluster = msgspec.structs.replace(scenario.cluster, racks=len(sizes))
    return msgspec.structs.replace(scenario, cluster=cluster)


def _hint_for_problem(problem: str, key: KeyPath, raw: object) -> str:
    """What to write instead, where a key stands in the wrong place or is written in another way."""
    if problem.startswith("expected a list, got a table"):
        return f"; each of a list of tables begins with [[{dotted(key)}]]"
    if problem.startswith("expected a list, got "):
        return f"; a list stands in brackets, as in [{json.dumps(value_at(raw, key, ''))}]"
    if key == ("workload", "jobs") and problem.endswith("got a list"):
        return "; each job that is listed begins with [[workload.job]]"
    unknown = _UNKNOWN.match(problem)
    if unknown and key and unknown[1] in Scenario.__struct_fields__:
        return "; that stands at the top of the file, before the first [table]"
    return ""


_UNKNOWN = re.compile(r"unknown field `?(\w+)")


def _with_spelled_policies(raw: object, source: str | Path) -> object:
    if not isinstance(raw, dict) or not isinstance(raw.get("policies"), list | tuple):
        return raw
    spelled: list[object] = []
    for index, policy in enumerate(raw["policies"]):
        try:
            spelled.append(spelling_of_table(policy) if isinstance(policy, dict) else policy)
        except PolicySpecError as error:
            key = f"policies[{index}]"
            raise ScenarioError(str(error), source=source, key=key) from None
    return {**raw, "policies": spelled}


def to_dict(scenario: Scenario) -> dict[str, Any]:
    """The scenario as plain data with every field but those that are None; `from_dict` reads it."""
    data: dict[str, Any] = _without_none(msgspec.to_builtins(scenario))
    return data


def make_jobs(scenario: Scenario, base_dir: str | Path = ".") -> tuple[JobSpec, ...]:
    """The workload's jobs, with ids 0, 1, 2, ... by submit time, and those of bursts with the next
    ids; in `base_dir`, the scenario file's, a trace is looked for first. ScenarioError also where
    they have too many tasks together, or reduces and the cluster has no slot for them.
    """
    workload = scenario.workload.with_load_as_gap(scenario.cluster.total_map_speed())
    jobs = workload.make_jobs(scenario.seed, base_dir)
    if scenario.timeline:
        jobs += _burst_jobs(scenario, jobs)
    jobs.sort(key=lambda job: job.submit_ms)
    check_total_tasks(scenario.workload, scenario.timeline, jobs)
    validation.check_slots(scenario.cluster, jobs)
    validation.check_demands(scenario.cluster, jobs)
    validation.check_constraints(scenario.cluster, jobs)
    return tuple(jobs)


def _burst_jobs(scenario: Scenario, others: Sequence[JobSpec]) -> list[JobSpec]:
    from callboard.scenarios.bursts import burst_jobs, burst_node_types

    validation.check_node_types(scenario.cluster, burst_node_types(scenario.timeline))
    return burst_jobs(scenario.timeline, scenario.seed, others)


def make_fault_script(
    scenario: Scenario, jobs: Sequence[JobSpec] | None = None, base_dir: str | Path | None = None
) -> tuple[ScheduledFault, ...]:
    """What happens, in the order of time; `base_dir` has the traces.  ScenarioError if it cannot
    be.
    """
    if not scenario.timeline and all(job.killed_ms is None for job in jobs or ()):
        return ()
    from callboard.scenarios import script

    names = None if jobs is None else {job.job: job.name for job in jobs}
    nodes = node_facts(scenario.cluster)
    faults = script.fault_script(scenario.timeline, nodes, scenario.seed, names, base_dir)
    kills = script.recorded_kills(jobs or ())
    return tuple(heapq.merge(faults, kills, key=attrgetter("at_ms"))) if kills else faults


def library_scenarios() -> list[tuple[str, Path, str]]:
    """The scenarios that come with the project: (name, file, story), by name."""
    return [(path.stem, path, load_scenario(path).story) for path in sorted(LIBRARY.glob("*.toml"))]


def find_scenario(name_or_path: str) -> Path:
    """The file meant by a name of the library or by a path; a library name wins."""
    names = library_names()
    if name_or_path in names:
        return LIBRARY / f"{name_or_path}.toml"
    path = Path(name_or_path)
    if "\0" not in name_or_path and path.is_file():
        return path
    if _is_folder(name_or_path) and _is_recording(path):
        return path
    if path.suffix in (".toml", ".tsv") or len(path.parts) > 1 or _is_folder(name_or_path):
        if not path.exists():
            raise ScenarioError(f"there is no such file; {_likely_names(path, names)}", source=path)
        if path.is_dir():
            problem = "this is a folder in which nothing can be played; name a file"
            raise ScenarioError(problem, source=path)
        read_text(path)  # says what is wrong with the file
    problem = f'"{name_or_path[:200]}" is neither a file nor a scenario of the library'
    if name_or_path.lower() in PARTS:
        meant = f"it is a policy: write `--policy {name_or_path.lower()}`, each with its own option"
        raise ScenarioError(f"{problem}; {meant}")
    raise ScenarioError(f"{problem}; {_likely_names(path, names)}")


def _likely_names(path: Path, names: Sequence[str]) -> str:
    """What is called like it, in the library or its folder, else where names are to be had."""
    near = likely_file(path, names)
    names_listed = "`callboard scenarios` lists what can be played by its name"
    return f"did you mean `{near}`?" if near else names_listed


def _is_folder(name: str) -> bool:
    """Whether a folder was named; the empty name is the working folder's only to `Path`."""
    return bool(name) and "\0" not in name and Path(name).is_dir()


def _check_scenario(scenario: Scenario) -> None:
    if "\n" in scenario.story:
        raise ScenarioError("expected a single line; take out the line breaks", key="story")
    validation.check_cluster(scenario.cluster)
    scenario.workload.check()
    validation.check_node_types(scenario.cluster, scenario.workload.node_types())
    if scenario.timeline:
        validation.check_expiry(scenario.cluster)


def _without_none(data: Any) -> Any:
    if isinstance(data, dict):
        return {name: _without_none(value) for name, value in data.items() if value is not None}
    if isinstance(data, list | tuple):
        return [_without_none(item) for item in data]
    return data
