"""List the orders, locality, preemption and speculation rules and the architectures that `callboard
run --policy` takes, with their parameters and defaults; or describe those that are named.

examples:
  callboard policies
  callboard policies fair delay
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from inspect import cleandoc

import msgspec

from callboard.actors.architectures import ARCHITECTURES
from callboard.console import ReportConsole, print_list
from callboard.experiments.run import plugins
from callboard.scheduler.policy import PolicySpecError, Spelled
from callboard.scheduler.preemption.rank_based import RankPreemption
from callboard.scheduler.registry.parts import PART_BASES, part_kind
from callboard.scheduler.registry.shipped import PARTS
from callboard.scheduler.registry.spelling import ARCHITECTURE
from callboard.scheduler.text.toml_text import toml_value

AFTERWORD = """\
A policy is an order and at most one part of each other kind: fair+delay(node=5,rack=5)
An architecture has schedulers of its own and stands alone: sparrow(probes=3)
A part of your own: --policy ./mine.py:MyOrder (docs/policies.md says how to write one)"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    named = "policies or their parts to describe"
    parser.add_argument("policies", nargs="*", default=[], metavar="POLICY", help=named)


def policies_command(options: argparse.Namespace) -> int:
    if options.policies:
        _describe_parts(options.policies)
        return 0
    found, broken = _parts_and_problems()
    for line in broken:
        print(f"callboard: {line}", file=sys.stderr)
    parts = [(part_kind(part) or "", name, part) for name, part in found.items()]
    if not sys.stdout.isatty():
        print_list((slot, name, part.summary, _parameters_text(part)) for slot, name, part in parts)
        return 0
    for slot in (*PART_BASES, ARCHITECTURE):
        print(slot)
        print_list(
            line for of, name, part in parts if of == slot for line in _summary_lines(name, part)
        )
    print(AFTERWORD)
    return 0


def _describe_parts(named: Sequence[str]) -> None:
    """Each part of what is named: what it is, what its code says of itself, its parameters."""
    console = ReportConsole()
    for text in named:
        for spec in plugins.parts_named_in(text):
            console.print_lines(_description_lines(spec.part, spec.name))


def _description_lines(part: type[Spelled], name: str) -> Iterator[str]:
    """What it is; `name` is how it is spelled."""
    kind = part_kind(part)
    yield f"{part.name} ({kind}): {part.summary}"
    module = sys.modules.get(part.__module__)
    about = cleandoc((module.__doc__ if module else None) or part.__doc__ or "")
    for paragraph in about.split("\n\n"):
        yield ""
        lines = paragraph.split("\n")
        commands = all(line.startswith("callboard ") for line in lines)  # one a line, to be copied
        yield from lines if commands else [" ".join(paragraph.split())]
    yield ""
    for key, default in msgspec.to_builtins(part.Params()).items():
        yield f"  {key} = {_default_text(default)}"
    beside = "hfsp" if part is RankPreemption else "fair"  # whose jobs share, and have no ranks
    spelled = name if kind in ("order", ARCHITECTURE) else f"{beside}+{name}"
    yield ""
    yield f"  callboard run --policy '{spelled}'"
    yield ""


def _parts_and_problems() -> tuple[dict[str, type[Spelled]], list[str]]:
    """What ships and what is installed by name, and what is wrong with others."""
    shipped = {name: load() for name, load in ARCHITECTURES.items()}
    found: dict[str, type[Spelled]] = {**PARTS, **shipped}
    broken = []
    for name, load in plugins.installed_parts().items():
        try:
            if name in found:
                raise PolicySpecError(f"an installed `{name}` is hidden by the one that ships")
            found[name] = load()
        except PolicySpecError as error:
            broken.append(str(error))
    return found, broken


def _summary_lines(name: str, part: type[Spelled]) -> list[tuple[str, str]]:
    """The part's name and summary and, on a second line, its parameters."""
    parameters = _parameters_text(part)
    return [(name, part.summary), *([("", f"  {parameters}")] if parameters else [])]


def _parameters_text(part: type[Spelled]) -> str:
    defaults = msgspec.to_builtins(part.Params())
    return ", ".join(f"{key}={_default_text(default)}" for key, default in defaults.items())


def _default_text(default: object) -> str:
    """A default as it is spelled between a part's brackets."""
    return "unset" if default is None else toml_value(default)
