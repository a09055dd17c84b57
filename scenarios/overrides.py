"""`--set dotted.key=value`: changing single fields of a scenario's plain data before decoding."""

import re
import tomllib
from collections.abc import Iterable
from typing import Any

from callboard.scenarios.old_keys import new_key
from callboard.scheduler.text.scenario_error import ScenarioError
from callboard.scheduler.text.toml_limits import toml_flaw

OVERRIDE_SOURCE = "--set"
WITH_SETTINGS = "with your settings"
"""What a file's name is followed by where an override is at fault: a `--set`, a value of `--vary`,
or what a Python call was given.
"""
_DEPTH_MAX = 16
_BARE = re.compile(r"([+-]?)(\.\d+)")
"""A number with nothing before its point, which TOML has not.  `1.` may be a text's end as well."""
_LISTS = frozenset({"timeline", "group", "job"})
"""Lists of tables, which a scenario may not have."""


def apply_overrides(raw: dict[str, Any], overrides: Iterable[str]) -> dict[str, Any]:
    """The data with every `dotted.key=value` put in, in order; `raw` itself is left alone.

    A value is TOML (`50`, `["fifo"]`, `{mean_s = 5}`), or else a string: `workload.path=trace.tsv`
    needs no quotes.  A number in the key is a place in a list, from 0; the place after the last
    adds one.  Missing tables, and lists of them, are made.  ScenarioError where the key leads
    nowhere.
    """
    for override in overrides:
        name, equals, text = override.partition("=")
        parts = [part.strip() for part in name.split(".")]
        if not equals or not all(parts):
            _refuse_override(f'expected dotted.key=value, got "{override[:80]}"')
        if len(parts) > _DEPTH_MAX:
            _refuse_override(f"expected at most {_DEPTH_MAX} parts in a key, got {len(parts)}")
        raw = _with_value_at(
            raw, new_key(parts), _parsed_value(text.strip(), name.strip()), name.strip()
        )
    return raw


def _parsed_value(text: str, key: str) -> object:
    if (bare := _BARE.fullmatch(text)) is not None:
        _refuse_override(
            f"expected digits on both sides of the point, as in {bare[1]}0{bare[2]}", key
        )
    flaw = toml_flaw(text)
    if flaw is not None:
        _refuse_override(flaw.problem, key)
    try:
        document = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    # A line break in the text could have brought more keys with it.
    return document["value"] if document.keys() == {"value"} else text


def _with_value_at(node: Any, parts: list[str], value: object, name: str) -> Any:
    """A copy of the node, along the key only, with the value in it."""
    if not parts:
        return value
    head, rest = parts[0], parts[1:]
    if isinstance(node, dict):
        missing: Any = [] if head in _LISTS and rest[:1] == ["0"] else {}
        return {**node, head: _with_value_at(node.get(head, missing), rest, value, name)}
    if isinstance(node, list):
        index = _place_in_list(head, len(node), name)
        old = node[index] if index < len(node) else {}
        return [*node[:index], _with_value_at(old, rest, value, name), *node[index + 1 :]]
    return _refuse_override(f"`{head}` cannot be set inside a plain value", name)


def _place_in_list(head: str, length: int, name: str) -> int:
    if not (head.isascii() and head.isdigit() and len(head) < 10 and int(head) <= length):
        _refuse_override(
            f"expected a place in the list from 0 to {length}, got `{head[:40]}`", name
        )
    return int(head)


def _refuse_override(problem: str, key: str = "") -> Any:
    raise ScenarioError(problem, source=OVERRIDE_SOURCE, key=key)
