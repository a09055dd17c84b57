"""Policies in a scenario file: strings or tables, and both come to the same."""

from math import inf
from pathlib import Path

import pytest

from callboard.actors.architectures import shipped_catalogue
from callboard.scenarios.scenario_file import load_scenario, to_dict
from callboard.scheduler.preemption.kill import KillParams
from callboard.scheduler.registry.parts import parse_policy
from callboard.scheduler.text.scenario_error import ScenarioError

FILE = """\
name = "x"
policies = [
  "fair",
  {policy},
]
[workload]
kind = "jobs"
[[workload.job]]
maps = 1
map_s = 1
"""


def scenario(tmp_path: Path, policy: str) -> Path:
    path = tmp_path / "x.toml"
    path.write_text(FILE.replace("{policy}", policy))
    return path


@pytest.mark.parametrize(
    ("policy", "spelled"),
    [
        ('"fair+delay(node=5)"', "fair+delay(node=5)"),
        ('{order = "fair", locality = "delay(node=5)"}', "fair+delay(node=5)"),
        ('{locality = {name = "delay", skips = 3}, order = "fifo"}', "fifo+delay(skips=3)"),
        ('{order = {name = "mine", t = 5, on = true}}', "mine(t=5,on=true)"),
        ('{order = {name = "./mine.py:Mine"}, locality = "delay"}', "./mine.py:Mine+delay"),
    ],
)
def test_a_table_becomes_its_spelling(tmp_path: Path, policy: str, spelled: str) -> None:
    found = load_scenario(scenario(tmp_path, policy))
    assert found.policies == ("fair", spelled)
    assert to_dict(found)["policies"] == ["fair", spelled]


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ('{order = "fair", localty = "delay"}', "did you mean `locality`?"),
        ('{order = "fair", preemption = "delay"}', "`delay` is a locality part"),
        ('{locality = "delay"}', "needs an `order`"),
        ("{order = 3}", "expected a part's name or a table"),
        ("3", "expected a string in quotes"),
    ],
)
def test_a_wrong_one_is_refused_with_its_place(tmp_path: Path, policy: str, said: str) -> None:
    with pytest.raises(ScenarioError) as found:
        load_scenario(scenario(tmp_path, policy))
    assert said in str(found.value)
    assert found.value.key == "policies[1]"


def test_a_table_by_override(tmp_path: Path) -> None:
    path = scenario(tmp_path, '"fifo"')
    found = load_scenario(path, ['policies=[{order="fair", locality="delay"}]'])
    assert found.policies == ("fair+delay",)


def test_a_parts_table_takes_what_the_parts_parameter_does(tmp_path: Path) -> None:
    """`inf` turns a timeout off there too; a field of the scenario's own has no use for it."""
    path = scenario(tmp_path, '"fair+kill"')
    parts = load_scenario(path, ["parts.kill.fair_share_timeout_s=inf"]).parts
    assert parts == {"kill": {"fair_share_timeout_s": inf}}
    usual = parse_policy("fair+kill", shipped_catalogue(parts))["preemption"].params
    assert usual == KillParams(fair_share_timeout_s=inf)
    with pytest.raises(ScenarioError, match="expected a finite number, got inf"):
        load_scenario(path, ["tasks.sigma=inf"])
