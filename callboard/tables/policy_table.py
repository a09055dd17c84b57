"""The table that a run with one seed ends with: a column a policy, the best of a row in bold."""

import re
from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from callboard.console import plain
from callboard.experiments.pages.figure_rows import TABLE_ROWS, TableRow
from callboard.experiments.run.run_result import RunResult
from callboard.scheduler.registry.spelling import short_policy

HEADING_WIDTH = 22
"""A policy's name is broken into lines of about that many characters."""


def policy_table(runs: Sequence[RunResult], rows: Sequence[TableRow] = TABLE_ROWS) -> Table:
    """The table.  Rows without a figure in any run are left out."""
    table = empty_table([run.summary.policy for run in runs])
    for figure in rows:
        values = [figure.of(run) for run in runs]
        if any(value is not None for value in values):
            table.add_row(plain(figure.label), *_cells(figure, values))
    return table


def empty_table(policies: Sequence[str]) -> Table:
    """A table with a column for labels, and one for each policy."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("", no_wrap=True)
    for name in headings(policies):
        lines = Text("\n").join(map(plain, name.splitlines()))
        table.add_column(lines, justify="right", no_wrap=True)
    return table


def headings(policies: Sequence[str]) -> list[str]:
    """The policies' names in lines, long parameters as `…`; equal results get numbers."""
    short = [short_policy(policy) for policy in policies]
    numbered = [
        f"{name} #{short[:place].count(name) + 1}" if short.count(name) > 1 else name
        for place, name in enumerate(short)
    ]
    return [_in_lines(name) for name in numbered]


def _in_lines(name: str) -> str:
    """The name with breaks before a `+`, and in long parts after a `(` or a `,`."""
    lines = [""]
    for part in re.split(r"(?=\+)", name):
        for piece in [part] if len(part) <= HEADING_WIDTH else re.split(r"(?<=[(,])", part):
            if lines[-1] and len(lines[-1] + piece) > HEADING_WIDTH:
                lines.append("")
            lines[-1] += piece
    return "\n".join(lines)


def _cells(figure: TableRow, values: Sequence[float | None]) -> list[Text]:
    """The row's figures as text; the best is bold, unless all are equal."""
    known = [value for value in values if value is not None]
    best = figure.best(known) if figure.best is not None and len(set(known)) > 1 else None
    texts = ["-" if value is None else figure.write(value) for value in values]
    return [
        Text(text, "bold green" if value is not None and value == best else "")
        for value, text in zip(values, texts, strict=True)
    ]
