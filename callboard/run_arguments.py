"""The arguments that `callboard run` and `callboard watch` share, and the runs they ask for."""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar, get_args

import msgspec

from callboard.arguments import moment
from callboard.experiments.journal_paths import RunKey
from callboard.experiments.run.run_hints import (
    demands_note,
    history_note,
    interval_hint,
    outage_hint,
)
from callboard.experiments.run.run_loading import SHORTCUTS, RunSource
from callboard.experiments.run.run_result import EngineName
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.trust import Trust
from callboard.experiments.user_errors import InputError
from callboard.scheduler.text.concise import concise
from callboard.scheduler.text.quantities import count
from callboard.scheduler.text.scenario_error import ScenarioError

if TYPE_CHECKING:
    from callboard.scenarios.queue_files.queue_allocations import QueueSettings
    from callboard.scenarios.queue_files.yarn_allocations import YarnQueueSettings


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
    add("--until", type=moment, metavar="TIME", help=until)
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
    queues = "take the queues of `capacity` or `yarn` from this capacity-scheduler.xml"
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


_T = TypeVar("_T")


class PlannedWorld(NamedTuple):
    """A scenario as it was asked for: its run with the scenario's own seed, under any policy, and
    the policies to play it under.
    """

    source: RunSource
    options: argparse.Namespace
    spec: RunSpec
    policies: tuple[str, ...]
    note: str = ""
    """What to know of it before it is believed."""

    def with_seed(self, seed: int) -> RunSpec:
        """Its run with another seed."""
        if seed == self.spec.scenario.seed:
            return self.spec
        return _run_of(self.source, self.options, seed)

    @property
    def interval_hint(self) -> str:
        """What to know if the options make it another number of nodes, with other heartbeats."""
        columns = getattr(self.options, "--map")
        others = [each for each in self.options.set if not each.startswith("cluster.nodes")]
        was = self.source.cluster([f"workload.columns={columns}", *others] if columns else others)
        return "" if was is None else interval_hint([was, self.spec.scenario.cluster])

    def runs(self, seed: int | None = None) -> list[RunSpec]:
        """Its runs under all policies, with the scenario's own seed or another."""
        spec = self.spec if seed is None else self.with_seed(seed)
        return [msgspec.structs.replace(spec, policy=policy) for policy in self.policies]


def plan_world(name: str, options: argparse.Namespace, asked: Sequence[str] | None) -> PlannedWorld:
    """One named scenario, under the policies asked for, or its own; what is to be known of it first
    is said on standard error.

    Everything that can be wrong with the input is found here, before anything runs.
    """
    planned = planned_world(name, options, asked)
    if options.allocations is not None:
        tell_of_queues(options.allocations, planned.policies, planned.spec)
    if hint := outage_hint(planned.spec):
        print(f"callboard: note: {hint}", file=sys.stderr)
    return planned


def planned_world(
    name: str, options: argparse.Namespace, asked: Sequence[str] | None
) -> PlannedWorld:
    """The same without a word, for a world that is planned again with other settings."""
    trust = Trust(options.trust, tuple(options.policy or ()))
    source = RunSource(name, faults=not options.no_faults, trust=trust)
    spec = _run_of(source, options)
    policies = source.policies(spec, asked or ())
    note = history_note(spec.scenario, source.base_dir) or demands_note(spec, policies)
    return PlannedWorld(source, options, spec, policies, note)


def _queues_of(allocations: str) -> "dict[str, QueueSettings | YarnQueueSettings | ScenarioError]":
    """What a `capacity-scheduler.xml` says to each that has queues, or why it cannot have these;
    its readers are loaded when there is one.
    """
    from callboard.histories.source_path import checked_source
    from callboard.scenarios.queue_files.queue_allocations import read_capacity_scheduler
    from callboard.scenarios.queue_files.yarn_allocations import read_yarn_queues

    path = checked_source(allocations)
    found: dict[str, QueueSettings | YarnQueueSettings | ScenarioError] = {}
    for name, read in (("capacity", read_capacity_scheduler), ("yarn", read_yarn_queues)):
        try:
            found[name] = read(path)
        except ScenarioError as error:
            found[name] = error
    return found


def queue_overrides(allocations: str, policies: Sequence[str] | None) -> list[str]:
    """The queues as `--set` takes them; ScenarioError where nobody can have them, by that of these
    policies which was to.
    """
    found = _queues_of(allocations)
    read = [each for each in found.values() if not isinstance(each, ScenarioError)]
    if not read:
        errors = {name: each for name, each in found.items() if isinstance(each, ScenarioError)}
        raise next(iter(_asked_of(errors, policies or ())), errors["yarn"])
    return [override for each in read for override in each.overrides()]


def _asked_of(found: Mapping[str, _T], policies: Sequence[str]) -> list[_T]:
    """What there is of those that these policies are."""
    return [
        each
        for name, each in found.items()
        if any(re.match(rf"{name}\b", policy) for policy in policies)
    ]


def tell_of_queues(allocations: str, policies: Sequence[str], spec: RunSpec) -> None:
    """Say what of the file is not played, and whose pools have no queue in it; InputError if no
    policy has queues, ScenarioError if one cannot have these.
    """
    asked = _asked_of(_queues_of(allocations), policies)
    if not asked:
        played = concise(", ".join(policies))
        raise InputError(f"--allocations: add --policy capacity, or yarn; {played} has no queues")
    unplayed, settings = dict[str, None](), list["QueueSettings | YarnQueueSettings"]()
    for each in asked:
        if isinstance(each, ScenarioError):
            raise each
        settings.append(each)
        unplayed.update(dict.fromkeys(each.unplayed))
    if unplayed:
        told = concise(", ".join(unplayed))
        print(f"{allocations}: not played: {told}", file=sys.stderr)
    for line in dict.fromkeys(_without_queue(each, spec) for each in settings):
        if line:
            print(f"{allocations}: {line}", file=sys.stderr)


def _without_queue(settings: "QueueSettings | YarnQueueSettings", spec: RunSpec) -> str:
    """Which pools of the jobs have no queue in a file, and where their jobs go instead."""
    pools = Counter(job.pool for job in spec.jobs)
    homeless, capacity = settings.homeless(pools)
    if not homeless:
        return ""
    named = concise(", ".join(each or "jobs without a pool" for each in homeless))
    moved = sum(pools[each] for each in homeless)
    where = f"`default`, with a capacity of {capacity:g} %"
    told = f"no queue for {named}: {moved} of {count(len(spec.jobs), 'job')} go to {where}"
    scant = "a user holds next to nothing there"
    do = "name their queues in the file, or give `default` a capacity"
    return f"{told}; {scant}: {do}" if not capacity else told


def run_key(spec: RunSpec) -> RunKey:
    """What names the run among those of one command."""
    return spec.scenario.name, spec.policy, spec.scenario.seed


def _run_of(source: RunSource, options: argparse.Namespace, seed: int | None = None) -> RunSpec:
    given = {each: text for each in SHORTCUTS if (text := getattr(options, each)) is not None}
    overrides = options.set if seed is None else [*options.set, f"seed={seed}"]
    if options.allocations is not None:
        overrides = [*queue_overrides(options.allocations, options.policy), *overrides]
    spec = source.run(overrides, given)
    how = {"until_ms": options.until, "tie_order": options.tie_order, "patient": options.patient}
    return msgspec.structs.replace(spec, **how)
