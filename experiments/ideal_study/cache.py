"""Outcomes kept on disk as they come in, so that a kill loses only what was being computed."""

import os
import sqlite3
from pathlib import Path
from typing import Self

from callboard.experiments.ideal_study.cells import (
    RunOutcome,
    StudyCell,
    WorkerAnswer,
    program_digest,
)
from callboard.experiments.user_errors import InputError

_KEY = ("program", *StudyCell._fields, "run")
_TABLE = f"""
CREATE TABLE IF NOT EXISTS outcomes (
    program TEXT, trace TEXT, model TEXT, discipline TEXT,
    load REAL, dn REAL, sigma REAL, seed TEXT, run INTEGER,
    mean_s REAL, median_s REAL, p95_s REAL, slowdown REAL,
    PRIMARY KEY ({", ".join(_KEY)})
) WITHOUT ROWID
"""
_FIND = f"""
SELECT run, {", ".join(RunOutcome._fields)} FROM outcomes
WHERE {" AND ".join(f"{name} = ?" for name in _KEY[:-1])}
"""
_ADD = f"INSERT OR REPLACE INTO outcomes VALUES ({', '.join('?' * (len(_KEY) + 4))})"


def default_path() -> Path:
    """`callboard/ideal.sqlite` in the user's cache folder (`XDG_CACHE_HOME`, else `~/.cache`)."""
    folder = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(folder).expanduser() / "callboard" / "ideal.sqlite"


class Cache:
    """The outcomes of the present program on disk; a context manager."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, timeout=60)
            with self._db:
                self._db.execute(_TABLE)
        except (OSError, sqlite3.Error) as error:
            raise InputError(f"{path}: cannot keep results there ({error})") from None

    def find(self, cell: StudyCell) -> dict[int, RunOutcome]:
        """The outcomes of `cell` that are known, by run."""
        rows = self._db.execute(_FIND, (program_digest(), *_columns(cell)))
        return {run: RunOutcome(*values) for run, *values in rows}

    def add(self, answer: WorkerAnswer) -> None:
        """Keep an answer on disk; `InputError` if a worker's code, which made it, is not ours."""
        if answer.program != program_digest():
            raise InputError("a worker runs another version of Callboard or NumPy than this one")
        head = (answer.program, *_columns(answer.cell))
        rows = zip(answer.runs, answer.outcomes, strict=True)
        try:
            with self._db:
                self._db.executemany(_ADD, [(*head, run, *outcome) for run, outcome in rows])
        except sqlite3.Error as error:
            raise InputError(f"{self.path}: cannot keep results there ({error})") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()


def _columns(cell: StudyCell) -> tuple[object, ...]:
    """The cell as SQLite takes it: a seed may be larger than its integers."""
    return (*cell[:-1], str(cell.seed))
