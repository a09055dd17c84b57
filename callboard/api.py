"""`callboard.run`: one run from Python."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from callboard.experiments.journal_paths import refuse_to_replace_played
from callboard.experiments.plugins import read_policy
from callboard.experiments.run_loading import load_run
from callboard.experiments.simulation import DriverName, RunResult, run_simulation
from callboard.experiments.trust import Trust
from callboard.scenarios import scenario_file
from callboard.scheduler.model import Millis


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How to run; only `until_ms`, `tie_order` and `patient` can change what happens: a patient run
    goes on although its preemption goes round.  With `check` the run is tested against every rule
    (`journal.checks`) as it goes.  `host` is the old name of `driver`.
    """

    until_ms: Millis | None = None
    tie_order: int | None = None
    driver: DriverName = "trio"
    journal: Path | None = None
    check: bool = False
    patient: bool = False
    host: DriverName | None = None


def run(
    scenario: str | Path = scenario_file.DEFAULT_SCENARIO,
    policy: str | None = None,
    *,
    overrides: Sequence[str] = (),
    trust: bool = False,
    options: RunOptions | None = None,
) -> RunResult:
    """Play a scenario under one policy (its first one unless named).

    `scenario` is a name of the library, a scenario file, a SWIM trace or a journal; `overrides`
    are what `--set` takes.  A policy in a Python file is meant if it is named here; one that the
    scenario or journal names needs `trust`.  Raises what `experiments.simulation.run_simulation`
    does, `ScenarioError` for bad input, and `InputError` for a journal that is to replace itself.
    """
    options = options or RunOptions()
    meant = () if policy is None else (policy,)
    spec = load_run(str(scenario), overrides, trust=Trust(trust, meant))
    if options.journal is not None:
        refuse_to_replace_played(options.journal, [scenario])
    spelling, made = read_policy(policy or spec.policy, spec.scenario.parts)
    spec = msgspec.structs.replace(
        spec,
        policy=spelling,
        until_ms=options.until_ms,
        tie_order=options.tie_order,
        patient=options.patient,
    )
    return run_simulation(
        spec,
        policy=made,
        driver=options.host or options.driver,
        journal=options.journal,
        check=options.check,
    )
