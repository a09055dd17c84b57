"""The examples of docs/scenarios.md are good scenarios."""

import re
import tomllib
from pathlib import Path

import msgspec
import pytest

from callboard.scenarios.scenario_file import from_dict, make_jobs

TEXT = (Path(__file__).parents[2] / "docs" / "scenarios.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```toml\n(.*?)```", TEXT, flags=re.DOTALL)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) == 5


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_is_a_good_scenario(example: str) -> None:
    scenario = from_dict(tomllib.loads(example))
    assert make_jobs(scenario)
    assert msgspec.to_builtins(scenario)["name"] in example
