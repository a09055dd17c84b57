"""The journal's bytes: a header, then chunks of records, each chunk closed by a seal.

    header   8 bytes of magic, then the format's version (u16, little-endian)
    record   a head (4 bytes: the body's length), then the body: one event as msgpack
    seal     the head of length 0, then the CRC-32 of the chunk's bytes before it (u32, LE)

A chunk is sealed as soon as it holds `CHUNK_BYTES` or the journal is closed, so where the seals
stand depends on the events alone and not on when bytes were handed to the operating system:
the same events always give the same file.  A run that was killed leaves records without a seal;
all whole records among them are readable.

A head is the length's three bytes and a check byte made from them.  It lets a reader tell a
damaged length (an error) from a file that was cut off (not an error) without reading on.
"""

import zlib
from pathlib import Path

from callboard.scheduler.text.special_file import special_file

MAGIC = b"\x8aCBJRNL\n"
"""First bytes of every journal.  Not ASCII, so that no text file begins like this."""

VERSION = 26
"""Raised when the frames or the events' fields change, so that old and new are not confused.  There
was no 7, 9, 10, 12 to 15, 17, 18 or 20 to 24: one changed bit would have made of it one that can be
read too.
"""

OLDEST_READ = 5
"""What was written since then can be read: later versions have other kinds of events."""

NEVER_WRITTEN = (7, 9, 10, 12, 13, 14, 15, 17, 18, 20, 21, 22, 23, 24)
"""What says that it is of these is damaged."""

HEADER = MAGIC + VERSION.to_bytes(2, "little")
HEAD_BYTES = 4
CHUNK_BYTES = 64 * 1024
RECORD_BYTES_MAX = 16 * 1024 * 1024 - 1
"""The longest event.  Only a `RunStarted` with very many nodes comes near."""


NOT_A_JOURNAL = "this is not a Callboard journal"


class JournalError(Exception):
    """A journal that cannot be read, or not beyond a place, in words for people.

    `path` is the file, `offset` the byte at which the problem begins.
    """

    def __init__(self, path: Path, offset: int, problem: str) -> None:
        super().__init__(f"{path}: byte {offset}: {problem}")
        self.path = path
        self.offset = offset
        self.problem = problem


def is_journal(path: Path) -> bool:
    """Whether the file can be read and begins as a journal does, as far as it goes."""
    if special_file(path):
        return False
    try:
        with path.open("rb") as file:
            begin = file.read(len(MAGIC))
            return bool(begin) and MAGIC.startswith(begin)
    except OSError:
        return False


def check_regular(path: Path) -> None:
    """JournalError for what is no regular file, such as a named pipe."""
    special = special_file(path)
    if special:
        raise JournalError(path, 0, f"this is {special}; a journal is a regular file")


def record_head(length: int) -> bytes:
    """The 4 bytes before a record of `length` bytes; of length 0: the beginning of a seal."""
    low, mid, high = length & 0xFF, (length >> 8) & 0xFF, length >> 16
    return bytes((low, mid, high, low ^ mid ^ high ^ 0xA5))


def length_of(raw: bytes) -> int | None:
    """The length that a head states, or None if its check byte is wrong."""
    length = _SHORT.get(raw)
    if length is None:
        length = int.from_bytes(raw[:3], "little")
        if record_head(length) != raw:
            return None
    return length


SHORT_HEADS = tuple(record_head(length) for length in range(1024))
"""The heads of nearly all records, made once because making one costs as much as an event."""

_SHORT = {raw: length for length, raw in enumerate(SHORT_HEADS)}


SEAL_HEAD = record_head(0)
SEAL_BYTES = HEAD_BYTES + 4


def seal(chunk: bytes | bytearray) -> bytes:
    """The 8 bytes that close a chunk."""
    return SEAL_HEAD + zlib.crc32(chunk).to_bytes(4, "little")
