"""Strict decoding of plain data into Structs: the first flaw, where it stands, and the remedy.

msgspec checks; unknown fields are found first, to suggest the one that was meant, and msgspec's
findings are put into the words of people who write TOML.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from difflib import get_close_matches
from itertools import repeat
from math import isinf, isnan
from textwrap import wrap
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from callboard.scheduler.text.key_path import KeyPath, dotted, parse_key, value_at

T = TypeVar("T")

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

_LINE = 400
"""The most characters of a line that says what there is to choose from."""

_PLACE = re.compile(r" - at `\$\.?(.*?)`$")
_LIMIT = re.compile(
    r"^Expected `(int|float|str|array|object)` (of length )?(>=|<=|>|<) ([-\d.e+]+)"
)
_MISSING = re.compile(r"^Object missing required field `(.*?)`")
_EXPECTED = re.compile(r"^Expected `(.*?)`(?:, got `(.*?)`)?")


class DecodeError(ValueError):
    """What is wrong with a value, and the key at which it stands."""

    def __init__(self, problem: str, key: KeyPath = ()) -> None:
        self.key = key
        super().__init__(problem)


def decode_strictly(raw: object, type_: type[T], top: str, *, infinity: bool = False) -> T:
    """The raw data (as tomllib gives it) as a `type_`; DecodeError with the first flaw, in which
    `top` is the outermost table.  With `infinity` a number without an upper limit may be infinite;
    what may be anything is left to who reads it.
    """
    root = _type_info(type_)
    for key, value, kind in _visit_values((), raw, root):
        if isinstance(kind, inspect.StructType) and isinstance(value, dict):
            _check_field_names(key, value, kind, top)
        elif isinstance(value, float) and not isinstance(kind, inspect.AnyType):
            _refuse_infinite(key, value, infinity=infinity)
    return check_limits(raw, type_)


_KNOWN_TYPES: dict[Any, inspect.Type] = {}


def _type_info(type_: Any) -> inspect.Type:
    """What msgspec knows of the type, looked up once: it takes milliseconds for a scenario."""
    if type_ not in _KNOWN_TYPES:
        _KNOWN_TYPES[type_] = inspect.type_info(type_)
    return _KNOWN_TYPES[type_]


def check_limits(value: object, type_: type[T]) -> T:
    """The value as a `type_`, within the limits that are declared there, or DecodeError."""
    try:
        return msgspec.convert(value, type_)
    except msgspec.ValidationError as error:
        raise _explained_error(str(error), value, type_) from None


def _visit_values(
    key: KeyPath, value: object, kind: inspect.Type
) -> Iterator[tuple[KeyPath, object, inspect.Type]]:
    """Every value that stands where the type expects one, with the type it should have."""
    kind = _chosen_union_member(kind, value)
    yield key, value, kind
    if isinstance(kind, inspect.StructType) and isinstance(value, dict):
        for field in kind.fields:
            if field.encode_name in value:
                name = field.encode_name
                yield from _visit_values((*key, name), value[name], field.type)
    elif isinstance(kind, inspect.DictType) and isinstance(value, dict):
        for name, item in value.items():
            yield from _visit_values((*key, name), item, kind.value_type)
    elif isinstance(kind, _LISTS) and isinstance(value, list | tuple):
        each = kind.item_types if isinstance(kind, inspect.TupleType) else repeat(kind.item_type)
        for index, (item, its_kind) in enumerate(zip(value, each, strict=False)):
            yield from _visit_values((*key, index), item, its_kind)


_LISTS = (inspect.VarTupleType, inspect.ListType, inspect.TupleType)


def _chosen_union_member(kind: inspect.Type, value: object) -> inspect.Type:
    if not isinstance(kind, inspect.UnionType) or not isinstance(value, dict):
        return kind
    for member in kind.types:
        if isinstance(member, inspect.StructType) and member.tag_field is not None:
            tag = value.get(member.tag_field)
            if isinstance(tag, str) and tag == member.tag:
                return member
    return kind


def _check_field_names(
    key: KeyPath, value: dict[Any, Any], kind: inspect.StructType, top: str
) -> None:
    known = [field.encode_name for field in kind.fields]
    for name in value:
        if name in known or name == kind.tag_field:
            continue
        place = f"[{dotted(key)}]" if key else top
        inner = [] if get_close_matches(str(name), known, n=1) else _dotted_names(str(name), kind)
        meant = f"did you mean `{inner[0]}`?" if inner else suggestion(str(name), known)
        problem = f"unknown field `{name}` in {place}; {meant}"
        raise DecodeError(problem, (*key, str(name)))


def _dotted_names(name: str, kind: inspect.StructType) -> list[str]:
    """Where a table within has a field of that name, as in `cluster.nodes`."""
    return [
        f"{field.encode_name}.{name}"
        for field in kind.fields
        if isinstance(field.type, inspect.StructType)
        and name in (each.encode_name for each in field.type.fields)
    ]


def suggestion(name: str, known: Collection[str]) -> str:
    """`did you mean ...?` where something is close, else what there is to choose from."""
    if meant := nearest(name, known):
        return f"did you mean `{meant}`?"
    told = f"there are: {', '.join(known)}" if known else "there are none"
    return told if len(told) <= _LINE else "\n  ".join(wrap(told, _LINE, break_on_hyphens=False))


def nearest(name: str, known: Collection[str]) -> str:
    """Which of the known names is probably meant; empty where none is close."""
    close = get_close_matches(name, known, n=1) or get_close_matches(name.lower(), known, n=1)
    return next(iter(close), "")


def _explained_error(message: str, raw: object, type_: Any) -> DecodeError:
    """msgspec's finding in words: where, what was expected, what was there."""
    place = _PLACE.search(message)
    key = _key_at_fault(place[1], raw, type_) if place else ()
    if missing := _MISSING.match(message):
        return DecodeError("this field is required and missing", (*key, missing[1]))
    kinds = {at: kind for at, _, kind in _visit_values((), raw, _type_info(type_))}
    choices = _allowed_choices(key, kinds)
    expected = _expected_words(message, choices)
    if expected is None:  # from a check of the Struct's own
        return DecodeError(message[: place.start()] if place else message, key)
    value = value_at(raw, key)
    meant = nearest(value, choices) if isinstance(value, str) else ""
    hint = f'; did you mean "{meant}"?' if meant else ""
    return DecodeError(f"expected {expected}, got {_shown_value(value)}{hint}", key)


