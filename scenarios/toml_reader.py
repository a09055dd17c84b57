"""Reading text files and TOML: every way in which that can go wrong, said in a sentence."""

import gzip
import re
import tomllib
import zlib
from bisect import bisect_left
from io import BytesIO
from pathlib import Path
from typing import Any

from callboard.scenarios.scenario_error import ScenarioError
from callboard.scheduler.registry.key_path import KeyPath, value_at
from callboard.scheduler.registry.special_file import special_file
from callboard.scheduler.registry.toml_limits import toml_flaw

FILE_BYTES_MAX = 256_000_000
GZIP_MAGIC = b"\x1f\x8b"
GZIP_DAMAGE = (EOFError, gzip.BadGzipFile, zlib.error)
"""What reading a packed file raises that is cut off or damaged."""
TOML_MAX = 1_500_000
"""Characters of a TOML file; parsing takes up to 1.2 s a million, and is to end within 2 s."""

_PLACED_MAX = 200_000
"""Characters up to which the line of a flawed key is looked for, by parsing again and again."""

_AT_LINE = re.compile(r" \(at line (\d+), column (\d+)\)$")


def read_text(path: Path) -> str:
    """The file's text, unpacked if it is gzipped; ScenarioError where there is none to be had."""
    special = special_file(path)
    if special:
        raise ScenarioError(f"this is {special}; name a regular file", source=path)
    try:
        with path.open("rb") as file:
            data = file.read(FILE_BYTES_MAX + 1)
        if data.startswith(GZIP_MAGIC):
            with gzip.open(BytesIO(data)) as unpacked:
                data = unpacked.read(FILE_BYTES_MAX + 1)
    except GZIP_DAMAGE:
        raise ScenarioError("a gzipped file that is cut off or damaged", source=path) from None
    except FileNotFoundError:
        raise ScenarioError("there is no such file", source=path) from None
    except IsADirectoryError:
        raise ScenarioError("this is a folder; name a file in it", source=path) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ScenarioError(f"cannot be read: {reason}", source=path) from None
    if len(data) > FILE_BYTES_MAX:
        raise ScenarioError(f"larger than {FILE_BYTES_MAX // 1_000_000} MB", source=path)
    return _decode(data, path)


def _decode(data: bytes, path: Path) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ScenarioError(
            "not a text file in UTF-8; save it in that encoding", source=path, line=line
        ) from None


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
        told = f"not valid TOML: {problem}{_meant(problem)}"
        raise ScenarioError(told, source=source, line=line) from None


_TWICE = re.compile(r"Cannot declare \((.+)\) twice")


def _meant(problem: str) -> str:
    """What to write instead, of the two mistakes that are made most."""
    if twice := _TWICE.search(problem):
        name = ".".join(re.findall(r"'([^']+)'", twice[1]))
        return f"; where there are several, each begins with [[{name}]]"
    return "; a text stands in quotes" if problem == "Invalid value" else ""


def line_of_key(text: str, key: KeyPath) -> int | None:
    """The line, from 1, on which the value at `key` begins in a valid TOML text.

    Found without a second reading of TOML's grammar: it is the first line by which the document
    must be extended so that the shortest valid document from there on has the key.
    """
    if len(text) > _PLACED_MAX:
        return None
    lines, nothing = text.split("\n"), object()

    def has_key(count: int) -> bool:
        return value_at(_shortest_valid(lines, count), key, nothing) is not nothing

    if not key or not has_key(len(lines)):
        return None
    return bisect_left(range(len(lines)), True, key=has_key)


def _shortest_valid(lines: list[str], count: int) -> dict[str, Any]:
    """The document of the first `count` lines, or of as few more as make it valid."""
    for end in range(count, len(lines) + 1):
        try:
            return tomllib.loads("\n".join(lines[:end]))
        except (ValueError, RecursionError):
            continue
    return {}
