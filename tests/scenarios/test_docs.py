"""docs/scenarios.md tells of every field, and its examples are good scenarios."""

import re
import tomllib
from pathlib import Path

import msgspec
import pytest
from msgspec import inspect

from callboard.scenarios.scenario_file import Scenario, from_dict, make_jobs

TEXT = (Path(__file__).parents[2] / "docs" / "scenarios.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```toml\n(.*?)```", TEXT, flags=re.DOTALL)


def fields_of(kind: inspect.Type) -> set[str]:
    """The names of all fields and kinds of workload parts that can stand in a scenario."""
    if isinstance(kind, inspect.StructType):
        own = {field.encode_name for field in kind.fields}
        tag = {kind.tag} if isinstance(kind.tag, str) else set()
        return own.union(tag, *(fields_of(field.type) for field in kind.fields))
    if isinstance(kind, inspect.UnionType):
        return set().union(*(fields_of(member) for member in kind.types))
    return fields_of(kind.item_type) if isinstance(kind, inspect.VarTupleType) else set()


def test_every_field_and_kind_is_in_the_reference() -> None:
    names = fields_of(inspect.type_info(Scenario))
    assert {"slots_at_once", "phase_grid_ms", "gp-mix", "priority"} <= names
    told = set(re.findall(r"[\w-]+", " ".join(re.findall(r"`[^`\n]+`", TEXT))))
    assert names - told == set()


def test_there_are_examples() -> None:
    assert len(EXAMPLES) == 4


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_is_a_good_scenario(example: str) -> None:
    scenario = from_dict(tomllib.loads(example))
    assert make_jobs(scenario)
    assert msgspec.to_builtins(scenario)["name"] in example
