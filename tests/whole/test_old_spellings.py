"""Every scenario of the library in the spellings of before: the same run, event for event."""

from typing import Any

import msgspec
import pytest

from callboard.actors.central.central import Central
from callboard.experiments.run.plugins import canonical_policy, load_architecture, load_policy
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.simulation import run_simulation
from callboard.scenarios.scenario_file import from_dict, library_scenarios, load_scenario
from callboard.scenarios.toml_reader import parse_toml
from callboard.scheduler.registry.parts import OLD_NAMES
from callboard.scheduler.text.text_file import read_text
from tests.support.library import EventDigest

LIBRARY = {name: path for name, path, _ in library_scenarios()}
UNTIL_MS = 20_000
"""The beginning of a run says enough: equal specs give equal runs."""


def in_old_spelling(raw: dict[str, Any]) -> dict[str, Any]:
    """The plain data of a scenario with every key and every policy written as before."""
    cluster = dict(raw.get("cluster", {}))
    for table in (cluster, *(groups := [dict(each) for each in cluster.get("group", ())])):
        table["kind"] = table.pop("node_type", "")
    heartbeat = dict(cluster.get("heartbeat", {}))
    heartbeat["tasks_per_beat"] = heartbeat.pop("tasks_per_heartbeat", "many")
    cluster |= {"heartbeat": heartbeat, "group": groups}
    policies = [old_policy(each) for each in raw.get("policies", ())]
    return {**raw, "cluster": cluster, "policies": policies}


def old_policy(spelling: str) -> str:
    """The policy with every part written out that it is made of, by the names of before; the other
    architectures are younger than those.
    """
    if not isinstance(load_architecture(spelling), Central):
        return spelling
    policy = load_policy(spelling)
    parts = {policy.locality.name, policy.preemption.name, policy.speculation.name}
    return "+".join([spelling, *(old for old, new in OLD_NAMES.items() if new in parts)])


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.soak if name == "sparrow-100ms" else ())
        for name in LIBRARY
    ],
)
def test_a_scenario_in_its_old_spelling_is_the_same_run(name: str) -> None:
    path = LIBRARY[name]
    raw = parse_toml(read_text(path), path)
    old, new = from_dict(in_old_spelling(raw), path), load_scenario(path)
    assert tuple(map(canonical_policy, old.policies)) == tuple(map(canonical_policy, new.policies))
    assert msgspec.structs.replace(old, policies=new.policies) == new
    specs = [RunSpec.of(each, base_dir=path.parent, until_ms=UNTIL_MS) for each in (old, new)]
    assert msgspec.structs.replace(specs[0], scenario=new, policy=specs[1].policy) == specs[1]
    digests = set()
    for spec in specs:
        listener = EventDigest()
        run_simulation(spec, driver="direct", watcher=listener)
        digests.add(listener.text())
    assert len(digests) == 1
