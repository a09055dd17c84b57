"""`callboard.run`: one run from Python."""

from collections.abc import Sequence
from pathlib import Path

from callboard.plan import prepare
from callboard.play import Options, Result, play
from callboard.scenarios import scenario_file


def run(
    scenario: str | Path = scenario_file.DEFAULT_SCENARIO,
    policy: str | None = None,
    *,
    overrides: Sequence[str] = (),
    options: Options | None = None,
) -> Result:
    """Play a scenario under one policy (its first one unless named).

    `scenario` is a name of the library, a scenario file or a SWIM trace; `overrides` are what
    `--set` takes.  Raises what `callboard.play.play` does, and `ScenarioError` for bad input.
    """
    found, jobs, script = prepare(str(scenario), overrides)
    return play(found, jobs, policy or found.policies[0], options, script=script)
