"""Counterexamples as scenario files: what was found, how, and how to see it again."""

import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap
from typing import NamedTuple

import msgspec

from callboard.experiments.run.trust import trust_option
from callboard.fairness.catalogue import PROPERTIES_BY_NAME
from callboard.fairness.property import Property
from callboard.fairness.search import Counterexample
from callboard.scenarios.scenario_file import Scenario, load_scenario
from callboard.scenarios.toml_writer import to_toml
from callboard.scheduler.text.scenario_error import ScenarioError
from callboard.scheduler.text.strict_decoder import suggestion
from callboard.scheduler.text.text_file import read_text

_NAMED = re.compile(r"^# property: (.*)$", re.MULTILINE)
_WIDTH = 96


class SavedCounterexample(NamedTuple):
    """A property and a scenario in which a policy broke it."""

    prop: Property
    scenario: Scenario


def counterexample_text(found: Counterexample, prop: Property, policy: str, command: str) -> str:
    """The file's text: remarks, and the scenario with its policy; `command` is what found it."""
    scenario = msgspec.structs.replace(
        found.scenario, name=f"no-{prop.name}", story=f"Not so: {prop.says}.", policies=(policy,)
    )
    return to_toml(scenario, _remark_lines(found, prop, command, trust_option(policy)))


def _remark_lines(found: Counterexample, prop: Property, command: str, trust: str) -> Iterator[str]:
    yield f"property: {prop.name}"
    for what in ("says", "formula", "assumes", "bound", "source"):
        yield from _wrapped_remark(f"  {what}: ", getattr(prop, what))
    yield ""
    yield from _wrapped_remark("broken: ", found.seen)
    yield ""
    yield from _wrapped_remark("found by: ", command)
    yield f"tested again by: callboard check --replay THIS-FILE{trust}"
    yield f"played by: callboard run THIS-FILE{trust}, callboard watch THIS-FILE{trust}"


def _wrapped_remark(begin: str, text: str) -> list[str]:
    indent = " " * len(begin)
    return wrap(
        text, _WIDTH, initial_indent=begin, subsequent_indent=indent, break_on_hyphens=False
    )


def read_counterexample(path: str | Path) -> SavedCounterexample:
    """A saved counterexample; ScenarioError if the file is none."""
    path = Path(path)
    scenario = load_scenario(path)
    named = _NAMED.search(read_text(path))
    if named is None:
        problem = "no line `# property: NAME`, so there is nothing to hold it against"
        raise ScenarioError(problem, source=path)
    prop = PROPERTIES_BY_NAME.get(named[1])
    if prop is None:
        problem = (
            f'there is no property "{named[1]}"; {suggestion(named[1], list(PROPERTIES_BY_NAME))}'
        )
        raise ScenarioError(problem, source=path)
    return SavedCounterexample(prop, scenario)
