"""Play what released programs were given, and set what they gave beside ours.

    python -m trials.oracles ../shared/oracles/sparrow-micro.json

A file is told by its content.  Exit status 1 if a cell does not agree, 2 if nothing here plays it.
"""

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from callboard.arguments import whole_number_type
from trials.oracles import (
    capacity,
    eagle,
    omega,
    sparrow,
    sparrow_clusters,
    theory,
    yarn_monitor,
    yarn_rules,
)
from trials.oracles.comparison import Cell, UnknownFormat


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


def cells_of(path: Path, seeds: int, most_tasks: int | None = None) -> Iterable[Cell]:
    """A file's cells beside ours, some as they come; UnknownFormat for what nothing here plays."""
    found = read_file(path)
    if isinstance(found, list):
        return cells_of_cases(found, path.parent, seeds, most_tasks)
    if found.keys() <= yarn_rules.KINDS.keys():
        return yarn_rules.cells(found)
    if theory.is_theory(found):
        return theory.cells(found)
    return cells_of_cases([found], path.parent, seeds, most_tasks)


def cells_of_cases(
    cases: list[dict[str, Any]], folder: Path, seeds: int, most_tasks: int | None = None
) -> Iterable[Cell]:
    """The cells of a list of cases, told by their keys; `folder` has their traces."""
    keys = set.intersection(*(set(case) for case in cases))
    if {"which", "worker_orders", "jobs", "duration", "tasks", "workers", "slots"} <= keys:
        return sparrow.micro_cells(cases)
    if {"which", "workers", "load", "dist", "jobs", "p50", "p95", "p99", "mean"} <= keys:
        return sparrow_clusters.cluster_cells(cases, seeds, most_tasks)
    if {"test", "trackers", "map_slots", "reduce_slots", "queues", "steps"} <= keys:
        return capacity.cells(cases)
    if {"test", "queues", "disabled", "expect"} <= keys:
        return yarn_monitor.cells(cases)
    if {"trace", "workers", "cutoff_s", "closed_to_long_percent", "systems"} <= keys:
        return eagle.eagle_cells(folder, cases, seeds)
    if {"arch", "t_job", "conflict", "transaction", "machines", "end"} <= keys:
        return omega.cells(cases, folder / omega.JOBS)
    raise UnknownFormat(f"cases with {', '.join(sorted(keys)) or 'nothing in common'}")


def show(path: Path, cells: Iterable[Cell]) -> bool:
    """Print a file's cells as they come; whether all agree."""
    agreed, width = [], 0
    for each in cells:
        width = max(width, len(each.what))
        agreed.append(each.agrees)
        ours = "not played" if each.ours is None else f"{each.ours:.7g}"
        sign = "" if each.agrees else "  differs"
        print(f"{each.what:{width}}  {each.theirs:10.7g}  {ours:>10}{sign}", flush=True)
    print(f"{path.name}: {sum(agreed)} of {len(agreed)} agree")
    return all(agreed)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m trials.oracles",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path)
    parser.add_argument(
        "--seeds", type=whole_number_type(0), default=5, help="of draws of our own (default: 5)"
    )
    parser.add_argument(
        "--most-tasks",
        metavar="N",
        type=whole_number_type(1),
        help="play no case of a whole cluster that has more tasks",
    )
    options = parser.parse_args(arguments)
    status = 0
    for path in options.files:
        try:
            agreed = show(path, cells_of(path, options.seeds, options.most_tasks))
        except (UnknownFormat, OSError, UnicodeDecodeError) as error:
            print(f"{path}: cannot be played: {error}", file=sys.stderr)
            status = 2
        else:
            status = status or (not agreed)
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
