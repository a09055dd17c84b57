"""What the swarm does with one seed, and the record of it.

Most seeds draw a hostile world (`world_trial`), or some without the master; the others hold a
drawn policy against what it guarantees, or the cluster against an independent reference, both in
calm worlds of small families.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from callboard.fairness import search
from callboard.fairness.catalogue import PROPERTIES, PROPERTIES_BY_NAME
from callboard.fairness.experiment import Experiment, ObservedRun
from callboard.fairness.property import is_guaranteed
from callboard.scenarios.scenario_file import Scenario
from callboard.scenarios.toml_writer import to_toml
from callboard.scheduler.policy import MisfitError, PolicySpecError
from callboard.scheduler.registry.parts import make_policy
from callboard.scheduler.registry.shipped import ORDERS
from tests.support.reference_worlds import disagreement, draw_calm_world
from trials.processor_limit import processor_limit
from trials.situations import Situations
from trials.swarm.event_oracles import Flaw
from trials.swarm.world_reduction import reduced
from trials.swarm.world_trial import COMPARISONS, PlayedWorld, flaws
from trials.worlds.declared_values import DeclaredValues
from trials.worlds.drawn_policies import draw_policy
from trials.worlds.drawn_worlds import (
    DrawnWorld,
    draw_architecture_world,
    draw_contested_world,
    draw_world,
    struck,
)

GUARANTEED_SCENARIOS = 12
"""Scenarios in which a seed holds a policy against one of its guarantees."""


SECONDS_MAX = 200.0
"""Processor time in which a seed has to be done with."""

STRIKES = 24
"""How often every third world is played again, each time with another fault more."""

STRUCK_MESSAGES_MAX = 1500
"""Longer worlds are not played again: a strike needs no long one."""

CONTESTED_WORLDS = 8
"""Worlds without faults, but with preemption, that a seed tries."""

ARCHITECTURE_WORLDS = 8
"""Worlds without the master that a seed tries."""

REFERENCE_WORLDS = 40
"""Worlds in which a seed holds the simulator against the reference."""

_INTERVALS_S = (0.5, 1.0, 5.0, 15.0, 60.0)
"""Seconds between the checks of a policy that is held against a guarantee."""


class SeedRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a seed: worlds played once each, the time simulated on all their nodes, what it
    cost, how the run ended, which situations were met, and flaws as (kind, told, file).
    """

    seed: int
    worlds: int = 0
    node_ms: int = 0
    seconds: float = 0.0
    events: int = 0
    reason: str = ""
    checked: tuple[str, ...] = ()
    met: tuple[str, ...] = ()
    flaws: tuple[tuple[str, str, str], ...] = ()


class Hanging(Exception):
    """A seed has taken all the processor time that it may."""


def try_seed(seed: int, folder: Path | None = None, limit_s: float = SECONDS_MAX) -> SeedRecord:
    """Try one seed; a world that fails is made smaller and written to the folder, if any."""
    began = time.process_time()
    values = DeclaredValues(np.random.default_rng([seed, 1]))
    kind = values.one_of(
        ("hostile",) * 5
        + ("contested",) * 2
        + ("architecture",) * 4
        + ("guarantee",) * 3
        + ("reference",) * 2
    )
    try:
        hanging = Hanging(f"after {limit_s:g} s of processor time it has not ended")
        with processor_limit(limit_s, hanging):
            record = _trials(folder)[kind](seed, values)
    except Exception as error:  # whatever it is, it is a flaw of this seed
        what = f"{type(error).__name__}: {error}"
        record = SeedRecord(seed=seed, worlds=1, flaws=((type(error).__name__, what, ""),))
    return msgspec.structs.replace(record, seconds=time.process_time() - began)


def _trials(folder: Path | None) -> dict[str, Callable[[int, DeclaredValues], SeedRecord]]:
    """What is done with seeds, by the name of it."""
    return {
        "hostile": partial(_hostile, folder=folder),
        "contested": partial(_contested, folder=folder),
        "architecture": partial(_architecture, folder=folder),
        "guarantee": _guarantee,
        "reference": _reference,
    }


