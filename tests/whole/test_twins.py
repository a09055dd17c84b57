"""A scenario and its calm twin, on the same draws, part at the first fault (`--no-faults`)."""

from pathlib import Path

import pytest

from callboard.actors.vocabulary.events import FaultStruck
from callboard.experiments.run_spec import prepare_scenario
from callboard.experiments.simulation import RunOptions, run_simulation
from callboard.journal.tell.diff import first_divergence


@pytest.mark.parametrize("policy", ["fair", "hfsp"])
@pytest.mark.parametrize(
    "name", ["rack-outage", "flapping-node", "lossy-links", "one-slow-disk", "master-pause"]
)
def test_the_fault_is_where_a_scenario_and_its_calm_twin_part(
    name: str, policy: str, tmp_path: Path
) -> None:
    paths = tmp_path / "as-it-is.journal", tmp_path / "calm.journal"
    scenario, jobs, script = prepare_scenario(name)
    calm = prepare_scenario(name, faults=False)
    first_ms = min(strike.at_ms for strike in script)
    options = [RunOptions(journal=path, until_ms=first_ms) for path in paths]
    run_simulation(scenario, jobs, policy, options[0], script=script)
    run_simulation(calm.scenario, calm.jobs, policy, options[1], script=calm.script)
    parting = first_divergence(*paths)
    assert parting is not None
    assert isinstance(parting.left, FaultStruck)
    assert parting.at_ms == first_ms
