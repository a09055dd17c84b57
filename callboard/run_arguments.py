"""The arguments that `callboard run` and `callboard watch` share, and the runs they ask for."""

import argparse
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from callboard.arguments import virtual_seconds
from callboard.experiments.journal_paths import RunKey
from callboard.experiments.plugins import read_policy
from callboard.experiments.run_loading import SHORTCUTS, load_run
from callboard.experiments.run_spec import RunSpec
from callboard.experiments.trust import Trust
from callboard.scheduler.policy import Policy


def add_world_arguments(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Arguments that change the scenario, and others that change what happens; their group."""
    add = parser.add_argument_group("changing the scenario").add_argument
    for option, (_, about) in SHORTCUTS.items():
        add(option, dest=option, metavar="N", help=about)
    more = "any field of the scenario, as in `--set cluster.heartbeat.out_of_band=true`"
    add("--set", action="append", default=[], metavar="KEY=VALUE", help=more)
    group = parser.add_argument_group("playing it")
    add = group.add_argument
    without = "leave out the scenario's timeline of faults; all else is drawn alike"
    add("--no-faults", action="store_true", help=without)
    until = "end the run at this virtual time"
    add("--until", type=virtual_seconds, metavar="SECONDS", help=until)
    permuted = "permute simultaneous events, to see how much depends on their order"
    add("--tie-order", type=int, metavar="SEED", help=permuted)
    goes_on = "do not end a run whose preemption goes round, and lets no attempt succeed"
    add("--patient", action="store_true", help=goes_on)
    trust = "run code of Python files that the scenario or journal itself names as policies"
    add("--trust", action="store_true", help=trust)
    return group


class PlannedRun(NamedTuple):
    """A run that was asked for, and its policy."""

    spec: RunSpec
    policy: Policy

    @property
    def key(self) -> RunKey:
        """What names the run among those of one command."""
        return self.spec.scenario.name, self.spec.policy


def plan_runs(
    name: str, options: argparse.Namespace, asked: Sequence[str] | None
) -> list[PlannedRun]:
    """The runs of one named scenario, under the policies asked for, or its own.

    Everything that can be wrong with the input is found here, before anything runs.
    """
    given = {each: text for each in SHORTCUTS if (text := getattr(options, each)) is not None}
    until_ms = None if options.until is None else round(options.until * 1000)
    trust = Trust(options.trust, tuple(asked or ()))
    spec = load_run(name, options.set, given, faults=not options.no_faults, trust=trust)
    how = {"until_ms": until_ms, "tie_order": options.tie_order, "patient": options.patient}
    spec = msgspec.structs.replace(spec, **how)
    policies = [read_policy(text, spec.scenario.parts) for text in asked or spec.scenario.policies]
    return [
        PlannedRun(msgspec.structs.replace(spec, policy=spelling), policy)
        for spelling, policy in policies
    ]
