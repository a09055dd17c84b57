"""The tables of runs with several seeds: means with intervals, and differences seed by seed."""

from collections.abc import Sequence

import msgspec
from rich.table import Table

from callboard.experiments.many.seed_runs import (
    Figure,
    SeedRuns,
    mean_response_s,
    mean_slowdown,
    p95_response_s,
)
from callboard.experiments.many.statistics import PairedComparison
from callboard.experiments.pages.figure_rows import TABLE_ROWS, GroupKey, TableRow, run_as_json
from callboard.experiments.pages.report.document import ReportCell, ReportTable
from callboard.experiments.pages.report.result_tables import compared_rows, figure_table
from callboard.tables.policy_table import policy_headings
from callboard.tables.terminal_table import terminal_table

JSON_FIGURES: dict[str, Figure] = {
    "mean_response_seconds": mean_response_s,
    "p95_response_seconds": p95_response_s,
    "mean_slowdown": mean_slowdown,
    "node_local_share": lambda result: result.summary.locality.node,
    "wasted_slot_seconds": lambda result: result.summary.slot_seconds.wasted,
    "virtual_seconds": lambda result: result.summary.virtual_seconds,
}
"""The figures that go into JSON with their intervals."""


def seed_table(runs: SeedRuns, rows: Sequence[TableRow] = TABLE_ROWS) -> Table:
    """Means over the seeds with 95 % intervals.  The best of a row is bold where it differs from
    each other policy by more than chance.
    """
    over_seeds = [row for row in rows if row.over_seeds]
    return terminal_table(figure_table(runs, over_seeds, names=policy_headings))


def difference_table(runs: SeedRuns) -> Table:
    """Every policy's differences to the first, on the same seeds."""
    names = [" ".join(name.split("\n")) for name in policy_headings(runs.policies)]
    rows: list[Sequence[ReportCell | str]] = []
    for place, name in enumerate(names[1:], 1):
        found = [[f"  {label}", *cells] for label, *cells in compared_rows(runs, place)]
        rows += [[name], *found] if found else []
    head = (f"against {names[0]}, seed by seed", "difference", "in percent", "better in", "")
    return terminal_table(ReportTable(headings=head, rows=rows))


def seeds_json(runs: SeedRuns, by: Sequence[GroupKey] = ()) -> list[dict[str, object]]:
    """For each policy its means with half widths, its differences to the first, and its runs, with
    their jobs by these keys.  Seeds that are all one run count as one.
    """
    told = runs.without_copies()
    return [_policy_json(runs, told, place, by) for place in range(len(runs.policies))]


def _policy_json(
    runs: SeedRuns, told: SeedRuns, place: int, by: Sequence[GroupKey]
) -> dict[str, object]:
    found: dict[str, object] = {
        "scenario": runs.scenario,
        "policy": runs.policies[place],
        "seeds": list(runs.seeds),
        "all_one_run": told is not runs,
        "figures": {
            name: msgspec.to_builtins(told.mean(place, figure))
            for name, figure in JSON_FIGURES.items()
        },
    }
    if place:
        found["against"] = runs.policies[0]
        found["differences"] = {
            name: _comparison_json(told.against_first(place, f)) for name, f in JSON_FIGURES.items()
        }
    found["runs"] = [run_as_json(result, by) for result in runs.results_of_policy(place)]
    return found


def _comparison_json(found: PairedComparison) -> dict[str, object]:
    derived = {"relative": found.relative, "relative_half": found.relative_half}
    return {**msgspec.to_builtins(found), **derived}
