"""Hostile worlds: drawn from declarations, all valid, the same from the same seed."""

from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import get_args

import msgspec
import numpy as np
import pytest

from callboard.actors.architectures import ARCHITECTURES, architecture_name, shipped_catalogue
from callboard.scenarios import timeline as tl
from callboard.scenarios.scenario_file import load_scenario
from callboard.scenarios.toml_writer import to_toml
from callboard.scheduler.registry.parts import parse_policy
from callboard.scheduler.registry.shipped import PARTS
from trials.worlds.declared_values import DeclaredValues
from trials.worlds.drawn_policies import draw_architecture, draw_policy
from trials.worlds.drawn_worlds import draw_architecture_world, draw_world

SEEDS = range(80)
world_of = cache(draw_world)


@pytest.mark.soak
def test_a_seed_draws_the_same_world_again() -> None:
    assert [draw_world(seed) for seed in SEEDS[:5]] == [world_of(seed) for seed in SEEDS[:5]]
    assert len({world_of(seed).scenario.seed for seed in SEEDS}) > 40


def test_every_kind_of_entry_is_drawn() -> None:
    """But `trace`, which needs a file, and a crash of one scheduler, which the master is not."""
    drawn = {type(entry) for seed in SEEDS for entry in world_of(seed).scenario.timeline}
    assert drawn == {*get_args(tl.AnyEntry)} - {tl.TraceEntry, tl.SchedulerCrashEntry}


@pytest.mark.soak
def test_every_part_is_drawn_with_every_parameter() -> None:
    """By its declaration: nobody has to name a new one."""
    values = DeclaredValues(np.random.default_rng(1))
    drawn: defaultdict[str, set[str]] = defaultdict(set)
    for _ in range(1500):
        for part in parse_policy(draw_policy(values)).values():
            usual = {name: getattr(part.defaults, name) for name in part.params.__struct_fields__}
            drawn[part.name] |= {n for n, each in usual.items() if getattr(part.params, n) != each}
            drawn[part.name].add("")
    lacking = {
        name: set(part.Params.__struct_fields__) - drawn[name]
        for name, part in PARTS.items()
        if name not in ("any_locality", "no_preemption", "no_speculation")
    }
    assert not {name: fields for name, fields in lacking.items() if fields}
    assert {"any_locality", "no_preemption", "no_speculation"} | drawn.keys() == PARTS.keys()


@pytest.mark.soak
def test_every_architecture_is_drawn_with_every_parameter() -> None:
    """By its declaration too; `am` and the like where nodes have named resources."""
    values = DeclaredValues(np.random.default_rng(1))
    drawn: defaultdict[str, set[str]] = defaultdict(set)
    for _ in range(1500):
        spelled = draw_architecture(values, ("memory", "vcores"))
        (chosen,) = parse_policy(spelled, shipped_catalogue({})).values()
        names = chosen.params.__struct_fields__
        usual = {name: getattr(chosen.defaults, name) for name in names}
        drawn[chosen.name] |= {n for n, was in usual.items() if getattr(chosen.params, n) != was}
        drawn[chosen.name].add("")
    lacking = {
        name: set(load().Params.__struct_fields__) - drawn[name]
        for name, load in ARCHITECTURES.items()
    }
    assert not {name: fields for name, fields in lacking.items() if fields}


def test_worlds_without_the_master_have_containers_and_faults() -> None:
    worlds = [draw_architecture_world(seed) for seed in SEEDS]
    assert len({architecture_name(world.policy) for world in worlds}) == len(ARCHITECTURES)
    assert any(world.scenario.cluster.capacity for world in worlds)
    entries = [entry for world in worlds for entry in world.scenario.timeline]
    for kind in (tl.SchedulerCrashEntry, tl.CrashEntry, tl.LinkEntry):
        assert any(isinstance(entry, kind) for entry in entries), kind


@pytest.mark.parametrize("seed", SEEDS[:20])
def test_a_world_is_a_scenario_file(seed: int, tmp_path: Path) -> None:
    file, scenario = tmp_path / "world.toml", world_of(seed).scenario
    file.write_text(to_toml(scenario), encoding="utf-8")
    assert load_scenario(file) == scenario


class Novel(msgspec.Struct, frozen=True):
    """A Struct that nobody has heard of."""

    share: float = 0.5
    wait_ms: int = 7
    names: dict[str, int] = msgspec.field(default_factory=dict)


def test_what_is_declared_tomorrow_is_drawn_tomorrow() -> None:
    values = DeclaredValues(np.random.default_rng(1))
    drawn = [msgspec.convert(values.struct(Novel), Novel) for _ in range(50)]
    for field in Novel.__struct_fields__:
        assert len({str(getattr(each, field)) for each in drawn}) > 2
