"""Hostile worlds: drawn from declarations, all valid, the same from the same seed."""

from collections import defaultdict
from typing import get_args

import msgspec
import numpy as np
import pytest

from callboard.fairness.drawing.declared_values import DeclaredValues
from callboard.fairness.drawing.drawn_policies import draw_policy
from callboard.fairness.drawing.drawn_worlds import DrawnWorld, draw_world
from callboard.scenarios import timeline as tl
from callboard.scenarios.scenario_file import load_scenario
from callboard.scenarios.toml_writer import to_toml
from callboard.scheduler.registry.parts import PARTS, parse_policy

WORLDS = [draw_world(seed) for seed in range(80)]


def test_a_seed_draws_the_same_world_again() -> None:
    assert [draw_world(seed) for seed in range(5)] == WORLDS[:5]
    assert len({world.scenario.seed for world in WORLDS}) > 40


def test_every_kind_of_entry_is_drawn() -> None:
    """But `trace`, which needs a file."""
    drawn = {type(entry) for world in WORLDS for entry in world.scenario.timeline}
    assert drawn == {*get_args(tl.AnyEntry)} - {tl.TraceEntry}


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


@pytest.mark.parametrize("world", WORLDS[:20], ids=range(20))
def test_a_world_is_a_scenario_file(
    world: DrawnWorld, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("world") / "world.toml"
    file.write_text(to_toml(world.scenario), encoding="utf-8")
    assert load_scenario(file) == world.scenario


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
