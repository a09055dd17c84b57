"""The table that `callboard run` ends with: one column a policy, the best of a row in bold."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from rich import box
from rich.table import Table
from rich.text import Text

from callboard.console import plain
from callboard.experiments.run_result import RunResult
from callboard.journal.tell.names import duration
from callboard.scheduler.policy import PolicySpecError
from callboard.scheduler.registry.spelling import split_spelling

PARAMS_SHOWN = 40
"""Longer parameters of a part are not written out above a column."""

HEADING_WIDTH = 22
"""A policy's name is broken into lines of about that many characters."""


class TableRow(NamedTuple):
    """One row: its label, where the figure comes from, how it is written, and which is best."""

    label: str
    of: Callable[[RunResult], float | None]
    write: Callable[[float], str]
    best: Callable[[Sequence[float]], float] | None = None


def policy_table(runs: Sequence[RunResult]) -> Table:
    """The table.  Rows without a figure in any run are left out."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("", no_wrap=True)
    for name in headings([run.summary.policy for run in runs]):
        lines = Text("\n").join(map(plain, name.splitlines()))
        table.add_column(lines, justify="right", no_wrap=True)
    for figure in TABLE_ROWS:
        values = [figure.of(run) for run in runs]
        if any(value is not None for value in values):
            table.add_row(figure.label, *_cells(figure, values))
    return table


def headings(policies: Sequence[str]) -> list[str]:
    """The policies' names in lines, long parameters as `…`; equal results get numbers."""
    short = [_shortened(policy) for policy in policies]
    numbered = [
        f"{name} #{short[:place].count(name) + 1}" if short.count(name) > 1 else name
        for place, name in enumerate(short)
    ]
    return [_in_lines(name) for name in numbered]


def _shortened(policy: str) -> str:
    """`fair(…)+kill` for a policy whose order has too many parameters for a column."""
    try:
        pieces = split_spelling(policy, ())
    except PolicySpecError:  # a name that only an installed package can explain
        return policy
    shown = [(p.name, p.params if len(p.params) <= PARAMS_SHOWN else "…") for p in pieces]
    return "+".join(f"{name}({params})" if params else name for name, params in shown)


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


def _response(name: str) -> Callable[[RunResult], float | None]:
    return lambda run: getattr(run.summary.response_seconds, name, None)


def _slowdown(name: str) -> Callable[[RunResult], float | None]:
    return lambda run: getattr(run.slowdown and run.slowdown.statistics, name, None)


def _seconds(seconds: float) -> str:
    return f"{seconds:,.0f} s" if seconds >= 100 else f"{seconds:.1f} s"


def _wasted(run: RunResult) -> float | None:
    time = run.summary.slot_seconds
    return time.wasted / time.total if time.total and time.wasted else None


def _speculative(run: RunResult) -> float | None:
    return run.summary.speculation.speculative_attempts or None


def _won(run: RunResult) -> float | None:
    counts = run.summary.speculation
    return counts.won if counts.speculative_attempts else None


def _virtual_time(seconds: float) -> str:
    return duration(round(1000 * seconds))


TABLE_ROWS = (
    TableRow("jobs completed", lambda run: run.summary.jobs.completed, "{:,.0f}".format),
    TableRow("response time, mean", _response("mean"), _seconds, min),
    TableRow("  median", _response("median"), _seconds, min),
    TableRow("  p95", _response("p95"), _seconds, min),
    TableRow("  longest", _response("max"), _seconds, min),
    TableRow("slowdown, mean", _slowdown("mean"), "{:,.1f}×".format, min),
    TableRow("  longest", _slowdown("max"), "{:,.1f}×".format, min),
    TableRow("  norm l2", _slowdown("l2"), "{:,.1f}×".format, min),
    TableRow("normalised performance", _slowdown("snp"), "{:.2f}".format, max),
    TableRow("unfairness", _slowdown("unfairness"), "{:.2f}".format, min),
    TableRow("data-local maps", lambda run: run.summary.locality.node, "{:.0%}".format, max),
    TableRow("map slots busy", lambda run: run.summary.utilisation.map, "{:.0%}".format),
    TableRow("reduce slots busy", lambda run: run.summary.utilisation.reduce, "{:.0%}".format),
    TableRow("slot time wasted", _wasted, "{:.1%}".format, min),
    TableRow("speculative attempts", _speculative, "{:,.0f}".format),
    TableRow("  won", _won, "{:,.0f}".format),
    TableRow("virtual time", lambda run: run.summary.virtual_seconds, _virtual_time),
    TableRow("messages", lambda run: run.summary.messages, "{:,.0f}".format),
    TableRow("  ties among them", lambda run: run.summary.ties, "{:,.0f}".format),
    TableRow("time to decide", lambda run: run.scheduling.us_per_decision, "{:.1f} µs".format),
    TableRow("computed in", lambda run: run.wall_seconds, "{:.1f} s".format),
)
"""The rows, top to bottom."""
