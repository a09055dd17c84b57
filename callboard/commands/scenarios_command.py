"""List the library's scenarios by the names that `callboard run` takes, with what each is about; or
describe those that are named, which may be files too.

examples:
  callboard scenarios
  callboard scenarios two-jobs
"""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

from callboard.console import ReportConsole, print_list
from callboard.experiments.user_errors import InputError
from callboard.scenarios.library_list import scenario_description, tour_names
from callboard.scenarios.portrait import portrait_of
from callboard.scenarios.scenario_file import find_scenario, library_scenarios, load_scenario
from callboard.scheduler.text.quantities import count, duration


def add_arguments(parser: argparse.ArgumentParser) -> None:
    named = "scenarios to describe, by name or file"
    parser.add_argument("scenarios", nargs="*", default=[], metavar="SCENARIO", help=named)


def scenarios_command(options: argparse.Namespace) -> int:
    if not options.scenarios:
        print_list((name, story) for name, _, story in library_scenarios())
        return 0
    console = ReportConsole()
    for name in options.scenarios:
        console.print_lines(_description_lines(name))
    return 0


def _description_lines(name: str) -> Iterator[str]:
    """What it is about, how large it is, what goes wrong in it, and what to type."""
    path = find_scenario(name)
    if path.suffix != ".toml":
        raise InputError(f"{name}: no scenario file; `callboard import` says what is in a history")
    scenario, portrait = load_scenario(path), portrait_of(path)
    yield f"{scenario.name}: {scenario.story}"
    yield ""
    about = scenario_description(path.read_text(encoding="utf-8"))
    for paragraph in about.split("\n\n") if about else ():
        yield paragraph
        yield ""
    slots = (
        f"{count(portrait.map_slots, 'map slot')}, {count(portrait.reduce_slots, 'reduce slot')}"
    )
    yield f"cluster   {count(portrait.nodes, 'node')} in {count(portrait.racks, 'rack')}: {slots}"
    yield f"workload  {count(portrait.jobs, 'job')}, {count(portrait.tasks, 'task')}"
    yield f"takes     {duration(portrait.least_ms)} at least, with all slots busy"
    yield f"policies  {', '.join(scenario.policies)}"
    for fault in portrait.faults:
        times = "" if fault.times < 2 else f", {fault.times} times"
        yield f"fault     at {duration(fault.at_ms)}: {fault.what} {fault.target}{times}"
    yield ""
    yield f"  callboard run {name}"
    yield f"  callboard watch {name}" + (" --tour" if name in tour_names() else "")
    yield f"its file: {_path_from_here(path)}"
    yield ""


def _path_from_here(path: Path) -> str:
    """A path that opens the file from the working folder: relative to it where that is shorter."""
    whole = path.resolve()  # in a clone the package is reached by links
    return min(os.path.relpath(whole), str(whole), key=len)
