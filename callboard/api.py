"""`callboard.run`: one run from Python."""

from collections.abc import Sequence
from pathlib import Path

from callboard.experiments.run_spec import prepare_scenario
from callboard.experiments.simulation import RunOptions, RunResult, run_simulation
from callboard.scenarios import scenario_file


def run(
    scenario: str | Path = scenario_file.DEFAULT_SCENARIO,
    policy: str | None = None,
    *,
    overrides: Sequence[str] = (),
    options: RunOptions | None = None,
) -> RunResult:
    """Play a scenario under one policy (its first one unless named).

    `scenario` is a name of the library, a scenario file or a SWIM trace; `overrides` are what
    `--set` takes.  Raises what `experiments.simulation.run_simulation` does, and `ScenarioError`
    for bad input.
    """
    found, jobs, script = prepare_scenario(str(scenario), overrides)
    return run_simulation(found, jobs, policy or found.policies[0], options, script=script)
