"""The table that `callboard run` ends with: one row a policy, the better figure in bold."""

from collections.abc import Callable, Sequence

from rich import box
from rich.table import Table

from journal.names import duration
from journal.summary import Spread, Summary


class Row:
    """One run's figures as the table wants them."""

    def __init__(self, summary: Summary, wall_seconds: float, slowdown: Spread | None) -> None:
        self.summary = summary
        self.wall_seconds = wall_seconds
        self.slowdown = slowdown


Figure = Callable[[Row], float | None]
Column = tuple[str, Figure, Callable[[float], str], bool]
"""Heading, where the figure comes from, how it is written, and whether the smallest is best."""


def comparison(rows: Sequence[Row]) -> Table:
    """The table; where there are several rows the best figure of a column is bold."""
    columns = list(_columns(rows))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("policy", no_wrap=True)
    for heading, _, _, _ in columns:
        table.add_column(heading, justify="right", no_wrap=True)
    best = [_best(rows, figure) if smallest else None for _, figure, _, smallest in columns]
    for row in rows:
        cells = [
            _cell(figure(row), write, winner)
            for (_, figure, write, _), winner in zip(columns, best, strict=True)
        ]
        table.add_row(row.summary.policy, *cells)
    return table


def _columns(rows: Sequence[Row]) -> Sequence[Column]:
    """The columns; slowdown only if it was computed."""

    def response(name: str) -> Figure:
        return lambda row: _field(row.summary.response_seconds, name)

    columns: list[Column] = [
        ("jobs", lambda row: row.summary.jobs.completed, "{:,.0f}".format, False),
        ("mean s", response("mean"), _seconds, True),
        ("median s", response("median"), _seconds, True),
        ("p95 s", response("p95"), _seconds, True),
        ("max s", response("max"), _seconds, True),
    ]
    if any(row.slowdown is not None for row in rows):
        columns.append(("slowdown", lambda row: _field(row.slowdown, "mean"), _times, True))
    columns += [
        ("local", lambda row: row.summary.locality.node, "{:.0%}".format, False),
        ("maps", lambda row: row.summary.utilisation.map, "{:.0%}".format, False),
        ("reduces", lambda row: row.summary.utilisation.reduce, "{:.0%}".format, False),
        ("ends at", lambda row: row.summary.virtual_seconds, _end, True),
        ("took", lambda row: row.wall_seconds, "{:.1f} s".format, False),
    ]
    return columns


def _field(spread: Spread | None, name: str) -> float | None:
    value: float | None = getattr(spread, name, None)
    return value


def _seconds(seconds: float) -> str:
    return f"{seconds:,.0f}" if seconds >= 100 else f"{seconds:.1f}"


def _end(seconds: float) -> str:
    return duration(round(seconds * 1000))


def _times(factor: float) -> str:
    return f"{factor:,.1f}×"


def _best(rows: Sequence[Row], figure: Figure) -> float | None:
    """The smallest figure, if it stands out."""
    values = [value for row in rows if (value := figure(row)) is not None]
    return min(values) if len(set(values)) > 1 else None


def _cell(value: float | None, write: Callable[[float], str], winner: float | None) -> str:
    if value is None:
        return "-"
    text = write(value)
    return f"[bold green]{text}[/]" if value == winner else text
