"""Reading a journal that may still be growing.

What a `Journal` reads once, a `Follower` reads on whenever it is asked.  The events of a chunk
without its seal are handed out when there is nothing else to read; when the seal comes it must fit
them all the same.
"""

import os
import stat
from collections import deque
from enum import Enum
from pathlib import Path
from typing import BinaryIO

from callboard.actors.vocabulary.events import AnyEvent, RunEnded
from callboard.journal.format import JournalError, check_regular
from callboard.journal.lock import is_held
from callboard.journal.record_decoder import RecordDecoder

_READ_BYTES = 1 << 18


class JournalStatus(Enum):
    """Whether a journal still grows."""

    WRITING = "still being written"
    COMPLETE = "complete"
    CUT_OFF = "cut off"


class Follower:
    """The events of the journal at `path`, as far as they have been written.

    `status` is what the last `take_events` found: it is complete as soon as the last event of a
    complete run has been taken.  Errors as in `Journal`; also JournalError where another run has
    begun in the file.  The file is closed at the end, and after an error.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.status = JournalStatus.WRITING
        self._file: BinaryIO | None = None
        self._read = 0
        self._decoder = RecordDecoder(self.path)
        self._ready: deque[AnyEvent] = deque()

    def take_events(self, count: int | None = None) -> list[AnyEvent]:
        """The next events, at most `count`; fewer if there are no more for now."""
        ready = self._ready
        try:
            while (count is None or len(ready) < count) and self._read_more():
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
        if self._file is not None:
            self._file.close()

    def _read_more(self) -> bool:
        """Whether there was any."""
        if self.status is not JournalStatus.WRITING:
            return False
        if self._file is None:
            check_regular(self.path)
            self._file = self.path.open("rb", buffering=0)
        # In this order: what was written before the writer left is found after it has.
        held = is_held(self._file)
        block = self._file.read(_READ_BYTES)
        if block:
            self._read += len(block)
            self._ready.extend(self._decoder.feed(block))
            return True
        self._check_same_run(self._file)
        self._ready += self._decoder.unsealed_events()
        if not held:
            self._decoder.check_header()
            ended = self._ready and isinstance(self._ready[-1], RunEnded)
            if not ended:
                self.status = JournalStatus.CUT_OFF
        return False

    def _check_same_run(self, file: BinaryIO) -> None:
        """A file that has become shorter is no longer the one that was read."""
        status = os.fstat(file.fileno())
        if stat.S_ISREG(status.st_mode) and status.st_size < self._read:
            problem = "another run has begun in this file meanwhile"
            raise JournalError(self.path, status.st_size, problem)
