"""Bugs planted into running code: a text in one of our files is exchanged for another.

The changed file is compiled, and the functions that differ get the new code in their place, so that
whoever has them in a table already runs the bug too.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]


class PlantedBug(NamedTuple):
    """A bug: what goes wrong, the file, and a text that stands there once with what replaces it."""

    what: str
    file: str
    old: str
    new: str

    @property
    def room(self) -> str:
        """Where it is planted: `actors/master`, `scheduler/orders`, ..."""
        return "/".join(self.file.split("/")[:2]).removesuffix(".py")


class StaleBug(ValueError):
    """A bug that cannot be planted, since the code has changed; the message says why."""


@contextmanager
def planted(bug: PlantedBug) -> Iterator[None]:
    """Run with the bug; StaleBug if its text does not stand in its file exactly once."""
    changed = _changed_functions(bug)
    before = [(function, function.__code__) for function, _ in changed]
    try:
        for function, code in changed:
            function.__code__ = code
        yield
    finally:
        for function, code in before:
            function.__code__ = code


def _changed_functions(bug: PlantedBug) -> list[tuple[FunctionType, CodeType]]:
    path = ROOT / bug.file
    source = path.read_text(encoding="utf-8")
    times = source.count(bug.old)
    if times != 1:
        raise StaleBug(f"{bug.what}: its text stands {times} times in {bug.file}, not once")
    if bug.old.count("\n") != bug.new.count("\n"):
        raise StaleBug(f"{bug.what}: the bug has other lines than what it replaces")
    module = import_module("callboard." + bug.file.removesuffix(".py").replace("/", "."))
    right = _functions(compile(source, str(path), "exec"))
    wrong = _functions(compile(source.replace(bug.old, bug.new), str(path), "exec"))
    names = [name for name, code in wrong.items() if code != right.get(name)]
    if not names:
        raise StaleBug(f"{bug.what}: it is in no function")
    return [(_function(module, name), wrong[name]) for name in names]


def _functions(code: CodeType, within: str = "") -> dict[str, CodeType]:
    """The functions of a module and of its classes, by name; those within functions belong to
    them.
    """
    found: dict[str, CodeType] = {}
    for each in code.co_consts:
        if not isinstance(each, CodeType):
            continue
        name = f"{within}{each.co_name}"
        if "__module__" in each.co_names and "__qualname__" in each.co_names:  # a class's body
            found |= _functions(each, f"{name}.")
        else:
            found[name] = each
    return found


def _function(module: object, name: str) -> FunctionType:
    found: Any = module
    for part in name.split("."):
        found = vars(found)[part]
    found = found.fget if isinstance(found, property) else found
    found = getattr(found, "__func__", found)
    assert isinstance(found, FunctionType), name
    return found
