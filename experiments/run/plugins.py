"""What spellings of policies come to, with what does not ship: parts and architectures of installed
packages and of users' own files.

A package offers parts in its entry-point group `callboard.policies`; the entry point's name is how
the part is spelled.  A file's part is spelled `./mine.py:MyOrder`, the path as seen from the
current folder.  Whatever is wrong with either is a `PolicySpecError` that names a line of theirs.
"""

import ast
import importlib.util
import re
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache, partial
from hashlib import blake2b
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from callboard.actors.architecture import Architecture
from callboard.actors.architectures import ARCHITECTURES
from callboard.actors.central.central import Central
from callboard.scheduler.policy import Policy, PolicySpecError, Spelled
from callboard.scheduler.registry import parts
from callboard.scheduler.registry.shipped import PARTS
from callboard.scheduler.registry.spelling import ARCHITECTURE, FILE_PART, split_spelling
from callboard.scheduler.text.special_file import special_file
from callboard.scheduler.text.strict_decoder import suggestion

GROUP = "callboard.policies"

Made = TypeVar("Made")


def catalogue(settings: parts.PartSettings | None = None) -> parts.Catalogue:
    """All parts and architectures by name, with a scenario's settings; no name of what ships can be
    taken.
    """
    more = {**installed_parts(), **ARCHITECTURES}
    found = parts.Catalogue(PARTS, more, part_of_file, meant_by=_hint_for_class_or_file)
    return found.with_settings(settings or {})


def installed_parts() -> dict[str, Callable[[], type[Spelled]]]:
    """The installed packages' parts by name, each to be loaded when it is asked for."""
    return {point.name: partial(_loaded_part, point) for point in _entry_points(entry_points)}


@lru_cache(maxsize=1)
def _entry_points(find: Callable[..., EntryPoints]) -> tuple[EntryPoint, ...]:
    """The entry points, looked for once: that opens a file of every installed package."""
    return tuple(find(group=GROUP))


def load_policy(text: str, settings: parts.PartSettings | None = None) -> Policy:
    """A fresh policy, whose parts may be users'; PolicySpecError if its spelling is bad, or means
    an architecture.
    """
    return _composed_policy(_parsed_policy(text, settings), text)


def load_architecture(text: str, settings: parts.PartSettings | None = None) -> Architecture:
    """The fresh schedulers that a spelling means; those of a policy are the central master.
    PolicySpecError if it is bad.
    """
    return read_architecture(text, settings)[1]


def canonical_policy(text: str, settings: parts.PartSettings | None = None) -> str:
    """The one spelling of a policy, or of an architecture, beside these settings, after checking
    that it can be made.
    """
    return read_architecture(text, settings)[0]


def read_architecture(
    text: str, settings: parts.PartSettings | None = None
) -> tuple[str, Architecture]:
    """The one spelling of a policy, or of an architecture, and the fresh schedulers that it means.
    PolicySpecError if it is bad.
    """
    spec = _parsed_policy(text, settings)
    made = _architecture_of_spec(spec, text, settings)
    return parts.spell_policy(spec), made


def is_architecture(text: str, settings: parts.PartSettings | None = None) -> bool:
    """Whether a spelling means an architecture that decides by itself.  PolicySpecError."""
    return ARCHITECTURE in _parsed_policy(text, settings)


def part_classes(text: str, settings: parts.PartSettings | None = None) -> list[type[Spelled]]:
    """The classes that a spelling names."""
    return [choice.part for choice in _parsed_policy(text, settings).values()]


def parts_named_in(text: str) -> list[parts.PartSpec]:
    """The parts of a policy, or the one part of any kind, that a text names.  PolicySpecError."""
    known = catalogue()
    pieces = split_spelling(text, known.names())
    alone = len(pieces) == 1
    return (
        [known.part_spec(pieces[0], "policy")] if alone else [*_parsed_policy(text, None).values()]
    )


def _parsed_policy(text: str, settings: parts.PartSettings | None) -> parts.PolicySpec:
    return parts.parse_policy(text, catalogue(settings))


def _architecture_of_spec(
    spec: parts.PolicySpec, text: str, settings: parts.PartSettings | None
) -> Architecture:
    alone = spec.get(ARCHITECTURE)
    if alone is None:
        return Central(_composed_policy(spec, text), partial(load_policy, settings=settings))
    made = _made_or_refused(alone.make, text)
    if not isinstance(made, Architecture):
        raise PolicySpecError(f"`{text}` is neither a part of a policy nor an Architecture")
    return made


def _composed_policy(spec: parts.PolicySpec, text: str) -> Policy:
    return _made_or_refused(partial(parts.compose_policy, spec, text), text)