# Hostile worlds.


def _hostile(seed: int, values: DeclaredValues, folder: Path | None) -> SeedRecord:
    """The seed's world, and it again with faults at instants at which something happened."""
    world = base = draw_world(seed)
    compared = tuple(name for name in COMPARISONS if values.chance(0.25))
    situations, played, told = Situations(), list[PlayedWorld](), list[tuple[str, str, str]]()
    for _ in range(values.one_of((1, 1, 1 + STRIKES))):
        run, *found = flaws(world, compared if not played else (), situations)
        assert isinstance(run, PlayedWorld)
        played.append(run)
        for flaw in found:
            assert isinstance(flaw, Flaw)
            told.append((flaw.kind, flaw.told, _written(seed, world, flaw, folder)))
        if told or played[0].messages > STRUCK_MESSAGES_MAX:
            break
        world = struck(base, played[0].events, values) or base
    reason = "flaw" if told else played[-1].reason
    record = _of_runs(seed, [(base, run) for run in played], situations, told)
    return msgspec.structs.replace(record, reason=reason, checked=compared)


def _of_runs(
    seed: int,
    played: Sequence[tuple[DrawnWorld, PlayedWorld]],
    situations: Situations,
    told: Sequence[tuple[str, str, str]],
) -> SeedRecord:
    """What worlds came to, apart from how the last one ended."""
    return SeedRecord(
        seed=seed,
        worlds=len(played),
        node_ms=sum(run.now_ms * world.scenario.cluster.node_count() for world, run in played),
        events=sum(len(run.events) for _, run in played),
        met=tuple(situations.met()),
        flaws=tuple(told),
    )


def _contested(seed: int, _values: DeclaredValues, folder: Path | None) -> SeedRecord:
    """Some worlds without faults, in which slots are taken; not compared with anything."""
    drawn = map(draw_contested_world, range(CONTESTED_WORLDS * seed, CONTESTED_WORLDS * (seed + 1)))
    return _tried(seed, drawn, (), folder)


def _architecture(seed: int, values: DeclaredValues, folder: Path | None) -> SeedRecord:
    """Some worlds without the master."""
    first = ARCHITECTURE_WORLDS * seed
    drawn = map(draw_architecture_world, range(first, first + ARCHITECTURE_WORLDS))
    compared = tuple(name for name in COMPARISONS if values.chance(0.25))
    return msgspec.structs.replace(_tried(seed, drawn, compared, folder), checked=compared)


def _tried(
    seed: int, drawn: Iterable[DrawnWorld], compared: Sequence[str], folder: Path | None
) -> SeedRecord:
    """The worlds, one after the other, until one has a flaw."""
    situations, told = Situations(), list[tuple[str, str, str]]()
    played: list[tuple[DrawnWorld, PlayedWorld]] = []
    for world in drawn:
        run, *found = flaws(world, compared, situations)
        assert isinstance(run, PlayedWorld)
        played.append((world, run))
        for flaw in found:
            assert isinstance(flaw, Flaw)
            told.append((flaw.kind, flaw.told, _written(seed, world, flaw, folder)))
        if told:
            break
    record = _of_runs(seed, played, situations, told)
    return msgspec.structs.replace(record, reason="flaw" if told else "complete")


def _written(seed: int, world: DrawnWorld, flaw: Flaw, folder: Path | None) -> str:
    """The file of the smaller world; empty without a folder."""
    if folder is None:
        return ""
    compared = [flaw.kind] if flaw.kind in COMPARISONS else []

    def fails(smaller: DrawnWorld) -> bool:
        try:
            _, *found = flaws(smaller, compared)
        except PolicySpecError:  # a policy that has no answer to what happens there
            return False
        return any(isinstance(each, Flaw) and each.kind == flaw.kind for each in found)

    smallest = reduced(world, fails)
    path = folder / f"world-{seed}-{flaw.kind.lower()}.toml"
    path.write_text(world_text(smallest, seed, flaw), encoding="utf-8")
    return str(path)


