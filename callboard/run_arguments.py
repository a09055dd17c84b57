"""What `callboard run` and `callboard watch` both take, and the runs that it comes to."""

import argparse
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from callboard.arguments import seconds
from callboard.experiments.journal_paths import RunKey
from callboard.experiments.plugins import read_policy
from callboard.experiments.run_loading import SHORTCUTS, load_run
from callboard.experiments.run_spec import RunSpec
from callboard.scheduler.policy import Policy


def add_scenario_arguments(parser: argparse.ArgumentParser) -> None:
    """What changes the scenario."""
    add = parser.add_argument_group("changing the scenario").add_argument
    add("--seed", metavar="N", help="the root of all randomness")
    add("--nodes", metavar="N", help="how many nodes")
    add("--racks", metavar="N", help="how many racks they stand in")
    add("--map-slots", metavar="N", help="map slots a node")
    add("--reduce-slots", metavar="N", help="reduce slots a node")
    add("--jobs", metavar="N", help="only the first N jobs")
    add(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="any field of the scenario, as in `--set cluster.heartbeat.out_of_band=true`",
    )


def add_world_arguments(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """What changes what happens, apart from the scenario; the group."""
    group = parser.add_argument_group("playing it")
    group.add_argument(
        "--no-faults",
        action="store_true",
        help="leave the scenario's timeline out: its calm twin, on the same draws",
    )
    group.add_argument(
        "--until", type=seconds, metavar="SECONDS", help="end the run at this virtual time"
    )
    group.add_argument(
        "--tie-order",
        type=int,
        metavar="SEED",
        help="permute simultaneous events, to see how much hangs on their order",
    )
    return group


class PlannedRun(NamedTuple):
    """A run that has been asked for, and its policy as it has been read."""

    spec: RunSpec
    policy: Policy

    @property
    def key(self) -> RunKey:
        """What names the run among those of one command."""
        return self.spec.scenario.name, self.spec.policy


def plan_runs(
    name: str, options: argparse.Namespace, asked: Sequence[str] | None
) -> list[PlannedRun]:
    """What to run of one scenario that was named: under the policies asked for, or its own.

    Everything that can be wrong with the input is found here, before anything runs.
    """
    values = {option: getattr(options, _attribute(option)) for option in SHORTCUTS}
    given = {option: value for option, value in values.items() if value is not None}
    until_ms = None if options.until is None else round(options.until * 1000)
    spec = load_run(name, options.set, given, faults=not options.no_faults)
    spec = msgspec.structs.replace(spec, until_ms=until_ms, tie_order=options.tie_order)
    policies = [read_policy(text, spec.scenario.parts) for text in asked or spec.scenario.policies]
    return [
        PlannedRun(msgspec.structs.replace(spec, policy=spelling), policy)
        for spelling, policy in policies
    ]


def _attribute(option: str) -> str:
    """Where argparse keeps `--map-slots`: `map_slots`."""
    return option.removeprefix("--").replace("-", "_")
