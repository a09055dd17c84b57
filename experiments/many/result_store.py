"""A file of results, each under a key that names its content: what is there need not be computed.

An SQLite database.  A result is added in one transaction: a program killed at any moment has lost
what it was computing, and what is in the file is whole.  Beside the results stand places: what
somebody calls a content (a scenario in a setting under a policy with a seed), and where it is now.
"""

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Self

import msgspec

from callboard.experiments.user_errors import InputError

APPLICATION_ID = 0x43424F44
"""What SQLite writes into the file's head: it is one of ours."""

STORE_VERSION = 1

NOTHING_YET = "there is nothing in it yet"
"""What is said of a file in which nobody has kept a run."""

_AT_ONCE = 500
"""That many keys are asked for in one query."""

_TABLES = """
CREATE TABLE IF NOT EXISTS results (
    key TEXT PRIMARY KEY, value BLOB, error TEXT NOT NULL, seconds REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS places (place TEXT PRIMARY KEY, key TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS questions (name TEXT PRIMARY KEY, question BLOB NOT NULL);
"""

_NOTES = "CREATE TABLE IF NOT EXISTS notes (about TEXT PRIMARY KEY, note TEXT NOT NULL)"
"""Stores of before have no such table."""

_SOURCES = "CREATE TABLE IF NOT EXISTS sources (name TEXT PRIMARY KEY, given TEXT NOT NULL)"
"""Nor this one.  Of them a path in it is seen from the folder in which the sweep was started."""

_FILES = "CREATE TABLE IF NOT EXISTS files (name TEXT PRIMARY KEY, path TEXT NOT NULL)"
"""Nor this one.  A path is seen from the store's folder."""

_OPTIONS = "CREATE TABLE IF NOT EXISTS options (key TEXT PRIMARY KEY, asked TEXT NOT NULL)"
"""Nor this one: there nobody knows with which options contents were asked for."""


def users_store_path() -> Path:
    """The file in which results are kept that nobody has named one for: `callboard/results.sqlite`
    in the user's cache folder (`XDG_CACHE_HOME`, else `~/.cache`), which is made.  InputError.
    """
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    folder = Path(cache).expanduser() / "callboard"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}; name another file by --cache") from None
    return folder / "results.sqlite"


class Kept(NamedTuple):
    """A result as it is kept: its bytes, or why there are none, and the seconds that it took."""

    value: bytes | None
    error: str
    seconds: float


