"""Reading TOML: every way in which that can go wrong, said in a sentence."""

import re
import tomllib
from bisect import bisect_left
from pathlib import Path
from typing import Any

from callboard.scheduler.text.concise import concise
from callboard.scheduler.text.key_path import KeyPath, value_at
from callboard.scheduler.text.scenario_error import ScenarioError
from callboard.scheduler.text.toml_limits import toml_flaw

TOML_MAX = 1_500_000
"""Characters of a TOML file; parsing takes up to 1.2 s a million, and is to end within 2 s."""

_PLACED_MAX = 200_000
"""Characters up to which the line of a flawed key is looked for, by parsing again and again."""

_AT_LINE = re.compile(r" \(at line (\d+), column (\d+)\)$")


def parse_toml(text: str, source: str | Path) -> dict[str, Any]:
    """The TOML document as plain data; ScenarioError with the line of a syntax error."""
    if not text.strip():
        raise ScenarioError("the file is empty", source=source)
    if len(text) > TOML_MAX:
        problem = f"{len(text):,} characters of TOML; the limit is {TOML_MAX:,}"
        raise ScenarioError(f"{problem}; a workload that large is better a trace", source=source)
    flaw = toml_flaw(text)
    if flaw is not None:
        raise ScenarioError(flaw.problem, source=source, line=flaw.line)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ScenarioError("nested too deeply", source=source) from None
    except ValueError as error:  # TOMLDecodeError, and a whole number of thousands of digits
        message = str(error)
        place = _AT_LINE.search(message)
        line = int(place[1]) if place else None
        problem = message[: place.start()] if place else message
        if problem == f"{_OVERWRITTEN} (at end of document)":
            problem, line = _OVERWRITTEN, text.rstrip().count("\n") + 1
        wrong = "" if line is None else text.split("\n")[line - 1]
        told = f"not valid TOML: {problem}{_hint_for_mistake(problem, wrong)}"
        raise ScenarioError(told, source=source, line=line) from None


_OVERWRITTEN = "Cannot overwrite a value"
_TWICE = re.compile(r"Cannot declare \((.+)\) twice")


def _hint_for_mistake(problem: str, line: str) -> str:
    """What to write instead, of the mistakes that are made most, in that line."""
    if twice := _TWICE.search(problem):
        name = ".".join(re.findall(r"'([^']+)'", twice[1]))
        return f"; where there are several, each begins with [[{name}]]"
    if problem == _OVERWRITTEN:
        key = _BARE_KEY.match(line)
        there = (
            f"`{concise(key[1])}` stands there twice" if key else "something has that name already"
        )
        return f"; {there}"
    if problem.startswith("Expected newline or end"):
        return f"; in `{concise(line.strip())}` something follows a value: {_HOW_VALUES_LOOK}"
    if problem.startswith("Unclosed"):
        return f"; a comma or the end of the list or table is missing; {_HOW_VALUES_LOOK}"
    if problem == "Illegal character '\\n'":
        return f"; a text that begins in `{concise(line.strip())}` has no quote at its end"
    if problem == "Invalid value":
        curly = any(quote in line for quote in "“”„‘’‚")
        return '; quotes are straight, as in "a"' if curly else "; a text stands in quotes"
    return ""


_BARE_KEY = re.compile(r"\s*([\w-]+)\s*=", re.ASCII)
_HOW_VALUES_LOOK = "numbers have no unit and a decimal point, texts stand in quotes"


def line_of_key(text: str, key: KeyPath) -> int | None:
    """The line, from 1, on which the value at `key` begins in a valid TOML text.

    Found without a second reading of TOML's grammar: it is the first line by which the document
    must be extended so that the shortest valid document from there on has the key.
    """
    if len(text) > _PLACED_MAX:
        return None
    lines, nothing = text.split("\n"), object()

    def has_key(count: int) -> bool:
        return value_at(_shortest_valid_document(lines, count), key, nothing) is not nothing

    if not key or not has_key(len(lines)):
        return None
    return bisect_left(range(len(lines)), True, key=has_key)


def _shortest_valid_document(lines: list[str], count: int) -> dict[str, Any]:
    """The document of the first `count` lines, or of as few more as make it valid."""
    for end in range(count, len(lines) + 1):
        try:
            return tomllib.loads("\n".join(lines[:end]))
        except (ValueError, RecursionError):
            continue
    return {}