def _key_at_fault(place: str, raw: object, type_: Any) -> KeyPath:
    """Where the flaw is; of a table's values (`pools[...].weight`) the first that alone fails."""
    before, table, after = place.partition("[...]")
    key = parse_key(before)
    if not table:
        return key
    values: Any = value_at(raw, key)
    for name, value in values.items():
        try:
            msgspec.convert(_copy_with_value_at(raw, key, {name: value}), type_)
        except msgspec.ValidationError:
            return (*key, name, *parse_key(after))
    return key  # a name is wrong


def _copy_with_value_at(raw: Any, key: KeyPath, value: object) -> object:
    if not key:
        return value
    copy = dict(raw) if isinstance(raw, dict) else list(raw)
    copy[key[0]] = _copy_with_value_at(raw[key[0]], key[1:], value)  # type: ignore[index]
    return copy


def _expected_words(message: str, choices: Sequence[str]) -> str | None:
    if limit := _LIMIT.match(message):
        if limit[2]:
            return f"{TYPE_WORDS[limit[1]]} of length {BOUND_WORDS[limit[3]]} {limit[4]}"
        return f"{TYPE_WORDS[limit[1]]} of {BOUND_WORDS[limit[3]]} {_number_in_full(limit[4])}"
    if choices:
        quoted = (f'"{each}"' for each in choices)
        return f"one of {', '.join(quoted)}"
    if expected := _EXPECTED.match(message):
        names = expected[1].replace(" | null", "").split(" | ")
        return " or ".join(TYPE_WORDS.get(name, name) for name in names)
    return "a number that fits" if message.startswith("Number") else None


def _number_in_full(number: str) -> str:
    """A limit with all its digits: 9,223,372,036,854,775,807 and not 9.2e+18."""
    if number.lstrip("-").isdigit():
        return f"{int(number):,}"
    value = float(number)
    return f"{int(value):,}" if value.is_integer() else f"{value:,}"


def _allowed_choices(key: KeyPath, kinds: dict[KeyPath, inspect.Type]) -> list[str]:
    kind = kinds.get(key)
    if isinstance(kind, inspect.LiteralType):
        return [str(value) for value in kind.values]
    parent = kinds.get(key[:-1])
    if key and isinstance(parent, inspect.UnionType):
        structs = [member for member in parent.types if isinstance(member, inspect.StructType)]
        return [str(member.tag) for member in structs if member.tag_field == key[-1]]
    return []


def _shown_value(value: object) -> str:
    """The value that was found, short and in TOML's words."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, int) and abs(value) >= 10**30:
        return "a number of more than thirty digits"
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _refuse_infinite(key: KeyPath, value: float, *, infinity: bool) -> None:
    """Refuse nan, which TOML can write and no field can mean, and inf unless `infinity`."""
    if isnan(value) or (isinf(value) and not infinity):
        raise DecodeError(f"expected a finite number, got {value}", key)
