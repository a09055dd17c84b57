"""A failing world made smaller: whatever can be left out without mending it is left out.

Plain data without defaults is what shrinks: any list loses an entry, any table a key, any number
is halved, the policy a part or a parameter.  The first of these that still fails is kept, until
none does or the tries are used up.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from callboard.actors.architectures import shipped_catalogue
from callboard.scenarios.scenario_file import from_dict, make_fault_script, make_jobs
from callboard.scheduler.policy import PolicySpecError
from callboard.scheduler.registry import parts
from callboard.scheduler.registry.spelling import ARCHITECTURE
from callboard.scheduler.text.scenario_error import ScenarioError
from callboard.scheduler.text.toml_text import without_defaults
from trials.worlds.drawn_worlds import DrawnWorld

TRIES = 400
SECONDS = 60.0
"""Of processor time, at most."""

_KEPT = {"name", "kind", "what"}
"""What a table is known by."""


def reduced(
    world: DrawnWorld, fails: Callable[[DrawnWorld], bool], tries: int = TRIES
) -> DrawnWorld:
    """The smallest world that was found in that many tries, and a minute, and still fails."""
    ends = time.process_time() + SECONDS
    while tries > 0 and time.process_time() < ends:
        for smaller in _smaller(world):
            tries -= 1
            if fails(smaller):
                world = smaller
                break
            if tries <= 0 or time.process_time() > ends:
                break
        else:
            break
    return world


def _smaller(world: DrawnWorld) -> Iterator[DrawnWorld]:
    """The world with one thing less, valid ones only; the largest steps first."""
    if world.tie_order is not None:
        yield msgspec.structs.replace(world, tie_order=None)
    plain = without_defaults(world.scenario)
    for less in _less(plain):
        if (smaller := _valid(less)) is not None:
            yield msgspec.structs.replace(world, scenario=smaller)
    for policy in _simpler(world.policy):
        scenario = msgspec.structs.replace(world.scenario, policies=(policy,))
        yield msgspec.structs.replace(world, scenario=scenario)


def _valid(plain: dict[str, Any]) -> Any:
    try:
        scenario = from_dict(plain, check_timeline=False)
        make_fault_script(scenario, make_jobs(scenario))
    except ScenarioError:
        return None
    return scenario


def _less(data: Any) -> Iterator[Any]:
    if isinstance(data, dict):
        yield from _less_of_table(data)
    elif isinstance(data, list):
        for place in range(len(data)):
            yield [*data[:place], *data[place + 1 :]]
        for place, each in enumerate(data):
            for less in _less(each):
                yield [*data[:place], less, *data[place + 1 :]]
    elif isinstance(data, int | float) and not isinstance(data, bool):
        if data != int(data):
            yield float(int(data))
        elif data > 1:
            yield data // 2
            yield data - 1


def _less_of_table(table: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for key in table:
        if key not in _KEPT:
            yield {name: each for name, each in table.items() if name != key}
    for key, value in table.items():
        if key not in _KEPT | {"policies"}:
            for less in _less(value):
                yield {**table, key: less}


def _simpler(spelling: str) -> Iterator[str]:
    spec = parts.parse_policy(spelling, shipped_catalogue({}))
    specs = [
        {kind: each for kind, each in spec.items() if kind != gone}
        for gone in spec
        if gone not in ("order", ARCHITECTURE)
    ]
    specs += [{**spec, kind: simpler} for kind, each in spec.items() for simpler in _usual(each)]
    fifo = parts.parse_policy("fifo")
    for simpler_spec in (fifo if ARCHITECTURE in spec else {**spec, **fifo}, *specs):
        try:
            if ARCHITECTURE in simpler_spec:
                simpler_spec[ARCHITECTURE].make()
            else:
                parts.compose_policy(simpler_spec)
            text = parts.spell_policy(simpler_spec)
        except (PolicySpecError, ValueError, KeyError):
            continue
        if text != spelling and text.split("(")[0].split("+")[0]:
            yield text


def _usual(part: parts.PartSpec) -> Iterator[parts.PartSpec]:
    """The part with one parameter more as it usually is."""
    for field in part.params.__struct_fields__:
        usual = getattr(part.defaults, field)
        if getattr(part.params, field) != usual:
            changed = {name: getattr(part.params, name) for name in part.params.__struct_fields__}
            try:
                yield part._replace(params=type(part.params)(**{**changed, field: usual}))
            except ValueError:
                continue
