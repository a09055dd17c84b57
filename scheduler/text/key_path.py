"""Places in plain data: the way from the top of a document to a value."""

import re
from typing import TypeAlias

KeyPath: TypeAlias = tuple[str | int, ...]
"""Table names and places in lists, from the outermost."""

_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


def dotted(key: KeyPath) -> str:
    """The key as people write it: `cluster.group[0].nodes`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in key)
    return text.removeprefix(".")


def parse_key(place: str) -> KeyPath:
    """A path as msgspec and `dotted` write it, `cluster.group[0].nodes`, as a key."""
    return tuple(name or int(index) for name, index in _STEP.findall(place))


def value_at(document: object, key: KeyPath, default: object = None) -> object:
    """What stands at `key`, or the default."""
    for part in key:
        if isinstance(part, int):
            inside = isinstance(document, list | tuple) and part < len(document)
        else:
            inside = isinstance(document, dict) and part in document
        if not inside:
            return default
        document = document[part]  # type: ignore[index]
    return document
