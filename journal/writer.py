"""Writing a journal while the run goes on.

Bytes are only ever added.  Each place in the file has one right content, so a write that was
interrupted (Ctrl-C) is simply done again at the same place; nothing is written twice.
"""

import contextlib
import errno
import os
import stat
import time
from collections.abc import Callable, Iterable
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, Self

import msgspec

from callboard.actors.vocabulary.events import AnyEvent
from callboard.journal import format as fmt
from callboard.journal.format import CHUNK_BYTES, HEADER, SHORT_HEADS, JournalError
from callboard.journal.lock import hold, keep_lock

FLUSH_SECONDS = 1.0
"""Events wait no longer than this (of wall-clock time) for the next event to push them out."""


class JournalWriter:
    """A sink that records every event it is called with.  An existing file is replaced.

    Events reach the operating system when a chunk is full, when an event comes `FLUSH_SECONDS`
    or more after the last write, on `flush()` and on `close()`.  A process that is killed loses
    at most what came after; the file stays readable up to there.  While the file is open readers
    can see that it is being written, and no other writer can open it (`journal.lock`).

    Raises OSError as the file system does, EBUSY if another writer has the file open, and
    JournalError for an event of 16 MiB or more.  If it is `hashed` its `digest` can be asked for.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        clock: Callable[[], float] = time.monotonic,
        hashed: bool = False,
    ) -> None:
        self.path = Path(path)
        self._hash = blake2b(digest_size=16) if hashed else None
        self._file: BinaryIO = _locked_empty_file(self.path)
        self._encode = msgspec.msgpack.Encoder().encode
        self._clock = clock
        self._file.write(HEADER)
        self._begin = len(HEADER)  # where in the file the open chunk begins
        self._chunk = bytearray()  # all of the open chunk, written or not
        self._written = 0  # how many of its bytes the operating system has
        try:
            self.flush()
        except OSError:
            self._close_after_error()
            raise

    def __call__(self, event: AnyEvent) -> None:
        """Record one event."""
        body = self._encode(event)
        length = len(body)
        # One `+=` so that Ctrl-C finds either the whole record in the chunk or nothing of it.
        self._chunk += (SHORT_HEADS[length] if length < 1024 else self._long_head(length)) + body
        if len(self._chunk) >= CHUNK_BYTES:
            self._seal_chunk()
        elif self._clock() - self._flushed_at >= FLUSH_SECONDS:
            self.flush()

    def record(self, events: Iterable[AnyEvent]) -> None:
        """Record many at once: the same as one by one, for less."""
        encode, most = self._encode, fmt.CHUNK_BYTES
        for event in events:
            body = encode(event)
            length = len(body)
            self._chunk += (
                SHORT_HEADS[length] if length < 1024 else self._long_head(length)
            ) + body
            if len(self._chunk) >= most:
                self._seal_chunk()
        if self._clock() - self._flushed_at >= FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Hand all events so far to the operating system."""
        self._write_chunk(self._chunk)
        self._written = len(self._chunk)

    def digest(self) -> str:
        """A name of what is recorded so far: the BLAKE2b of its chunks, as 32 digits."""
        assert self._hash is not None, "it is not hashed"
        so_far = self._hash.copy()
        so_far.update(self._chunk)
        return so_far.hexdigest()

    def close(self) -> None:
        """Seal the last chunk and close the file.  Closing twice is allowed.

        Interrupted by Ctrl-C it leaves the file open, so that closing can be tried again.
        """
        if self._file.closed:
            return
        try:
            if self._chunk:
                self._seal_chunk()
        except OSError:
            self._close_after_error()
            raise
        self._file.close()

    def keep_lock(self) -> contextlib.AbstractContextManager[None]:
        """Keep other writers off the file within this context, although it be closed in it."""
        return contextlib.nullcontext() if self._file.closed else keep_lock(self._file)

    def _close_after_error(self) -> None:
        """Close the file although it does not take the rest."""
        with contextlib.suppress(OSError):
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _long_head(self, length: int) -> bytes:
        if length > fmt.RECORD_BYTES_MAX:
            problem = f"an event of {length} bytes is too long to record"
            raise JournalError(self.path, self._begin + len(self._chunk), problem)
        return fmt.record_head(length)

    def _seal_chunk(self) -> None:
        whole = self._chunk + fmt.seal(self._chunk)
        self._write_chunk(whole)
        if self._hash is not None:
            self._hash.update(self._chunk)
        fresh = bytearray()
        # Nothing is called between these stores, so an interrupt falls before or after them all.
        self._begin += len(whole)
        self._chunk = fresh
        self._written = 0

    def _write_chunk(self, chunk: bytearray) -> None:
        """Write the bytes of the open chunk that are not in the file yet, at their place."""
        try:
            self._file.seek(self._begin + self._written)
            self._file.write(memoryview(chunk)[self._written :])
            self._file.flush()
        except OSError as error:  # the error of a full disk does not name the file
            raise OSError(error.errno, error.strerror, str(self.path)) from error
        self._flushed_at = self._clock()


def _locked_empty_file(path: Path) -> BinaryIO:
    """The file, empty; nothing of it is touched before it is certain that nobody writes it."""
    flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        file = os.fdopen(os.open(path, flags, 0o666), "wb")
    except FileNotFoundError:  # in /proc and the like, where it says no more
        raise OSError(errno.EACCES, "no file can be made there", str(path)) from None
    try:
        if not hold(file):
            busy = "another run is being recorded in it; choose another name"
            raise OSError(errno.EBUSY, busy, str(path))
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            file.truncate(0)
    except BaseException:
        file.close()
        raise
    return file