def _made_or_refused(make: Callable[[], Made], text: str) -> Made:
    """What it makes; whatever goes wrong in others' code is a PolicySpecError."""
    try:
        return make()
    except (PolicySpecError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise _foreign_failure(f"`{text}`", error, "cannot be made") from error


def part_of_file(ref: str) -> type[Spelled]:
    """The part that `FILE.py:NAME` means; PolicySpecError says which names there are."""
    match = FILE_PART.fullmatch(ref)
    if match is None:
        raise PolicySpecError(
            f"`{ref}` names a file, and no class in it; {_how_to_spell_class(ref)}"
        )
    module = _module_of_file(match["path"])
    found = vars(module).get(match["name"])
    if found is None:
        raise PolicySpecError(
            f"{match['path']} has no `{match['name']}`{_classes_hint(module, match['name'])}"
        )
    return parts.checked_part(found, f"`{match['name']}` in {match['path']}")


def _hint_for_class_or_file(name: str) -> str:
    """What is to be written, if this is a file, or a class of one in the current folder."""
    if Path(name).is_file():
        return f"it is a file and no policy; `callboard run {name}` plays a scenario or a journal"
    meant = _SLIP.fullmatch(name)
    if meant is not None and Path(f"{meant['stem']}.py").is_file():
        with suppress(PolicySpecError):
            return _how_to_spell_class(f"{meant['stem']}.py", meant["name"] or "")
    for file in sorted(Path().glob("*.py")) if parts.may_be_class(name) else ():
        with suppress(PolicySpecError):
            if name in (_class_names(str(file)) or ()):
                return f"it is a class in {file}; write `./{file}:{name}`"
    return ""


_SLIP = re.compile(r"(?P<stem>.+?)(?:\.py)?(?:(?:::?|/|\.)(?P<name>\w*))?")
"""Almost a class of a file: `mine`, `mine:Mine`, `mine.Mine`, `mine.py::Mine`."""


def _how_to_spell_class(path: str, wanted: str = "") -> str:
    """How to name the classes of a file, or the one that is wanted if it has it."""
    classes = _class_names(path)
    if classes is None:
        return f"write `{path}:MyOrder`"
    if wanted in classes:
        return f"write `{path}:{wanted}`"
    found = [f"`{path}:{name}`" for name in classes]
    return f"write {' or '.join(found[:5])}" if found else "it has no class"


def _class_names(path: str) -> list[str] | None:
    """The names of a file's classes that are no parameters; it is read for that and not run.  None
    for what is no Python.
    """
    text = _source_of_file(path)
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError):
        return None
    classes = (each for each in body if isinstance(each, ast.ClassDef))
    return [each.name for each in classes if not any(map(_is_struct, each.bases))]


def _is_struct(base: ast.expr) -> bool:
    """Whether a class of that base is a part's parameters."""
    return ast.unparse(base).rpartition(".")[2] in ("Struct", "PartParams")


def _module_of_file(path: str) -> ModuleType:
    """The user's file as a module, read once however many policies name it."""
    text = _source_of_file(path)
    return _executed_module(path, str(Path(path).resolve()), text)


def _source_of_file(path: str) -> bytes:
    file = Path(path)
    special = special_file(file)
    if special:
        raise PolicySpecError(f"{path}: this is {special}; name a regular file")
    try:
        return file.read_bytes()
    except FileNotFoundError:
        seen = "" if file.is_absolute() else ", as seen from this folder"
        hint = f"go where it is, or `callboard new policy {path}` writes one that runs"
        raise PolicySpecError(f"{path}: there is no such file{seen}; {hint}") from None
    except OSError as error:
        raise PolicySpecError(f"{path}: cannot be read: {error.strerror}") from None


@lru_cache(maxsize=32)
def _executed_module(path: str, resolved: str, text: bytes) -> ModuleType:
    """The module that the file's text makes; `path` is what to call it."""
    version = blake2b(resolved.encode() + text, digest_size=8).hexdigest()
    name = f"callboard_user_{Path(resolved).stem}_{version}"  # no other file's, none of before
    spec = importlib.util.spec_from_file_location(name, resolved)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and msgspec look their module up there
    try:
        exec(compile(text, resolved, "exec", dont_inherit=True), vars(module))
    except (PolicySpecError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise _foreign_failure(path, error, "cannot be imported", resolved) from error
    return module


def _classes_hint(module: ModuleType, wanted: str) -> str:
    own = [
        name
        for name, value in vars(module).items()
        if isinstance(value, type) and value.__module__ == module.__name__
    ]
    return f"; {suggestion(wanted, own)}" if own else "; it has no class"


def _loaded_part(point: EntryPoint) -> type[Spelled]:
    package = f" of {point.dist.name}" if point.dist is not None else ""
    where = f"`{point.name}`{package} ({point.value})"
    try:
        found = point.load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise _foreign_failure(where, error, "cannot be loaded") from error
    part = parts.checked_part(found, where)
    if part.name != point.name:
        raise PolicySpecError(f"{where} calls itself `{part.name}`; both names must be the same")
    return part


def _foreign_failure(
    where: str, error: BaseException, what: str, resolved: str = ""
) -> PolicySpecError:
    """What went wrong in others' code, with the line of their file that was being run."""
    kind = type(error).__name__
    reason = error.msg if isinstance(error, SyntaxError) else str(error)
    place = _line_of_error(error, resolved)
    told = f"{where}{place}: {what}: {kind}: {reason}".removesuffix(": ")
    if isinstance(error, ModuleNotFoundError) and resolved:
        beside = Path(resolved).with_name(f"{error.name}.py")
        if beside.is_file():
            told += f"; {beside.name} is beside it, but a policy is all in its own file"
    return PolicySpecError(told)


def _line_of_error(error: BaseException, resolved: str) -> str:
    """The last line of the file on the way to the error; without a file, the last line of any."""
    if isinstance(error, SyntaxError) and error.filename == resolved:
        return f", line {error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame.lineno for frame in frames if frame.filename == resolved]
    if own:
        return f", line {own[-1]}"
    return "" if resolved or not frames else f", {frames[-1].filename}, line {frames[-1].lineno}"
