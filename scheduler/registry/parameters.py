"""A part's parameters: read from the words between its brackets, and spelled again.

`node=5, rack=5` is the inside of a TOML inline table.  It is decoded strictly into the part's
`Params`: an unknown name, a value of the wrong type and one out of its limits are refused in
words that name the part, the parameter and, where one is close, the parameter that was meant.
"""

import json
import math
import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import msgspec

from callboard.scheduler.policy import PolicySpecError

_PLACE = re.compile(r" - at `\$\.?(.*?)`$")
_LIMIT = re.compile(r"^Expected `(?:int|float)` (>=|<=|>|<) ([-\d.e+]+)")
_LENGTH = re.compile(r"^Expected `(?:str|array|object)` of length (>=|<=|>|<) (\d+)")
_EXPECTED = re.compile(r"^Expected `(.*?)`")
BOUND_WORDS = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than"}
"""What msgspec's limits are called for people."""

TYPE_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "a string in quotes",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
}
"""What msgspec's types are called for people who write TOML."""


def read_table(text: str, part: str) -> dict[str, Any]:
    """The words between a part's brackets as plain data; PolicySpecError if they are not TOML."""
    try:
        document = tomllib.loads(f"params = {{{text}}}")
    except (ValueError, RecursionError) as error:
        reason = re.sub(r" \(at .*\)$", "", str(error))
        raise PolicySpecError(
            f"`{part}({text})`: the parameters cannot be read, {reason[:1].lower()}{reason[1:]}; "
            f"they are written like `{part}(name=1, other=2.5)`"
        ) from None
    if document.keys() != {"params"}:  # a line break in the text brought more keys with it
        raise PolicySpecError(f"`{part}(…)`: the parameters must stand on one line")
    return document["params"]  # type: ignore[no-any-return]


def decode_params(
    data: Mapping[str, Any], params: type[msgspec.Struct], part: str
) -> msgspec.Struct:
    """The data as the part's parameters, or PolicySpecError with the first flaw."""
    known = list(params.__struct_encode_fields__)
    for name, value in data.items():
        if name not in known:
            raise PolicySpecError(f"`{part}` has no parameter `{name}`{_instead(name, known)}")
        _refuse_endless(value, f"`{part}`: parameter `{name}`")
    try:
        return msgspec.convert(data, params)
    except msgspec.ValidationError as error:
        raise PolicySpecError(_explained(str(error), data, part)) from None


def spell_params(params: msgspec.Struct, defaults: msgspec.Struct) -> str:
    """`(node=5,rack=5)` with what differs from the usual, in the Struct's order; else ``."""
    return spell_table(
        {
            field.encode_name: _plain(value)
            for field in msgspec.structs.fields(params)
            if (value := getattr(params, field.name)) != getattr(defaults, field.name)
        }
    )


def spell_table(table: Mapping[str, Any]) -> str:
    """`(node=5,rack=5)`; nothing for an empty table."""
    if not table:
        return ""
    return f"({','.join(f'{_key(name)}={_value(value)}' for name, value in table.items())})"


def _set(params: msgspec.Struct) -> dict[str, Any]:
    """The fields of a table within a table that differ from their defaults."""
    return {
        field.encode_name: _plain(value)
        for field in msgspec.structs.fields(params)
        if (value := getattr(params, field.name)) != _default(field)
    }


def _plain(value: object) -> object:
    if isinstance(value, msgspec.Struct):
        return _set(value)
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return msgspec.to_builtins(value)


def _default(field: msgspec.structs.FieldInfo) -> object:
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    return field.default


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _string(name)


def _value(value: object) -> str:
    """One value in TOML, as short as it can be written; a whole number needs no point."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, Mapping):
        inside = ", ".join(
            f"{_key(name)} = {_value(each)}" for name, each in value.items() if each is not None
        )
        return f"{{{inside}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return str(value)


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _refuse_endless(value: object, where: str) -> None:
    """Refuse nan and inf, which TOML can write and no parameter can mean."""
    if isinstance(value, float) and not math.isfinite(value):
        raise PolicySpecError(f"{where}: expected a finite number, got {value}")
    if isinstance(value, Mapping | list):
        for each in value.values() if isinstance(value, Mapping) else value:
            _refuse_endless(each, where)


def _instead(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, n=1)
    if near:
        return f"; did you mean `{near[0]}`?"
    return f"; it has {', '.join(f'`{each}`' for each in known)}" if known else "; it has none"


def _explained(message: str, data: Mapping[str, Any], part: str) -> str:
    """msgspec's finding in words: which parameter, what was expected, what was there."""
    place = _PLACE.search(message)
    if place is None or not place[1]:
        return f"`{part}`: {message}"  # from a check of the Struct's own
    name = re.split(r"[.\[]", place[1])[0]
    inside = f" (at {place[1]})" if place[1] != name else ""
    expected = _expected(message[: place.start()])
    if expected is None:
        return f"`{part}`: parameter `{name}`{inside}: {message[: place.start()]}"
    got = f", got {_value(data[name])}" if not inside else ""
    return f"`{part}`: parameter `{name}`{inside}: expected {expected}{got}"


def _expected(message: str) -> str | None:
    """What should have stood there, where msgspec says so."""
    if limit := _LIMIT.match(message):
        return f"a number of {BOUND_WORDS[limit[1]]} {float(limit[2]):,.10g}"
    if length := _LENGTH.match(message):
        return f"a length of {BOUND_WORDS[length[1]]} {length[2]}"
    if expected := _EXPECTED.match(message):
        names = expected[1].replace(" | null", "").split(" | ")
        return " or ".join(TYPE_WORDS.get(name, name) for name in names)
    return None
