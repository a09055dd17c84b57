"""Figures of runs as tables of a report: a column a policy, means with intervals over seeds."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from callboard.experiments.many.seed_runs import SeedRuns, mean_response_s
from callboard.experiments.many.statistics import PairedComparison, interval
from callboard.experiments.many.sweeps.key_steps import single_key_steps
from callboard.experiments.many.sweeps.sweep_rows import SettingRuns, varied_keys
from callboard.experiments.pages.charts.cell_table import policy_labels
from callboard.experiments.pages.charts.key_words import unambiguous_key_words
from callboard.experiments.pages.figure_rows import (
    NOT_DONE_ROW,
    OUTCOME_ROWS,
    TableRow,
    done_within_row,
)
from callboard.experiments.pages.figure_text import (
    COMPARED,
    UNITS,
    best_beyond_chance,
    difference_cells,
    interval_text,
)
from callboard.experiments.pages.report.document import Emphasis, ReportCell, ReportTable
from callboard.experiments.run.run_result import RunResult

Names = Callable[[Sequence[str]], Sequence[str]]
"""How policies are called in a table."""


def figure_table(
    runs: SeedRuns, rows: Sequence[TableRow], names: Names = policy_labels
) -> ReportTable:
    """The rows of which some policy has a figure; the best of a row is marked if it is beyond
    chance, which of one seed nothing is.  `names` makes columns' headings of policies.
    """
    drawn = [row for each in rows if (row := _figure_row(runs, each)) is not None]
    head = ("", *names(runs.policies))
    return ReportTable(headings=head, rows=drawn, whole=(0,))


def _figure_row(runs: SeedRuns, row: TableRow) -> list[ReportCell | str] | None:
    columns = [runs.figures_of_policy(place, row.of) for place in range(len(runs.policies))]
    if not row.tells_anything(_all_results([runs])):
        return None
    several = len(runs.seeds) > 1
    if several and not row.over_seeds:
        return None
    best = best_beyond_chance(row.best, columns) if several else None
    texts = [interval_text(row.write, interval(column)) for column in columns]
    marks: list[Emphasis] = ["best" if place == best else "" for place in range(len(columns))]
    return [row.label, *map(ReportCell, texts, marks)]


def paired_difference_table(runs: SeedRuns) -> ReportTable:
    """Each policy against the first one, seed by seed."""
    names = policy_labels(runs.policies)
    rows = [
        [name, *row]
        for place, name in enumerate(names[1:], 1)
        for row in compared_rows(runs, place)
    ]
    return ReportTable(
        headings=("policy", "figure", "difference", "in percent", "better in", ""),
        rows=rows,
        text_columns=2,
        caption=f"Against {names[0]}, on the same seeds; minus is better",
    )


def compared_rows(runs: SeedRuns, place: int) -> Iterator[list[ReportCell | str]]:
    """How the policy at that place differs from the first: a row for each figure."""
    for label, figure in COMPARED.items():
        found = runs.against_first(place, figure)
        if found.difference.runs:
            difference, *others = difference_cells(found, UNITS[label])
            yield [label, ReportCell(difference, _emphasis_beyond_chance(found)), *others]


def overview_table(groups: Sequence[SettingRuns], within_s: float | None = None) -> ReportTable:
    """Each setting and policy; also the share of jobs that were done in time, if that is asked."""
    rows = [*OVERVIEW_ROWS, *([done_within_row(within_s)] if within_s else [])]
    return table_by_setting(groups, rows, policy_labels, unambiguous_key_words)


def table_by_setting(
    groups: Sequence[SettingRuns],
    rows: Sequence[TableRow],
    names: Names,
    called: Callable[[str, list[str]], str] = lambda key, _: key,
) -> ReportTable:
    """A row for each setting and policy: means over the seeds, and the paired difference of the
    mean response time to the first policy, if a setting has another.  Figures that no run has are
    left out.  `called` says what a key is called among all keys: as it is typed, if no other way.
    """
    compared = any(len(group.runs.policies) > 1 for group in groups)
    keys, several = varied_keys(groups), len({group.scenario for group in groups}) > 1
    shown = [
        row for row in rows if row.tells_anything(_all_results(group.runs for group in groups))
    ]
    varied = [called(key, keys) for key in keys]
    head = ["scenario"] * several + varied + ["policy"]
    body = [
        [
            *[group.scenario] * several,
            *(dict(group.setting).get(key, "") for key in keys),
            *cells,
            *[_difference_cell(group.runs, place)] * compared,
        ]
        for group in groups
        for place, cells in enumerate(_setting_rows(group.runs, shown, names))
    ]
    labels = [row.label.strip() for row in shown]
    return ReportTable(
        headings=(*head, "seeds", *labels, *["against the first"] * compared),
        rows=body,
        text_columns=len(head),
    )


def key_step_table(groups: Sequence[SettingRuns]) -> ReportTable | None:
    """How the mean response time of settings differs from that of the first, seed by seed, where
    they differ from it in one key alone; None if none does.
    """
    steps, keys = list(single_key_steps(groups)), varied_keys(groups)
    several = len({group.scenario for group in groups}) > 1
    rows: list[list[ReportCell | str]] = []
    for step in steps:
        where = [step.first.scenario] * several
        key = unambiguous_key_words(step.key, keys)
        before = dict(step.first.setting).get(step.key, "")
        for policy, label in zip(step.policies, policy_labels(step.policies), strict=True):
            found = step.difference(policy, mean_response_s)
            if found.difference.runs:
                difference, *others = difference_cells(found, " s")
                cell = ReportCell(difference, _emphasis_beyond_chance(found))
                rows.append([*where, key, before, step.value, label, cell, *others])
    if not rows:
        return None
    head = (*["scenario"] * several, "key", "from", "to", "policy")
    return ReportTable(
        headings=(*head, "difference", "in percent", "less in", ""),
        rows=rows,
        text_columns=len(head),
        caption="What one key by itself does to the mean response time, on the same seeds",
    )


_OVERVIEW_LABELS = ("response time, mean", "  p95", "slowdown, mean", "data-local maps")
OVERVIEW_ROWS = (NOT_DONE_ROW, *(row for row in OUTCOME_ROWS if row.label in _OVERVIEW_LABELS))


def _all_results(groups: Iterable[SeedRuns]) -> Iterator[RunResult]:
    for runs in groups:
        for results in runs.rows:
            yield from (each for each in results if each is not None)


def _setting_rows(
    runs: SeedRuns, rows: Sequence[TableRow], names: Names
) -> Iterator[list[ReportCell | str]]:
    """The policy, the number of its runs, and its figures."""
    for place, label in enumerate(names(runs.policies)):
        means = [interval_text(row.write, runs.mean(place, row.of)) for row in rows]
        yield [label, str(len(runs.results_of_policy(place))), *means]


def _difference_cell(runs: SeedRuns, place: int) -> ReportCell:
    if not place:
        return ReportCell("")
    found = runs.against_first(place, mean_response_s)
    if not found.difference.runs:
        return ReportCell("-")
    return ReportCell(difference_cells(found, " s").percent, _emphasis_beyond_chance(found))


def _emphasis_beyond_chance(found: PairedComparison) -> Emphasis:
    """How a difference stands out that is beyond chance; less is better."""
    if not found.difference.excludes_zero:
        return ""
    return "best" if found.difference.mean < 0 else "bad"
