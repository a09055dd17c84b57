"""The table that a run with one seed ends with: a column a policy, the best of a row in bold."""

import re
from collections.abc import Sequence

from rich.table import Table

from callboard.experiments.pages.figure_rows import TABLE_ROWS, TableRow
from callboard.experiments.pages.report.document import ReportCell, ReportTable
from callboard.experiments.run.run_result import RunResult
from callboard.scheduler.registry.spelling import short_policy
from callboard.tables.terminal_table import terminal_table

HEADING_WIDTH = 22
"""A policy's name is broken into lines of about that many characters."""


def policy_table(runs: Sequence[RunResult], rows: Sequence[TableRow] = TABLE_ROWS) -> Table:
    """The table.  Rows without a figure in any run are left out."""
    columns = [(figure, [figure.of(run) for run in runs]) for figure in rows]
    drawn: list[list[ReportCell | str]] = [
        [figure.label, *_row_cells(figure, values)]
        for figure, values in columns
        if figure.tells_anything(runs)
    ]
    head = ("", *policy_headings([run.summary.policy for run in runs]))
    return terminal_table(ReportTable(headings=head, rows=drawn, whole=(0,)))


def policy_headings(policies: Sequence[str]) -> list[str]:
    """The policies' names in lines, long parameters as `…`; equal results get numbers."""
    short = [short_policy(policy) for policy in policies]
    numbered = [
        f"{name} #{short[:place].count(name) + 1}" if short.count(name) > 1 else name
        for place, name in enumerate(short)
    ]
    return [_name_in_lines(name) for name in numbered]


def _name_in_lines(name: str) -> str:
    """The name with breaks before a `+`, and in long parts after a `(` or a `,`."""
    lines = [""]
    for part in re.split(r"(?=\+)", name):
        for piece in [part] if len(part) <= HEADING_WIDTH else re.split(r"(?<=[(,])", part):
            if lines[-1] and len(lines[-1] + piece) > HEADING_WIDTH:
                lines.append("")
            lines[-1] += piece
    return "\n".join(lines)


def _row_cells(figure: TableRow, values: Sequence[float | None]) -> list[ReportCell]:
    """The row's figures as text; the best is marked, unless all are equal."""
    known = [value for value in values if value is not None]
    best = figure.best(known) if figure.best is not None and len(set(known)) > 1 else None
    texts = ["-" if value is None else figure.write(value) for value in values]
    return [
        ReportCell(text, "best" if value is not None and value == best else "")
        for value, text in zip(values, texts, strict=True)
    ]
