"""Values as TOML text, short, to be read again as the same, and Structs without their defaults."""

import json
import re
from collections.abc import Mapping
from typing import Any

import msgspec

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def without_defaults(
    struct: msgspec.Struct, defaults: msgspec.Struct | None = None
) -> dict[str, Any]:
    """What a Struct says that `defaults`, or its own, do not, as plain data; the tag is always
    told.  A table whose entries stand in another order says something else: of equal queues the
    first is served first.
    """
    config = struct.__struct_config__
    data: dict[str, Any] = {}
    if config.tag_field is not None:
        data[config.tag_field] = config.tag
    for field in msgspec.structs.fields(struct):
        value = getattr(struct, field.name)
        default = _field_default(field) if defaults is None else getattr(defaults, field.name)
        if value is not None and not _is_default(value, default):
            data[field.encode_name] = plain_value(value)
    return data


def _field_default(field: msgspec.structs.FieldInfo) -> object:
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    return field.default


def plain_value(value: object) -> Any:
    """Plain data; of Structs, as deep as they lie, what they say that their defaults do not."""
    if isinstance(value, msgspec.Struct):
        return without_defaults(value)
    if isinstance(value, list | tuple):
        return [plain_value(each) for each in value]
    if isinstance(value, Mapping):
        return {name: plain_value(each) for name, each in value.items()}
    return msgspec.to_builtins(value)


def _is_default(value: object, default: object) -> bool:
    if isinstance(value, Mapping) and isinstance(default, Mapping):
        return list(value.items()) == list(default.items())
    return value == default


def toml_key(name: str) -> str:
    """A key, bare where TOML allows it."""
    return name if _BARE_KEY.fullmatch(name) else _quoted_string(name)


def toml_value(value: object) -> str:
    """One value on one line; a whole number needs no point, and no key means None."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted_string(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, Mapping):
        inside = ", ".join(
            f"{toml_key(name)} = {toml_value(each)}"
            for name, each in value.items()
            if each is not None
        )
        return f"{{{inside}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    return repr(value)


def _quoted_string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
