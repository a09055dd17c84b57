"""The table of a store: a row for each scenario, setting and policy."""

from collections.abc import Sequence

import msgspec
from rich.table import Table

from callboard.experiments.many.seed_runs import mean_response_s, mean_slowdown, p95_response_s
from callboard.experiments.many.sweeps.sensitivity import KeyIndex, Question
from callboard.experiments.many.sweeps.sweep_rows import SettingRuns
from callboard.experiments.pages.figure_rows import NOT_DONE_ROW, TableRow, write_seconds
from callboard.experiments.pages.figure_text import with_half
from callboard.experiments.pages.report.document import ReportTable
from callboard.experiments.pages.report.result_tables import table_by_setting
from callboard.tables.terminal_table import terminal_table

_COLUMNS = (
    NOT_DONE_ROW,
    TableRow("mean response", mean_response_s, write_seconds),
    TableRow("p95", p95_response_s, write_seconds),
    TableRow("slowdown", mean_slowdown, "{:,.1f}×".format),
)


def sweep_table(groups: Sequence[SettingRuns]) -> Table:
    """Means over the seeds with 95 % intervals; columns that would say the same in each row, or
    nothing, are left out.  Of runs that were cut off it says how many jobs were not done.
    """
    table = table_by_setting(groups, _COLUMNS, list)
    fails = any(group.failure_count for group in groups)
    told = [str(failed or "") for group in groups for failed in group.failures]
    rows = [[*row, *[failed] * fails] for row, failed in zip(table.rows, told, strict=True)]
    head = (*table.headings, *["failed"] * fails)
    return terminal_table(msgspec.structs.replace(table, headings=head, rows=rows))


def index_table(question: Question, policy: str, found: Sequence[KeyIndex]) -> Table:
    """How much each key matters under a policy, the most first."""
    sobol = question.method == "sobol"
    names = (
        ("explains alone", "alone and with others") if sobol else ("mean effect μ*", "deviation σ")
    )
    rows, ranges = list[list[str]](), {each.key: each for each in question.ranges}
    for each in sorted(found, key=lambda index: -(index.total if sobol else index.main)):
        ends = ranges[each.key]
        main = with_half(f"{each.main:.2f}" if sobol else f"{each.main:,.1f} s", each.main_half)
        total = with_half(f"{each.total:.2f}", each.other) if sobol else f"{each.total:,.1f} s"
        rows.append([each.key, f"{ends.low:g}", f"{ends.high:g}", main, total])
    head = (f"mean response, {policy}", "from", "to", *names)
    return terminal_table(ReportTable(headings=head, rows=rows))
