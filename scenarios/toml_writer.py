"""Writing a scenario as TOML that people can read: what differs from the defaults, and remarks.

Reading the text (`scenarios.toml_reader.parse_toml`, `scenarios.scenario_file.from_dict`) gives the
same Struct.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from callboard.scenarios.scenario_file import Scenario

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def to_toml(scenario: Scenario, remarks: Iterable[str] = ()) -> str:
    """The scenario as the text of a file that begins with the remarks, a line of comment each."""
    comment = [f"# {line}".rstrip() for remark in remarks for line in remark.split("\n")]
    data = without_defaults(scenario)
    return "\n".join([*comment, *([""] if comment else []), *_table(data, ())]) + "\n"


def without_defaults(struct: msgspec.Struct) -> dict[str, Any]:
    """What a Struct says that its defaults do not, as plain data; the tag is always told."""
    config = struct.__struct_config__
    data: dict[str, Any] = {}
    if config.tag_field is not None:
        data[config.tag_field] = config.tag
    for field in msgspec.structs.fields(struct):
        value = getattr(struct, field.name)
        if value is not None and (field.required or value != _default(field)):
            data[field.encode_name] = _plain(value)
    return data


def _default(field: msgspec.structs.FieldInfo) -> object:
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    return field.default


def _plain(value: object) -> Any:
    if isinstance(value, msgspec.Struct):
        return without_defaults(value)
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return msgspec.to_builtins(value)


def _table(data: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    """The lines of a table: its plain fields, then the tables in it, then the lists of tables."""
    plain = {name: each for name, each in data.items() if not _is_table(each)}
    tables = {name: each for name, each in data.items() if isinstance(each, dict)}
    rows = {name: each for name, each in data.items() if _is_rows(each)}
    for name, each in plain.items():
        yield f"{_key(name)} = {_value(each)}"
    for name, each in tables.items():
        if each:
            where = (*path, name)
            if not all(_is_table(inner) for inner in each.values()):
                yield from ("", f"[{_dotted(where)}]")
            yield from _table(each, where)
    for name, each in rows.items():
        where = (*path, name)
        for row in each:
            yield from ("", f"[[{_dotted(where)}]]")
            yield from (f"{_key(field)} = {_value(value)}" for field, value in row.items())


def _is_table(value: object) -> bool:
    return isinstance(value, dict) or _is_rows(value)


def _is_rows(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)


def _dotted(path: tuple[str, ...]) -> str:
    return ".".join(map(_key, path))


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _string(name)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, dict):
        inside = ", ".join(f"{_key(name)} = {_value(each)}" for name, each in value.items())
        return f"{{{inside}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return repr(value)


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
