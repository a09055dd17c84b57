"""Play what released programs were given, and set what they gave beside ours.

    python -m bench.oracles ../shared/oracles/sparrow-micro.json

A file is told by its content.  Exit status 1 if a cell does not agree, 2 if nothing here plays it.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.oracles import capacity, sparrow
from bench.oracles.comparison import Cell, UnknownFormat
from callboard.arguments import whole_number


def cases_of(path: Path) -> list[dict[str, Any]]:
    """The cases of a file, JSON or a line each; UnknownFormat, OSError."""
    text = path.read_text(encoding="utf-8")
    try:
        found = json.loads(text) if text.lstrip()[:1] == "[" else _lines(text)
    except json.JSONDecodeError as error:
        raise UnknownFormat(f"neither JSON nor a JSON object a line ({error})") from None
    if not found or not all(isinstance(each, dict) for each in found):
        raise UnknownFormat("no list of cases")
    return found


def _lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def cells_of(path: Path, seeds: int) -> list[Cell]:
    """A file's cells beside ours; UnknownFormat for what nothing here plays."""
    cases = cases_of(path)
    keys = set.intersection(*(set(case) for case in cases))
    if {"which", "worker_orders", "jobs", "duration", "tasks", "workers", "slots"} <= keys:
        return sparrow.micro_cells(cases)
    if {"which", "workers", "load", "dist", "jobs", "p50", "p95", "p99", "mean"} <= keys:
        return sparrow.cluster_cells(cases, seeds)
    if {"test", "trackers", "map_slots", "reduce_slots", "queues", "steps"} <= keys:
        return capacity.cells(cases)
    raise UnknownFormat(f"cases with {', '.join(sorted(keys)) or 'nothing in common'}")


def show(path: Path, cells: Sequence[Cell]) -> bool:
    """Print a file's cells; whether all agree."""
    width = max(len(each.what) for each in cells)
    for each in cells:
        ours = "not played" if each.ours is None else f"{each.ours:.2f}"
        sign = "" if each.agrees else "  differs"
        print(f"{each.what:{width}}  {each.theirs:10.2f}  {ours:>10}{sign}")
    agree = sum(each.agrees for each in cells)
    print(f"{path.name}: {agree} of {len(cells)} agree")
    return agree == len(cells)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.oracles",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path)
    parser.add_argument(
        "--seeds", type=whole_number(1), default=5, help="of draws of our own (default: 5)"
    )
    options = parser.parse_args(arguments)
    status = 0
    for path in options.files:
        try:
            agreed = show(path, cells_of(path, options.seeds))
        except (UnknownFormat, OSError, UnicodeDecodeError) as error:
            print(f"{path}: cannot be played: {error}", file=sys.stderr)
            status = 2
        else:
            status = status or (not agreed)
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
