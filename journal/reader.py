"""Reading a journal back, a chunk at a time.

Nothing is believed before it is checked: a chunk's events are handed out once its seal has been
found right.  Memory is bounded by one chunk and the longest record, whatever the file holds.
"""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import msgspec

from callboard.actors.vocabulary.events import AnyEvent, RunEnded
from callboard.journal.format import (
    CHUNK_BYTES,
    HEAD_BYTES,
    HEADER,
    MAGIC,
    SEAL_BYTES,
    SEAL_HEAD,
    VERSION,
    JournalError,
    length_of,
    seal,
)


def read_journal(path: str | Path) -> Iterator[AnyEvent]:
    """The events of the journal at `path`, in order.  Errors as in `Journal`."""
    return iter(Journal(path))


class Journal:
    """A recorded run.  Iterating reads the file from its beginning, each time anew.

    Raises JournalError for what is not a journal, is of another format version, or is damaged;
    OSError if the file cannot be opened or read.  A file that just stops is no error: iteration
    ends after the last whole event, and then `truncated` is True.  `complete` says whether the
    last event read was `RunEnded`; a run that was killed lacks it.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.truncated = False
        self.complete = False

    def __iter__(self) -> Iterator[AnyEvent]:
        """All events up to the end, the cut, or the first damage (JournalError)."""
        self.truncated = self.complete = False
        event: AnyEvent | None = None
        with self.path.open("rb") as file:
            check_header(self.path, file.read(len(HEADER)))
            for chunk in self._chunks(file):
                for event in chunk:
                    yield event
        self.complete = isinstance(event, RunEnded)

    def _chunks(self, file: BinaryIO) -> Iterator[list[AnyEvent]]:
        """The decoded chunks; the last one may lack its seal."""
        chunk = Chunk(self.path, file.tell())
        while True:
            start = chunk.end
            raw = file.read(HEAD_BYTES)
            if raw == SEAL_HEAD:
                crc = file.read(SEAL_BYTES - HEAD_BYTES)
                if len(crc) < SEAL_BYTES - HEAD_BYTES:
                    break
                yield chunk.sealed(raw + crc)
                chunk = Chunk(self.path, start + SEAL_BYTES)
                continue
            if len(raw) < HEAD_BYTES:
                # A file ends well only where a chunk ended, or where none ever began.
                self.truncated |= bool(raw) or bool(chunk.bodies)
                yield chunk.decoded()
                return
            length = chunk.length(raw)
            body = file.read(length)
            if len(body) < length:
                break
            chunk.add(raw, body)
        self.truncated = True
        yield chunk.decoded()


def check_header(path: Path, header: bytes) -> None:
    """JournalError if the first bytes of the file at `path` are not those of a journal."""
    if len(header) < len(HEADER) or not header.startswith(MAGIC):
        raise JournalError(path, 0, "this is not a Callboard journal")
    version = int.from_bytes(header[len(MAGIC) :], "little")
    if version > VERSION:
        trouble = f"written in format {version}, newer than the {VERSION} that is known here"
        raise JournalError(path, len(MAGIC), trouble)
    if version < VERSION:
        trouble = f"written in format {version}; only {VERSION} can be read"
        raise JournalError(path, len(MAGIC), trouble)


_decode = msgspec.msgpack.Decoder[AnyEvent](AnyEvent).decode


class Chunk:
    """The records of one chunk, gathered but not yet believed.

    `sealed` and `decoded` give each event once: those that were not given before.
    """

    def __init__(self, path: Path, begin: int) -> None:
        self.path = path
        self.begin = begin
        self.end = begin
        self.heads: list[bytes] = []
        self.bodies: list[bytes] = []
        self._given = 0

    def length(self, raw: bytes) -> int:
        """The length of the record that `raw` heads."""
        length = length_of(raw)
        if length is None:
            raise JournalError(self.path, self.end, "damaged: no record begins here")
        if self.end - self.begin >= CHUNK_BYTES:
            raise JournalError(self.path, self.end, "damaged: a seal is missing here")
        return length

    def add(self, raw: bytes, body: bytes) -> None:
        """Take a whole record in."""
        self.heads.append(raw)
        self.bodies.append(body)
        self.end += HEAD_BYTES + len(body)

    def sealed(self, found: bytes) -> list[AnyEvent]:
        """The events, if the seal fits the bytes."""
        parts = chain.from_iterable(zip(self.heads, self.bodies, strict=True))
        if seal(b"".join(parts)) != found:
            trouble = f"damaged: the {self.end - self.begin} bytes from here do not fit their seal"
            raise JournalError(self.path, self.begin, trouble)
        return self.decoded()

    def decoded(self) -> list[AnyEvent]:
        """The events, checked by nothing but their own form."""
        events: list[AnyEvent] = []
        try:
            for body in self.bodies[self._given :]:
                events.append(_decode(body))
        except (msgspec.DecodeError, RecursionError) as error:
            good = self.bodies[: self._given + len(events)]
            before = sum(HEAD_BYTES + len(body) for body in good)
            trouble = f"damaged: not an event ({error})"
            raise JournalError(self.path, self.begin + before, trouble) from None
        self._given = len(self.bodies)
        return events
