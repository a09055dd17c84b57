"""The tables as files: CSV with the standard library, Parquet with pyarrow where it is."""

import csv
from collections.abc import Container, Iterable
from pathlib import Path
from typing import TextIO

from callboard.journal.export.rows import TEXT_COLUMNS, Columns, TableCell
from callboard.scheduler.text.missing_extra import imported_extra
from callboard.scheduler.text.quantities import printable

_FORMULA_STARTS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""Also the fullwidth forms.  A tab or a line break at the start is escaped before."""


def write_csv(columns: Columns, file: TextIO) -> int:
    """A line with the names, then a line a row (RFC 4180, but lines end in a newline); how many
    rows.  What is None is left empty, and text is `inert`, names of columns too.
    """
    writer = csv.writer(file, lineterminator="\n")
    rows = [columns, *zip(*columns.values(), strict=True)]
    writer.writerows(map(inert, row) for row in rows)
    return len(rows) - 1


def inert(cell: TableCell) -> TableCell:
    """Text that neither a terminal nor a spreadsheet acts upon (OWASP, CSV Injection): control
    characters are written as escapes, and what a spreadsheet takes for a formula gets a `'` before.
    """
    if not isinstance(cell, str):
        return cell
    text = printable(cell)
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def check_parquet() -> None:
    """MissingExtraError if Parquet cannot be written here."""
    imported_extra(
        "pyarrow.parquet",
        'Parquet needs pyarrow, which is not installed: pip install "callboard[parquet]";'
        " CSV needs nothing",
    )


def holds_text(name: str, values: Iterable[object], text: Container[str]) -> bool:
    """Whether a column is one of text: its name is in `text`, or a row of it has some."""
    return name in text or any(isinstance(value, str) for value in values)


def write_parquet(
    columns: Columns, path: Path, about: dict[str, str], text: Container[str] = TEXT_COLUMNS
) -> int:
    """One Parquet file with `about` in its metadata; how many rows.  `text` are the columns of text
    (`holds_text`).  Check first that it can be.
    """
    import pyarrow
    import pyarrow.parquet

    def column_type(name: str, values: list[TableCell]) -> object:
        if holds_text(name, values, text):
            return pyarrow.string()
        is_real = any(isinstance(value, float) for value in values)
        return pyarrow.float64() if is_real else pyarrow.int64()

    arrays = {
        name: pyarrow.array(values, column_type(name, values)) for name, values in columns.items()
    }
    table = pyarrow.table(arrays).replace_schema_metadata(about)
    pyarrow.parquet.write_table(table, path)
    return int(table.num_rows)
