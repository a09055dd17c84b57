"""The reference of the Python calls."""

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

import callboard
from callboard import errors
from callboard.experiments.many.statistics import Interval, PairedComparison
from callboard.experiments.run.run_result import RunResult
from callboard.journal.figures.summary import Summary
from callboard.notebook import Comparison, Run, Sweep
from docs.making.book.markdown import page, paragraphs
from docs.making.book.struct_fields import field_table

INTRO = """\
[Experiments](../experiments.md) shows the calls at work, in a notebook too."""

CALLS: tuple[Callable[..., object], ...] = (
    *(callboard.run, callboard.compare, callboard.sweep, callboard.load),
)
RESULTS: tuple[type[object], ...] = (Run, Comparison, Sweep)
FIGURES: tuple[type[msgspec.Struct], ...] = (RunResult, Summary, Interval, PairedComparison)
"""What those are made of."""


def python_page() -> str:
    """`docs/reference/python.md`."""
    options = paragraphs(callboard.RunOptions.__doc__)
    return page(
        "Python",
        INTRO,
        *map(_call, CALLS),
        f"## `callboard.RunOptions`\n\n{options}\n\n{field_table(callboard.RunOptions)}",
        *map(_result, RESULTS),
        *map(_struct, FIGURES),
        _errors(),
    )


def _call(call: Callable[..., object]) -> str:
    name = f"callboard.{call.__name__}"
    return f"## `{name}`\n\n{_code(name, call)}\n\n{paragraphs(call.__doc__)}"


def _code(name: str, call: Callable[..., object]) -> str:
    """The call as it is declared, an argument a line."""
    signature = inspect.signature(call)
    arguments = [each for each in signature.parameters.values() if each.name != "self"]
    lines, star = [], False
    for each in arguments:
        if each.kind is each.KEYWORD_ONLY and not star:
            lines.append("    *,")
            star = True
        lines.append(f"    {_argument(each)},")
    inside = "\n" + "\n".join(lines) + "\n" if lines else ""
    return f"```python\n{name}({inside}) -> {_type(signature.return_annotation)}\n```"


def _argument(each: inspect.Parameter) -> str:
    star = "*" if each.kind is each.VAR_POSITIONAL else ""
    value = getattr(each.default, "__name__", repr(each.default))
    default = "" if each.default is each.empty else f" = {value}"
    return f"{star}{each.name}: {_type(each.annotation)}{default}"


def _type(annotation: Any) -> str:
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"\b(?:\w+\.)+(\w+)", r"\1", text)


def _result(result: type[object]) -> str:
    heading = f"## `{result.__name__}`\n\n{paragraphs(result.__doc__)}"
    return "\n\n".join((heading, "\n".join(_members(result))))


def _members(result: type[object]) -> Iterator[str]:
    for name, member in vars(result).items():
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            yield f"- `{name}`: {_one_line(member.__doc__)}"
        elif inspect.isfunction(member):
            arguments = [_argument(each) for each in inspect.signature(member).parameters.values()]
            yield f"- `{name}({', '.join(arguments[1:])})`: {_one_line(member.__doc__)}"


def _struct(struct: type[msgspec.Struct]) -> str:
    """What it holds, one within another: `jobs`: `submitted`, `completed` and so on."""
    heading = f"## `{struct.__name__}`\n\n{paragraphs(struct.__doc__)}"
    lines = []
    for field in msgspec.structs.fields(struct):
        inner = field.type
        own = isinstance(inner, type) and issubclass(inner, msgspec.Struct) and inner not in FIGURES
        held = ", ".join(f"`{each.name}`" for each in msgspec.structs.fields(inner)) if own else ""
        lines.append(f"- `{field.name}`" + (f": {held}" if held else ""))
    return "\n\n".join((heading, "\n".join(lines)))


def _errors() -> str:
    """What the calls raise, and what each says."""
    named = ((name, getattr(errors, name)) for name in errors.__all__)
    lines = "\n".join(f"- `{name}`: {_one_line(error.__doc__)}" for name, error in named)
    return f"## `callboard.errors`\n\n{paragraphs(errors.__doc__)}\n\n{lines}"


def _one_line(docstring: str | None) -> str:
    return " ".join((docstring or "").split())