def world_text(world: DrawnWorld, seed: int, flaw: Flaw) -> str:
    """The file of a failing world: what is wrong, how to see it again, and the scenario."""
    remarks = [
        f"flaw: {flaw.kind}",
        *(f"  {line}" for line in flaw.told.split("\n")),
        "",
        f"found by: python -m trials.swarm --seed {seed} --worlds 1, and made smaller",
        "tested again by: python -m trials.swarm --again THIS-FILE",
        "played by: callboard run THIS-FILE --check",
    ]
    if world.tie_order is not None:
        remarks.append(f"ties: {world.tie_order}")
    return to_toml(world.scenario, remarks)


# The reference.


def _reference(seed: int, _values: DeclaredValues) -> SeedRecord:
    drawn = range(REFERENCE_WORLDS * seed, REFERENCE_WORLDS * (seed + 1))
    told = (disagreement(draw_calm_world(each)) for each in drawn)
    found = tuple(("reference", each, "") for each in told if each is not None)
    return SeedRecord(
        seed=seed,
        worlds=REFERENCE_WORLDS,
        reason="complete",
        checked=("reference",),
        flaws=found[:1],
    )


# Guarantees, in the scenarios of their families.


def _guarantee(seed: int, values: DeclaredValues) -> SeedRecord:
    policy, names = _guaranteeing_policy(values)
    families = dict.fromkeys(PROPERTIES_BY_NAME[name].family for name in names)
    family = values.one_of(tuple(families))  # each as often, however many properties it has
    props = [each for name in names if (each := PROPERTIES_BY_NAME[name]).family == family]
    played: list[ObservedRun] = []
    looked_at: list[Scenario] = []
    findings = [search.Finding(prop) for prop in props]

    class Counted(Experiment):
        """Keeps what was played."""

        def play(self, *args: Any, **named: Any) -> ObservedRun:
            played.append(super().play(*args, **named))
            return played[-1]

    def look(scenario: Scenario) -> None:
        looked_at.append(scenario)
        experiment = Counted(scenario, policy)
        for finding in findings:
            finding.test_property_in(experiment)

    search.for_each_drawn_scenario(family, look, GUARANTEED_SCENARIOS, seed)
    broken = [(each.prop.name, found.seen) for each in findings if (found := each.counterexample)]
    return SeedRecord(
        seed=seed,
        worlds=max(len(played), len(looked_at)),
        node_ms=sum(run.events[-1].at_ms * run.scenario.cluster.node_count() for run in played),
        events=sum(len(run.events) for run in played),
        reason="complete",
        checked=tuple(prop.name for prop in props),
        flaws=tuple((name, f"{policy}: {seen}", "") for name, seen in broken),
    )


def _guaranteeing_policy(values: DeclaredValues) -> tuple[str, list[str]]:
    """A drawn policy that guarantees something more than every policy does, and what.  Its clocks
    are not all short: where checks come faster than tasks end, a run need not finish, and a
    hundred runs with a check each millisecond take minutes.
    """
    unhurried = DeclaredValues(values.rng, {"interval_s": lambda: values.one_of(_INTERVALS_S)})
    while True:
        policy = (
            draw_policy(unhurried, brisk=0.0)
            if values.chance(0.3)
            else values.one_of(PLAIN_POLICIES)
        )
        made = make_policy(policy)
        names = [
            each.name
            for each in PROPERTIES
            if is_guaranteed(made, each) and each.misfit(made) is None
        ]
        if names:
            return policy, names


def _can_be_made(spelling: str) -> bool:
    try:
        make_policy(spelling)
    except (MisfitError, PolicySpecError):
        return False
    return True


PLAIN_POLICIES = tuple(
    spelling
    for order in sorted(ORDERS)
    for rule in ("", "", "+delay", "+kill", "+suspend", "+preemptive", "+global")
    if _can_be_made(spelling := f"{order}{rule}")
)
"""Orders with their usual parameters guarantee most."""
