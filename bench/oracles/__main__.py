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

from bench.oracles import capacity, eagle, omega, sparrow, theory, yarn_monitor, yarn_rules
from bench.oracles.comparison import Cell, UnknownFormat
from callboard.arguments import whole_number


def read_file(path: Path) -> list[dict[str, Any]] | dict[str, Any]:
    """What is in a file, JSON or a line each; UnknownFormat, OSError."""
    text = path.read_text(encoding="utf-8")
    found: Any
    try:
        try:
            found = json.loads(text)
        except json.JSONDecodeError:
            if text.lstrip()[:1] != "{":
                raise
            found = [json.loads(line) for line in text.splitlines() if line.strip()]
    except json.JSONDecodeError as error:
        raise UnknownFormat(f"neither JSON nor a JSON object a line ({error})") from None
    if isinstance(found, dict) and found:
        return found
    if not isinstance(found, list) or not found or not all(isinstance(e, dict) for e in found):
        raise UnknownFormat("no list of cases")
    return found


def cells_of(path: Path, seeds: int) -> list[Cell]:
    """A file's cells beside ours; UnknownFormat for what nothing here plays."""
    found = read_file(path)
    if isinstance(found, list):
        return cells_of_cases(found, path.parent, seeds)
    if found.keys() <= yarn_rules.KINDS.keys():
        return yarn_rules.cells(found)
    if theory.is_theory(found):
        return theory.cells(found)
    return cells_of_cases([found], path.parent, seeds)


def cells_of_cases(cases: list[dict[str, Any]], folder: Path, seeds: int) -> list[Cell]:
    """The cells of a list of cases, told by their keys; `folder` has their traces."""
    keys = set.intersection(*(set(case) for case in cases))
    if {"which", "worker_orders", "jobs", "duration", "tasks", "workers", "slots"} <= keys:
        return sparrow.micro_cells(cases)
    if {"which", "workers", "load", "dist", "jobs", "p50", "p95", "p99", "mean"} <= keys:
        return sparrow.cluster_cells(cases, seeds)
    if {"test", "trackers", "map_slots", "reduce_slots", "queues", "steps"} <= keys:
        return capacity.cells(cases)
    if {"test", "queues", "disabled", "expect"} <= keys:
        return yarn_monitor.cells(cases)
    if {"trace", "workers", "cutoff_s", "closed_to_long_percent", "systems"} <= keys:
        return eagle.eagle_cells(folder, cases, seeds)
    if {"arch", "t_job", "conflict", "transaction", "machines", "end"} <= keys:
        return omega.cells(cases, folder / omega.JOBS)
    raise UnknownFormat(f"cases with {', '.join(sorted(keys)) or 'nothing in common'}")


def show(path: Path, cells: Sequence[Cell]) -> bool:
    """Print a file's cells; whether all agree."""
    width = max(len(each.what) for each in cells)
    for each in cells:
        ours = "not played" if each.ours is None else f"{each.ours:.7g}"
        sign = "" if each.agrees else "  differs"
        print(f"{each.what:{width}}  {each.theirs:10.7g}  {ours:>10}{sign}")
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
