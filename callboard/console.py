"""The consoles for everything that people read."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from rich import box
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from callboard.scheduler.text.quantities import printable


class PlainConsole(Console):
    """Rich's console without its own colouring, and with a broken pipe left to the caller."""

    def __init__(self, *, stderr: bool = False, width: int | None = None) -> None:
        super().__init__(stderr=stderr, width=width, highlight=False)

    def on_broken_pipe(self) -> None:
        """Raise BrokenPipeError; Rich itself would leave the program with status 1."""
        raise BrokenPipeError


def plain(text: str, style: str = "") -> Text:
    """A user's text just as it is: no markup and no emoji codes are read in it."""
    return Text(printable(text), style)


class ReportConsole(PlainConsole):
    """Standard output for tables and lines; lines are wrapped on a terminal only."""

    def __init__(self) -> None:
        self._wraps = sys.stdout.isatty()
        super().__init__(width=None if self._wraps else 120)

    def print_line(self, text: str | Text = "", style: str = "") -> None:
        """Print a text, one of a user just as it is."""
        shown = plain(text, style) if isinstance(text, str) else text
        self.print(shown, soft_wrap=not self._wraps)

    def print_lines(self, lines: Iterable[str], style: str = "") -> None:
        for line in lines:
            self.print_line(line, style)

    def print_table_in_parts(self, table: Table) -> None:
        """Print a table whole: one that is too wide in parts, each with the columns of text that it
        begins with, or its first, and as many others as there is room for.
        """
        texts = len(list(takewhile(lambda column: column.justify == "left", table.columns)))
        labels, left = table.columns[: max(texts, 1)], table.columns[max(texts, 1) :]
        while left:
            taken = 1
            while taken < len(left) and self._table_fits(table, [*labels, *left[: taken + 1]]):
                taken += 1
            self.print(_table_of_columns(table, [*labels, *left[:taken]]))
            left = left[taken:]

    def _table_fits(self, table: Table, columns: Sequence[Column]) -> bool:
        unlimited = self.options.update(max_width=10_000)
        needed = self.measure(_table_of_columns(table, columns), options=unlimited).maximum
        return needed <= self.width


def _table_of_columns(table: Table, columns: Sequence[Column]) -> Table:
    """The table with only these of its columns."""
    part = Table(box=table.box, pad_edge=table.pad_edge)
    for each in columns:
        part.add_column(
            each.header, justify=each.justify, no_wrap=each.no_wrap, overflow=each.overflow
        )
    for row in zip(*(each.cells for each in columns), strict=True):
        part.add_row(*row)
    return part


def print_aside(text: str) -> None:
    """Print a line on standard error: what was done, beside what was asked for."""
    PlainConsole(stderr=True).print(plain(text), soft_wrap=True)


def print_list(rows: Iterable[Sequence[str]]) -> None:
    """A table of two columns on a terminal; else a line for each row, in columns."""
    if not sys.stdout.isatty():
        for line in aligned_lines(list(rows)):
            print(line)
        return
    table = Table(box=box.SIMPLE, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True, style="bold")
    table.add_column()
    for row in rows:
        table.add_row(*map(plain, row))
    PlainConsole().print(table)


def aligned_lines(rows: Sequence[Sequence[str]], *, figures: bool = False) -> Iterator[str]:
    """Rows in columns as wide as their longest cells; figures, all but the first, to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.rjust(width) if figures and place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
