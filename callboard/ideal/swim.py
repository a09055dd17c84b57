"""Loading a SWIM trace for the experiment: arrays, and a digest that names the content.

The one place where the experiment touches trace files.
"""

from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from callboard.ideal.errors import IdealError

REPORT_FILES = {
    "FB09-0": "FB-2009_samples_24_times_1hr_0.tsv",
    "FB09-1": "FB-2009_samples_24_times_1hr_1.tsv",
    "FB10": "FB-2010_samples_24_times_1hr_0.tsv",
}
"""The report's names for its three traces, and SWIM's for the files (report §3)."""

COLUMNS = ("submit time", "gap", "input bytes", "shuffle bytes", "output bytes")


class Trace(NamedTuple):
    """A trace as the experiment needs it: one entry a job, in the file's order.

    `name` is for people; `digest` stands for the content in the cache.
    """

    name: str
    digest: str
    submit_s: NDArray[np.float64]
    input_bytes: NDArray[np.float64]
    shuffle_bytes: NDArray[np.float64]
    output_bytes: NDArray[np.float64]


def load(path: Path) -> Trace:
    """Read a SWIM file.  Raises `IdealError` naming file, line and column of what is wrong."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not text in UTF-8"
        raise IdealError(f"{path}: {reason}") from None
    rows = [_row(path, k, line) for k, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not rows:
        raise IdealError(f"{path}: no jobs in it")
    submit, _gap, read, shuffled, written = np.array(rows, dtype=np.float64).T
    digest = blake2b(text.encode(), digest_size=16).hexdigest()
    return Trace(name_of(path), digest, submit, read, shuffled, written)


def name_of(path: Path) -> str:
    """The report's name of the trace if it is one of its three, else the file's stem."""
    names = {file: name for name, file in REPORT_FILES.items()}
    return names.get(path.name, path.stem)


def _row(path: Path, number: int, line: str) -> list[int]:
    cells = line.split()
    if len(cells) != 1 + len(COLUMNS):
        raise IdealError(
            f"{path}, line {number}: expected {1 + len(COLUMNS)} columns, got {len(cells)}"
        )
    return [
        _whole(path, number, column, cell) for column, cell in zip(COLUMNS, cells[1:], strict=True)
    ]


def _whole(path: Path, number: int, column: str, cell: str) -> int:
    if not (cell.isascii() and cell.isdigit()):
        where = f"{path}, line {number}, {column}"
        raise IdealError(f'{where}: expected a whole number of at least 0, got "{cell}"')
    return int(cell)
