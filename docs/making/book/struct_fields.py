"""What a Struct holds, as rows: each field's name, its default, what it may be, what it means.

What a field means stands below it in the source, as a string; limits are in its type.
"""

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
from msgspec import inspect as types

from callboard.scheduler.part_params import NUMBER_MAX
from callboard.scheduler.text.toml_text import toml_value
from docs.making.book.markdown import code, table

UNSET = "unset"


def field_table(struct: type[msgspec.Struct], *, without: frozenset[str] = frozenset()) -> str:
    """The fields of a Struct as a table."""
    rows = [row for row in field_rows(struct) if row[0].strip("`") not in without]
    return table(("field", "default", "may be", "meaning"), rows)


def field_rows(struct: type[msgspec.Struct]) -> Iterator[tuple[str, str, str, str]]:
    """Each field's name, default, what it may be, and what it means."""
    told = meanings(struct)
    info = types.type_info(struct)
    assert isinstance(info, types.StructType)
    for field in info.fields:
        yield (
            code(field.encode_name),
            _default(field),
            may_be(field.type),
            told.get(field.name, ""),
        )


@cache
def meanings(struct: type) -> dict[str, str]:
    """What stands below each field in the source, those of the bases included."""
    found: dict[str, str] = {}
    for base in reversed(struct.__mro__):
        if base.__module__.startswith("callboard."):
            found |= _own_meanings(base)
    return found


def _own_meanings(struct: type) -> dict[str, str]:
    body = _definition(struct).body
    return {
        name.id: " ".join(text.split())
        for field, after in pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(name := field.target, ast.Name)
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
        if isinstance(text := after.value.value, str)
    }


def _definition(struct: type) -> ast.ClassDef:
    node: Any = _parsed(inspect.getfile(struct))
    for name in struct.__qualname__.split("."):
        node = next(e for e in node.body if isinstance(e, ast.ClassDef) and e.name == name)
    assert isinstance(node, ast.ClassDef)
    return node


@cache
def _parsed(path: str) -> ast.Module:
    return ast.parse(Path(path).read_text(encoding="utf-8"))


def _default(field: types.Field) -> str:
    if field.required:
        return "required"
    value = field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
    if value is None:
        return UNSET
    if isinstance(value, msgspec.Struct):
        return code(value.__struct_config__.tag) if value.__struct_config__.tag else "its defaults"
    if not value and isinstance(value, dict | tuple):
        return "none"
    return code(toml_value(msgspec.to_builtins(value)))


def may_be(kind: types.Type) -> str:
    """A type in words."""
    match kind:
        case types.Metadata(type=inner):
            return may_be(inner)
        case types.UnionType():
            return _one_of(kind)
        case types.LiteralType(values=values):
            return ", ".join(code(toml_value(value)) for value in values)
        case types.VarTupleType(item_type=item):
            return f"a list: {may_be(item)}"
        case types.TupleType(item_types=items):
            return f"a list of {len(items)}: {may_be(items[0])}"
        case types.DictType(value_type=value):
            return f"a table by name: {may_be(value)}"
        case types.StructType():
            return _table_of(kind)
        case types.BoolType():
            return "`true` or `false`"
        case types.StrType():
            return _text(kind)
        case types.IntType() | types.FloatType():
            return _number(kind)
        case types.CustomType(cls=cls) if cls is Path:
            return "a path"
    return "anything"


def _one_of(kind: types.UnionType) -> str:
    words = [may_be(each) for each in kind.types if not isinstance(each, types.NoneType)]
    tables = [word for word in words if word.startswith("a table: ")]
    others = [word for word in words if word not in tables]
    if any(_is_law(each) for each in kind.types):
        return f"{others[0]}; or drawn by a law"
    kinds = ", ".join(word.removeprefix("a table: ") for word in tables)
    return " or ".join([*others, *([f"a table: {kinds}"] if tables else [])])


def _is_law(kind: types.Type) -> bool:
    return isinstance(kind, types.StructType) and kind.tag_field == "law"


def _table_of(kind: types.StructType) -> str:
    name = kind.tag if kind.tag is not None else kind.cls.__name__
    return f"a table: {code(name)}" if kind.tag is not None else "a table"


def _text(kind: types.StrType) -> str:
    longest = "" if kind.max_length is None else f" of at most {kind.max_length} characters"
    return f"text{longest}"


def _number(kind: types.IntType | types.FloatType) -> str:
    is_whole = isinstance(kind, types.IntType)
    word = "whole number" if is_whole else "number"
    if not is_whole and kind.lt is not None and kind.lt < NUMBER_MAX:
        least = f" of at least {_digits(kind.ge)}," if kind.ge is not None else ""
        return f"{word}{least} below {_digits(kind.lt)}"
    most = kind.le if kind.lt is None else kind.lt - 1
    most = None if most is None or most >= NUMBER_MAX else most
    if kind.gt is not None:
        return f"{word} above {_digits(kind.gt)}" + _up_to(most)
    if kind.ge is None:
        return word + _up_to(most)
    if most is None:
        return f"{word} of at least {_digits(kind.ge)}"
    return f"{word}, {_digits(kind.ge)} – {_digits(most)}"


def _up_to(most: float | None) -> str:
    return "" if most is None else f", at most {_digits(most)}"


def _digits(value: float) -> str:
    return f"{value:,.15g}"
