"""A scenario that is written and read again is the same scenario."""

import tomllib

import pytest

from callboard.scenarios import scenario_file
from callboard.scenarios.scenario_file import from_dict, load_scenario
from callboard.scenarios.toml_writer import to_toml

LIBRARY = {name: path for name, path, _ in scenario_file.library_scenarios()}


@pytest.mark.parametrize("name", LIBRARY)
def test_every_scenario_of_the_library_comes_back(name: str) -> None:
    scenario = load_scenario(LIBRARY[name])
    assert from_dict(tomllib.loads(to_toml(scenario))) == scenario


def test_what_says_nothing_new_is_left_out() -> None:
    text = to_toml(load_scenario(LIBRARY["two-jobs"]), ["A remark", "on\ntwo lines"])
    assert text.startswith('# A remark\n# on\n# two lines\n\nname = "two-jobs"\n')
    assert "map_slots = 1\n" in text
    assert "replication" not in text
    assert text.count("[[workload.job]]") == 2
    assert text.count("[workload]") == 1


def test_names_that_need_quotes_get_them() -> None:
    raw = {
        "name": 'a "b" \\ \x7f',
        "cluster": {"nodes": 1, "racks": 1, "node_type": "é x"},
        "workload": {"kind": "jobs", "job": [{"maps": 1, "map_s": 1e-3, "on": {"é x": 2.5}}]},
    }
    scenario = from_dict(raw)
    assert from_dict(tomllib.loads(to_toml(scenario))) == scenario