class ResultStore:
    """The results in a file; a context manager.  InputError for a file that cannot be one."""

    def __init__(self, path: Path, *, must_exist: bool = False) -> None:
        self.path = path
        if must_exist and not path.is_file():
            raise InputError(f"{path}: there is no such file")
        if path.is_file() and path.stat().st_size and not is_store(path):
            raise InputError(f"{path}: exists and holds no results of Callboard; choose another")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, timeout=60)
            self._prepare_tables()
        except (OSError, sqlite3.Error) as error:
            raise InputError(f"{path}: cannot keep results there ({error})") from None

    def _prepare_tables(self) -> None:
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        if version > STORE_VERSION:
            raise InputError(f"{self.path}: written by a later version of Callboard")
        if version < STORE_VERSION:
            with self._db:
                self._db.executescript(
                    f"BEGIN IMMEDIATE; PRAGMA application_id = {APPLICATION_ID};"
                    f" PRAGMA user_version = {STORE_VERSION}; {_TABLES} COMMIT;"
                )

    def find(self, keys: Iterable[str]) -> dict[str, Kept]:
        """Those results that are there, by key."""
        wanted, found = list(keys), {}
        with self._database_errors_told():
            for first in range(0, len(wanted), _AT_ONCE):
                some = wanted[first : first + _AT_ONCE]
                marks = ", ".join("?" * len(some))
                query = f"SELECT key, value, error, seconds FROM results WHERE key IN ({marks})"
                for key, *kept in self._db.execute(query, some):
                    found[key] = Kept(*kept)
        return found

    def add(self, results: Iterable[tuple[str, Kept]]) -> None:
        """Keep these on disk, all or none; what was kept under their keys is replaced."""
        rows = [(key, *kept) for key, kept in results]
        with self._database_errors_told(), self._db:
            self._db.executemany("INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?)", rows)

    def put_places(self, places: Iterable[tuple[str, str]], options: str | None = None) -> None:
        """Note where contents are, each a place and a key; a place has the key it was given last,
        and the order that it was first put in.  `options` are what was asked of all of them beside
        their places, where that matters.
        """
        rows = list(places)
        query = (
            "INSERT INTO places VALUES (?, ?) ON CONFLICT (place) DO UPDATE SET key = excluded.key"
        )
        with self._database_errors_told(), self._db:
            self._db.executemany(query, rows)
            if options is not None:
                asked = [(key, options) for _, key in rows]
                self._db.execute(_OPTIONS)
                self._db.executemany("INSERT OR REPLACE INTO options VALUES (?, ?)", asked)

    def drop_places(self, places: Iterable[str]) -> None:
        """Forget where contents were; the contents stay."""
        with self._database_errors_told(), self._db:
            self._db.executemany("DELETE FROM places WHERE place = ?", [(each,) for each in places])

    def keys_by_place(self) -> dict[str, str]:
        """The key of each place, in their order."""
        with self._database_errors_told():
            return dict(self._db.execute("SELECT place, key FROM places ORDER BY rowid"))

    def options_by_key(self) -> dict[str, str]:
        """The options of each content of which they are known, by its key."""
        return self._pairs_in_table("options", "SELECT key, asked FROM options")

    def put_question(self, name: str, question: bytes) -> None:
        """Remember what was asked of the results."""
        with self._database_errors_told(), self._db:
            self._db.execute("INSERT OR REPLACE INTO questions VALUES (?, ?)", (name, question))

    def questions(self) -> dict[str, bytes]:
        """What was asked, by name, in the order in which it was."""
        with self._database_errors_told():
            return dict(self._db.execute("SELECT name, question FROM questions ORDER BY rowid"))

    def put_note(self, about: str, note: str) -> None:
        """Keep what a reader has to know about something; an empty note takes it back."""
        with self._database_errors_told(), self._db:
            self._db.execute(_NOTES)
            self._db.execute("DELETE FROM notes WHERE about = ?", (about,))
            if note:
                self._db.execute("INSERT INTO notes VALUES (?, ?)", (about, note))

    def notes(self) -> dict[str, str]:
        """What a reader has to know, by what it is about."""
        return self._pairs_in_table("notes", "SELECT about, note FROM notes")

    def put_scenario_source(self, name: str, given: str) -> None:
        """Remember that a scenario of that name was asked for as `given`, which is no file."""
        with self._database_errors_told(), self._db:
            self._db.execute(_FILES)
            self._db.execute("DELETE FROM files WHERE name = ?", (name,))
            self._db.execute(_SOURCES)
            self._db.execute("INSERT OR REPLACE INTO sources VALUES (?, ?)", (name, given))

    def put_scenario_path(self, name: str, path: Path) -> None:
        """Remember in which file a scenario of that name is.  The path is kept as it is seen from
        the store, so that it is found from any folder, and wherever both are moved together.
        """
        kept = os.path.relpath(path.resolve(), self.path.parent.resolve())
        with self._database_errors_told(), self._db:
            self._db.execute(_FILES)
            self._db.execute("INSERT OR REPLACE INTO files VALUES (?, ?)", (name, kept))

    def scenario_sources(self) -> dict[str, str]:
        """How scenarios were last asked for, by their names: files by their paths from here."""
        given = self._pairs_in_table("sources", "SELECT name, given FROM sources")
        files = self._pairs_in_table("files", "SELECT name, path FROM files")
        folder = self.path.parent.resolve()
        found = {name: os.path.relpath(folder / kept) for name, kept in files.items()}
        return {**given, **found}

    def _pairs_in_table(self, table: str, query: str) -> dict[str, str]:
        """The rows of a table that may not be there."""
        with self._database_errors_told():
            tables = self._db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,))
            there = tables.fetchone() is not None
            return dict(self._db.execute(query)) if there else {}

    @contextmanager
    def unreadable_content_told(self) -> Iterator[None]:
        """InputError for the ValueError of what is read of it and cannot be made out."""
        try:
            yield
        except ValueError as error:
            raise InputError(f"{self.path}: {error}") from None

    @contextmanager
    def _database_errors_told(self) -> Iterator[None]:
        """InputError for what SQLite says."""
        try:
            yield
        except sqlite3.Error as error:
            raise InputError(f"{self.path}: cannot be read or written ({error})") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()


def is_store(path: Path) -> bool:
    """Whether a file is such a store, by its first bytes."""
    try:
        with path.open("rb") as file:
            head = file.read(72)
    except OSError:
        return False
    return head.startswith(b"SQLite format 3\0") and head[68:72] == APPLICATION_ID.to_bytes(4)


def key_of(*content: object) -> str:
    """The key of plain data without sets: a digest of it.  Tables whose entries stand in another
    order are other data: of equal queues the one that is written first is served first.
    """
    from hashlib import blake2b

    data = msgspec.msgpack.encode(content)
    return blake2b(data, digest_size=16).hexdigest()
