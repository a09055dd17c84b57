"""The arguments that `callboard run` and `callboard watch` share, and the runs they ask for."""

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple, get_args

import msgspec

from callboard.arguments import parse_moment
from callboard.experiments.journal_paths import RunKey
from callboard.experiments.run.run_hints import (
    any_by_heartbeats,
    cut_history_note,
    demands_note,
    frequent_outages_hint,
    idle_fields_note,
    interval_hint,
)
from callboard.experiments.run.run_loading import SHORTCUTS, RunSource
from callboard.experiments.run.run_result import EngineName
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.trust import Trust
from callboard.queue_files import print_pools_without_queue, print_queue_file_notes, queue_overrides


def add_world_arguments(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Arguments that change the scenario, and others that change what happens; their group."""
    add = parser.add_argument_group("changing the scenario").add_argument
    for option, (_, about) in SHORTCUTS.items():
        metavar = "MEANING=COLUMN,..." if option == "--map" else "N"
        add(option, dest=option, metavar=metavar, help=about)
    more = "any field of the scenario, as in `--set cluster.heartbeat.out_of_band=true`"
    add("--set", action="append", default=[], metavar="KEY=VALUE", help=more)
    add_allocations_argument(add)
    group = parser.add_argument_group("playing it")
    add = group.add_argument
    without = "leave out the scenario's timeline: faults, bursts, changes; all else is drawn alike"
    add("--no-faults", action="store_true", help=without)
    until = "end the run at this virtual time, as 90, 7:30 or 1h30m"
    add("--until", type=parse_moment, metavar="TIME", help=until)
    permuted = "permute simultaneous events, to see how much depends on their order"
    add("--tie-order", type=int, metavar="SEED", help=permuted)
    goes_on = "do not end a run whose preemption goes round, and lets no attempt succeed"
    add("--patient", action="store_true", help=goes_on)
    add_trust_argument(group)
    return group


def world_changes(options: argparse.Namespace) -> list[str]:
    """The options by which what happens is not what the scenario's file says."""
    given = [each for each in SHORTCUTS if getattr(options, each) is not None]
    others = {
        "--set": options.set,
        "--allocations": options.allocations,
        "--no-faults": options.no_faults,
        "--until": options.until,
        "--tie-order": options.tie_order is not None,
    }
    return given + [option for option, value in others.items() if value]


def add_allocations_argument(add: Callable[..., object]) -> None:
    """`--allocations`, with what it does."""
    queues = (
        "take the queues of `capacity` or `yarn` from this capacity-scheduler.xml, or the pools of"
        " `fair` and queues of `yarn` from a Fair Scheduler's allocation file"
    )
    add("--allocations", metavar="FILE", help=queues)


def add_engine_argument(add: Callable[..., object]) -> None:
    """Who plays."""
    engine = (
        "who plays: the actors; their compiled twin, which does the same without messages; or"
        " the twin where it can and that is worth it (default: auto)"
    )
    add("--engine", choices=get_args(EngineName), default="auto", help=engine)


def add_trust_argument(group: argparse._ActionsContainer) -> None:
    """Whether files that come inside of others may run code."""
    trust = "run code of Python files that the scenario or journal itself names as policies"
    group.add_argument("--trust", action="store_true", help=trust)


class PlannedWorld(NamedTuple):
    """A scenario as it was asked for: its run with the scenario's own seed, under any policy, and
    the policies to play it under.
    """

    source: RunSource
    options: argparse.Namespace
    spec: RunSpec
    policies: tuple[str, ...]
    note: str = ""
    """What to know of the history that it plays."""

    def run_with_seed(self, seed: int) -> RunSpec:
        """Its run with another seed."""
        if seed == self.spec.scenario.seed:
            return self.spec
        return _run_spec_of(self.source, self.options, seed)

    @property
    def overrides(self) -> list[str]:
        """What `--set` sets, and the columns of a table, as `--set` takes them."""
        key, columns = SHORTCUTS["--map"][0], getattr(self.options, "--map")
        return [*([] if columns is None else [f"{key}={columns}"]), *self.options.set]

    @property
    def heartbeat_hint(self) -> str:
        """What to know if the options make it another number of nodes, with other heartbeats, and
        a policy goes by these.
        """
        if not any_by_heartbeats(self.policies, self.spec.scenario.parts):
            return ""
        others = [each for each in self.overrides if not each.startswith("cluster.nodes")]
        was = self.source.cluster(others)
        return "" if was is None else interval_hint([was, self.spec.scenario.cluster])

    def runs(self, seed: int | None = None) -> list[RunSpec]:
        """Its runs under all policies, with the scenario's own seed or another."""
        spec = self.spec if seed is None else self.run_with_seed(seed)
        return [msgspec.structs.replace(spec, policy=policy) for policy in self.policies]


def plan_world(name: str, options: argparse.Namespace, asked: Sequence[str] | None) -> PlannedWorld:
    """One named scenario, under the policies asked for, or its own; what is to be known of it first
    is said on standard error.

    Everything that can be wrong with the input is found here, before anything runs.
    """
    planned = plan_world_silently(name, options, asked)
    tell_before_play(planned.spec, planned.policies, options.allocations)
    return planned


def tell_before_play(spec: RunSpec, policies: Sequence[str], allocations: str | None) -> None:
    """Say on standard error what is to be known of a scenario before it is played."""
    if allocations is not None:
        print_queue_file_notes(allocations, policies, spec)
    else:
        print_pools_without_queue(policies, spec)
    for note in (
        frequent_outages_hint(spec),
        idle_fields_note(spec.scenario),
        demands_note(spec, policies),
    ):
        if note:
            print(f"callboard: note: {note}", file=sys.stderr)


def plan_world_silently(
    name: str, options: argparse.Namespace, asked: Sequence[str] | None
) -> PlannedWorld:
    """The same without a word, for a world that is planned again with other settings."""
    trust = Trust(options.trust, tuple(options.policy or ()))
    source = RunSource(name, faults=not options.no_faults, trust=trust)
    spec = _run_spec_of(source, options)
    policies = source.policies(spec, asked or ())
    note = cut_history_note(spec.scenario, source.base_dir)
    return PlannedWorld(source, options, spec, policies, note)


def run_key(spec: RunSpec) -> RunKey:
    """What names the run among those of one command."""
    return spec.scenario.name, spec.policy, spec.scenario.seed


def _run_spec_of(
    source: RunSource, options: argparse.Namespace, seed: int | None = None
) -> RunSpec:
    given = {each: text for each in SHORTCUTS if (text := getattr(options, each)) is not None}
    overrides = options.set if seed is None else [*options.set, f"seed={seed}"]
    if options.allocations is not None:
        overrides = [*queue_overrides(options.allocations, options.policy), *overrides]
    spec = source.run(overrides, given)
    how = {"until_ms": options.until, "tie_order": options.tie_order, "patient": options.patient}
    return msgspec.structs.replace(spec, **how)
