"""Reading a journal that may still be growing.

What a `Journal` reads once, a `Follower` reads on whenever it is asked.  A record that is not
whole yet is left for later.  The events of a chunk without its seal are handed out when nothing
else is there to read; when the seal comes it must fit them all the same.
"""

import os
import stat
from collections import deque
from enum import Enum
from pathlib import Path
from typing import BinaryIO

from callboard.actors.vocabulary.events import AnyEvent, RunEnded
from callboard.journal.format import HEAD_BYTES, HEADER, SEAL_BYTES, SEAL_HEAD, JournalError
from callboard.journal.lock import is_held
from callboard.journal.reader import Chunk, check_header

_READ_BYTES = 1 << 18


class JournalStatus(Enum):
    """How it stands with a journal."""

    WRITING = "still being written"
    COMPLETE = "complete"
    CUT_OFF = "cut off"


class Follower:
    """The events of the journal at `path`, as far as they have been written.

    `standing` is what the last `take` found: who has taken every event of a complete run knows it
    by then.  Errors as in `Journal`; also JournalError where another run has begun in the file.
    The file is let go of at the end, and after an error.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.status = JournalStatus.WRITING
        self._file: BinaryIO | None = None
        self._read = 0
        self._raw = bytearray()
        """What has been read and is no whole record yet."""
        self._chunk: Chunk | None = None
        """The open chunk; None until the header was read."""
        self._ready: deque[AnyEvent] = deque()

    def take(self, count: int | None = None) -> list[AnyEvent]:
        """The next events, at most so many; fewer if no more are there for now."""
        ready = self._ready
        try:
            while (count is None or len(ready) < count) and self._advance():
                pass
        except JournalError:
            self.close()
            raise
        taken = [ready.popleft() for _ in range(len(ready) if count is None else count) if ready]
        if taken and isinstance(taken[-1], RunEnded):
            self.status = JournalStatus.COMPLETE
        if self.status is not JournalStatus.WRITING:
            self.close()
        return taken

    def close(self) -> None:
        """Let go of the file before that."""
        if self._file is not None:
            self._file.close()

    def _advance(self) -> bool:
        """Read some more; whether there was any."""
        if self.status is not JournalStatus.WRITING:
            return False
        if self._file is None:
            self._file = self.path.open("rb", buffering=0)
        # In this order: what was written before the writer left is found after it has.
        held = is_held(self._file)
        block = self._file.read(_READ_BYTES)
        if block:
            self._read += len(block)
            self._raw += block
            self._parse()
            return True
        self._check_same_run(self._file)
        self._hand_out()
        if not held:
            self._check_begun()
            ended = self._ready and isinstance(self._ready[-1], RunEnded)
            if not ended:
                self.status = JournalStatus.CUT_OFF
        return False

    def _check_same_run(self, file: BinaryIO) -> None:
        """A file that has become shorter is no longer the one that was read."""
        status = os.fstat(file.fileno())
        if stat.S_ISREG(status.st_mode) and status.st_size < self._read:
            trouble = "another run has begun in this file meanwhile"
            raise JournalError(self.path, status.st_size, trouble)

    def _check_begun(self) -> None:
        """A file that nobody writes and that has no header is no journal."""
        if self._chunk is None:
            check_header(self.path, bytes(self._raw))

    def _parse(self) -> None:
        """Take the whole records out of what has been read."""
        raw, at = self._raw, 0
        if self._chunk is None:
            if len(raw) < len(HEADER):
                return
            check_header(self.path, bytes(raw[: len(HEADER)]))
            at = len(HEADER)
            self._chunk = Chunk(self.path, at)
        while len(raw) - at >= HEAD_BYTES:
            head = bytes(raw[at : at + HEAD_BYTES])
            if head == SEAL_HEAD:
                if len(raw) - at < SEAL_BYTES:
                    break
                self._ready += self._chunk.sealed(bytes(raw[at : at + SEAL_BYTES]))
                at += SEAL_BYTES
                self._chunk = Chunk(self.path, self._chunk.end + SEAL_BYTES)
                continue
            end = at + HEAD_BYTES + self._chunk.length(head)
            if len(raw) < end:
                break
            self._chunk.add(head, bytes(raw[at + HEAD_BYTES : end]))
            at = end
        del raw[:at]

    def _hand_out(self) -> None:
        """The records that no seal covers yet."""
        if self._chunk is not None:
            self._ready += self._chunk.decoded()
