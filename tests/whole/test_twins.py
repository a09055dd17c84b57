"""A scenario and its calm twin, on the same draws, part at the first fault (`--no-faults`)."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from callboard.actors.vocabulary.events import FaultStruck
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.simulation import run_simulation
from callboard.journal.tell.diff import diff_journals


@pytest.mark.parametrize("policy", ["fair", "hfsp"])
@pytest.mark.parametrize(
    "name", ["rack-outage", "flapping-node", "lossy-links", "one-slow-disk", "master-pause"]
)
def test_the_fault_is_where_a_scenario_and_its_calm_twin_part(
    name: str, policy: str, tmp_path: Path
) -> None:
    paths = tmp_path / "as-it-is.journal", tmp_path / "calm.journal"
    twins = load_run(name), load_run(name, faults=False)
    first_ms = min(each.at_ms for each in twins[0].script)
    for spec, path in zip(twins, paths, strict=True):
        run_simulation(replace(spec, policy=policy, until_ms=first_ms), journal=path)
    parting = diff_journals(*paths).divergence
    assert parting is not None
    assert isinstance(parting.left, FaultStruck)
    assert parting.at_ms == first_ms
