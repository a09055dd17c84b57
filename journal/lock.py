"""Whether a journal is still being written: its writer holds a lock on it for as long as it lives.

The lock is advisory (flock), so it hinders no reader, and exclusive, so that a file has one writer;
the system releases it when the writer closes the file or is killed in whatever way.  Only regular
files are locked: any number of runs may go to /dev/null.  Where there is no flock, no journal
counts as being written.
"""

import contextlib
import os
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

_TRIES = 20
_TRY_EVERY_S = 0.005
"""A reader that looks (`is_held`) has the lock for a moment, and is no writer."""

if sys.platform == "win32":

    def hold(file: BinaryIO) -> bool:  # noqa: ARG001
        """Mark this file as being written, for as long as it is open."""
        return True

    def is_held(file: BinaryIO) -> bool:  # noqa: ARG001
        """Whether a writer has the file open."""
        return False

else:
    import fcntl

    def hold(file: BinaryIO) -> bool:
        """Mark this file as being written, for as long as it is open; False if it is already."""
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return True
        for last in (*[False] * (_TRIES - 1), True):
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if not last:
                    time.sleep(_TRY_EVERY_S)
            except OSError:  # a file system without locks
                return True
            else:
                return True
        return False

    def is_held(file: BinaryIO) -> bool:
        """Whether a writer has the file open."""
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        fcntl.flock(file, fcntl.LOCK_UN)
        return False


def is_being_written(path: Path) -> bool:
    """Whether a writer has this file open; no pipe or device is asked, which might wait for ever.
    OSError if it cannot be read.
    """
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return is_held(file)


@contextlib.contextmanager
def keep_lock(file: BinaryIO) -> Iterator[None]:
    """Keep the mark of an open file, although the file be closed meanwhile."""
    same = os.dup(file.fileno())
    try:
        yield
    finally:
        os.close(same)
