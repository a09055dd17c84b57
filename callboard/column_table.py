"""A table of columns for notebooks: NumPy arrays by name, pandas and polars where installed."""

import html
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from callboard.experiments.many.sweeps.sweep_rows import TEXT_FIGURES
from callboard.journal.export.rows import TEXT_COLUMNS
from callboard.journal.export.table_files import holds_text
from callboard.scheduler.text.missing_extra import imported_extra

ROWS_SHOWN = 10
"""That many rows of a table are shown, from its beginning."""


class ColumnTable(Mapping[str, NDArray[Any]]):
    """Columns of one length by name.

    Whole numbers are int64, or float64 with NaN where some are missing; text is an array of `str`,
    with None where it is missing.  Names that end in `_ms` are virtual milliseconds, in `_s`
    seconds.
    """

    def __init__(self, columns: Mapping[str, Sequence[Any] | NDArray[Any]]) -> None:
        self._columns = {name: _column_array(name, values) for name, values in columns.items()}

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return next((len(column) for column in self._columns.values()), 0)

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        """How many columns there are."""
        return len(self._columns)

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame`; MissingExtraError where pandas is not installed."""
        return _import_library("pandas").DataFrame(self._columns)

    def to_polars(self) -> Any:
        """A `polars.DataFrame`; MissingExtraError where polars is not installed."""
        columns = {name: column.tolist() for name, column in self._columns.items()}
        return _import_library("polars").DataFrame(columns, strict=False)

    def __repr__(self) -> str:
        return f"<table of {self.rows:,} rows: {', '.join(self._columns)}>"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self._columns)
        shown = zip(*(column[:ROWS_SHOWN].tolist() for column in self.values()), strict=True)
        body = "".join(
            "<tr>"
            + "".join(f"<td>{html.escape(_written_value(each))}</td>" for each in row)
            + "</tr>"
            for row in shown
        )
        more = f"<p>{self.rows:,} rows</p>" if self.rows > ROWS_SHOWN else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


_TEXT = TEXT_COLUMNS | TEXT_FIGURES | {"event", "text"}
"""The columns that are text also where no row has any."""


def _column_array(name: str, values: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    if isinstance(values, np.ndarray):
        return values
    if holds_text(name, values, _TEXT):
        return np.array(values, object)
    if any(value is None or isinstance(value, float) for value in values):
        return np.array([np.nan if value is None else value for value in values], np.float64)
    return np.array(values, np.int64)


def _written_value(value: object) -> str:
    if value is None or value != value:
        return ""
    return f"{value:,.6g}" if isinstance(value, float) else str(value)


def _import_library(name: str) -> Any:
    return imported_extra(name, f"this needs {name}: pip install {name}")
