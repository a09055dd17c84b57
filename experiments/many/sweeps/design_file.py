"""A sweep written down: a TOML file in place of a long command line."""

from pathlib import Path
from typing import Any

import msgspec

from callboard.experiments.many.sweeps.played_cell import Setting
from callboard.experiments.many.sweeps.sweep_plan import SweepPlan
from callboard.experiments.many.sweeps.variation import POLICY, all_combinations, parse_variation
from callboard.experiments.user_errors import InputError
from callboard.scenarios.toml_reader import parse_toml
from callboard.scheduler.text.key_path import dotted
from callboard.scheduler.text.strict_decoder import DecodeError, decode_strictly
from callboard.scheduler.text.text_file import read_text
from callboard.scheduler.text.toml_text import toml_value


class Design(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A design file.

    `vary` is a grid: dotted keys, each with its values.  `points` are the settings themselves, a
    table each, in place of a grid or beside one.  Alternatives in braces are spelled out in
    `policies` as on the command line; `set` holds in every setting; `seeds` is a number or
    "LO..HI".
    """

    scenarios: tuple[str, ...]
    policies: tuple[str, ...] = ()
    seeds: int | str = 1
    slowdown: bool = False
    set: dict[str, Any] = msgspec.field(default_factory=dict)
    vary: dict[str, tuple[Any, ...]] = msgspec.field(default_factory=dict)
    points: tuple[dict[str, Any], ...] = ()


def read_design(path: Path) -> SweepPlan:
    """The plan in a design file; ScenarioError or InputError says what is wrong, and where."""
    raw = parse_toml(read_text(path), path)
    try:
        design = decode_strictly(raw, Design, "the design")
    except DecodeError as error:
        raise InputError(f"{path}, {dotted(error.key)}: {error}") from None
    policies = (parse_variation(f"{POLICY}={text}")[1] for text in design.policies)
    return SweepPlan(
        scenarios=design.scenarios,
        policies=tuple(policy for spelled in policies for policy in spelled),
        settings=_points_and_grid(design),
        fixed=_setting_of_table(design.set),
        seeds=str(design.seeds),
        slowdown=design.slowdown,
    )


def _points_and_grid(design: Design) -> tuple[Setting, ...]:
    points = tuple(_setting_of_table(point) for point in design.points)
    values = [(key, tuple(map(override_value_text, each))) for key, each in design.vary.items()]
    return (*points, *(all_combinations(values) if values or not points else ()))


def _setting_of_table(table: dict[str, Any]) -> Setting:
    return tuple((key, override_value_text(value)) for key, value in table.items())


def override_value_text(value: object) -> str:
    """The value as `--set` reads it."""
    return value if isinstance(value, str) else toml_value(value)
