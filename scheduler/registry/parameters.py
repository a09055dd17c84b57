"""A part's parameters: read strictly from the TOML inline table in its brackets, and spelled."""

import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec

from callboard.scheduler.policy import PolicySpecError
from callboard.scheduler.registry.percent import without_percents
from callboard.scheduler.text.key_path import dotted
from callboard.scheduler.text.strict_decoder import DecodeError, decode_strictly, suggestion
from callboard.scheduler.text.toml_limits import toml_flaw
from callboard.scheduler.text.toml_text import toml_key, toml_value, without_defaults

_BARE = re.compile(r"=\s*([A-Za-z_][\w-]*)\s*(?=,|$)")
"""A word as the value of a parameter."""

_ALTERNATIVES = re.compile(r"\{[^={}]+\}")
"""Braces that hold values, not the entries of a table."""


def read_params(text: str, part: str) -> dict[str, Any]:
    """The words between a part's brackets as plain data; PolicySpecError if they are not TOML."""
    flaw = toml_flaw(text)
    if flaw is not None:
        raise PolicySpecError(f"`{part}(…)`: {flaw.problem}")
    inline = without_percents(text)
    try:
        document = _parsed_params(inline)
    except (ValueError, RecursionError) as error:
        if _ALTERNATIVES.search(text):
            raise PolicySpecError(
                f"`{part}({text})`: a policy is one value of each parameter; alternatives in "
                "braces are for `callboard sweep`"
            ) from None
        reason = re.sub(r" \(at .*\)$", "", str(error))
        raise PolicySpecError(
            f"`{part}({text})`: the parameters cannot be read, {reason[:1].lower()}{reason[1:]}; "
            f'they are written like `{part}(name=1, other="text")`'
        ) from None
    if document.keys() != {"params"}:  # a line break in the text brought more keys with it
        raise PolicySpecError(f"`{part}(…)`: the parameters must stand on one line")
    return document["params"]  # type: ignore[no-any-return]


def _parsed_params(inline: str) -> dict[str, Any]:
    """The words as TOML, or with quotes round its bare ones: `victims=job`, `flapping=True`."""
    try:
        return tomllib.loads(f"params = {{{inline}}}")
    except ValueError:
        quoted = _BARE.sub(_quoted_word, inline)
        if quoted == inline:
            raise
        with suppress(ValueError):
            return tomllib.loads(f"params = {{{quoted}}}")
        raise


def _quoted_word(bare: re.Match[str]) -> str:
    word = bare[1]
    if word.lower() in ("true", "false"):
        return f"={word.lower()}"
    return f'="{word}"'


def decode_params(
    data: Mapping[str, Any], params: type[msgspec.Struct], part: str
) -> msgspec.Struct:
    """The data as the part's parameters, or PolicySpecError with the first flaw."""
    known = list(params.__struct_encode_fields__)
    for name in data:
        if name not in known:
            raise PolicySpecError(f"`{part}` has no parameter `{name}`; {suggestion(name, known)}")
    try:
        return decode_strictly(data, params, part, infinity=True)
    except DecodeError as error:
        where = f"parameter `{dotted(error.key)}`: " if error.key else ""
        raise PolicySpecError(f"`{part}`: {where}{error}") from None


def spell_params(params: msgspec.Struct, defaults: msgspec.Struct) -> str:
    """`(node=5,rack=5)` with what differs from the usual, in the Struct's order; else ``."""
    return spell_table(without_defaults(params, defaults))


def spell_table(table: Mapping[str, Any]) -> str:
    """`(node=5,rack=5)`; nothing for an empty table."""
    if not table:
        return ""
    return f"({','.join(f'{toml_key(name)}={toml_value(value)}' for name, value in table.items())})"
